"""The road: find, bind, decide, run, bound, record, announce. Every call takes it, whatever door it came through."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from holdfast.policy.decide import Asking, Circumstances, Rules, decide, objection_to_item, permitted_files
from holdfast.policy.trust import ToolFacts
from holdfast.store.approvals import PENDING, Approval
from holdfast.tool.bind import Bound, bind, parse
from holdfast.tool.context import Context, Person, Surroundings
from holdfast.tool.dialect import Dialect
from holdfast.tool.foresee import can_foresee, foresee
from holdfast.tool.held import Held
from holdfast.tool.registry import Registry
from holdfast.tool.tool import Category, Tool
from holdfast.vocabulary.access import Want
from holdfast.vocabulary.call import ToolCall, Wish
from holdfast.vocabulary.decision import Allow, Ask, Deny
from holdfast.vocabulary.errors import Cancelled, Denied, HoldfastError, NotPermitted, TimedOut, Unjudgeable, UnknownTool
from holdfast.vocabulary.events import ApprovalAsked, ApprovalExpired, Event, ToolFinished, ToolOutput, ToolStarted
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.outcome import Answer, Done, Failed, Outcome, Refused
from holdfast.vocabulary.profile import Profile

from .approvals import Approvals, shown_approval
from .audit import AuditEntry, Recorder, entry, given_to, now
from .bound import bound

log = logging.getLogger(__name__)

# Who decided has been asked already.
_DECIDER = Profile("decider", ())

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
    approvals: Approvals | None = None

    async def take(self, call: ToolCall, profile: Profile) -> Outcome:
        """Bring a call to its outcome, and wait until that is on record. Exactly one entry is recorded, whatever happens.

        Raises:
            asyncio.CancelledError: The caller withdrew; that is recorded too.
        """
        outcome, recorded = await self.outcome_of(call, profile)
        await asyncio.wait({recorded})
        return outcome

    async def outcome_of(self, call: ToolCall, profile: Profile) -> tuple[Outcome, asyncio.Future[object]]:
        """The same for those who put more on record and wait for that: the record of the call comes before it.

        Raises:
            asyncio.CancelledError: The caller withdrew; that is on record.
        """
        tool = self._looked_up(call.name)
        given = given_to(call, tool, profile.limits.audit_preview_bytes)
        journey = _Journey(call, tool, profile, given, self.recorder.author(call, given), now(), time.perf_counter())
        try:
            outcome = await self._outcome(journey)
        except asyncio.CancelledError:
            outcome = _failed(tool, Cancelled("the call was cancelled", hint="Nothing more will happen; call again if you still want it."))
            await asyncio.wait({self._close(journey, outcome)})
            raise
        return outcome, self._close(journey, outcome)

    async def _outcome(self, journey: "_Journey") -> Outcome:
        call, tool = journey.call, journey.tool
        try:
            tool = self._found(call, tool, journey.profile)
            arguments = await bind(tool, parse(call.arguments), self.surroundings.mounts_of(call))
            mode = await self.surroundings.person.mode(call.caller.session)
            decision = self._decided(journey, tool, arguments, mode, await self._channel_out(call, tool))
            if isinstance(decision, Ask):
                journey, arguments = await self._approved(journey, tool, arguments, decision, mode)
                # The session may have been set to planning while somebody thought. Whether it is asked for again does not matter.
                mode = await self.surroundings.person.mode(call.caller.session)
                self._decided(journey, tool, arguments, mode)
            await self._prepared(journey, tool)
        except HoldfastError as error:
            return _refused(tool, error)
        except Exception:
            log.exception("call %s of %s could not be judged", call.id, call.name)
            return _refused(tool, Unjudgeable("the call could not be judged, so it was not run", hint="Try again later."))
        self._tell(ToolStarted(call))
        return await self._run(journey, tool, arguments, decision, mode)

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

    async def _channel_out(self, call: ToolCall, tool: Tool) -> str:
        """How something could leave a command's sandbox before a person has said yes; "" when nothing can, or nobody is asked."""
        commands = self.surroundings.commands
        if call.trust is None or tool.category is not Category.EXEC or commands is None:
            return ""
        return "" if (await commands.sandbox()).tier else "there is none here"

    def _decided(self, journey: "_Journey", tool: Tool, arguments: Bound, mode: Mode, channel_out: str = "") -> Allow | Ask:
        writes_plans = tool.declaration.writes_plans
        circumstances = Circumstances(
            tool.dialect.reads_protected,
            mode,
            writes_plan=writes_plans is not None and writes_plans(arguments.arguments),
            changes_unnamed=tool.declaration.changes_unnamed,
            is_dangerous=tool.is_dangerous_with(arguments.arguments),
            may_endanger=journey.profile.dangerous,
            asking=_asking(journey, tool, arguments, channel_out),
        )
        lists = {parameter.wire_name for parameter in tool.parameters if parameter.is_list}
        single = [access for access in arguments.accesses if access.argument not in lists]
        decision = decide(tool.name, single, journey.profile.scope, self.rules, circumstances)
        if isinstance(decision, Deny):
            raise decision.error
        self._judge_items(journey, tool, arguments, circumstances)
        return decision

    async def _approved(self, journey: "_Journey", tool: Tool, arguments: Bound, question: Ask, mode: Mode) -> tuple["_Journey", Bound]:
        """The call as somebody has said yes to it, with other arguments if they gave some, which are still to be judged.

        Raises:
            Denied: Nobody did.
        """
        if self.approvals is None:
            raise NotPermitted(f"{tool.name} needs a person's yes: {question.reason}", hint="There is nobody to ask here.")
        call = journey.call
        foreseen = await self._foreseen(journey, tool, arguments, mode)
        approval = await self.approvals.ask(call, question.reason, self._asked_about(call), foreseen=foreseen)
        if approval.changed is None:
            return journey, arguments
        changed = replace(call, arguments=cast("JsonObject", approval.changed))
        # It stays one call with one record, and the approval tells what was changed.
        journey = replace(journey, call=changed)
        return journey, await bind(tool, parse(changed.arguments), self.surroundings.mounts_of(changed))

    async def _foreseen(self, journey: "_Journey", tool: Tool, arguments: Bound, mode: Mode) -> Json:
        """What a call would change if it ran now, for whoever is asked; None when nobody can tell."""
        if not can_foresee(tool, arguments):
            return None
        return await foresee(tool, self._context(journey, tool, self.surroundings.person, mode, foresees=True), arguments)

    async def decide_held(self, call: ToolCall, held: Held, reason: str) -> object:
        """What the tool answers once a person has decided about its effects, and that has been done.

        The deciding is a call of its own, on this same road.
        """
        assert self.approvals is not None, "effects are held for somebody who can be asked"
        note, state = "the person kept the effects", "kept"
        wanted = held.keep
        try:
            approval = await self.approvals.ask(call, reason, self._asked_about(call), held)
            if approval.changed is not None:
                some = cast("JsonObject", approval.changed)
                note = f"the person kept only these, and dropped the rest: {', '.join(map(str, cast('list[Json]', some['paths'])))}"
                wanted = (held.keep[0], {**held.keep[1], **some})
        except Denied as error:
            note, state, wanted = f"{error.message}; nothing in the project has changed", "dropped", held.drop
        except asyncio.CancelledError:
            await asyncio.shield(self.take_for_person(call, held.drop))
            raise
        decided = await self.take_for_person(call, wanted)
        if not isinstance(decided, Done):
            raise decided.error
        return held.told(state, note)

    def _asked_about(self, call: ToolCall) -> Callable[[Approval], None]:
        def tell(approval: Approval) -> None:
            shown = shown_approval(approval)
            self._tell(ApprovalAsked(call, shown) if approval.state == PENDING else ApprovalExpired(call, shown))

        return tell

    async def take_for_person(self, call: ToolCall, wanted: tuple[str, JsonObject]) -> Outcome:
        """Bring to its outcome what a person does about a call."""
        name, arguments = wanted
        # It is the person's call, made in the same place.
        caller = replace(call.caller, agent="")
        return await self.take(ToolCall(f"{call.id}-{name}", name, arguments, caller), _DECIDER)

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

    async def _run(self, journey: "_Journey", tool: Tool, arguments: Bound, allowed: Allow | Ask, mode: Mode) -> Outcome:
        call, profile = journey.call, journey.profile
        about_effects = allowed.about_effects if isinstance(allowed, Allow) and call.effects is Wish.KEEP else ""
        if about_effects:
            call = replace(call, effects=Wish.HOLD)
        declared = tool.declaration
        seconds = allowed.seconds or declared.seconds or profile.limits.tool_seconds
        clock = asyncio.timeout(None if declared.keeps_time else seconds)
        person = _Patient(self.surroundings.person, clock)
        most = allowed.seconds or profile.limits.command_seconds
        journey = replace(journey, call=call)
        context = self._context(journey, tool, person, mode, seconds=(seconds, most), decides_effects=bool(about_effects))
        try:
            async with clock:
                value = await declared.function(context, **arguments.arguments)
            if isinstance(value, Held):
                value = await self.decide_held(call, value, about_effects)
            return Done(bound(tool.dialect.answer(value)))
        except HoldfastError as error:
            return _failed(tool, error)
        except Exception as error:
            # A tool may meet the time-out of something else, such as a disk in the network.
            if isinstance(error, TimeoutError) and clock.expired():
                return _failed(tool, TimedOut(f"{tool.name} timed out after {seconds:g} s", hint="Ask for less at once.", seconds=seconds))
            log.exception("call %s: %s broke", call.id, tool.name)
            return _failed(tool, HoldfastError(f"{tool.name} broke; this is a fault of Holdfast, not of the call"))

    def _context(
        self,
        journey: "_Journey",
        tool: Tool,
        person: Person,
        mode: Mode,
        *,
        seconds: tuple[float, float] = (0.0, 0.0),
        decides_effects: bool = False,
        foresees: bool = False,
    ) -> Context:
        return self.surroundings.context(
            journey.call,
            journey.profile,
            person,
            self._shower(journey.call),
            unseen=None if tool.dialect.reads_protected else self.rules.protected,
            permitted=permitted_files(tool.name, journey.profile.scope),
            untouchable=None if self.rules.writes_protected else self.rules.protected,
            author=journey.author,
            mode=mode,
            seconds=seconds,
            decides_effects=decides_effects,
            foresees=foresees,
        )

    def _shower(self, call: ToolCall) -> Callable[[str], None]:
        return lambda chunk: self._tell(ToolOutput(call, chunk))

    def _tell(self, event: Event) -> None:
        """Announce an event; whoever listens badly does not stop the call."""
        try:
            self.announce(event)
        except Exception:
            log.exception("an event could not be announced")

    def _close(self, journey: "_Journey", outcome: Outcome) -> asyncio.Future[object]:
        call, seconds = journey.call, time.perf_counter() - journey.clock
        preview_bytes = journey.profile.limits.audit_preview_bytes
        written = entry(call, journey.given, outcome, started=journey.started, duration_ms=seconds * 1000, preview_bytes=preview_bytes)
        recorded = self._recorded(written, journey)
        # Whatever becomes of the caller, the record is made, and then told of.
        recorded.add_done_callback(lambda done: self._told_when(done, ToolFinished(call, outcome, seconds)))
        return recorded

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


def _asking(journey: "_Journey", tool: Tool, arguments: Bound, channel_out: str) -> Asking | None:
    """What matters for asking somebody about the call; None when nobody is asked."""
    trust = journey.call.trust
    if trust is None:
        return None
    facts = ToolFacts(
        tool.name,
        is_dangerous=tool.is_dangerous_with(arguments.arguments),
        changes_files=any(access.want is Want.WRITE for access in arguments.accesses),
        is_command=tool.category is Category.EXEC,
        is_remote=tool.category is Category.MCP,
        channel_out=channel_out,
    )
    return Asking(facts, trust, journey.profile.ask)


def _refused(tool: Tool | None, error: HoldfastError) -> Refused:
    return Refused(_problem(tool.dialect if tool else None, error), error)


def _failed(tool: Tool | None, error: HoldfastError) -> Failed:
    return Failed(_problem(tool.dialect if tool else None, error), error)


def _problem(dialect: Dialect | None, error: HoldfastError) -> Answer:
    """The error as the tool's dialect says it; an unknown tool has none."""
    if dialect is None:
        return Answer({"error": str(error), "code": error.code}, f"Error: {error}", is_error=True)
    return replace(bound(dialect.problem(error)), is_error=True)
