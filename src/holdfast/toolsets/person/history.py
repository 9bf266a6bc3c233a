"""history: the versions of a file."""

from holdfast.tool import Audience, Context, tool
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.moments import iso
from holdfast.workspace.item import VersionInfo
from holdfast.workspace.place import Readable

from ._which import file_meant


@tool(audience=Audience.PERSON)
async def history(ctx: Context, file_id: str | None = None, path: Readable | None = None) -> dict[str, Json]:
    """List the versions of a file, the newest first: who made each, when, and in which call.

    Args:
        file_id: The file's id.
        path: The file's path, instead of its id; of a deleted file too.
    """
    meant = await file_meant(ctx, file_id, path)
    item = await ctx.files.item_by_id(meant)
    versions = [_shown(version) for version in await ctx.files.history(meant)]
    return {"file_id": meant, "path": f"/{item.path}", "synced": item.synced, "versions": versions}


def _shown(version: VersionInfo) -> dict[str, Json]:
    return {
        "version_id": version.version_id,
        "number": version.number,
        "kind": version.kind,
        "state": version.state,
        "path": f"/{version.path}",
        "content_kind": version.content_kind,
        "hash": version.hash,
        "size": version.size,
        "author": version.author,
        "session_id": version.session_id,
        "call_id": version.call_id,
        "created_at": iso(version.created_at),
    }
