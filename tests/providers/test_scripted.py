"""Scripts: what they can say, how strictly they are read, and the demo on the real tools."""

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.providers.protocol import Request
from holdfast.providers.scripted import Scripted, parse
from holdfast.providers.scripted.sample import sample, unpack
from holdfast.providers.settings import ProviderSettings, Retries
from holdfast.vocabulary.chunks import Chunk, End, EndReason, Fault, Retrying, Start, Text, Thinking, ToolCallEnd, ToolCallStart, Usage
from holdfast.vocabulary.errors import InvalidSetting
from holdfast.vocabulary.messages import AssistantMessage, Message, TextBlock, ToolMessage, UserMessage
from holdfast.vocabulary.reply import Reply
from tests.desk import open_desk
from tests.ladder import CHECKOUT
from tests.promises import carries
from tests.untested import needs

SETTINGS = ProviderSettings(retries=Retries(first_seconds=0.001))
SCRIPT = """
turns:
  - when: {user: Wetter}
    answers:
      - - think: Sonne?
          signature: s
        - say: "Sie sagten: {{user}}"
        - usage: {input: 7, output: 3}
  - when: {turn: 2}
    answers:
      - - say: the second
        - end: length
  - answers:
      - - say: "Two calls. "
        - call: read
          with: {path: /a.md, deep: [{n: 1, t: "{{user}}"}]}
        - call: ls
      - - delay: 0.001
        - say: "hash {{result.result.hash}}, {{result.nothing|none}}, {{ result.list.1 }}"
"""


async def played(script: str, *messages: Message) -> tuple[list[Chunk], Reply]:
    provider, reply = Scripted(SETTINGS, {"x": parse(script, "x.yaml")}), Reply()
    chunks = [each async for each in provider.stream(Request("x", messages or [UserMessage("hi")]))]
    for chunk in chunks:
        reply.add(chunk)
    return chunks, reply


@carries("SCRIPT-1", "PROV-1")
async def test_a_turn_is_found_by_the_persons_message_or_by_its_number() -> None:
    first, by_words = await played(SCRIPT, UserMessage("wie ist das WETTER?"))
    _, by_number = await played(SCRIPT, UserMessage("a"), AssistantMessage((TextBlock("b"),)), UserMessage("c"))
    _, otherwise = await played(SCRIPT, UserMessage("a"))

    assert isinstance(first[0], Start)
    assert "".join(each.text for each in first if isinstance(each, Thinking)) == "Sonne?"
    assert (by_words.message.text, by_words.usage) == ("Sie sagten: wie ist das WETTER?", Usage(7, 3))
    assert len([each for each in first if isinstance(each, Text)]) > 3
    assert (by_number.message.text, by_number.reason) == ("the second", EndReason.LENGTH)
    assert [(call.name, call.arguments) for call in otherwise.runnable] == [
        ("read", '{"path":"/a.md","deep":[{"n":1,"t":"a"}]}'),
        ("ls", "{}"),
    ]
    assert len({call.id for call in otherwise.runnable}) == 2


@carries("SCRIPT-3", "SCRIPT-4")
async def test_the_next_answer_goes_on_from_the_messages_and_uses_the_last_result() -> None:
    _, first = await played(SCRIPT)
    results = [ToolMessage(call.id, call.name, '{"result": {"hash": "h1"}, "list": [1, {"a": "é"}]}') for call in first.runnable]

    _, second = await played(SCRIPT, UserMessage("hi"), first.message, *results)

    assert second.message.text == 'hash h1, none, {"a": "é"}'
    assert second.reason is EndReason.DONE


@carries("SCRIPT-1")
async def test_a_script_that_has_nothing_to_say_is_a_fault_that_says_where() -> None:
    only = "turns:\n  - when: {user: x}\n    answers:\n      - - say: once\n"

    _, unknown = await played(only, UserMessage("hello"))
    _, over = await played(only, UserMessage("x"), AssistantMessage((TextBlock("once"),)))
    _, hollow = await played("turns:\n  - answers:\n      - - say: '{{result.hash}}'\n")

    assert unknown.error is not None
    assert "hello" in unknown.error.message
    assert over.error is not None
    assert "x.yaml, line 2" in over.error.message
    assert hollow.error is not None
    assert "x.yaml, line 3: there is nothing at 'result.hash'" in hollow.error.message


@carries("SCRIPT-1", "PROV-8")
async def test_faults_can_be_played_and_are_retried_as_real_ones_are() -> None:
    twice = "turns: [{answers: [[{fault: 429, times: 2, retry_after: 0.001, message: busy}, {say: ok}]]}]"
    refused = "turns: [{answers: [[{fault: 401, message: no}]]}]"

    chunks, reply = await played(twice)
    at_once, _ = await played(refused)

    assert [type(each) for each in chunks[:3]] == [Retrying, Retrying, Start]
    assert reply.message.text == "ok"
    [fault] = at_once
    assert isinstance(fault, Fault)
    assert fault.error.message == "Provider error (401): no"


@carries("SCRIPT-1", "PROV-12", "PROV-13")
async def test_a_call_can_be_cut_or_be_no_json_and_neither_can_be_run() -> None:
    cut, cut_reply = await played("turns: [{answers: [[{say: a}, {call: ls, with: {path: abc}, cut: true}, {say: b}]]}]")
    raw, raw_reply = await played("turns: [{answers: [[{call: ls, raw: '{\"path\": '}]]}]")

    assert isinstance(cut[-1], Fault)
    assert any(isinstance(each, ToolCallStart) for each in cut)
    assert not any(isinstance(each, ToolCallEnd) for each in cut)
    assert (cut_reply.runnable, raw_reply.runnable) == ((), ())
    assert isinstance(raw[-1], End)


@carries("SCRIPT-2")
@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, "nothing"),
        ("turns: []\n", 1, "a list with something in it"),
        ("pace: 1\n", 1, "no 'turns'"),
        ("turns:\n  - answers: [[{say: a}]]\ncolour: red\n", 3, "no 'colour'"),
        ("turns:\n  - when: {user: a}\n", 2, "'answers'"),
        ("turns:\n  - answers:\n      - - sing: la\n", 3, "'sing'"),
        ("turns:\n  - answers:\n      - - say: [a]\n", 3, "a text"),
        ("turns:\n  - answers:\n      - - say: 12\n", 3, "quotes"),
        ("turns:\n  - answers:\n      - - say: a\n        - call: ls\n          width: {}\n", 5, "no 'width'"),
        ("turns:\n  - answers:\n      - - call: ls\n          with: {a: 1, a: 2}\n", 4, "twice"),
        ("turns:\n  - answers:\n      - - call: ls\n          with: [1]\n", 4, "a mapping"),
        ("turns:\n  - answers:\n      - - call: ls\n          raw: '{}'\n", 4, "under 'with'"),
        ("turns:\n  - answers:\n      - - call: ls\n          with: {}\n          raw: '{'\n", 3, "not both"),
        ("turns:\n  - answers:\n      - - fault: 200\n", 3, "from 400 to 599"),
        ("turns:\n  - answers:\n      - - fault: fire\n", 3, "one of these"),
        ("turns:\n  - answers:\n      - - delay: -1\n", 3, "a number"),
        ("turns:\n  - answers:\n      - - end: soon\n", 3, "one of these"),
        ("turns:\n  - answers:\n      - - end: done\n        - say: more\n", 4, "after 'end'"),
        ("turns:\n  - answers:\n      - - say: '{{nobody}}'\n", 3, "no hole"),
        ("turns:\n  - answers:\n      - - call: ls\n          with: {a: ['{{x.y}}']}\n", 4, "no hole"),
        ("turns:\n  - when: {turn: 0}\n    answers: [[{say: a}]]\n", 2, "a number from 1"),
        ("turns:\n  - when: {turn: 1.5}\n    answers: [[{say: a}]]\n", 2, "whole number"),
        ("supports_tools: perhaps\nturns: [{answers: [[{say: a}]]}]\n", 1, "true or false"),
        ("turns:\n  - answers: [[{say: a]]\n", 2, ""),
        ("turns:\n  - answers:\n      - - say: !!python/object:os.system x\n", 3, "no meaning"),
        ("a: &a [*a]\nturns: *a\n", 1, ""),
    ],
)
def test_a_mistake_in_a_script_is_told_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        parse(text, "x.yaml")

    assert f"x.yaml, line {line}: " in caught.value.message
    assert why in caught.value.message


async def test_scripts_are_files_of_one_folder_and_of_no_other(tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "mine.yaml").write_text("context_window: 5\nsupports_tools: false\nturns: [{answers: [[{say: a}]]}]\n")
    (scripts / "bad.yaml").write_text("turns: 7\n")
    (tmp_path / "outside.yaml").write_text("turns: [{answers: [[{say: a}]]}]\n")
    provider = Scripted(replace(SETTINGS, scripts=scripts))

    models = {model.id: model for model in await provider.models()}

    assert (models["mine"].context_window, models["mine"].supports_tools, models["bad"].reachable) == (5, False, False)
    assert models["demo"].reachable
    assert (await provider.model("mine.yaml")).context_window == 5
    for name in ("../outside", "../outside.yaml", str(tmp_path / "outside.yaml"), "none"):
        with pytest.raises(InvalidSetting):
            await provider.model(name)
    [fault] = [each async for each in provider.stream(Request("bad", [UserMessage("x")]))]
    assert isinstance(fault, Fault)
    assert "bad, line 1" in fault.error.message


async def test_a_script_that_was_changed_is_read_again_and_one_can_be_given_by_its_path(tmp_path: Path) -> None:
    script = "turns: [{answers: [[{say: %s}]]}]"
    (tmp_path / "mine.yaml").write_text(script % "one")
    provider = Scripted(replace(SETTINGS, scripts=tmp_path))

    async def said(name: str) -> str:
        return "".join([each.text async for each in provider.stream(Request(name, [UserMessage("x")])) if isinstance(each, Text)])

    before = await said("mine")
    (tmp_path / "mine.yaml").write_text(script % "another")
    os.utime(tmp_path / "mine.yaml", ns=(1, 1))
    provider.play("/elsewhere/mine.yaml", script % "third")

    assert [before, await said("mine"), await said("/elsewhere/mine.yaml")] == ["one", "another", "third"]


@carries("SCRIPT-5")
def test_the_sample_project_that_is_shipped_is_the_one_that_people_look_at(tmp_path: Path) -> None:
    shown = CHECKOUT / "examples" / "sample-project"
    files = {str(path.relative_to(shown)): path.read_text() for path in shown.rglob("*") if path.is_file()}

    unpack(tmp_path / "copy")
    (tmp_path / "copy" / "src" / "greet.py").write_text("changed")
    (tmp_path / "copy" / "docs" / "languages.txt").write_text("left by a tour")
    unpack(tmp_path / "copy")
    copy = {str(path.relative_to(tmp_path / "copy")): path.read_text() for path in (tmp_path / "copy").rglob("*") if path.is_file()}

    assert sample() == files == copy


@carries("SCRIPT-5")
@needs("bubblewrap", "the demo runs a command inside it")
async def test_the_demo_reads_edits_runs_a_command_asks_and_takes_it_all_back(tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT / "examples" / "sample-project", tmp_path / "project")
    provider = Scripted(SETTINGS, {"demo": replace(Scripted(SETTINGS).script("demo"), pace=0.0)})
    messages: list[Message] = []
    called: list[str] = []
    async with open_desk(tmp_path, profile="coder") as desk:
        before = desk.text("src/greet.py")

        async def turn(user: str) -> str:
            messages.append(UserMessage(user))
            while True:
                reply = Reply()
                async for chunk in provider.stream(Request("demo", messages)):
                    reply.add(chunk)
                assert reply.error is None, reply.error
                messages.append(reply.message)
                if not reply.runnable:
                    return reply.message.text
                for call in reply.runnable:
                    called.append(call.name)
                    await desk.take(call.name, call.arguments)
                    assert desk.last_code is None, desk.last_text
                    messages.append(ToolMessage(call.id, call.name, desk.last_text))

        said = await turn("show me what you can do")
        in_between = desk.text("src/greet.py"), desk.text("docs/languages.txt")
        undone = await turn("please undo that")

        assert called == ["read", "read", "edit", "bash", "ask_user", "read", "edit", "rm"]
        assert '"es": "Hola"' in in_between[0]
        assert in_between[1].splitlines() == ['"de": "Guten Tag"', '"en": "Hello"', '"es": "Hola"', '"fr": "Bonjour"']
        assert desk.text("src/greet.py") == before
        assert not (desk.root / "docs" / "languages.txt").exists()
    assert "undo" in said
    assert "holdfast restore" in undone


@carries("SCRIPT-2")
def test_the_script_in_the_documentation_is_one() -> None:
    [text] = re.findall(r"^```yaml\n(.*?)^```$", (CHECKOUT / "docs" / "providers.md").read_text(), re.MULTILINE | re.DOTALL)

    assert len(parse(text).turns) == 2
