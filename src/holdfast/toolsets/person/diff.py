"""diff: what changed between two versions of a file."""

from collections.abc import Sequence

from holdfast.tool import Audience, Context, tool
from holdfast.vocabulary.errors import NotFound
from holdfast.vocabulary.json import Json
from holdfast.workspace.item import VersionInfo


@tool(audience=Audience.PERSON)
async def diff(ctx: Context, file_id: str, from_version: str | None = None, to_version: str | None = None) -> dict[str, Json]:
    """Compare two versions of a file, as a unified diff.

    Args:
        file_id: The file's id.
        from_version: The older version; left out, the one before the other.
        to_version: The newer version; left out, the newest.
    """
    versions = await ctx.files.history(file_id)
    if not versions:
        raise NotFound("the file has no versions", hint="Only files that were written have some.", file_id=file_id)
    newer = to_version or versions[0].version_id
    older = from_version or _before(newer, versions)
    return {"file_id": file_id, "from": older, "to": newer, "diff": await ctx.files.difference(file_id, older, newer)}


def _before(version_id: str, versions: Sequence[VersionInfo]) -> str:
    """The version before that one; the first has none and is compared with itself."""
    ids = [version.version_id for version in versions]
    at = ids.index(version_id) if version_id in ids else -1
    return ids[at + 1] if 0 <= at < len(ids) - 1 else version_id
