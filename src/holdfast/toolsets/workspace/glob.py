"""glob: files and folders whose path matches a pattern."""

from collections.abc import Sequence
from typing import Annotated

from holdfast.tool import Category, Context, Otherwise, tool
from holdfast.vocabulary.errors import InvalidArguments, Outside
from holdfast.vocabulary.json import Json
from holdfast.workspace.paths import inside
from holdfast.workspace.place import Place, Readable
from holdfast.workspace.pool import in_turns

from ._shapes import rooted, sized_entry


@tool(category=Category.SEARCH)
async def glob(
    ctx: Context, path: Annotated[Readable, Otherwise("/")], pattern: str | None = None, patterns: list[str] | None = None
) -> dict[str, Json]:
    """Find files and folders by a pattern of their path, without reading them. Nothing is ignored, hidden ones are found too.

    In a pattern, * stays within one folder and **/ goes through any number of them: *.rs, **/*.md, /src/**/*.rs, test_*, */file.txt.

    Args:
        path: The folder that the pattern is counted from.
        pattern: The pattern.
        patterns: Several patterns; what matches one of them is found.
    """
    wanted = [*([pattern] if pattern is not None else []), *(patterns or [])]
    if not wanted:
        raise InvalidArguments.of("pattern", "is required", hint="Give a pattern such as **/*.md.")
    _check_not_above_root(path)
    found = await ctx.files.glob_items(path, _counted_from(path, wanted))
    return {"pattern": wanted[0], "base_path": rooted(path.path), "matches": await in_turns(sized_entry, found)}


def _counted_from(folder: Place, patterns: Sequence[str]) -> list[str]:
    """The patterns as they are in a folder: one that begins with that folder's whole path is counted from the root."""
    above = f"/{folder.path}/" if folder.path else "/"
    return [pattern.strip().removeprefix(above) for pattern in patterns]


def _check_not_above_root(path: Place) -> None:
    try:
        inside(path.written, written=path.written)
    except Outside:
        raise InvalidArguments.of("path", "leads above the workspace's root", hint="Leave out the '..'.") from None
