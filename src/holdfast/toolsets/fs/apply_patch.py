"""fs.apply_patch: fields of a file's front matter, everything else left byte for byte."""

from collections.abc import Mapping
from typing import Annotated, cast

from holdfast.tool import Context, Danger, Shape, tool
from holdfast.vocabulary.access import Want
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.workspace.place import Asks, Place

from ._workflow import guard

_PATCH: JsonObject = {
    "type": "object",
    "properties": {
        "operation": {"const": "updateFrontmatter"},
        "update": {"type": "object"},
        "ifMatchSha256": {"type": "string"},
    },
    "required": ["operation", "update"],
    "additionalProperties": True,
}


@tool(danger=Danger.DANGEROUS)
async def apply_patch(
    ctx: Context, path: Annotated[Place, Asks(Want.WRITE, only="state")], patch: Annotated[Mapping[str, Json], Shape(_PATCH)]
) -> dict[str, Json]:
    """Update the front matter of a Markdown file in @state.

    Args:
        path: A file, as @state/path.
        patch: The operation updateFrontmatter, with the fields to append to or to set, such as
            {"stepsCompleted": {"append": ["one"]}, "currentNodeId": {"set": "two"}}.
    """
    update = cast("Mapping[str, Json]", patch["update"])
    only_if = cast("str | None", patch.get("ifMatchSha256"))
    most = ctx.profile.limits.fs.max_write_bytes
    written = await ctx.files.patch_front_matter(path, update, only_if=only_if, max_bytes=most, check=guard(ctx, path))
    return {"path": path.alias, "sha256Before": written.sha256_before, "sha256After": written.sha256_after}
