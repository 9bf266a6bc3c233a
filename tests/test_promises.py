"""Every promise of a landed issue is carried by a test, and no test carries a promise that nobody made."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.promises import LANDED, PROMISES

TESTS = Path(__file__).parent


def carried_in(text: str) -> Iterator[str]:
    """The ids named by `carries(…)` anywhere in a test file: on a test, or on one case of a parametrised one."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Name("carries") | ast.Attribute(attr="carries"), args=args):
                for one in args:
                    match one:
                        case ast.Constant(str(id)):
                            yield id
                        case _:
                            raise AssertionError(
                                f"carries({ast.unparse(one)}): write the id as a plain string, so that it can be read here"
                            )
            case _:
                pass


def carried() -> dict[str, list[str]]:
    """Each id that the tests carry, with the files that do."""
    files: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for id in carried_in(path.read_text()):
            files.setdefault(id, []).append(path.name)
    return files


def test_every_promise_of_a_landed_issue_is_carried_by_a_test() -> None:
    kept = carried()

    broken = [f"{one.id}: {one.text} ({one.source})" for one in PROMISES if one.issue in LANDED and one.id not in kept]

    assert not broken, f"{len(broken)} promises that no test carries:\n" + "\n".join(broken)


def test_no_test_carries_a_promise_that_nobody_made() -> None:
    made = {one.id for one in PROMISES}

    unknown = [f"{id} in {', '.join(files)}" for id, files in carried().items() if id not in made]

    assert not unknown, "tests/promises.py does not know:\n" + "\n".join(unknown)


def test_every_promise_has_an_id_of_its_own() -> None:
    assert [id for id, count in Counter(one.id for one in PROMISES).items() if count > 1] == []


def test_ids_are_read_from_marks_on_tests_and_on_cases() -> None:
    text = '@carries("A-1", "A-2")\nasync def test_x() -> None: ...\ncases = [param(1, marks=promises.carries("B-1"))]\n'

    assert list(carried_in(text)) == ["A-1", "A-2", "B-1"]
