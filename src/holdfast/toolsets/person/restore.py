"""restore: an old version of a file made the newest."""

from collections.abc import Sequence

from holdfast.tool import Audience, Context, Danger, tool
from holdfast.vocabulary.errors import Conflict, InvalidArguments, NotFound
from holdfast.vocabulary.json import Json
from holdfast.workspace.item import VersionInfo
from holdfast.workspace.place import Place, Writable

from ._shapes import change
from ._which import file_meant, version_meant


@tool(danger=Danger.DANGEROUS, audience=Audience.PERSON, changes_unnamed=True)
async def restore(ctx: Context, file_id: str | None = None, version_id: str | None = None, path: Writable | None = None) -> dict[str, Json]:
    """Make an old version of a file its newest one; the versions in between stay.

    Args:
        file_id: The file's id.
        version_id: The version to bring back, by its id or number; left out, the newest that is not what the file says now.
        path: The file's path, instead of its id.
    """
    meant = await file_meant(ctx, file_id, path)
    versions = await ctx.files.history(meant)
    chosen = version_meant(versions, version_id) if version_id else await _before_now(ctx, path, versions)
    saved = await ctx.files.restore(meant, chosen)
    number = next((version.number for version in versions if version.version_id == chosen), None)
    return {**change(saved), "restored_version_id": chosen, "restored_number": number}


async def _before_now(ctx: Context, path: Place | None, versions: Sequence[VersionInfo]) -> str:
    """The newest version whose content is not on the disk."""
    if path is None:
        raise InvalidArguments.of("version_id", "is required where the file is named by its id")
    try:
        await ctx.files.info(path)
        now = (await ctx.files.about(path)).hash
    except NotFound:
        now = None
    for version in versions:
        if version.hash is not None and version.hash != now and version.state != "aborted":
            return version.version_id
    raise Conflict(f"'{path}' has no other version than what it says now", hint="There is nothing to restore.", path=str(path))
