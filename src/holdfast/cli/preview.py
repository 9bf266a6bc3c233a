"""What a file tool would change, as a diff: for the person who is asked before it does."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.app import Holdfast
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.json import dump
from holdfast.vocabulary.spelling import plain_name

from .effects import called

_WRITERS = ("write", "file_write", "fs.write")
_MAX_CHARACTERS = 1_000_000


async def preview(holdfast: Holdfast, project: Path, tool: str, given: Mapping[str, Any]) -> list[str]:
    """The lines of a unified diff; none when the tool is not known to change one file, or when it would fail.

    It is what would come of the call if it ran now. What it really does
    is a version of the file, and shows in its history.
    """
    arguments = {plain_name(name): value for name, value in given.items()}
    path = _rooted(str(arguments.get("path", "")), project)
    if path is None or tool not in (*_WRITERS, "edit", "rm"):
        return []
    before = await _text(holdfast, path)
    after = _after(tool, arguments, before)
    if after is None or len(before or "") + len(after) > _MAX_CHARACTERS:
        return []
    old = "/dev/null" if before is None else f"a{path}"
    new = "/dev/null" if tool == "rm" else f"b{path}"
    return list(difflib.unified_diff((before or "").splitlines(), after.splitlines(), old, new, lineterm=""))


def _after(tool: str, arguments: Mapping[str, Any], before: str | None) -> str | None:
    """What the file would say; None when the call would fail, or nobody can tell."""
    match tool:
        case "rm":
            return "" if before is not None else None
        case "edit":
            return None if before is None else _edited(arguments, before)
        case _:
            content = arguments.get("content")
            return content if isinstance(content, str) else dump(content).decode()


def _edited(arguments: Mapping[str, Any], before: str) -> str | None:
    match arguments:
        case {"oldstring": str(old), "newstring": str(new)} if before.count(old) == 1:
            return before.replace(old, new)
        case {"insertline": int(line), "insertcontent": str(content)} if 0 <= line <= len(lines := before.splitlines(keepends=True)):
            inserted = content if content.endswith("\n") else f"{content}\n"
            return "".join([*lines[:line], inserted, *lines[line:]])
        case _:
            return None


async def _text(holdfast: Holdfast, path: str) -> str | None:
    try:
        found = await called(holdfast, "read", path=path, limit=0)
    except HoldfastError:
        return None
    said = found["content"]
    return said if isinstance(said, str) and "encoding" not in found else None


def _rooted(path: str, project: Path) -> str | None:
    """The path counted from the project's root, whatever dialect it is written in; None when it is elsewhere."""
    if path.startswith("@"):
        mount, _, below = path[1:].partition("/")
        return f"/{below}" if mount == "project" else None
    for root in (os.path.abspath(project), os.path.realpath(project)):
        if path.startswith(f"{root}/"):
            return path[len(root) :]
    return f"/{path.removeprefix('./').lstrip('/')}" if path else None
