"""Whatever a provider does in the middle of a turn: a real session, a real road, the official SDKs, and a server that misbehaves.

Each fault comes in a turn's second answer, after one whose call was run.
"""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from holdfast.agent.conversation import Conversation
from holdfast.app.agents import Agents
from holdfast.providers.choose import Providers
from holdfast.vocabulary.chat import ChatEvent
from holdfast.vocabulary.messages import AssistantMessage, ToolMessage
from holdfast.vocabulary.profile import SHIPPED
from holdfast.vocabulary.trust import Trust
from tests.desk import Desk, open_desk
from tests.promises import carries
from tests.providers.server import Play, Server, Then, serving, unused_port
from tests.providers.speakers import HASTY, QUICK, SPEAKERS, Speaker, Told

every_speaker = pytest.mark.parametrize("speaker", SPEAKERS, ids=lambda each: each.name)
LONG_ROUNDS = 50
ATTEMPTS = 4
SAID = "Now é😀 then."


def writes(name: str, *, arguments: str = "") -> Told:
    """An answer that says something and calls file_write; the id is as new as the name."""
    return Told(SAID, calls=((f"call-{name}", "file_write", arguments or f'{{"path": "{name}.txt", "content": "é of {name}"}}'),))


@dataclass(frozen=True)
class Fault:
    """What a provider does instead of the whole of an answer that calls file_write for `name`."""

    what: str
    plays: Callable[[Speaker, str], list[Play]]
    ends: str = "error"
    runs: bool = False
    in_haste: bool = False
    ollama_ends: str = ""

    def end_for(self, speaker: Speaker) -> str:
        return self.ollama_ends if self.ollama_ends and speaker.name == "ollama" else self.ends


def _again(play: Play) -> Callable[[Speaker, str], list[Play]]:
    return lambda speaker, name: [play] * ATTEMPTS


def _then_whole(play: Play) -> Callable[[Speaker, str], list[Play]]:
    return lambda speaker, name: [play, speaker.play(writes(name)), speaker.play(Told("Done."))]


def _in_call(*then: Then) -> Callable[[Speaker, str], list[Play]]:
    return lambda speaker, name: [Play((inside_arguments(speaker, writes(name)), *then))]


def inside_arguments(speaker: Speaker, told: Told) -> bytes:
    """The answer up to somewhere in the arguments of its last call."""
    whole = b"".join(speaker.say(told))
    return whole[: max(whole.rfind(b'"partial_json"'), whole.rfind(b'"arguments"')) + 20]


def _until(character: str) -> Callable[[Speaker, str], list[Play]]:
    """The answer up to the first byte of a character, the last time that it comes, and no more."""

    def plays(speaker: Speaker, name: str) -> list[Play]:
        whole = b"".join(speaker.say(writes(name)))
        return [Play((whole[: whole.rindex(character.encode()) + 1], Then.CUT))]

    return plays


def _arguments(text: str) -> Callable[[Speaker, str], list[Play]]:
    return lambda speaker, name: [speaker.play(writes(name, arguments=text.replace("NAME", name))), speaker.play(Told("Sorry."))]


def _behind(what: Callable[[Speaker], bytes]) -> Callable[[Speaker, str], list[Play]]:
    return lambda speaker, name: [Play((*speaker.say(writes(name))[:-1], what(speaker)))]


def _all_twice(speaker: Speaker, name: str) -> list[Play]:
    events = speaker.say(writes(name))
    return [Play((*events, *events)), speaker.play(Told("Done."))]


BUSY = Play.json({"error": {"message": "slow down"}}, 429, Retry_After="0.001")
FAULTS = [
    Fault("timed out, not even heard", lambda speaker, name: [Play((Then.HANG,), status=None)], in_haste=True),
    Fault("timed out in a call", _in_call(Then.HANG), in_haste=True),
    Fault("429 for ever", _again(BUSY)),
    Fault("429 for an hour", lambda speaker, name: [Play.json({"error": "later"}, 429, Retry_After="3600")]),
    Fault("429 once", _then_whole(BUSY), ends="done", runs=True),
    Fault("500 for ever", _again(Play.json({"error": "oops"}, 500))),
    Fault("503 once", _then_whole(Play.json({"error": "oops"}, 503)), ends="done", runs=True),
    Fault("malformed stream", _behind(lambda speaker: speaker.garbage)),
    Fault("no stream at all", lambda speaker, name: [Play((b"<html>\n\nhello\n\n</html>",))] * ATTEMPTS),
    Fault("cut inside a call", _in_call(Then.CUT)),
    Fault("ended inside a call", _in_call()),
    Fault("cut inside a character of a call", _until("é")),
    Fault("cut inside a character of the text", _until("😀")),
    Fault("cut before it began", _then_whole(Play((Then.CUT,), status=None)), ends="done", runs=True),
    Fault("invalid JSON", _arguments('{"path": "NAME.txt", "content": '), ends="done", ollama_ends="error"),
    Fault("duplicate JSON", _arguments('{"path": "NAME.txt", "path": "other.txt", "content": "x"}'), ends="done"),
    Fault("all of it twice", _all_twice, ends="done", runs=True),
    Fault("empty stream", _again(Play(()))),
    Fault("slow drip", lambda speaker, name: [Play((Then.DRIP,))], in_haste=True),
    Fault("slow drip in a call", _in_call(Then.DRIP), in_haste=True),
]


@dataclass
class Talk:
    """A session, and what is heard of it."""

    stage: "Stage"
    agents: Agents
    conversation: Conversation
    events: list[ChatEvent] = field(default_factory=list[ChatEvent])

    def __post_init__(self) -> None:
        self.conversation.watch(self.events.append)

    async def say(self, content: str) -> str:
        return await self.agents.send(self.conversation.id, content, SHIPPED["core"], model=f"{self.stage.speaker.name}/some-model")

    def heard(self, *kinds: str) -> list[str]:
        return [event.type for event in self.events if event.type in kinds]

    @property
    def ran(self) -> list[str]:
        """The files that calls wrote, one for each call that was run."""
        log = self.stage.desk.holdfast.road.surroundings.state_of(self.conversation.id).root / "logs" / "execution.jsonl"
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
        return [line["input"]["path"].removesuffix(".txt") for line in lines if not line["output"].get("refused")]

    @property
    def open_calls(self) -> list[str]:
        """Calls on record without a result; a provider would not take such a conversation."""
        called = [call.id for message in self.conversation.messages if isinstance(message, AssistantMessage) for call in message.calls]
        answered = [message.call_id for message in self.conversation.messages if isinstance(message, ToolMessage)]
        return sorted(set(called).symmetric_difference(answered))


@dataclass(frozen=True)
class Stage:
    """A workspace, a provider's server, and the provider: patient, and in haste."""

    desk: Desk
    speaker: Speaker
    server: Server
    providers: dict[str, Providers]

    @asynccontextmanager
    async def talk(self, providers: Providers, session: str | None = None) -> AsyncGenerator[Talk]:
        """A session, new or gone on with."""
        held = await self.desk.holdfast.platform.hold(self.desk.holdfast.workspace_id)
        agents = Agents(self.desk.holdfast.platform, held, providers)
        try:
            made = agents.conversation(session) if session else agents.create(SHIPPED["core"], trust=Trust.AUTONOMOUS)
            yield Talk(self, agents, await made)
        finally:
            await agents.close()

    def play(self, *told: Told) -> None:
        """Answer so from now on."""
        self.server.play(*map(self.speaker.play, told))


@asynccontextmanager
async def stage(folder: Path, speaker: Speaker) -> AsyncGenerator[Stage]:
    """One for as long as the block lasts."""
    with serving(Play(())) as server:
        # What is asked about the model before a turn is no part of it.
        server.fixed.update({"/models": Play.json({"data": []}), **speaker.fixed})
        providers = {name: Providers(speaker.settings(settings, server.url)) for name, settings in (("quick", QUICK), ("hasty", HASTY))}
        async with open_desk(folder) as desk:
            yield Stage(desk, speaker, server, providers)
        for each in providers.values():
            await each.close()


async def meets(on: Stage, fault: Fault, number: int) -> None:
    """One session: a turn with the fault in it, and one that goes on from what is on record."""
    speaker = on.speaker
    name, what = f"{speaker.name}-{number}", f"{speaker.name}: {fault.what}"
    before, during, after = (f"{name}-{when}" for when in ("before", "during", "after"))
    # In haste even a good answer could be too late on a busy machine, so there is none.
    ran_before = [] if fault.in_haste else [before]
    expected = [*ran_before, *([during] if fault.runs else [])]
    on.server.play(*(speaker.play(writes(each)) for each in ran_before), *fault.plays(speaker, during))
    async with on.talk(on.providers["hasty" if fault.in_haste else "quick"]) as it:
        reason = await it.say("go")

        assert reason == fault.end_for(speaker), what
        assert it.ran == expected, what
        assert (on.desk.root / f"{during}.txt").exists() is fault.runs, what
        told = it.heard("chat:stream-start", "chat:error", "chat:stream-end")
        assert told == ["chat:stream-start", *(["chat:error"] if reason == "error" else []), "chat:stream-end"], what
        assert it.open_calls == [], what
    on.play(writes(after), Told("Done."))
    async with on.talk(on.providers["quick"], it.conversation.id) as it:
        assert await it.say("go on") == "done", what
        assert (it.ran, it.open_calls) == ([*expected, after], []), what


async def refused(on: Stage, number: int) -> None:
    """One session: nobody listens at the provider's address, and later somebody does."""
    name = f"{on.speaker.name}-refused-{number}"
    nobody = Providers(on.speaker.settings(QUICK, f"http://127.0.0.1:{unused_port()}"))
    async with on.talk(nobody) as it:
        assert await it.say("go") == "error"
        told = it.heard("chat:retry", "chat:stream-start", "chat:error", "chat:stream-end")
        assert told == ["chat:stream-start", *["chat:retry"] * (ATTEMPTS - 1), "chat:error", "chat:stream-end"], on.speaker.name
    await nobody.close()
    on.play(writes(name), Told("Done."))
    async with on.talk(on.providers["quick"], it.conversation.id) as it:
        assert await it.say("go on") == "done"
        assert it.ran == [name]


@carries("FAULT-1", "FAULT-2", "FAULT-3")
@every_speaker
async def test_no_fault_runs_a_cut_call_or_one_twice_and_each_ends_in_a_told_state_from_which_one_can_go_on(
    speaker: Speaker, tmp_path: Path
) -> None:
    # In turns, so that each fault is met by one provider here; all are met by all in the long tests.
    mine = FAULTS[SPEAKERS.index(speaker) :: len(SPEAKERS)]
    async with stage(tmp_path, speaker) as on:
        for number, fault in enumerate(mine):
            await meets(on, fault, number)
        await refused(on, 0)


@carries("FAULT-1", "FAULT-2", "FAULT-3")
@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: each.what)
@every_speaker
async def test_each_fault_fifty_times(speaker: Speaker, fault: Fault, tmp_path: Path) -> None:
    async with stage(tmp_path, speaker) as on:
        for number in range(LONG_ROUNDS):
            await meets(on, fault, number)


@carries("FAULT-1", "FAULT-2", "FAULT-3")
@pytest.mark.long
@every_speaker
async def test_a_provider_that_is_not_there_fifty_times(speaker: Speaker, tmp_path: Path) -> None:
    async with stage(tmp_path, speaker) as on:
        for number in range(LONG_ROUNDS):
            await refused(on, number)


@carries("FAULT-1")
@every_speaker
async def test_calls_of_an_answer_that_breaks_off_behind_the_first_are_not_run_either(speaker: Speaker, tmp_path: Path) -> None:
    two = replace(writes("first"), calls=(*writes("first").calls, *writes("second").calls))
    async with stage(tmp_path, speaker) as on:
        on.server.play(Play((inside_arguments(speaker, two), Then.CUT)))
        async with on.talk(on.providers["quick"]) as it:
            assert await it.say("go") == "error"

            assert it.ran == []
            assert list(on.desk.root.iterdir()) == []
