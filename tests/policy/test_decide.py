"""Decisions: scope, mounts, logs, permitted paths, plan mode and protected paths, each with its reason."""

from dataclasses import replace

import pytest

from holdfast.policy.decide import Circumstances, Rules, decide, objection_to_item
from holdfast.vocabulary.access import FileAccess, MountMode, Want
from holdfast.vocabulary.decision import Allow, Deny
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.protected import ProtectedPaths
from holdfast.vocabulary.scope import Permission, Scope
from tests.promises import carries

READ, WRITE = Want.READ, Want.WRITE


def access(path: str, want: Want = READ, *, mount: str = "project", named: str | None = None, only: str | None = None) -> FileAccess:
    """An access to a path that is what it is named, unless told otherwise, in a mount that can be written."""
    return FileAccess("path", want, mount, MountMode.READ_WRITE, path, path if named is None else named, f"./{path}", only)


def code(
    *accesses: FileAccess,
    scope: Scope | None = None,
    rules: Rules | None = None,
    circumstances: Circumstances | None = None,
    tool: str = "a_tool",
) -> str | None:
    """The code of what stands against a call, or None when it may run."""
    decision = decide(tool, accesses, scope, rules or Rules(), circumstances or Circumstances())
    match decision:
        case Allow():
            return None
        case Deny(error):
            return error.code
        case _:
            raise AssertionError(decision)


def denial(each: FileAccess, **more: Scope) -> HoldfastError:
    decision = decide("a_tool", [each], more.get("scope"), Rules(), Circumstances())
    assert isinstance(decision, Deny)
    return decision.error


# Scope


def test_without_a_scope_every_tool_may_run() -> None:
    assert code(access("a.md"), access("b.md", WRITE)) is None
    assert code() is None


@carries("SCOPE-1")
def test_a_tool_outside_the_scope_is_not_permitted() -> None:
    assert code(scope=Scope.of("other")) == "not_permitted"
    assert code(scope=Scope({"a_tool": Permission(allowed=False)})) == "not_permitted"
    assert code(scope=Scope.of("a_tool")) is None


def test_with_an_empty_scope_only_the_safe_tools_are_permitted() -> None:
    assert code(scope=Scope(), tool="file_read") is None
    assert code(scope=Scope(), tool="file_write") == "not_permitted"


@carries("SCOPE-4")
def test_the_time_that_a_scope_gives_comes_with_the_permission() -> None:
    scope = Scope({"a_tool": Permission(timeout_seconds=120)})

    assert decide("a_tool", [], scope, Rules(), Circumstances()) == Allow(120)
    assert decide("a_tool", [], None, Rules(), Circumstances()) == Allow(None)


@pytest.mark.parametrize(
    ("is_dangerous", "may_endanger", "expected"),
    [(True, False, "forbidden"), (True, True, None), (False, False, None), (False, True, None)],
)
def test_a_dangerous_tool_is_for_those_who_may_use_such(is_dangerous: bool, may_endanger: bool, expected: str | None) -> None:
    assert code(circumstances=Circumstances(is_dangerous=is_dangerous, may_endanger=may_endanger)) == expected


# Mounts


@carries("MOUNT-5")
def test_a_read_only_mount_is_read_and_not_written() -> None:
    reading = replace(access("a.md"), mode=MountMode.READ_ONLY)

    assert code(reading) is None
    assert code(replace(reading, want=WRITE)) == "read_only"


@carries("FS-PATCH-2")
def test_a_tool_that_works_in_one_mount_finds_every_other_outside() -> None:
    assert code(access("a.md", WRITE, mount="state", only="state")) is None
    assert code(access("a.md", WRITE, mount="project", only="state")) == "outside"
    assert code(access("a.md", READ, mount="project", only="state")) == "outside"


@carries("PROT-7")
@pytest.mark.parametrize("path", ["logs", "logs/execution.jsonl", "LOGS/execution.jsonl", "Logs/sub/x", "logs/execution.jsonl/x"])
def test_the_logs_in_state_are_never_written_whatever_their_case(path: str) -> None:
    assert code(access(path, WRITE, mount="state")) == "protected"
    assert code(access(path, WRITE, mount="state"), rules=Rules(writes_protected=True)) == "protected"
    assert code(access("elsewhere", WRITE, mount="state", named=path)) == "protected"
    assert code(access(path, WRITE, mount="state", named="link")) == "protected"


@pytest.mark.parametrize(
    ("mount", "path"), [("state", "logs2/x"), ("state", "my/logs/x"), ("state", "log"), ("project", "logs/x"), ("central", "logs")]
)
def test_other_logs_are_files_like_any_other(mount: str, path: str) -> None:
    assert code(access(path, WRITE, mount=mount)) is None


def test_the_logs_in_state_can_be_read() -> None:
    assert code(access("logs/execution.jsonl", mount="state")) is None


# Permitted paths


@carries("SCOPE-3")
@pytest.mark.parametrize(
    ("patterns", "path", "permitted"),
    [
        (("**",), "a/b/.c", True),
        (("**",), "", True),
        (("docs/**",), "docs/a/b.md", True),
        (("docs/**",), "docs/.hidden", True),
        (("docs/**",), "docs", True),
        (("docs/**",), "src/a.md", False),
        (("docs/**",), "", False),
        (("docs/**",), "my/docs/a.md", False),
        (("docs/**",), "docs2/a.md", False),
        (("docs/**",), "DOCS/a.md", False),
        (("*.md",), "a.md", True),
        (("*.md",), "docs/a.md", False),
        (("**/*.md",), "docs/a.md", True),
        (("docs/*",), "docs/a/b", False),
        (("src/**", "docs/**"), "docs/a", True),
        (("{src,docs}/**",), "docs/a", True),
        (("docs/[ab].md",), "docs/b.md", True),
        (("docs/[ab].md",), "docs/c.md", False),
    ],
)
def test_a_path_outside_the_permitted_ones_is_not_permitted(patterns: tuple[str, ...], path: str, permitted: bool) -> None:
    scope = Scope({"a_tool": Permission(paths=patterns)})

    assert code(access(path), scope=scope) == (None if permitted else "not_permitted")


@carries("SCOPE-3")
@pytest.mark.parametrize("mount", ["project", "state", "central"])
def test_permitted_paths_hold_in_every_mount(mount: str) -> None:
    scope = Scope({"a_tool": Permission(paths=("docs/**",))})

    assert code(access("docs/a.md", mount=mount), scope=scope) is None
    assert code(access("src/a.py", mount=mount), scope=scope) == "not_permitted"


def test_a_link_is_permitted_by_where_it_leads_and_not_by_what_it_is_called() -> None:
    scope = Scope({"a_tool": Permission(paths=("docs/**",))})

    assert code(access("src/main.py", named="docs/link.md"), scope=scope) == "not_permitted"
    assert code(access("docs/a.md", named="src/link.md"), scope=scope) is None


def test_the_hint_names_the_permitted_paths() -> None:
    error = denial(access("src/a.py"), scope=Scope({"a_tool": Permission(paths=("docs/**", "*.md"))}))

    assert "docs/**, *.md" in error.hint


# Protected paths


@carries("PROT-5", "PROT-6")
def test_a_protected_path_is_neither_written_nor_read() -> None:
    assert code(access(".env")) == "protected"
    assert code(access(".env", WRITE)) == "protected"


def test_a_toolset_that_may_read_protected_paths_reads_and_does_not_write_them() -> None:
    may_read = Circumstances(reads_protected=True)

    assert code(access(".env"), circumstances=may_read) is None
    assert code(access(".env", WRITE), circumstances=may_read) == "protected"


def test_where_a_setting_lets_protected_paths_be_written_reading_them_is_another_question() -> None:
    rules = Rules(writes_protected=True)

    assert code(access(".env", WRITE), rules=rules) is None
    assert code(access(".env"), rules=rules) == "protected"


@carries("PROT-6")
def test_a_link_is_protected_by_its_name_and_by_where_it_leads() -> None:
    assert code(access("harmless.txt", named=".env")) == "protected"
    assert code(access(".env", named="harmless.txt")) == "protected"
    assert code(access("secrets/a", WRITE, named="notes/a")) == "protected"


@carries("PROT-7")
def test_holdfast_s_own_folder_is_protected_in_its_mount() -> None:
    rules = Rules(ProtectedPaths(own=("project/data/home",)))

    assert code(access("data/home/x", WRITE), rules=rules) == "protected"
    assert code(access("data/home/x", WRITE, mount="state"), rules=rules) is None


# Plan mode


@pytest.mark.parametrize(
    ("path", "writes_plan", "expected"),
    [
        ("plans/a.plan", True, None),
        ("plans/a.plan", False, "not_permitted"),
        ("plans/a.md", True, "not_permitted"),
        ("a.plan/b", True, "not_permitted"),
    ],
)
def test_in_plan_mode_only_plans_are_written_and_only_as_plans(path: str, writes_plan: bool, expected: str | None) -> None:
    assert code(access(path, WRITE), circumstances=Circumstances(mode=Mode.PLAN, writes_plan=writes_plan)) == expected


def test_in_plan_mode_everything_can_be_read() -> None:
    assert code(access("src/main.py"), circumstances=Circumstances(mode=Mode.PLAN)) is None


def test_in_plan_mode_a_plan_that_is_protected_stays_protected() -> None:
    assert code(access("secret.plan", WRITE), circumstances=Circumstances(mode=Mode.PLAN, writes_plan=True)) == "protected"


# Several at once, and what is said


def test_one_access_that_is_refused_refuses_the_call() -> None:
    assert code(access("a.md"), access(".env"), access("b.md")) == "protected"


def test_of_a_list_each_item_is_judged_alone() -> None:
    items = [objection_to_item(access(path), "a_tool", None, Rules(), Circumstances()) for path in ("a.md", ".env")]

    assert [None if item is None else item.code for item in items] == [None, "protected"]


def test_of_a_list_each_item_is_judged_by_the_scope_as_well() -> None:
    error = objection_to_item(access("a.md"), "a_tool", Scope.of("other"), Rules(), Circumstances())

    assert error is not None
    assert error.code == "not_permitted"


@carries("AUDIT-4")
@pytest.mark.parametrize(
    "each", [access("a/.env"), access("a/.env", WRITE), access("logs/x", WRITE, mount="state"), access("a", only="state")]
)
def test_a_refusal_says_mount_and_true_path_and_shows_what_was_written(each: FileAccess) -> None:
    error = denial(each)

    assert (error.facts["mount"], error.facts["path"]) == (each.mount, each.path)
    assert each.written in error.message
    assert error.hint
