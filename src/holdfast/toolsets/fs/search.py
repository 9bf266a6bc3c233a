"""fs.search: lines that match, in a directory and all below it."""

import re
from typing import Annotated

from holdfast.tool import AtLeast, Category, Context, tool
from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Readable
from holdfast.workspace.search import Match, Query

_AS_REGEX = re.compile(r"/(.+)/(i?)", re.DOTALL)
_SKIPPED = (".git", "node_modules")


@tool(category=Category.SEARCH)
async def search(
    ctx: Context,
    path: Readable,
    pattern: str,
    before: Annotated[int, AtLeast(0)] = 1,
    after: Annotated[int, AtLeast(0)] = 1,
    max_matches: Annotated[int, AtLeast(1)] = 50,
) -> dict[str, Json]:
    """Search the files of a directory tree for a text. Hidden directories, .git and node_modules are left out.

    Args:
        path: A directory or a file, as @mount/path.
        pattern: The text to find, or a regular expression (ripgrep's syntax) written as /…/ or /…/i.
        before: How many lines to show before each match.
        after: How many lines to show after each match.
        max_matches: How many matches to return at most.
    """
    regex = _AS_REGEX.fullmatch(pattern)
    query = Query(
        regex[1] if regex else pattern,
        regex=regex is not None,
        case_sensitive=not (regex and regex[2]),
        before=before,
        after=after,
        max_matches=max_matches,
        skip_directories=_SKIPPED,
        skip_hidden_directories=True,
    )
    found = await ctx.files.search(path, query)
    stats: Json = {"filesSearched": found.files_searched, "matches": len(found.matches)}
    matches = [_shown(match, before=before > 0, after=after > 0) for match in found.matches]
    return {"path": path.alias, "matches": matches, "truncated": found.truncated, "stats": stats}


def _shown(match: Match, *, before: bool, after: bool) -> dict[str, Json]:
    shown: dict[str, Json] = {"path": match.place.alias, "line": match.line, "text": match.text}
    if before:
        shown["before"] = [*match.before]
    if after:
        shown["after"] = [*match.after]
    return shown
