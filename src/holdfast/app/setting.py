"""How a session is set, answer by answer: it may be set anew while a turn runs, by a person or by the model's leaving plan mode."""

from dataclasses import dataclass, field

from holdfast.agent.conversation import Conversation
from holdfast.agent.loop import Setting
from holdfast.agent.prompts import system_prompt
from holdfast.store import sessions
from holdfast.tool.definition import neutral
from holdfast.tool.tool import Danger, Tool
from holdfast.vocabulary.access import Want
from holdfast.vocabulary.errors import HoldfastError, NotFound
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.trust import Trust
from holdfast.workspace.read import read
from holdfast.workspace.resolve import resolve

from .held import Held
from .platform import Platform

_NOTES = "AGENTS.md"
_MAX_NOTES_BYTES = 32 * 1024


@dataclass
class SessionSetting:
    """What one turn's model is told and given. What does not depend on the mode is found out once."""

    platform: Platform
    held: Held
    conversation: Conversation
    profile: Profile
    offers_tools: bool
    _by_mode: dict[Mode, Setting] = field(default_factory=dict[Mode, Setting])

    async def now(self) -> Setting:
        """The setting as it is; a mode that is new is told to those who watch.

        Raises:
            NotFound: The session is gone.
        """
        found = await sessions.how_set(self.platform.database, self.held.lease.workspace_id, self.conversation.id)
        if found is None:
            raise NotFound("Session not found", hint="It was deleted.", session=self.conversation.id)
        mode, trust = Mode(found[0]), Trust(found[1])
        await tell_mode(self.conversation, mode)
        setting = self._by_mode.get(mode)
        if setting is None or setting.trust is not trust:
            setting = self._by_mode[mode] = await self._made(mode, trust)
        return setting

    async def _made(self, mode: Mode, trust: Trust) -> Setting:
        tools = [tool for tool in await self.platform.tools(self.held.lease.workspace_id, self.profile) if _is_seen(tool, mode)]
        return Setting(
            system_prompt(self.profile, mode, await project_notes(self.held)),
            tuple(neutral(tool) for tool in tools) if self.offers_tools else (),
            frozenset(tool.name for tool in tools if tool.danger is Danger.SAFE),
            trust,
        )


async def tell_mode(conversation: Conversation, mode: Mode) -> None:
    """Put a mode that is new on record, and tell it."""
    before, conversation.mode = conversation.mode, mode.value
    if before and before != mode.value:
        await conversation.record("chat:mode", {"mode": mode.value})


async def project_notes(held: Held) -> str:
    """What the project says of itself for agents, if it does."""
    try:
        place = await resolve(held.mounts.named["project"], _NOTES, written=_NOTES)
        return (await read(place, max_bytes=_MAX_NOTES_BYTES)).text
    except HoldfastError:
        return ""


def _is_seen(tool: Tool, mode: Mode) -> bool:
    """In plan mode a model sees what looks, asks and writes plans."""
    if mode is not Mode.PLAN or tool.declaration.writes_plans is not None:
        return True
    asks = [parameter.asks for parameter in tool.parameters if parameter.asks is not None]
    return tool.danger is Danger.SAFE and all(each.want is not Want.WRITE for each in asks)
