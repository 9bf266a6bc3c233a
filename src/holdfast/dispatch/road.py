"""The road: find, bind, decide, run, bound, record, announce. Every call takes it, whatever door it came through."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from holdfast.policy.decide import Circumstances, Rules, decide, objection_to_item, permitted_files
from holdfast.tool.bind import Bound, bind, parse
from holdfast.tool.context import Person, Surroundings
from holdfast.tool.dialect import Dialect
from holdfast.tool.registry import Registry
from holdfast.tool.tool import Category, Tool
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.decision import Allow, Ask, Deny
from holdfast.vocabulary.errors import Cancelled, HoldfastError, NotPermitted, TimedOut, Unjudgeable, UnknownTool
from holdfast.vocabulary.events import Event, ToolFinished, ToolOutput, ToolStarted
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.outcome import Answer, Done, Failed, Outcome, Refused
from holdfast.vocabulary.profile import Profile

from .audit import AuditEntry, Recorder, entry, given_to, now
from .bound import bound

log = logging.getLogger(__name__)

# Of what these do, not all can be taken from the files afterwards.
_INTENDED = (Category.EXEC, Category.MCP)


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
        tool = self._looked_up(call.name)
        given = given_to(call, tool, profile.limits.audit_preview_bytes)
        journey = _Journey(call, tool, profile, given, self.recorder.author(call, given), now(), time.perf_counter())
        try:
            outcome = await self._outcome(journey)
        except asyncio.CancelledError:
            outcome = _failed(tool, Cancelled("the call was cancelled", hint="Nothing more will happen; call again if you still want it."))
            await self._close(journey, outcome)
            raise
        return await self._close(journey, outcome)

    async def _outcome(self, journey: "_Journey") -> Outcome:
        call, tool = journey.call, journey.tool
        try:
            tool = self._found(call, tool, journey.profile)
            arguments = await bind(tool, parse(call.arguments), self.surroundings.mounts_of(call))
            mode = await self.surroundings.person.mode(call.caller.session)
            allowed = self._decided(journey, tool, arguments, mode)
            await self._prepared(journey, tool)
        except HoldfastError as error:
            return _refused(tool, error)
        except Exception:
            log.exception("call %s of %s could not be judged", call.id, call.name)
            return _refused(tool, Unjudgeable("the call could not be judged, so it was not run", hint="Try again later."))
        self._tell(ToolStarted(call))
        return await self._run(journey, tool, arguments, allowed, mode)

    def _looked_up(self, name: str) -> Tool | None:
        try:
            return self.registry.get(name)
        except Exception:
            # A tool whose file cannot be imported is not there; the others are.
            log.exception("the tool %s cannot be loaded", name)
            return None

    def _found(self, call: ToolCall, tool: Tool | None, profile: Profile) -> Tool:
        if tool is None or (profile.toolsets and tool.toolset not in profile.toolsets):
            known = ", ".join(self.registry.names(profile.scope, toolsets=profile.toolsets or None))
            raise UnknownTool(f"Unknown tool: {call.name[:100]}", hint=f"The tools are: {known}.", tool=call.name[:100])
        return tool

    def _decided(self, journey: "_Journey", tool: Tool, arguments: Bound, mode: Mode) -> Allow:
        writes_plans = tool.declaration.writes_plans
        circumstances = Circumstances(
            tool.dialect.reads_protected,
            mode,
            writes_plan=writes_plans is not None and writes_plans(arguments.arguments),
            is_dangerous=tool.is_dangerous_with(arguments.arguments),
            may_endanger=journey.profile.dangerous,
        )
        lists = {parameter.wire_name for parameter in tool.parameters if parameter.is_list}
        single = [access for access in arguments.accesses if access.argument not in lists]
        decision = decide(tool.name, single, journey.profile.scope, self.rules, circumstances)
        if isinstance(decision, Deny):
            raise decision.error
        # Until somebody can be asked, a call that needs a yes does not get one.
        if isinstance(decision, Ask):
            raise NotPermitted(f"{tool.name} needs a person's yes: {decision.reason}", hint="There is nobody to ask here.")
        self._judge_items(journey, tool, arguments, circumstances)
        return decision

    def _judge_items(self, journey: "_Journey", tool: Tool, arguments: Bound, circumstances: Circumstances) -> None:
        """Put the error in the place of each item of a list that may not be touched."""
        for parameter in tool.parameters:
            if not parameter.is_list or parameter.asks is None:
                continue
            accesses = iter([access for access in arguments.accesses if access.argument == parameter.wire_name])
            items = cast("list[object]", arguments.arguments[parameter.name] or [])
            for position, item in enumerate(items):
                if isinstance(item, HoldfastError):
                    continue
                access = next(accesses)
                error = objection_to_item(access, tool.name, journey.profile.scope, self.rules, circumstances)
                if error is not None:
                    error.facts["written"] = access.written
                    items[position] = error

    async def _prepared(self, journey: "_Journey", tool: Tool) -> None:
        """Make sure that what happens will be on record; what cannot be taken from the files afterwards is put there before."""
        try:
            await self.recorder.prepare(journey.call)
            if tool.category in _INTENDED:
                await self.recorder.intend(journey.author)
        except HoldfastError as error:
            raise Unjudgeable(f"the call cannot be recorded, so it was not run: {error.message}", hint=error.hint) from error

    async def _run(self, journey: "_Journey", tool: Tool, arguments: Bound, allowed: Allow, mode: Mode) -> Outcome:
        call, profile = journey.call, journey.profile
        declared = tool.declaration
        seconds = allowed.seconds or declared.seconds or profile.limits.tool_seconds
        unseen = None if tool.dialect.reads_protected else self.rules.protected
        untouchable = None if self.rules.writes_protected else self.rules.protected
        permitted = permitted_files(tool.name, profile.scope)
        clock = asyncio.timeout(None if declared.keeps_time else seconds)
        context = self.surroundings.context(
            call,
            profile,
            _Patient(self.surroundings.person, clock),
            self._shower(call),
            unseen=unseen,
            permitted=permitted,
            untouchable=untouchable,
            author=journey.author,
            mode=mode,
            seconds=(seconds, allowed.seconds or profile.limits.command_seconds),
        )
        try:
            async with clock:
                value = await declared.function(context, **arguments.arguments)
            return Done(bound(tool.dialect.answer(value)))
        except HoldfastError as error:
            return _failed(tool, error)
        except Exception as error:
            # A tool may meet the time-out of something else, such as a disk in the network.
            if isinstance(error, TimeoutError) and clock.expired():
                return _failed(tool, TimedOut(f"{tool.name} timed out after {seconds:g} s", hint="Ask for less at once.", seconds=seconds))
            log.exception("call %s: %s broke", call.id, tool.name)
            return _failed(tool, HoldfastError(f"{tool.name} broke; this is a fault of Holdfast, not of the call"))

    def _shower(self, call: ToolCall) -> Callable[[str], None]:
        return lambda chunk: self._tell(ToolOutput(call, chunk))

    def _tell(self, event: Event) -> None:
        """Announce an event; whoever listens badly does not stop the call."""
        try:
            self.announce(event)
        except Exception:
            log.exception("an event could not be announced")

    async def _close(self, journey: "_Journey", outcome: Outcome) -> Outcome:
        call, seconds = journey.call, time.perf_counter() - journey.clock
        preview_bytes = journey.profile.limits.audit_preview_bytes
        written = entry(call, journey.given, outcome, started=journey.started, duration_ms=seconds * 1000, preview_bytes=preview_bytes)
        recorded = self._recorded(written, journey)
        # Whatever becomes of the caller, the record is made, and then told of.
        recorded.add_done_callback(lambda done: self._told_when(done, ToolFinished(call, outcome, seconds)))
        await asyncio.wait({recorded})
        return outcome

    def _recorded(self, written: AuditEntry, journey: "_Journey") -> asyncio.Future[object]:
        try:
            return asyncio.ensure_future(self.recorder.record(written, journey.author))
        except Exception as error:  # noqa: BLE001 - it is told with the others
            failed = asyncio.get_running_loop().create_future()
            failed.set_exception(error)
            return failed

    def _told_when(self, recorded: asyncio.Future[object], finished: ToolFinished) -> None:
        problem = asyncio.CancelledError() if recorded.cancelled() else recorded.exception()
        if problem is not None:
            call = finished.call
            log.error("call %s of %s has its outcome but could not be recorded", call.id, call.name, exc_info=problem)
        self._tell(finished)


@dataclass(frozen=True)
class _Journey:
    """One call on its way."""

    call: ToolCall
    tool: Tool | None
    profile: Profile
    given: Json
    author: object
    started: datetime
    clock: float


@dataclass(frozen=True)
class _Patient:
    """The person, for whom the call's clock stands still while they think."""

    person: Person
    clock: asyncio.Timeout

    async def mode(self, session: str) -> Mode:
        return await self.person.mode(session)

    async def ask(self, call: ToolCall, questions: Sequence[JsonObject]) -> Json:
        loop = asyncio.get_running_loop()
        ends = self.clock.when()
        left = None if ends is None else ends - loop.time()
        self.clock.reschedule(None)
        try:
            return await self.person.ask(call, questions)
        finally:
            self.clock.reschedule(None if left is None else loop.time() + left)

    async def accept_plan(self, call: ToolCall, plan: str) -> None:
        await self.person.accept_plan(call, plan)


def _refused(tool: Tool | None, error: HoldfastError) -> Refused:
    return Refused(_problem(tool.dialect if tool else None, error), error)


def _failed(tool: Tool | None, error: HoldfastError) -> Failed:
    return Failed(_problem(tool.dialect if tool else None, error), error)


def _problem(dialect: Dialect | None, error: HoldfastError) -> Answer:
    """The error as the tool's dialect says it; an unknown tool has none."""
    if dialect is None:
        return Answer({"error": str(error), "code": error.code}, f"Error: {error}", is_error=True)
    return replace(bound(dialect.problem(error)), is_error=True)
