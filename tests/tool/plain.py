"""The plainest dialect that there can be, and tools that are made in it where a test needs them."""

from collections.abc import Mapping
from typing import Any

from holdfast.tool import Dialect, Spot, Tool
from holdfast.tool.tool import Declaration
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.outcome import Answer
from holdfast.workspace.mount import Mount
from holdfast.workspace.paths import clean, inside


def locate(text: str, mounts: Mapping[str, Mount]) -> Spot:
    """A path of the project."""
    path = clean(text)
    return Spot(mounts["project"], inside(path, written=path))


def answer(value: Any) -> Answer:
    """Whatever the tool returned."""
    return Answer(value, str(value))


def problem(error: HoldfastError) -> Answer:
    """The error's code and words."""
    return Answer({"code": error.code}, str(error), is_error=True)


PLAIN = Dialect(locate, answer, problem)


def made(declared: Declaration, dialect: Dialect = PLAIN) -> Tool:
    """The tool that a toolset would make of a declaration, under its function's own name."""
    return Tool(getattr(declared.function, "__name__", "tool"), "tests", dialect, declared)
