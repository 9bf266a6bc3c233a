"""version_content: the bytes of a file by one of its versions."""

import base64

from holdfast.tool import Audience, Context, tool
from holdfast.vocabulary.json import Json


@tool(audience=Audience.PERSON)
async def version_content(ctx: Context, file_id: str, version_id: str | None = None) -> dict[str, Json]:
    """Give the bytes that a file had by a version, in base64.

    Args:
        file_id: The file's id.
        version_id: The version; left out, the newest.
    """
    version, data = await ctx.files.bytes_of(file_id, version_id)
    return {
        "file_id": file_id,
        "version_id": version.version_id,
        "path": f"/{version.path}",
        "hash": version.hash,
        "size": len(data),
        "content_kind": version.content_kind,
        "base64": base64.b64encode(data).decode(),
    }
