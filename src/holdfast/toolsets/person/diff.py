"""diff: what changed between two versions of a file."""

from collections.abc import Sequence

from holdfast.tool import Audience, Context, tool
from holdfast.vocabulary.errors import NotFound
from holdfast.vocabulary.json import Json
from holdfast.workspace.item import VersionInfo
from holdfast.workspace.place import Readable

from ._which import file_meant, version_meant


@tool(audience=Audience.PERSON)
async def diff(
    ctx: Context,
    file_id: str | None = None,
    from_version: str | None = None,
    to_version: str | None = None,
    path: Readable | None = None,
) -> dict[str, Json]:
    """Compare two versions of a file, as a unified diff.

    Args:
        file_id: The file's id.
        from_version: The older version, by its id or number; left out, the one before the other.
        to_version: The newer version, by its id or number; left out, the newest.
        path: The file's path, instead of its id; of a deleted file too.
    """
    meant = await file_meant(ctx, file_id, path)
    versions = await ctx.files.history(meant)
    if not versions:
        raise NotFound("the file has no versions", hint="Only files that were written have some.", file_id=meant)
    newer = version_meant(versions, to_version) if to_version else versions[0].version_id
    older = version_meant(versions, from_version) if from_version else _before(newer, versions)
    return {"file_id": meant, "from": older, "to": newer, "diff": await ctx.files.difference(meant, older, newer)}


def _before(version_id: str, versions: Sequence[VersionInfo]) -> str:
    """The version before that one; the first has none and is compared with itself."""
    ids = [version.version_id for version in versions]
    at = ids.index(version_id) if version_id in ids else -1
    return ids[at + 1] if 0 <= at < len(ids) - 1 else version_id
