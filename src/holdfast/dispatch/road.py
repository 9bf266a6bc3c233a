"""The road: find, bind, decide, run, bound, record, announce. Every call takes it, whatever door it came through."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from holdfast.policy.decide import Rules, decide, objection_to_item
from holdfast.tool.bind import Bound, bind, parse
from holdfast.tool.context import Surroundings
from holdfast.tool.dialect import Dialect
from holdfast.tool.registry import Registry
from holdfast.tool.tool import Tool
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.decision import Allow, Ask, Deny
from holdfast.vocabulary.errors import Cancelled, HoldfastError, NotPermitted, TimedOut, Unjudgeable, UnknownTool
from holdfast.vocabulary.events import Event, ToolFinished, ToolOutput, ToolStarted
from holdfast.vocabulary.outcome import Answer, Done, Failed, Outcome, Refused
from holdfast.vocabulary.profile import Profile

from .audit import Recorder, entry, now
from .bound import bound

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Road:
    """What every call of a workspace meets on its way."""

    registry: Registry
    surroundings: Surroundings
    rules: Rules
    recorder: Recorder
    announce: Callable[[Event], None]

    async def take(self, call: ToolCall, profile: Profile) -> Outcome:
        """Bring a call to its outcome. Exactly one entry is recorded, whatever happens.

        Raises:
            asyncio.CancelledError: The caller withdrew; that is recorded too.
        """
        started, clock = now(), time.perf_counter()
        tool = self._looked_up(call.name)
        try:
            outcome = await self._outcome(call, tool, profile)
        except asyncio.CancelledError:
            outcome = _failed(tool, Cancelled("the call was cancelled", hint="Nothing more will happen; call again if you still want it."))
            await asyncio.shield(self._close(call, tool, outcome, profile, started, clock))
            raise
        return await self._close(call, tool, outcome, profile, started, clock)

    async def _outcome(self, call: ToolCall, tool: Tool | None, profile: Profile) -> Outcome:
        try:
            tool = self._found(call, tool, profile)
            arguments = await bind(tool, parse(call.arguments), self.surroundings.mounts)
            allowed = self._decided(tool, arguments, profile)
            await self._prepared()
        except HoldfastError as error:
            return _refused(tool, error)
        except Exception:
            log.exception("call %s of %s could not be judged", call.id, call.name)
            return _refused(tool, Unjudgeable("the call could not be judged, so it was not run", hint="Try again later."))
        self.announce(ToolStarted(call))
        seconds = allowed.seconds or tool.declaration.seconds or profile.limits.tool_seconds
        return await self._run(call, tool, arguments, profile, seconds)

    def _looked_up(self, name: str) -> Tool | None:
        try:
            return self.registry.get(name)
        except Exception:
            # A tool whose file cannot be imported is not there; the others are.
            log.exception("the tool %s cannot be loaded", name)
            return None

    def _found(self, call: ToolCall, tool: Tool | None, profile: Profile) -> Tool:
        if tool is None or (profile.toolsets and tool.toolset not in profile.toolsets):
            known = ", ".join(self.registry.names())
            raise UnknownTool(f"Unknown tool: {call.name[:100]}", hint=f"The tools are: {known}.", tool=call.name[:100])
        return tool

    def _decided(self, tool: Tool, arguments: Bound, profile: Profile) -> Allow:
        lists = {parameter.wire_name for parameter in tool.parameters if parameter.is_list}
        single = [access for access in arguments.accesses if access.argument not in lists]
        decision = decide(tool.name, single, profile.scope, self.rules, reads_protected=tool.dialect.reads_protected)
        if isinstance(decision, Deny):
            raise decision.error
        # Until somebody can be asked, a call that needs a yes does not get one.
        if isinstance(decision, Ask):
            raise NotPermitted(f"{tool.name} needs a person's yes: {decision.reason}", hint="There is nobody to ask here.")
        self._judge_items(tool, arguments, profile)
        return decision

    def _judge_items(self, tool: Tool, arguments: Bound, profile: Profile) -> None:
        """Put the error in the place of each item of a list that may not be touched."""
        for parameter in tool.parameters:
            if not parameter.is_list or parameter.asks is None:
                continue
            accesses = iter([access for access in arguments.accesses if access.argument == parameter.wire_name])
            items = cast("list[object]", arguments.arguments[parameter.name] or [])
            for position, item in enumerate(items):
                if isinstance(item, HoldfastError):
                    continue
                reads = tool.dialect.reads_protected
                error = objection_to_item(next(accesses), tool.name, profile.scope, self.rules, reads_protected=reads)
                if error is not None:
                    items[position] = error

    async def _prepared(self) -> None:
        try:
            await self.recorder.prepare()
        except HoldfastError as error:
            raise Unjudgeable(f"the call cannot be recorded, so it was not run: {error.message}", hint=error.hint) from error

    async def _run(self, call: ToolCall, tool: Tool, arguments: Bound, profile: Profile, seconds: float) -> Outcome:
        unseen = None if tool.dialect.reads_protected else self.rules.protected
        context = self.surroundings.context(call, profile, lambda chunk: self.announce(ToolOutput(call, chunk)), unseen=unseen)
        try:
            async with asyncio.timeout(seconds):
                value = await tool.declaration.function(context, **arguments.arguments)
            return Done(bound(tool.dialect.answer(value)))
        except TimeoutError:
            return _failed(tool, TimedOut(f"{tool.name} timed out after {seconds:g} s", hint="Ask for less at once.", seconds=seconds))
        except HoldfastError as error:
            return _failed(tool, error)
        except Exception:
            log.exception("call %s: %s broke", call.id, tool.name)
            return _failed(tool, HoldfastError(f"{tool.name} broke; this is a fault of Holdfast, not of the call"))

    async def _close(
        self, call: ToolCall, tool: Tool | None, outcome: Outcome, profile: Profile, started: datetime, clock: float
    ) -> Outcome:
        seconds = time.perf_counter() - clock
        limits = profile.limits
        written = entry(call, tool, outcome, started=started, duration_ms=seconds * 1000, preview_bytes=limits.audit_preview_bytes)
        try:
            await self.recorder.record(written)
        except HoldfastError as error:
            log.error("call %s of %s has its outcome but could not be recorded: %s", call.id, call.name, error)
        self.announce(ToolFinished(call, outcome, seconds))
        return outcome


def _refused(tool: Tool | None, error: HoldfastError) -> Refused:
    return Refused(_problem(tool.dialect if tool else None, error), error)


def _failed(tool: Tool | None, error: HoldfastError) -> Failed:
    return Failed(_problem(tool.dialect if tool else None, error), error)


def _problem(dialect: Dialect | None, error: HoldfastError) -> Answer:
    """The error as the tool's dialect says it; an unknown tool has none."""
    if dialect is None:
        return Answer({"error": str(error), "code": error.code}, f"Error: {error}", is_error=True)
    return replace(bound(dialect.problem(error)), is_error=True)
