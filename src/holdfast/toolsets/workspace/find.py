"""find: files and folders by name, type and size."""

from typing import Annotated

from holdfast.tool import AtLeast, Category, Context, Otherwise, tool
from holdfast.vocabulary.json import Json
from holdfast.workspace.find import Criteria
from holdfast.workspace.place import Readable
from holdfast.workspace.pool import in_turns

from ._shapes import FileType, first, sized_entry


@tool(category=Category.SEARCH)
async def find(
    ctx: Context,
    path: Annotated[Readable, Otherwise("/")],
    name: str | None = None,
    file_type: FileType | None = None,
    min_size: Annotated[int, AtLeast(0)] | None = None,
    max_size: Annotated[int, AtLeast(0)] | None = None,
    recursive: bool = True,
    limit: Annotated[int, AtLeast(0)] = 50,
) -> dict[str, Json]:
    """Find files and folders by what is known of them, without reading them. To search in files use grep.

    Args:
        path: The folder to look in.
        name: The name, in which * stands for anything, ? for one character and […] for one of some: *.txt, test_*.
        file_type: Only what is of this type.
        min_size: The smallest size in bytes; folders have none.
        max_size: The largest size in bytes.
        recursive: Look in the folders below as well.
        limit: How many to return at most; 0 means all.
    """
    criteria = Criteria(name=name, min_bytes=min_size, max_bytes=max_size, recursive=recursive)
    found = await ctx.files.find_items(path, criteria, file_type=file_type)
    matches = await in_turns(sized_entry, first(found, limit))
    return {"matches": matches, "truncated": len(matches) < len(found)}
