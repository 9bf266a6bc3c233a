"""Many sessions that stream at once on one process, over real sockets: no event is lost, doubled or out of order.

Every model speaks, puts a question, and speaks on when it is answered. No question is answered before all have been put, so that for
a while all turns are under way. One client reads nothing, which slows nobody.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.promises import carries
from tests.served import Served

WHOLE, SHARE = 200, 6
MOST_SECONDS = 300  # a wait that should not be is a failure, not a test without end
WORDS = 60
FLOOD = "0123456789" * 50_000
FLOODS = 40
ASKED = {"name": "go", "question": "Go on?", "schema": {"type": "string"}}


def words(first: int) -> list[object]:
    steps: list[object] = []
    for number in range(first, first + WORDS):
        steps += [{"say": f"{number} "}, *([{"delay": 0.002}] if number % 5 == 0 else [])]
    return steps


TEXT = "".join(f"{number} " for number in range(2 * WORDS))
SCRIPT = {
    "turns": [
        {
            "when": {"user": "stream"},
            "answers": [[*words(0), {"call": "ask_user", "with": {"questions": [ASKED]}}], words(WORDS)],
        },
        {"when": {"user": "0123456789"}, "answers": [[step for _ in range(FLOODS) for step in ({"say": "{{user}}"}, {"delay": 0.002})]]},
    ]
}


class Client:
    """One who watches a conversation, and all that they have heard."""

    def __init__(self, connection: ClientConnection, conversation: str) -> None:
        self._connection = connection
        self.conversation = conversation
        self.heard: list[dict[str, Any]] = []

    async def say(self, kind: str, **payload: object) -> None:
        await self._connection.send(json.dumps({"type": kind, "payload": {"conversationId": self.conversation, **payload}}))

    async def until(self, kind: str) -> dict[str, Any]:
        while not self.heard or self.heard[-1]["type"] != kind:
            self.heard.append(json.loads(await self._connection.recv()))
            is_fine = self.heard[-1]["type"] != "chat:error" or self.heard[-1]["payload"]["code"] == "resync"
            assert is_fine, self.heard[-1]
        return self.heard[-1]["payload"]

    @property
    def text(self) -> str:
        return "".join(frame["payload"]["content"] for frame in self.heard if frame["type"] == "chat:text-delta")

    @property
    def numbers(self) -> list[int]:
        """The numbers of what is on record, without answers that were told whole: in their place others had pieces."""
        return [frame["seq"] for frame in self.heard if "seq" in frame and not frame["type"].endswith("-delta")]


@asynccontextmanager
async def client(served: Served, conversation: str) -> AsyncGenerator[Client]:
    url = f"{served.base.replace('http', 'ws', 1)}/ws/chat?workspace={served.workspace_id}"
    head = {"Authorization": f"Bearer {served.told['token']}"}
    # Whoever does not read has four frames taken for them, and no more.
    async with connect(url, additional_headers=head, max_size=None, max_queue=4, open_timeout=MOST_SECONDS, proxy=None) as connection:
        yield Client(connection, conversation)


class Crowd:
    """So many sessions, each with one who began it and answers its question when all have been asked."""

    def __init__(self, served: Served, count: int) -> None:
        self.served = served
        self._rest = served.client()
        self.count = count
        self.name = f"many-{uuid4()}"
        self.asked = 0
        self.all_asked = asyncio.Event()

    async def began(self, number: int) -> Client:
        async with client(self.served, f"{self.name}-{number}") as it:
            await it.say("chat:send", content="stream", model="scripted/many")
            question = await it.until("chat:question")
            self.asked += 1
            if self.asked == self.count:
                self.all_asked.set()
            await self.all_asked.wait()
            await it.say("chat:answer", questionId=question["questionId"], answers={"go": "yes"})
            await it.until("chat:stream-end")
            return it

    async def watched(self, number: int, after: int) -> Client:
        """One who comes later, and has seen what was told up to a number."""
        await self.all_asked.wait()
        async with client(self.served, f"{self.name}-{number}") as it:
            await it.say("chat:resume", after=after)
            await it.until("chat:stream-end")
            return it

    async def ended(self, number: int | str) -> str:
        """How a turn has ended, once it has, whoever watches."""
        while True:
            last = self.on_record(number)[-1]
            if last["type"] == "chat:stream-end":
                return last["payload"]["reason"]
            await asyncio.sleep(0.05)

    def on_record(self, number: int | str) -> list[dict[str, Any]]:
        address = f"/api/v1/workspaces/{self.served.workspace_id}/sessions/{self.name}-{number}/events"
        events: list[dict[str, Any]] = []
        while page := self._rest.get(address, params={"after": len(events), "limit": 1000}).json():
            events += page
        return events


@carries("SESSION-3", "SESSION-5", "CHAT-11")
@pytest.mark.parametrize("count", [SHARE, pytest.param(WHOLE, marks=pytest.mark.long)])
async def test_of_many_sessions_that_stream_at_once_no_event_is_lost_doubled_or_out_of_order(talking: Served, count: int) -> None:
    (talking.home / "scripts" / "many.yaml").write_text(json.dumps(SCRIPT), encoding="utf-8")
    crowd = Crowd(talking, count)
    some = range(0, count, 10)
    flood = f"{crowd.name}-flood"

    async with asyncio.timeout(MOST_SECONDS), client(talking, flood) as slow:
        # The slow one is told of the flood, and reads nothing of it.
        await slow.say("chat:send", content=FLOOD, model="scripted/many")
        await slow.until("chat:stream-start")
        watchers = [crowd.watched(number, after) for number in some for after in (0, 2)]
        clients = await asyncio.gather(*(crowd.began(number) for number in range(count)), *watchers)
        reason = await crowd.ended("flood")
        with pytest.raises(ConnectionClosed):
            await slow.until("chat:stream-end")

    # So much was said that no tools fitted beside it.
    assert (reason, crowd.asked) == ("budget", count)
    assert [it.conversation for it in clients if it.text != TEXT] == []
    for number in some:
        events = crowd.on_record(number)
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        told = [event["seq"] for event in events if event["type"] != "message"]
        for it in clients:
            if it.conversation == f"{crowd.name}-{number}":
                assert it.numbers == [seq for seq in told if seq >= it.numbers[0]], it.conversation
    assert all(it.numbers == sorted(set(it.numbers)) for it in clients)
