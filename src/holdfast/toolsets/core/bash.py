"""bash: a command in the project, confined, whose effects can be seen before they are real."""

from dataclasses import replace
from typing import Annotated

from holdfast.tool import AtLeast, Category, Context, Danger, tool
from holdfast.tool.commands import Fate, Ran, listed
from holdfast.tool.held import Held
from holdfast.vocabulary.errors import CommandFailed
from holdfast.vocabulary.json import Json

from ._dialect import Text

_MAX_LISTED = 500


@tool(category=Category.EXEC, danger=Danger.DANGEROUS, keeps_time=True)
async def bash(ctx: Context, command: str, timeout: Annotated[int | None, AtLeast(1)] = None) -> Text | Held:
    """Run a shell command (sh -c) in the project's folder.

    It has no network, and sees nothing of the machine but the project and programs. Output and errors come together;
    what is long is cut, and the answer names a file with the whole. What the command changes in the project is kept when
    it has ended, unless somebody wants to decide first.

    Args:
        command: Shell command to execute.
        timeout: Timeout in seconds (default 60, max configurable).
    """
    seconds = min(timeout or ctx.seconds, ctx.most_seconds)
    ran = await ctx.commands.run(command, seconds)
    if ctx.decides_effects and ran.fate is Fate.HELD and ran.problem is None and not ran.kept.conflicts:
        return _held(ran, seconds)
    return _answer(ran, seconds)


def _held(ran: Ran, seconds: float) -> Held:
    which: dict[str, Json] = {"effects_id": ran.layer}

    def told(state: str, note: str) -> Text:
        fate = Fate.KEPT if state == "kept" else Fate.DROPPED
        return _answer(replace(ran, fate=fate, layer=""), seconds, note)

    keep = {**which, "effects_hash": ran.effects.hash}
    return Held(listed(ran.lines), ran.effects.hash, ("keep", keep), ("drop", which), told)


def _answer(ran: Ran, seconds: float, note: str = "") -> Text:
    metadata = _metadata(ran, seconds)
    output = _output(ran, seconds, note)
    if ran.finished.exit_code == 0 and not ran.finished.reason and ran.problem is None and not ran.kept.conflicts:
        return Text(output, metadata)
    raise CommandFailed.of(_why(ran, seconds), output=output, metadata=metadata, exit_code=ran.finished.exit_code)


def _why(ran: Ran, seconds: float) -> str:
    match ran.finished.reason:
        case "timeout":
            return f"command timed out after {seconds:g} s"
        case "memory":
            return "the command was ended because it used too much memory"
        case "disk":
            return "the command was ended because it wrote too much"
        case "output":
            return "the command was ended because it printed too much"
        case _:
            if ran.finished.exit_code:
                return f"the command ended with exit code {ran.finished.exit_code}"
            return "the command's effects could not be kept"


def _output(ran: Ran, seconds: float, note: str) -> str:
    """What the command printed, cut, and below it what the reader must know about it."""
    said = ran.finished.head.decode(errors="replace")
    notes: list[str] = []
    if ran.output is not None:
        whole = f"{ran.output.mount.root}/{ran.output.path}"
        shown = len(ran.finished.head)
        more = ", which lacks the end" if ran.finished.output_capped else ""
        where = f"{whole} for file_read, @state/{ran.output.path} for read and fs.read{more}"
        notes.append(f"[output cut: {shown} of {ran.finished.total_bytes} bytes shown; the whole is in {where}]")
    if ran.finished.reason or ran.problem is not None or ran.kept.conflicts:
        notes.append(f"[{_why(ran, seconds)}]")
    notes += [f"[{note}]"] if note else _about_effects(ran)
    if not notes:
        return said
    return "\n".join([said.removesuffix("\n"), *notes] if said else notes)


def _about_effects(ran: Ran) -> list[str]:
    match ran.fate:
        case Fate.HELD:
            named = ", ".join(f"/{each.path}" for each in ran.kept.conflicts[:10])
            why = f" because these have changed meanwhile: {named}" if named else f": {ran.problem}" if ran.problem else ""
            return [f"[{len(ran.effects)} effects are held as {ran.layer}{why}; nothing in the project has changed]"]
        case Fate.DROPPED if not ran.kept.left_out:
            return [f"[{len(ran.effects)} effects were dropped; nothing in the project has changed]"]
        case _:
            left_out = [f"/{each.effect.path} ({each.why})" for each in ran.kept.left_out[:20]]
            return [f"[not kept: {', '.join(left_out)}]"] if left_out else []


def _metadata(ran: Ran, seconds: float) -> dict[str, Json]:
    finished = ran.finished
    told: dict[str, Json] = {
        "exitCode": finished.exit_code,
        "durationMs": round(finished.seconds * 1000),
        "timeoutSeconds": seconds,
        "peakMemoryBytes": finished.peak_memory_bytes,
        "outputBytes": finished.total_bytes,
        "sandboxTier": int(finished.tier),
        "effects": listed(ran.lines[:_MAX_LISTED]),
        "effectsCount": len(ran.effects),
        "effectsState": ran.fate.value,
    }
    if finished.reason:
        told["endedBy"] = finished.reason
    if ran.output is not None:
        told["output"] = f"@state/{ran.output.path}"
    if ran.effects:
        told["effectsHash"] = ran.effects.hash
    if ran.layer:
        told["effectsId"] = ran.layer
    if ran.kept.conflicts:
        told["conflicts"] = [{"path": each.path, "why": each.why} for each in ran.kept.conflicts[:_MAX_LISTED]]
    if ran.kept.left_out:
        told["leftOut"] = [{"path": each.effect.path, "why": each.why} for each in ran.kept.left_out[:_MAX_LISTED]]
    if ran.kept.forgotten:
        told["cannotBeUndone"] = [each.path for each in ran.kept.forgotten[:_MAX_LISTED]]
    return told
