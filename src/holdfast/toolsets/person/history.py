"""history: the versions of a file."""

from holdfast.tool import Audience, Context, tool
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.moments import iso
from holdfast.workspace.item import VersionInfo


@tool(audience=Audience.PERSON)
async def history(ctx: Context, file_id: str) -> dict[str, Json]:
    """List the versions of a file, the newest first: who made each, when, and in which call.

    Args:
        file_id: The file's id.
    """
    item = await ctx.files.item_by_id(file_id)
    versions = [_shown(version) for version in await ctx.files.history(file_id)]
    return {"file_id": file_id, "path": f"/{item.path}", "versions": versions}


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
