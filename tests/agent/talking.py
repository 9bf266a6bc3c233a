"""A session with a scripted model, and what is heard of it; everything but the model is real."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.agent.conversation import Conversation
from holdfast.app.agents import Agents
from holdfast.config.settings import Value
from holdfast.providers.choose import Providers
from holdfast.providers.settings import Patience, ProviderSettings, Retries
from holdfast.vocabulary.chat import ChatEvent
from holdfast.vocabulary.messages import ToolMessage
from holdfast.vocabulary.profile import SHIPPED, Profile
from holdfast.vocabulary.trust import Trust
from tests.desk import Desk, open_desk


class Talk:
    """A session, and all that was told of it and of its workspace."""

    def __init__(self, desk: Desk, agents: Agents, conversation: Conversation, profile: Profile) -> None:
        self.desk = desk
        self.agents = agents
        self.conversation = conversation
        self.profile = profile
        self.events: list[ChatEvent] = []
        self.news = asyncio.Event()
        conversation.watch(self._hear)
        agents.watch_workspace(self._hear)

    async def say(self, content: str = "go") -> str:
        return await self.agents.send(self.conversation.id, content, self.profile, model="scripted/test")

    def _hear(self, event: ChatEvent) -> None:
        self.events.append(event)
        self.news.set()

    async def until(self, kind: str, times: int = 1) -> Any:
        async with asyncio.timeout(20):
            while len(self.heard(kind)) < times:
                self.news.clear()
                await self.news.wait()
        return self.heard(kind)[-1]

    def heard(self, kind: str) -> list[Any]:
        return [event.payload for event in self.events if event.type == kind]

    @property
    def text(self) -> str:
        return "".join(told["content"] for told in self.heard("chat:text-delta"))

    @property
    def results(self) -> list[tuple[str, bool]]:
        return [(message.text, message.is_error) for message in self.conversation.messages if isinstance(message, ToolMessage)]

    async def row(self) -> Any:
        from holdfast.store import sessions

        held = self.agents.held
        return await sessions.get(self.desk.holdfast.platform.database, held.lease.workspace_id, self.conversation.id)

    async def logged(self, *, after: int = 0) -> list[tuple[int, str, Any]]:
        """What is on record of the session after a number, a page of it."""
        from holdfast.store import events

        found = await events.read(
            self.desk.holdfast.platform.database, self.agents.held.lease.workspace_id, self.conversation.id, after=after
        )
        return [(each.seq, each.type, each.payload) for each in found]


@asynccontextmanager
async def talk(
    folder: Path,
    *answers: object,
    trust: Trust = Trust.AUTONOMOUS,
    profile: str | Profile = "core",
    session: str | None = None,
    resume: str = "auto",
    goes_on: bool = True,
    **script: object,
) -> AsyncGenerator[Talk]:
    """An open workspace, and a session in it; each of the answers is a list of steps. What was left open there is gone on with."""
    scripts = folder / "scripts"
    scripts.mkdir(exist_ok=True)
    (scripts / "test.yaml").write_text(json.dumps({"turns": [{"answers": list(answers)}], **script}), encoding="utf-8")
    settings = ProviderSettings(scripts=scripts, patience=Patience(between_seconds=2), retries=Retries(first_seconds=0.01))
    async with open_desk(folder) as desk:
        platform = desk.holdfast.platform
        # As a server has it.
        platform.settings = replace(platform.settings, values={**platform.settings.values, "resume": Value(resume, "the test")})
        held = await platform.hold(desk.holdfast.workspace_id)
        agents = Agents(platform, held, Providers(settings))
        chosen = SHIPPED[profile] if isinstance(profile, str) else profile
        conversation = await (agents.conversation(session) if session else agents.create(chosen, trust=trust))
        it = Talk(desk, agents, conversation, chosen)
        if goes_on:
            await agents.open()
        try:
            yield it
        finally:
            await agents.close()


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait for something that only the database tells."""
    async with asyncio.timeout(20):
        while not await holds():  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.01)


def calls(tool: str, **arguments: object) -> dict[str, object]:
    return {"call": tool, "with": arguments}
