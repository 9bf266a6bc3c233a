"""grep: lines that match a regular expression, in all files of the workspace."""

from typing import Annotated

from holdfast.tool import AtLeast, Category, Context, Otherwise, tool
from holdfast.vocabulary.json import Json
from holdfast.workspace.match import Match, Query
from holdfast.workspace.place import Readable

from ._path_pattern import path_filter
from ._shapes import rooted

_Count = Annotated[int, AtLeast(0)]


@tool(category=Category.SEARCH)
async def grep(
    ctx: Context,
    pattern: str,
    path: Annotated[Readable, Otherwise("/")],
    path_pattern: str | None = None,
    case_sensitive: bool = False,
    before_context: _Count | None = None,
    after_context: _Count | None = None,
    context: _Count | None = None,
    limit: _Count = 50,
) -> dict[str, Json]:
    r"""Search the lines of all files for a regular expression, in ripgrep's (Rust's) syntax. Nothing is ignored, hidden files are searched.

    Matches come in the order of path and line, with line numbers from 1. What was said in other sessions is searched too, as /chats/*.chat.

    Args:
        pattern: The regular expression, such as fn \w+\( or TODO. It matches within one line.
        path: Search only this file, or beneath this folder.
        path_pattern: Search only files whose path fits, whatever its case: % and * stand for anything, as in *.rs or /src/%;
            without either, the path must contain it.
        case_sensitive: Tell upper case from lower case.
        before_context: How many lines to show before each match.
        after_context: How many lines to show after each match.
        context: How many lines to show on both sides, where the two above do not say.
        limit: How many matches to return at most; 0 means all.
    """
    before = before_context if before_context is not None else context or 0
    after = after_context if after_context is not None else context or 0
    query = Query(pattern, case_sensitive=case_sensitive, before=before, after=after, max_matches=limit)
    found = await ctx.files.grep(query, path_filter(path_pattern) if path_pattern else None, path)
    matches = [_shown(match, before=before > 0, after=after > 0) for match in found.matches]
    return {"matches": matches, "truncated": found.truncated}


def _shown(match: Match, *, before: bool, after: bool) -> dict[str, Json]:
    shown: dict[str, Json] = {"path": rooted(match.place.path), "line_number": match.line, "line_text": match.text}
    if before:
        shown["before"] = [*match.before]
    if after:
        shown["after"] = [*match.after]
    return shown
