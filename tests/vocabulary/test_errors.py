"""Errors: codes that never change, each its own, and words that say what to try next."""

from collections import Counter

import pytest

from holdfast.vocabulary.errors import HoldfastError, InvalidArguments, Mistake, NotFound, PathViolation, every_error
from tests.promises import carries

# What callers match on. A line may be added here, and none may ever be changed or taken away.
CODES = {
    "AccessDenied": "access_denied",
    "Broken": "broken",
    "Busy": "busy",
    "Cancelled": "cancelled",
    "Conflict": "conflict",
    "ContentTooLarge": "content_too_large",
    "Exists": "exists",
    "HoldfastError": "internal",
    "InvalidArguments": "invalid_arguments",
    "InvalidFrontMatter": "invalid_front_matter",
    "InvalidPath": "invalid_path",
    "InvalidPattern": "invalid_pattern",
    "InvalidQuery": "invalid_query",
    "InvalidRange": "invalid_range",
    "InvalidState": "invalid_state",
    "InvalidTransition": "invalid_transition",
    "IsDirectory": "is_directory",
    "LineTooLong": "line_too_long",
    "ManyMatches": "many_matches",
    "NoMatch": "no_match",
    "NoSpace": "no_space",
    "NotDirectory": "not_directory",
    "NotEmpty": "not_empty",
    "NotFound": "not_found",
    "NotPermitted": "not_permitted",
    "NotText": "not_text",
    "Outside": "outside",
    "PathViolation": "path_violation",
    "Protected": "protected",
    "ProviderError": "provider_error",
    "ReadOnly": "read_only",
    "SearchFailed": "search_failed",
    "SpecialFile": "special_file",
    "StaleHash": "stale_hash",
    "TimedOut": "timed_out",
    "TooLarge": "too_large",
    "Unjudgeable": "unjudgeable",
    "UnknownMount": "unknown_mount",
    "UnknownTool": "unknown_tool",
}


@carries("ROAD-2")
def test_every_code_that_callers_know_still_has_its_kind_of_error() -> None:
    now = {kind.__name__: kind.code for kind in every_error()}

    assert {name: now.get(name) for name in CODES} == CODES


def test_every_kind_of_error_has_a_code_of_its_own() -> None:
    codes = Counter(kind.code for kind in every_error())

    assert [code for code, count in codes.items() if count > 1] == []


def test_every_code_is_lower_case_with_underscores() -> None:
    assert [kind.code for kind in every_error() if not kind.code.replace("_", "").isalpha() or kind.code != kind.code.lower()] == []


def test_every_kind_of_error_is_listed_once_and_the_root_first() -> None:
    kinds = every_error()

    assert kinds[0] is HoldfastError
    assert len(kinds) == len(set(kinds))
    assert all(kind in kinds for kind in every_error(PathViolation))


@pytest.mark.parametrize("name", ["InvalidPath", "Outside", "UnknownMount", "ReadOnly", "Protected"])
def test_a_path_that_a_caller_must_not_use_is_a_violation_that_is_counted(name: str) -> None:
    assert name in {kind.__name__ for kind in every_error(PathViolation)}


def test_an_error_says_what_happened_and_then_what_to_try() -> None:
    error = NotFound("file not found: a.md", hint="List the directory.", path="a.md", size=3)

    assert str(error) == "file not found: a.md. List the directory."
    assert (error.message, error.hint, error.facts) == ("file not found: a.md", "List the directory.", {"path": "a.md", "size": 3})


def test_without_a_hint_an_error_says_only_what_happened() -> None:
    assert str(NotFound("file not found: a.md")) == "file not found: a.md"


@carries("ROAD-2")
def test_all_mistakes_are_told_at_once_each_with_its_argument() -> None:
    error = InvalidArguments([Mistake("path", "is required"), Mistake("limit", "is not a number"), Mistake("", "it is not an object")])

    assert error.message == "'path' is required; 'limit' is not a number; it is not an object"
    assert error.facts["arguments"] == ["path", "limit", ""]
    assert error.hint


def test_one_mistake_can_be_said_shortly() -> None:
    error = InvalidArguments.of("path", "is empty", hint="Name a file.")

    assert (error.message, error.hint, error.mistakes) == ("'path' is empty", "Name a file.", (Mistake("path", "is empty"),))
