"""cat: files one after the other, with what is invisible made visible."""

import json
from typing import Annotated

from holdfast.tool import AtLeast, AtMost, Context, tool
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.json import Json
from holdfast.workspace.item import ContentKind
from holdfast.workspace.place import Place, Readable

from ._cat import Style, concatenated
from ._shapes import content, path_of_failed, rooted, told, window


@tool
async def cat(
    ctx: Context,
    paths: Annotated[list[Readable | HoldfastError], AtLeast(1), AtMost(20)],
    show_ends: bool = False,
    show_tabs: bool = False,
    squeeze_blank: bool = False,
    number_lines: bool = False,
    show_headers: bool = False,
    offset: int = 0,
    limit: Annotated[int, AtLeast(0)] | None = None,
) -> dict[str, Json]:
    """Show up to 20 files one after the other, and make tabs and line ends visible. To page through one file use read.

    Args:
        paths: The files, counted from the workspace's root.
        show_ends: Put $ at the end of each line, which shows blanks before it.
        show_tabs: Show tabs as ^I.
        squeeze_blank: Show several empty lines in a row as one.
        number_lines: Put its number in the file before each line.
        show_headers: Put ==> path <== before each file.
        offset: The first line of each file, counted from 0; a negative one counts from the end.
        limit: How many lines of each file to show at most; without it, or with 0, all.
    """
    style = Style(show_ends, show_tabs, squeeze_blank, number_lines)
    files: list[dict[str, Json]] = []
    texts: list[tuple[str, str]] = []
    for path in paths:
        try:
            if isinstance(path, HoldfastError):
                raise path
            text, about = await _shown(ctx, path, style, offset, limit)
            texts.append((rooted(path.path), text))
        except HoldfastError as error:
            about = _failed(path_of_failed(error) if isinstance(path, HoldfastError) else rooted(path.path), error)
        files.append({**about, "offset": offset, "limit": limit})
    return {"content": concatenated(texts, headers=show_headers), "files": files}


async def _shown(ctx: Context, path: Place, style: Style, offset: int, limit: int | None) -> tuple[str, dict[str, Json]]:
    view = await ctx.files.view(path, window(offset, limit or 0))
    about: dict[str, Json] = {"path": rooted(path.path), "synced": view.item.synced, "total_lines": view.total_lines, "error": None}
    if view.kind is not ContentKind.TEXT:
        is_json = view.kind is ContentKind.JSON
        text = json.dumps(view.content, ensure_ascii=False, separators=(",", ":")) if is_json else str(view.content)
        return text, {**about, **content(view), "line_count": None}
    shown = style.applied(str(view.content), first_line=view.first or 0)
    return shown.text, {**about, "content": shown.text, "line_count": shown.lines}


def _failed(path: str, error: HoldfastError) -> dict[str, Json]:
    return {"path": path, "content": None, "line_count": None, "synced": False, "total_lines": None, "error": told(error)}
