"""The acceptance criteria of the studio's tool backend and the promises of the coding assistant, over real sockets, for all providers."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.doors.http.studio import DONE, PROMPT, Studio, calling, kinds, may_call, offered, open_studio
from tests.doors.http.talking import line
from tests.promises import carries
from tests.providers.server import Play
from tests.providers.speakers import SPEAKERS, Speaker, Told

every_speaker = pytest.mark.parametrize("speaker", SPEAKERS, ids=lambda each: each.name)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with open_studio(tmp_path_factory.mktemp("studio")) as opened:
        yield opened


@carries("AC-29", "CHAT-1", "CHAT-2", "CHAT-3")
@every_speaker
def test_words_alone_are_deltas_between_one_start_and_one_end(studio: Studio, speaker: Speaker) -> None:
    with line(studio.served) as it:
        end = studio.say(it, speaker, Told("Hello é😀 there.", thinking="I think.", signature="sig"))

    [start] = it.of("chat:stream-start")
    assert (it.text, end["reason"], start["messageId"]) == ("Hello é😀 there.", "done", end["messageId"])
    assert start["model"] == f"{speaker.name}/some-model"
    assert "".join(told["content"] for told in it.of("chat:thinking-delta")) == "I think."
    for told in [*it.of("chat:text-delta"), *it.of("chat:thinking-delta")]:
        assert (told["conversationId"], told["messageId"]) == (end["conversationId"], end["messageId"])
        assert isinstance(told["index"], int)
    assert kinds(it) == ["message", "stream-start", "stream-end"]


@carries("AC-21", "AC-30", "CHAT-5")
@every_speaker
def test_a_safe_call_is_told_run_without_a_question_and_sent_back_before_the_words(studio: Studio, speaker: Speaker) -> None:
    with line(studio.served) as it:
        end = studio.say(it, speaker, calling("file_read", text="Looking.", path="known.md"), DONE, trustLevel="guided")

    assert kinds(it) == ["message", "stream-start", "tool-start", "tool-result", "stream-end"]
    [begun], [result] = it.of("chat:tool-start"), it.of("chat:tool-result")
    assert (begun["toolName"], begun["input"]) == ("file_read", {"path": "known.md"})
    assert (result["toolId"], result["status"], result["result"]) == (begun["toolId"], "success", "known\n")
    assert (it.text, end["reason"]) == ("Looking.All done.", "done")
    first, second = studio.asked(speaker)
    assert ("known\\n" in first.raw.decode(), "known\\n" in second.raw.decode()) == (False, True)
    assert len(second.body["messages"]) > len(first.body["messages"])


@carries("CHAT-4")
@every_speaker
def test_all_events_of_a_call_name_the_message_that_they_are_of(studio: Studio, speaker: Speaker) -> None:
    with line(studio.served) as it:
        end = studio.say(it, speaker, calling("bash", command="echo out"), DONE, trustLevel="autonomous")

    [begun], [result] = it.of("chat:tool-start"), it.of("chat:tool-result")
    for told in [begun, result, *it.of("chat:tool-delta")]:
        assert (told.get("messageId"), told["toolId"]) == (end["messageId"], begun["toolId"])
    assert "".join(told["chunk"] for told in it.of("chat:tool-delta")) == "out\n"
    assert result["metadata"]["exitCode"] == 0


@carries("AC-22", "AC-34", "CHAT-16", "CHAT-17")
@every_speaker
def test_a_dangerous_call_waits_for_the_yes_to_its_id(studio: Studio, speaker: Speaker) -> None:
    made = studio.served.project / f"{speaker.name}-waits.txt"
    with line(studio.served) as it:
        studio.begin(it, speaker, calling("bash", command=f"echo x > {made.name}"), DONE, trustLevel="guided")
        asked = it.until("chat:tool-confirm")["payload"]
        assert (asked["toolName"], asked["input"]) == ("bash", {"command": f"echo x > {made.name}"})
        assert (bool(asked["approvalId"]), bool(asked["reason"]), bool(asked["expiresAt"])) == (True, True, True)
        it.say("chat:tool-approve", toolId=f"{asked['toolId']}x", approved=True)
        assert it.until("chat:error")["payload"]["code"] == "not_found"
        assert (made.exists(), it.of("chat:tool-start")) == (False, [])

        it.say("chat:tool-approve", toolId=asked["toolId"], approved=True)
        it.until("chat:stream-end")

    assert kinds(it) == ["message", "stream-start", "tool-confirm", "tool-decided", "tool-start", "tool-result", "stream-end"]
    assert made.read_text() == "x\n"


@carries("AC-34", "ASK-7")
def test_of_two_conversations_that_wait_only_the_named_one_goes_on(studio: Studio) -> None:
    anthropic = SPEAKERS[0]
    both = Told(calls=(("same_id", "file_write", '{"path": "right.txt", "content": "x"}'),))
    with line(studio.served) as it:
        waiting: list[dict[str, Any]] = []
        for _ in range(2):
            studio.begin(it, anthropic, both, DONE, trustLevel="guided", conversationId=f"two-{uuid4()}")
            waiting.append(it.until("chat:tool-confirm")["payload"])
        assert {each["toolId"] for each in waiting} == {"same_id"}

        it.say("chat:tool-approve", toolId="same_id", approved=True)
        ambiguous = it.until("chat:error")["payload"]["code"]
        it.say("chat:tool-approve", toolId="same_id", conversationId=waiting[1]["conversationId"], approved=True)
        begun = it.until("chat:tool-start")["payload"]
        end = it.until("chat:stream-end")["payload"]
        it.say("chat:cancel", conversationId=waiting[0]["conversationId"])
        it.until("chat:stream-end")

    assert (ambiguous, begun["conversationId"], end["conversationId"]) == ("conflict", *[waiting[1]["conversationId"]] * 2)
    assert len(it.of("chat:tool-start")) == 1


@carries("AC-23")
@every_speaker
def test_autonomous_nothing_is_asked_for(studio: Studio, speaker: Speaker) -> None:
    written = studio.served.project / f"{speaker.name}-free.txt"
    every = calling("bash", ("file_write", {"path": written.name, "content": "x"}), ("file_read", {"path": "known.md"}), command="true")
    with line(studio.served) as it:
        studio.say(it, speaker, every, DONE, trustLevel="autonomous")

    assert (it.of("chat:tool-confirm"), [told["status"] for told in it.of("chat:tool-result")]) == ([], ["success"] * 3)
    assert written.read_text() == "x"


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("file_read", {"path": "none.md"}, "file not found"),
    ("bash", {"command": "echo no; exit 3"}, "no"),
    ("file_reed", {"path": "known.md"}, "Unknown tool"),
    ("file_read", {"path": 7}, "path"),
]
# A second of waiting is enough once.
SLOW: tuple[str, dict[str, Any], str] = ("bash", {"command": "sleep 60", "timeout": 1}, "timed out")


@carries("AC-24", "LOOP-7")
@pytest.mark.parametrize(("speaker", "wrong"), [*((speaker, each) for speaker in SPEAKERS for each in WRONG), (SPEAKERS[0], SLOW)])
def test_what_goes_wrong_in_a_call_is_a_result_that_the_model_sees(
    studio: Studio, speaker: Speaker, wrong: tuple[str, dict[str, Any], str]
) -> None:
    name, arguments, says = wrong
    with line(studio.served) as it:
        end = studio.say(it, speaker, calling(name, **arguments), DONE, trustLevel="autonomous")

    [result] = it.of("chat:tool-result")
    assert (result["status"], says in result["result"]) == ("error", True)
    assert (end["reason"], it.text, it.of("chat:error")) == ("done", "All done.", [])
    assert says in studio.asked(speaker)[-1].raw.decode()


@carries("AC-28", "LOOP-9")
@every_speaker
def test_the_model_is_offered_what_the_profile_permits_in_its_own_form(studio: Studio, speaker: Speaker) -> None:
    with line(studio.served) as it:
        studio.say(it, speaker, DONE)
        core = studio.asked(speaker)[0]
        studio.say(it, speaker, DONE, profile="short")
        short = studio.asked(speaker)[0]

    assert sorted(offered(core)) == ["bash", "file_read", "file_write", "web_search"]
    assert sorted(offered(short)) == ["file_read", "web_search"]
    [first, *_] = core.body["tools"]
    assert set(first) == ({"name", "description", "input_schema"} if speaker.name == "anthropic" else {"type", "function"})


@carries("AC-31", "LOOP-2")
@every_speaker
def test_at_the_limit_the_model_is_asked_once_more_without_tools_and_the_turn_ends(studio: Studio, speaker: Speaker) -> None:
    again = [calling("file_read", path=f"{number}.md") for number in range(3)]
    with line(studio.served) as it:
        end = studio.say(it, speaker, *again, Told("That is all I could do."), profile="short")

    assert ([may_call(each) for each in studio.asked(speaker)], end["reason"]) == ([True, True, True, False], "limit")
    assert it.text == "That is all I could do."


@carries("AC-31", "LOOP-9")
@every_speaker
def test_a_model_that_calls_though_no_tools_are_offered_any_more_runs_nothing(studio: Studio, speaker: Speaker) -> None:
    unruly = [calling("file_read", path=f"{number}.md") for number in range(3)] + [calling("file_read", path="known.md")]
    with line(studio.served) as it:
        end = studio.say(it, speaker, *unruly, profile="short")
        after = studio.say(it, speaker, DONE, profile="short", conversationId=end["conversationId"])

    assert (end["reason"], after["reason"], len(it.of("chat:tool-start"))) == ("limit", "done", 3)
    assert [told["status"] for told in it.of("chat:tool-result")] == ["error"] * 4
    roles = [each["role"] for each in studio.messages(end["conversationId"])]
    assert roles == ["system", "user", *["assistant", "tool"] * 4, "user", "assistant"]


@carries("AC-32", "CHAT-12")
@every_speaker
def test_a_cancel_while_a_tool_runs_ends_both(studio: Studio, speaker: Speaker) -> None:
    made = studio.served.project / f"{speaker.name}-cancelled.txt"
    with line(studio.served) as it:
        studio.begin(it, speaker, calling("bash", command=f"echo begun; sleep 60; echo x > {made.name}"), DONE, trustLevel="autonomous")
        conversation = it.until("chat:tool-delta")["payload"]["conversationId"]

        it.say("chat:cancel", conversationId=conversation)
        end = it.until("chat:stream-end")["payload"]
        after = studio.say(it, speaker, DONE, conversationId=conversation)

    assert (end["reason"], after["reason"], made.exists()) == ("cancelled", "done", False)


@carries("AC-33", "AC-8")
def test_a_server_has_the_four_core_tools_which_work_in_the_project_and_the_central_folder(studio: Studio) -> None:
    served = studio.served
    told = {each["name"] for each in studio.rest.get(served.tools).json()}

    central = next(served.home.glob("**/central"))
    for root in (served.project, central):
        assert served.call("file_write", path=str(root / "here.txt"), content="x").json()["success"] is True
        assert (root / "here.txt").read_text() == "x"
    outside = served.call("file_write", path=str(served.project.parent / "outside.txt"), content="x").json()

    assert told >= {"bash", "file_read", "file_write", "web_search"}
    assert (outside["success"], (served.project.parent / "outside.txt").exists()) == (False, False)


@carries("CHAT-7", "CHAT-22")
@every_speaker
def test_a_providers_refusal_is_an_error_then_the_end_and_usage_is_told_when_it_is_known(studio: Studio, speaker: Speaker) -> None:
    with line(studio.served) as it:
        refused = studio.say(it, speaker, Play.json({"error": {"message": "no such key"}}, 401))
        [error] = it.of("chat:error")
        end = studio.say(it, speaker, calling("file_read", path="known.md"), DONE, conversationId=refused["conversationId"])

    assert (refused["reason"], error["message"].startswith("Provider error (401): no such key")) == ("error", True)
    assert error["messageId"] == refused["messageId"]
    usage = end["usage"]
    # Two answers, with 28 tokens in and 9 out each.
    assert (usage["inputTokens"], usage["outputTokens"]) == (56, 18)
    assert usage["cachedTokens"] == (0 if speaker.name == "ollama" else 10)


@carries("PROMPT-1", "PROMPT-2", "PROMPT-8", "PROMPT-10")
@every_speaker
def test_a_prompt_is_calls_results_and_words_and_all_of_it_is_kept(studio: Studio, speaker: Speaker) -> None:
    both = calling("read_file", ("list_directory", {}), path="known.md")
    with line(studio.served, PROMPT) as it:
        done = studio.prompt(it, speaker, both, DONE)

    called = [frame for frame in it.heard if frame["type"] == "tool_call"]
    results = [frame for frame in it.heard if frame["type"] == "tool_result"]
    assert [(frame["name"], frame["arguments"]) for frame in called] == [("read_file", {"path": "known.md"}), ("list_directory", {})]
    assert [(frame["id"], frame["name"]) for frame in results] == [(frame["id"], frame["name"]) for frame in called]
    assert (results[0]["output"], any("isError" in frame for frame in results)) == ("known\n", False)
    assert "".join(frame["text"] for frame in it.heard if frame["type"] == "token") == "All done."
    kept = studio.messages(done["sessionId"])
    assert [each["role"] for each in kept] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert [each["sort_order"] for each in kept] == list(range(6))
    functions = [each["function"] for each in kept[2]["metadata"]["tool_calls"]]
    assert [(each["name"], json.loads(each["arguments"])) for each in functions] == [
        ("read_file", {"path": "known.md"}),
        ("list_directory", {}),
    ]
    assert [each["metadata"] for each in kept[3:]] == [{"tool_call_id": called[0]["id"]}, {"tool_call_id": called[1]["id"]}, None]


@carries("PROMPT-6")
@every_speaker
def test_an_unknown_tool_is_a_result_that_says_so_and_the_prompt_goes_on(studio: Studio, speaker: Speaker) -> None:
    with line(studio.served, PROMPT) as it:
        done = studio.prompt(it, speaker, calling("nonexistent"), DONE)

    [result] = [frame for frame in it.heard if frame["type"] == "tool_result"]
    assert (done["type"], result["isError"], "Unknown tool" in result["output"]) == ("done", True, True)


@carries("PROMPT-7")
@every_speaker
def test_calls_are_run_whatever_the_finish_reason(studio: Studio, speaker: Speaker) -> None:
    whole = b"".join(speaker.say(calling("read_file", path="known.md")))
    other = whole.replace(b'"finish_reason": "tool_calls"', b'"finish_reason": "stop"')
    other = other.replace(b'"stop_reason": "tool_use"', b'"stop_reason": "end_turn"')
    assert other != whole or speaker.name == "ollama"
    with line(studio.served, PROMPT) as it:
        studio.prompt(it, speaker, Play((other,)), DONE)

    assert [frame["output"] for frame in it.heard if frame["type"] == "tool_result"] == ["known\n"]


@carries("PROMPT-9", "COPILOT-3")
@every_speaker
def test_a_providers_error_is_told_in_a_prompt_and_the_session_goes_on(studio: Studio, speaker: Speaker) -> None:
    with line(studio.served, PROMPT) as it:
        session = studio.prompt(it, speaker, DONE)["sessionId"]
        error = studio.prompt(it, speaker, Play.json({"error": {"message": "Unauthorized"}}, 401), sessionId=session)
        after = studio.prompt(it, speaker, DONE, sessionId=session)

    assert (error["type"], error["message"].startswith("Provider error (401): Unauthorized")) == ("error", True)
    assert after == {"type": "done", "sessionId": session}


@carries("PROMPT-11", "LOOP-10")
@every_speaker
def test_a_prompts_model_has_two_tools_and_is_told_about_the_project(studio: Studio, speaker: Speaker) -> None:
    notes = studio.served.project / "AGENTS.md"
    notes.write_text("Use tabs here.\n", encoding="utf-8")
    try:
        with line(studio.served, PROMPT) as it:
            studio.prompt(it, speaker, DONE)
    finally:
        notes.unlink()

    [asked] = studio.asked(speaker)
    text = asked.raw.decode()
    assert sorted(offered(asked)) == ["list_directory", "read_file"]
    assert "Use tabs here." in text
    assert "through tools" in text
    assert not any(denied in text for denied in ("cannot read", "cannot modify", "no access to the project"))


def shown(capabilities: list[str], window: int) -> Play:
    """What Ollama says of a model."""
    about = {"general.architecture": "llama", "llama.context_length": window}
    return Play.json({"model_info": about, "capabilities": ["completion", *capabilities]})


@carries("LOOP-8")
def test_a_model_without_tools_is_sent_none_and_chats(studio: Studio) -> None:
    ollama = SPEAKERS[3]
    studio.providers["ollama"].fixed["/api/show"] = shown([], 8_000)
    with line(studio.served) as it:
        end = studio.say(it, ollama, DONE, model="ollama/plain")

    assert (end["reason"], it.text, "tools" in studio.asked(ollama)[0].body) == ("done", "All done.", False)


@carries("LOOP-4", "CHAT-6")
def test_when_the_window_is_nearly_full_old_results_are_shortened_then_no_tools_are_offered_and_the_log_keeps_all(studio: Studio) -> None:
    ollama = SPEAKERS[3]
    studio.providers["ollama"].fixed["/api/show"] = shown(["tools"], 4_096)
    part, whole = "a part of the file\n" * 75, "the whole of the file\n" * 1_500
    (studio.served.project / "part.txt").write_text(part, encoding="utf-8")
    (studio.served.project / "whole.txt").write_text(whole, encoding="utf-8")
    many = calling("file_read", *[("file_read", {"path": "part.txt"})] * 7, path="part.txt")
    with line(studio.served) as it:
        end = studio.say(it, ollama, many, calling("file_read", path="whole.txt"), DONE, model="ollama/small")

    first, second, third = studio.asked(ollama)
    assert [each.raw.count(b"left out to save room") > 0 for each in (first, second, third)] == [False, True, True]
    assert ([may_call(each) for each in (first, second, third)], end["reason"]) == ([True, True, False], "budget")
    told = it.of("chat:context")
    assert ({each["windowTokens"] for each in told}, len(told)) == ({4_096}, 3)
    assert all(each["usedTokens"] > 0 for each in told)
    kept = [each["content"] for each in studio.messages(end["conversationId"]) if each["role"] == "tool"]
    assert kept == [part] * 8 + [whole]


@carries("SESSION-4")
def test_a_session_is_a_file_that_can_be_read_and_searched_and_not_changed(studio: Studio) -> None:
    served = studio.served
    with line(studio.served) as it:
        end = studio.say(it, SPEAKERS[0], Told("A word that is nowhere else: zwieback."))
    path = f"/chats/{end['conversationId']}.chat"

    listed = served.call("ls", path="/chats", limit=0).json()["result"]
    text = served.call("read", path=path).json()["result"]
    found = served.call("grep", pattern="zwieback", path="/chats").json()["result"]
    refused = [served.call(name, **arguments).status_code for name, arguments in changes(path)]

    assert f"{end['conversationId']}.chat" in json.dumps(listed)
    assert "zwieback" in json.dumps(text)
    assert path in json.dumps(found)
    assert refused == [400] * 5
    assert not (served.project / "chats").exists()


def changes(path: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("write", {"path": path, "content": "x", "overwrite": True}),
        ("edit", {"path": path, "old_string": "zwieback", "new_string": "toast"}),
        ("rm", {"path": path}),
        ("mv", {"source": path, "destination": "/elsewhere.md"}),
        ("touch", {"path": path}),
    ]


@carries("TRUST-6", "PROFILE-3")
def test_a_session_that_is_made_over_rest_begins_as_its_profile_says_unless_one_says_otherwise(studio: Studio) -> None:
    client, address = studio.rest, f"/api/v1/workspaces/{studio.served.workspace_id}/sessions"

    made = [client.post(address, json=body).json() for body in ({}, {"profile": "planner"}, {"profile": "careful"})]
    chosen = client.post(address, json={"profile": "careful", "trust": "autonomous", "mode": "plan"}).json()
    unknown = client.post(address, json={"profile": "nobody's"})

    assert [(each["profile"], each["mode"], each["trust"]) for each in made] == [
        ("coder", "build", "guided"),
        ("planner", "plan", "guided"),
        ("careful", "build", "supervised"),
    ]
    assert (chosen["mode"], chosen["trust"], unknown.status_code) == ("plan", "autonomous", 400)
