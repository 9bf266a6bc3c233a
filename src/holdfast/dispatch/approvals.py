"""Calls that wait for a person's yes. They are rows: they outlive the process, and any client can decide."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

from holdfast.store import approvals as rows
from holdfast.store.approvals import Approval, NewApproval
from holdfast.store.columns import now
from holdfast.store.database import Database
from holdfast.store.leases import Lease
from holdfast.tool.held import Held
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.errors import Busy, Conflict, Denied, InvalidArguments, NotFound
from holdfast.vocabulary.json import Json, JsonObject, dump
from holdfast.vocabulary.moments import iso

_LOOK_AGAIN_SECONDS = 1.0


class Approvals:
    """What the sessions of one workspace ask for. `is_watched` says whether somebody is there who could decide about a session.

    Only then a clock runs: what nobody sees stays pending.
    """

    def __init__(self, database: Database, lease: Lease, *, seconds: float, is_watched: Callable[[str], bool] = lambda _: False) -> None:
        self._database = database
        self._lease = lease
        self._seconds = seconds
        self.is_watched = is_watched
        self._waiting: dict[str, asyncio.Event] = {}
        self._has_left = False
        self.waits: Callable[[ToolCall], AbstractContextManager[None]] = lambda _: nullcontext()

    async def ask(
        self, call: ToolCall, reason: str, tell: Callable[[Approval], None], held: Held | None = None, *, foreseen: Json = None
    ) -> Approval:
        """Wait until somebody has said yes; `tell` hears of what is asked, and of its time running out.

        A call that was asked for before finds its answer. About effects, when they are `held`, no clock runs.

        Raises:
            Denied: Somebody said no, with what they said to it, or nobody decided in time.
            Busy: This process is about to end; the approval stays.
        """
        session = call.caller.session
        arguments = call.arguments if isinstance(call.arguments, str) else dump(call.arguments).decode()
        fingerprint = hashlib.sha256(f"{call.name}\0{arguments}".encode(errors="replace")).hexdigest()
        runs_out = held is None and self.is_watched(session)
        expires_at = now() + int(self._seconds * 1_000_000) if runs_out else None
        approval = await rows.ask(
            self._database,
            self._lease,
            NewApproval(
                session_id=session,
                call_id=call.id,
                tool=call.name,
                input=_parsed(call.arguments),
                args_hash=fingerprint,
                reason=reason,
                expires_at=expires_at,
                key=f"{session}/{call.id}/{held.effects_hash if held else fingerprint}",
                effects=held.effects if held else foreseen,
                effects_hash=held.effects_hash if held else None,
                keep_call=list(held.keep) if held else None,
                drop_call=list(held.drop) if held else None,
            ),
        )
        tell(approval)
        with self.waits(call):
            approved = await self._decided(approval, tell)
        if not await rows.use(self._database, self._lease, approved.id):
            raise Denied(f"the yes to {call.name} was for another call", hint="Ask again.")
        return approved

    async def decide(
        self,
        approval_id: str,
        *,
        approved: bool,
        by: str,
        feedback: str = "",
        changed: JsonObject | None = None,
        effects_hash: str | None = None,
        keep: Sequence[str] | None = None,
    ) -> Approval:
        """Take a person's decision. About effects it names the hash of those that were looked at, and the paths to `keep` if not all.

        Raises:
            NotFound: There is no such approval.
            Conflict: It has been decided, or its time has run out.
            InvalidArguments: A no cannot change the arguments, nor keep some of the effects; or there are no such effects.
        """
        if not approved and (changed is not None or keep is not None):
            name, instead = ("input", "other arguments") if changed is not None else ("keep", "those paths")
            raise InvalidArguments.of(name, "is given with a no", hint=f"Approve with {instead}, or say in words what is wrong.")
        if effects_hash is not None and changed is not None:
            raise InvalidArguments.of("input", "is given for a command that has run", hint="Keep its effects, some of them, or none.")
        if keep is not None:
            changed = {"paths": [*_listed(await self.get(approval_id), keep)]}
        state = "approved" if approved else "denied"
        decided = await rows.decide(
            self._database, self._lease, approval_id, state, by=by, feedback=feedback, changed=changed, effects_hash=effects_hash
        )
        if approval_id in self._waiting:
            self._waiting[approval_id].set()
        return decided

    async def get(self, approval_id: str) -> Approval:
        """One approval.

        Raises:
            NotFound: There is none with that id.
        """
        found = await rows.get(self._database, self._lease.workspace_id, approval_id)
        if found is None:
            raise NotFound("there is no such approval", hint="List the pending ones.", approval_id=approval_id)
        return found

    async def waiting(self, sessions: Collection[str], *, approval_id: str | None, call_id: str | None) -> Approval:
        """The one approval of these sessions that is pending under an id of its own, or of its call.

        Raises:
            InvalidArguments: Neither was said.
            NotFound: There is none.
            Conflict: There are several.
        """
        if approval_id is None and call_id is None:
            raise InvalidArguments.of("toolId", "is required", hint="Name the call, or the approval.")
        found = [
            each
            for each in await self.in_state()
            if each.session_id in sessions and approval_id in (None, each.id) and call_id in (None, each.call_id)
        ]
        if not found:
            raise NotFound("nothing like that waits for a yes in what you watch", hint="It may have been decided, or its time run out.")
        if len(found) > 1:
            raise Conflict("more than one call waits under that id", hint="Name the conversation, or the approval.")
        return found[0]

    async def in_state(self, state: str = rows.PENDING) -> list[Approval]:
        """The approvals that are in a state, the oldest first."""
        await rows.expire(self._database, self._lease)
        return await rows.in_state(self._database, self._lease.workspace_id, state)

    def leave(self) -> None:
        """Let nobody wait here any longer; what they wait for stays."""
        self._has_left = True
        for event in self._waiting.values():
            event.set()

    async def _decided(self, approval: Approval, tell: Callable[[Approval], None]) -> Approval:
        event = self._waiting.setdefault(approval.id, asyncio.Event())
        try:
            while True:
                found = await self.get(approval.id)
                match found.state:
                    case "approved":
                        return found
                    case "denied":
                        said = f": {found.feedback}" if found.feedback else ""
                        raise Denied(
                            f"the person said no to {found.tool}{said}", hint="Do not repeat it; do as they say.", by=found.decided_by
                        )
                    case "pending" if found.expires_at is None or found.expires_at > now():
                        pass
                    case _:
                        await rows.expire(self._database, self._lease)
                        tell(await self.get(approval.id))
                        raise Denied(f"nobody said yes to {found.tool} in time", hint="Go on without it, or ask again.")
                if self._has_left:
                    raise Busy("the approval is pending, and nobody waits for it here any more", hint="It can still be decided.")
                # Another process may have taken the decision, so look now and then.
                try:
                    await asyncio.wait_for(event.wait(), _LOOK_AGAIN_SECONDS)
                except TimeoutError:
                    continue
        finally:
            self._waiting.pop(approval.id, None)


def _listed(approval: Approval, paths: Sequence[str]) -> Sequence[str]:
    """The paths, if each of them is among the effects, or is a folder above some.

    Raises:
        InvalidArguments: They are not, or there are none.
    """
    effects = cast("Sequence[Mapping[str, Json]]", approval.effects if approval.effects_hash is not None else ())
    known = [f"{str(effect['path']).rstrip('/')}/" for effect in effects]
    unknown = [path for path in paths if not any(each.startswith(f"{path.rstrip('/')}/") for each in known)]
    if not known or not paths:
        why = "is given, and the approval is not about effects" if not known else "names nothing"
        raise InvalidArguments.of("keep", why, hint="Leave it out to keep all, or say no to drop all.")
    if unknown:
        shown = ", ".join(path[:200] for path in unknown[:5])
        raise InvalidArguments.of("keep", f"there are no effects at {shown}", hint="Name paths as they are listed.")
    return paths


def _parsed(arguments: JsonObject | str) -> Json:
    """The arguments as a person is shown them; what could not be parsed was refused before anybody is asked."""
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def shown_approval(approval: Approval) -> dict[str, Any]:
    """An approval as clients see it."""
    return {
        "id": approval.id,
        "session_id": approval.session_id,
        "call_id": approval.call_id,
        "tool": approval.tool,
        "input": approval.input,
        "reason": approval.reason,
        "effects": approval.effects,
        "effects_hash": approval.effects_hash,
        "state": approval.state,
        "feedback": approval.feedback,
        "decided_by": approval.decided_by,
        "created_at": iso(approval.created_at),
        "expires_at": None if approval.expires_at is None else iso(approval.expires_at),
    }
