"""fs.write: a whole file of a mount, new or replaced."""

from typing import Annotated

from holdfast.tool import Content, Context, Danger, tool
from holdfast.vocabulary.errors import ContentTooLarge
from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Writable

from ._workflow import guard


@tool(danger=Danger.DANGEROUS)
async def write(ctx: Context, path: Writable, content: Annotated[str, Content()], if_match_sha256: str | None = None) -> dict[str, Json]:
    """Write a file whole, in one step; missing folders are created.

    Args:
        path: A file, as @mount/path.
        content: The whole new contents.
        if_match_sha256: Write only if the file still has this sha256.
    """
    data, most = content.encode(), ctx.profile.limits.fs.max_write_bytes
    if len(data) > most:
        raise ContentTooLarge(f"the content has {len(data)} bytes", hint=f"At most {most} can be written.", size=len(data), limit=most)
    written = await ctx.files.write(path, data, only_if=if_match_sha256, check=guard(ctx, path))
    return {"path": path.alias, "bytesWritten": written.size, "sha256After": written.sha256_after}
