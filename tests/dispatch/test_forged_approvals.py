"""Yeses that are not worth one: replayed, late, foreign, edited, guessed. Whatever is tried over REST and sockets, nothing runs.

What would have run writes a file, so that one sees it.
"""

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from holdfast.store.approvals import Approval
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.json import JsonObject
from holdfast.vocabulary.outcome import Done
from holdfast.vocabulary.profile import SHIPPED
from holdfast.vocabulary.trust import Trust
from tests.desk import Desk
from tests.doors.http.talking import Line, line
from tests.promises import carries
from tests.served import OWN, Served, serving

WHOLE, SHARE = 1_000, 40
# What somebody watches runs out soon; what nobody watches has no clock.
TIMEOUT = "1"


@dataclass
class Office:
    """A server with calls that wait for a yes, and those who would like to give one."""

    served: Served
    other_workspace: str
    _clients: dict[str | None, httpx.Client] = field(default_factory=dict[str | None, httpx.Client])

    def client(self, token: str | None = OWN) -> httpx.Client:
        """Somebody with that token."""
        if token not in self._clients:
            self._clients[token] = self.served.client(token)
        return self._clients[token]

    def address(self, rest: str, workspace: str | None = None) -> str:
        return f"/api/v1/workspaces/{workspace or self.served.workspace_id}{rest}"

    def asked(self, name: str, *, profile: str = "coder") -> dict[str, Any]:
        """The approval of a call that writes `name`.md, in a session of its own that nobody watches."""
        client = self.client()
        session = client.post(self.address("/sessions"), json={"trust": "guided", "profile": profile}).json()["id"]
        assert client.post(self.address(f"/sessions/{session}/messages"), json={"content": name}).status_code == 202
        while not (found := [each for each in self.in_state("pending") if each["session_id"] == session]):
            time.sleep(0.01)
        return found[0]

    def in_state(self, state: str) -> list[dict[str, Any]]:
        return self.client().get(self.address(f"/approvals?state={state}")).json()

    def state_of(self, approval: dict[str, Any]) -> str:
        states = ("pending", "approved", "denied", "expired")
        return next(state for state in states if approval["id"] in [each["id"] for each in self.in_state(state)])

    def decide(self, approval: dict[str, Any], *, token: str | None = OWN, workspace: str | None = None, **body: Any) -> int:
        """Say something to an approval over REST, and give the status."""
        address = self.address(f"/approvals/{approval['id']}", workspace)
        return self.client(token).post(address, json={"approved": True, **body}).status_code

    def end(self, approval: dict[str, Any]) -> None:
        """The real no, and the end of the turn."""
        hashed = {} if approval["effects_hash"] is None else {"effects_hash": approval["effects_hash"]}
        assert self.decide(approval, approved=False, **hashed) == 200
        self.ended(approval["session_id"])

    def ended(self, session: str) -> None:
        client = self.client()
        while client.get(self.address(f"/sessions/{session}/events?limit=1000")).json()[-1]["type"] != "chat:stream-end":
            time.sleep(0.01)

    def wrote(self, name: str) -> bool:
        return (self.served.project / f"{name}.md").exists()


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("office")
    scripts = folder / "home" / "scripts"
    scripts.mkdir(parents=True)
    write = {"call": "write", "with": {"path": "/{{user}}.md", "content": "forged\n", "overwrite": True}}
    command = {"call": "bash", "with": {"command": "echo forged > '{{user}}.md'"}}
    turns = [{"when": {"user": word}, "answers": [[call], [{"say": "Done."}]]} for word, call in (("write", write), ("command", command))]
    (scripts / "forged.yaml").write_text(json.dumps({"turns": [*turns, {"answers": [[{"say": "Hello."}]]}]}), encoding="utf-8")
    with serving(folder, environ={"HOLDFAST_MODEL": "scripted/forged", "HOLDFAST_APPROVAL_TIMEOUT": TIMEOUT}) as served:
        other = served.run("workspace", "create", str(_folder(folder / "other")), "--json")
        yield Office(served, json.loads(other.stdout)["id"])


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.fixture(params=[SHARE, pytest.param(WHOLE, marks=pytest.mark.long)])
def times(request: pytest.FixtureRequest) -> int:
    return request.param


def refused_by(it: Line, **payload: Any) -> None:
    """Say yes at a socket, and hear that it is none."""
    it.say("chat:tool-approve", approved=True, **payload)
    code = it.until("chat:error")["payload"]["code"]
    assert code in ("not_found", "conflict", "forbidden", "invalid_arguments"), code


def spread(attempts: list[Callable[[], None]], times: int) -> None:
    """Each attempt in turn, so often in all."""
    for attempt in islice(cycle(attempts), times):
        attempt()


@carries("ASK-3", "ASK-8")
def test_a_yes_that_was_used_runs_nothing_when_it_is_said_again(office: Office, times: int) -> None:
    name = f"write replayed {times}"
    with line(office.served) as it:
        asked = office.asked(name)
        it.say("chat:resume", conversationId=asked["session_id"])
        it.until("chat:tool-confirm")
        assert office.decide(asked) == 200
        it.until("chat:stream-end")
        assert office.wrote(name)
        (office.served.project / f"{name}.md").unlink()

        def rest() -> None:
            assert office.decide(asked) == 409

        spread([rest, lambda: refused_by(it, approvalId=asked["id"]), lambda: refused_by(it, toolId=asked["call_id"])], times)

    assert (office.wrote(name), office.state_of(asked)) == (False, "approved")


@carries("ASK-8")
def test_a_yes_after_a_no_or_after_its_time_runs_nothing(office: Office, times: int) -> None:
    denied, late = office.asked(f"write denied {times}"), f"write late {times}"
    office.end(denied)
    with line(office.served) as it:
        it.send(late, profile="coder", trustLevel="guided")
        [confirm] = it.of("chat:tool-confirm")
        assert [told["status"] for told in it.of("chat:tool-result")] == ["error"]
        expired = {"id": confirm["approvalId"], "effects_hash": None}
        it.say("chat:resume", conversationId=denied["session_id"])
        it.until("chat:stream-end")

        def rest(approval: dict[str, Any]) -> Callable[[], None]:
            def attempt() -> None:
                assert office.decide(approval) == 409

            return attempt

        at_socket = [lambda: refused_by(it, approvalId=expired["id"]), lambda: refused_by(it, toolId=denied["call_id"])]
        spread([rest(denied), rest(expired), *at_socket], times)

    assert [office.state_of(each) for each in (denied, expired)] == ["denied", "expired"]
    assert not office.wrote(f"write denied {times}")
    assert not office.wrote(late)


@carries("ASK-7", "ASK-8", "ASK-9")
async def test_a_yes_from_elsewhere_or_of_somebody_who_may_not_runs_nothing(office: Office, times: int) -> None:
    served = office.served
    name = f"write foreign {times}"
    looks = served.token(await served.user(f"{uuid4()}@example.org", scopes=()))
    stranger = served.token(await served.user(f"{uuid4()}@example.org", member=False))
    narrow = served.token(await served.user(f"{uuid4()}@example.org"), scopes=["tools"])
    asked = office.asked(name)

    def rest(status: int, **more: Any) -> Callable[[], None]:
        def attempt() -> None:
            assert office.decide(asked, **more) == status

        return attempt

    with line(served) as unwatching, line(served, workspace=office.other_workspace) as there, line(served, token=looks) as looking:
        unwatching.send("hello")
        looking.say("chat:resume", conversationId=asked["session_id"])
        looking.until("chat:tool-confirm")
        spread(
            [
                rest(404, workspace=office.other_workspace),
                rest(403, token=looks),
                rest(403, token=stranger),
                rest(403, token=narrow),
                rest(401, token=None),
                rest(401, token=f"{looks[:-4]}AAAA"),
                lambda: refused_by(unwatching, approvalId=asked["id"]),
                lambda: refused_by(unwatching, toolId=asked["call_id"], conversationId=asked["session_id"]),
                lambda: refused_by(there, approvalId=asked["id"]),
                lambda: refused_by(looking, approvalId=asked["id"]),
                lambda: refused_by(looking, toolId=asked["call_id"]),
            ],
            times,
        )

    assert (office.state_of(asked), office.wrote(name)) == ("pending", False)
    office.end(asked)
    assert not office.wrote(name)


@carries("ASK-8")
def test_a_guessed_yes_runs_nothing(office: Office, times: int) -> None:
    name, dice = f"write guessed {times}", random.Random(5)
    asked = office.asked(name)

    def near() -> dict[str, Any]:
        """The id with one digit changed."""
        digits = [at for at, character in enumerate(asked["id"]) if character != "-"]
        at = dice.choice(digits)
        other = dice.choice([each for each in "0123456789abcdef" if each != asked["id"][at]])
        return {"id": f"{asked['id'][:at]}{other}{asked['id'][at + 1 :]}"}

    def rest() -> None:
        assert office.decide(near()) == 404
        assert office.decide({"id": str(uuid4())}) == 404

    with line(office.served) as it:
        it.say("chat:resume", conversationId=asked["session_id"])
        it.until("chat:tool-confirm")
        spread(
            [
                rest,
                lambda: refused_by(it, approvalId=near()["id"]),
                lambda: refused_by(it, toolId=f"{asked['call_id']}{dice.randint(0, 9)}"),
            ],
            times,
        )

    assert (office.state_of(asked), office.wrote(name)) == ("pending", False)
    office.end(asked)


@carries("ASK-5", "ASK-8")
def test_a_yes_to_other_effects_than_those_that_wait_keeps_nothing(office: Office, times: int) -> None:
    name, other = f"command edited {times}", office.asked(f"command other {times}")
    asked = office.asked(name)
    hashes: list[str | None] = [None, "", "0" * 64, other["effects_hash"], asked["effects_hash"][:-1] + "x", asked["effects_hash"].upper()]

    def rest(seen: str | None) -> Callable[[], None]:
        def attempt() -> None:
            assert office.decide(asked, effects_hash=seen) == 409

        return attempt

    with line(office.served) as it:
        it.say("chat:resume", conversationId=asked["session_id"])
        it.until("chat:tool-confirm")

        def at_socket(seen: str | None) -> Callable[[], None]:
            return lambda: refused_by(it, approvalId=asked["id"], effectsHash=seen)

        spread([*map(rest, hashes), *map(at_socket, hashes)], times)

    assert (office.state_of(asked), office.wrote(name)) == ("pending", False)
    for each in (asked, other):
        office.end(each)
    assert not office.wrote(name)


@carries("ASK-4", "ASK-8")
def test_a_yes_with_arguments_that_nobody_may_use_runs_nothing(office: Office, times: int) -> None:
    outside = office.served.project.parent / "outside.md"
    edits: list[JsonObject] = [
        {"path": "/.env", "content": "forged"},
        {"path": "/.git/hooks/post-commit", "content": "forged"},
        {"path": 7, "content": "forged"},
        {"content": "forged"},
        {"path": "/x\0.md", "content": "forged"},
    ]
    before = sorted(office.served.project.rglob("*"))

    for number, edit in enumerate(islice(cycle(edits), times // 10)):
        asked = office.asked(f"write edited {times} {number}")
        assert office.decide(asked, input=edit) == 200
        office.ended(asked["session_id"])

    assert sorted(office.served.project.rglob("*")) == before
    assert not outside.exists()


@carries("ASK-3", "ASK-8")
async def test_a_yes_is_for_no_other_arguments_session_or_tool_under_the_same_id(desk: Desk, times: int) -> None:
    approvals = desk.holdfast.road.approvals
    assert approvals is not None

    def take(name: str, arguments: JsonObject, session: str = "") -> "asyncio.Task[Any]":
        call = ToolCall("c1", name, arguments, Caller(agent="core", session=session, run=desk.holdfast.run), trust=Trust.GUIDED)
        return asyncio.create_task(desk.holdfast.take(call, SHIPPED["core"]))

    async def pending(count: int) -> list[Approval]:
        for _ in range(1_000):
            if len(found := await approvals.in_state()) == count:
                return found
            await asyncio.sleep(0.01)
        raise AssertionError("not all were asked for")

    # The yes is there, and the call that it is for never comes.
    first = take("file_write", {"path": "real.md", "content": "x"})
    [asked] = await pending(1)
    first.cancel()
    await asyncio.wait({first})
    await approvals.decide(asked.id, approved=True, by="ada")

    forged = [take("file_write", {"path": f"forged-{number}.md", "content": "x"}) for number in range(times // 10)]
    forged.append(take("bash", {"command": "echo x > forged-command.md"}))
    for each in await pending(len(forged)):
        await approvals.decide(each.id, approved=False, by="ada")

    assert not any(isinstance(each, Done) for each in await asyncio.gather(*forged))
    assert list(desk.root.iterdir()) == []


@carries("ASK-8", "ASK-9")
async def test_whoever_may_not_change_things_cannot_have_a_session_trusted_so_that_nobody_is_asked(office: Office) -> None:
    served = office.served
    looks = served.token(await served.user(f"{uuid4()}@example.org", scopes=()))
    asked = office.asked("write trusted")
    session, client = asked["session_id"], office.client(looks)
    office.end(asked)

    refused = [
        client.patch(office.address(f"/sessions/{session}"), json={"trust": "autonomous"}),
        client.patch(office.address(f"/sessions/{session}"), json={"mode": "build"}),
        client.post(office.address("/sessions"), json={"trust": "autonomous"}),
    ]
    with line(served, token=looks) as it:
        it.send("hello", conversationId=session, trustLevel="autonomous")
        it.send("hello", conversationId=f"{session}-new", trustLevel="autonomous")

    trusts = [office.client().get(office.address(f"/sessions/{each}")).json()["trust"] for each in (session, f"{session}-new")]
    assert ([each.status_code for each in refused], trusts) == ([403] * 3, ["guided"] * 2)
    assert client.patch(office.address(f"/sessions/{session}"), json={"trust": "supervised", "mode": "plan"}).status_code == 200
