"""keep: what a command did, made real."""

from holdfast.tool import Audience, Context, Danger, tool
from holdfast.tool.commands import parsed_path, path_of
from holdfast.vocabulary.json import Json

_MAX_LISTED = 1_000


@tool(danger=Danger.DANGEROUS, audience=Audience.PERSON, seconds=600, changes_unnamed=True)
async def keep(
    ctx: Context, effects_id: str, paths: list[str] | None = None, effects_hash: str | None = None, git_settings: bool = False
) -> dict[str, Json]:
    """Make held effects of a command real, all of them or some; the rest is dropped. Each can be decided once.

    Args:
        effects_id: The id that the command's answer gave.
        paths: What to keep, as it is listed; a folder stands for all below it. Everything when left out.
        effects_hash: The hash of what was looked at; if the effects are others, nothing is kept.
        git_settings: Keep changes of a repository's config and hooks too, which can make git run programs.
    """
    only = None if paths is None else [parsed_path(path) for path in paths]
    kept = await ctx.commands.keep(effects_id, only=only, effects_hash=effects_hash or "", may_write_git=git_settings)
    left_out: list[Json] = [{"path": path_of(each.effect.mount, each.effect.path), "why": each.why} for each in kept.left_out[:_MAX_LISTED]]
    return {
        "effects_id": effects_id,
        "count": len(kept.kept),
        "kept": [path_of(each.mount, each.path) for each in kept.kept[:_MAX_LISTED]],
        "left_out": left_out,
    }
