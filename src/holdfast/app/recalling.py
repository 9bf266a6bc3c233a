"""What became of the calls of a turn that an earlier process left, and what they still wait for."""

from dataclasses import dataclass
from typing import Any, cast

from holdfast.agent.conversation import Conversation
from holdfast.agent.recall import Recalled, Undecided, recall
from holdfast.store import approvals, turns
from holdfast.store.approvals import Approval
from holdfast.store.database import Database
from holdfast.tool.held import Held as HeldEffects
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.messages import CallBlock
from holdfast.vocabulary.outcome import Done
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.trust import Trust

from .held import Held

_LOST = "The command ran to its end before the program did; what it printed was lost."
_DROPPED = "The command ran, and what it changed was dropped: nothing in the project has changed."


@dataclass(frozen=True)
class Recalling:
    """The calls of one session, as the records have them."""

    database: Database
    held: Held
    conversation: Conversation
    profile: Profile | None

    async def look_up(self, block: CallBlock) -> Recalled | None:
        """What came of a call; None when it has not run. What waits for a decision that will not come is dropped."""
        found = await self._found(block)
        if not isinstance(found, Undecided):
            return found
        caller = Caller(session=self.conversation.id)
        await self.held.road.take_for_person(ToolCall(block.id, block.name, {}, caller), ("drop", {"effects_id": found.layer_id}))
        return Recalled(_DROPPED, is_error=True)

    async def recall(self, call: ToolCall, block: CallBlock) -> Recalled | None:
        """The same; but what waits for a decision waits for it again, and what was said yes to and has not run still has its yes."""
        found = await self._found(block)
        asked = await self._asked(block)
        if isinstance(found, Recalled):
            is_dropped = found.is_error and any(each.effects_hash is not None and each.state == "denied" for each in asked)
            return Recalled(_DROPPED, is_error=True) if is_dropped else found
        if found is None:
            for approval in asked:
                await self._give_back(approval, approval.args_hash)
            return None
        about = next((each for each in reversed(asked) if each.effects_hash is not None), None)
        if about is not None:
            await self._give_back(about, str(about.effects_hash))
        return await self._decided(call, found, about)

    async def _found(self, block: CallBlock) -> Recalled | Undecided | None:
        told = self.conversation.results.get(block.id)
        return await recall(self.database, self.held.lease.workspace_id, self.conversation.id, block, told)

    async def _asked(self, block: CallBlock) -> list[Approval]:
        workspace_id = self.held.lease.workspace_id
        ids = await turns.asked_in_call(self.database, workspace_id, self.conversation.id, block.id)
        found = [await approvals.get(self.database, workspace_id, each) for each in ids]
        return [each for each in found if each is not None]

    async def _give_back(self, approval: Approval, about: str) -> None:
        if approval.state == "approved" and approval.key is None:
            key = f"{approval.session_id}/{approval.call_id}/{about}"
            await turns.give_back(self.database, self.held.lease, approval.id, key)

    async def _decided(self, call: ToolCall, found: Undecided, about: Approval | None) -> Recalled:
        held = _as_asked(about) if about is not None else await self._as_found(call, found)
        if held is None:
            return Recalled(f"{_LOST} What it changed can no longer be kept.", is_error=True)
        if about is None and call.trust is Trust.AUTONOMOUS:
            kept = await self.held.road.take_for_person(call, held.keep)
            return Recalled(f"{_LOST} What it changed was kept.") if isinstance(kept, Done) else Recalled(kept.answer.text, is_error=True)
        try:
            reason = about.reason if about is not None else "the command has changed something"
            return Recalled(str(await self.held.road.decide_held(call, held, reason)))
        except HoldfastError as error:
            return Recalled(f"{_LOST} {error}", is_error=True)

    async def _as_found(self, call: ToolCall, found: Undecided) -> HeldEffects | None:
        """The effects of a command that nobody was asked about yet."""
        which: dict[str, Json] = {"effects_id": found.layer_id}
        seen = await self.held.road.take_for_person(call, ("effects", which))
        if not isinstance(seen, Done):
            return None
        body = cast("dict[str, Any]", seen.answer.body)
        told: dict[str, Any] = body["result"] if isinstance(body.get("result"), dict) else body
        keep = {**which, "effects_hash": told["effects_hash"]}
        return HeldEffects(told["effects"], told["effects_hash"], ("keep", keep), ("drop", which), _told)


def _as_asked(approval: Approval) -> HeldEffects:
    keep, drop = cast("list[Any]", approval.keep_call), cast("list[Any]", approval.drop_call)
    return HeldEffects(approval.effects, str(approval.effects_hash), (keep[0], keep[1]), (drop[0], drop[1]), _told)


def _told(_: str, note: str) -> str:
    return f"{_LOST} [{note}]"
