"""/ws/prompt over real sockets, with a script in the model's place."""

from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from tests.doors.http.talking import Line, line
from tests.promises import carries
from tests.served import Served

PROMPT = "/ws/prompt"


def asked(it: Line, text: str, **more: object) -> dict[str, Any]:
    it.write({"type": "prompt", "text": text, **more})
    return it.until("done", "error")


def tokens(it: Line) -> str:
    return "".join(frame["text"] for frame in it.heard if frame["type"] == "token")


def messages(talking: Served, session: str) -> list[dict[str, Any]]:
    return talking.client().get(f"/api/v1/workspaces/{talking.workspace_id}/sessions/{session}/messages").json()


@carries("PROMPT-1")
def test_a_prompt_is_answered_in_tokens_and_done_names_the_session(talking: Served) -> None:
    with line(talking, PROMPT) as it:
        done = asked(it, "hello")

        assert {frame["type"] for frame in it.heard} == {"token", "done"}
        assert tokens(it) == "Hello there."
        assert [(each["role"], each["sort_order"]) for each in messages(talking, done["sessionId"])] == [
            ("system", 0),
            ("user", 1),
            ("assistant", 2),
        ]


def test_calls_and_results_are_told_and_kept_with_what_belongs_to_them(talking: Served) -> None:
    with line(talking, PROMPT) as it:
        done = asked(it, "look")

        called = [frame for frame in it.heard if frame["type"] == "tool_call"]
        results = [frame for frame in it.heard if frame["type"] == "tool_result"]
        assert [(frame["name"], frame["arguments"]) for frame in called] == [
            ("read_file", {"path": "known.md"}),
            ("read_file", {"path": "none.md"}),
        ]
        by_id = {frame["id"]: frame for frame in results}
        good, bad = (by_id[frame["id"]] for frame in called)
        assert ("known" in good["output"], "isError" in good) == (True, False)
        assert bad["isError"] is True
        kept = messages(talking, done["sessionId"])
        assert [each["id"] for each in kept[2]["metadata"]["tool_calls"]] == [frame["id"] for frame in called]
        assert [each["metadata"] for each in kept[3:5]] == [{"tool_call_id": frame["id"]} for frame in called]
        assert (kept[1]["metadata"], kept[5]["metadata"]) == (None, None)


def test_a_session_goes_on_under_its_id(talking: Served) -> None:
    with line(talking, PROMPT) as it:
        session = asked(it, "hello")["sessionId"]

        assert asked(it, "think", sessionId=session) == {"type": "done", "sessionId": session}

    assert [each["content"] for each in messages(talking, session)[1:]] == ["hello", "Hello there.", "think", "So it is."]


@carries("PROMPT-5")
def test_a_model_that_never_stops_calling_is_stopped_after_twenty_answers_and_says_so(talking: Served) -> None:
    with line(talking, PROMPT) as it:
        done = asked(it, "for ever")

        assert done["type"] == "done"
        assert tokens(it) == "Stopped after 20 iterations — possible runaway loop."
        assert len([frame for frame in it.heard if frame["type"] == "tool_call"]) == 20
        assert messages(talking, done["sessionId"])[-1]["content"] == tokens(it)


def test_a_tool_of_another_profile_is_not_there(talking: Served) -> None:
    with line(talking, PROMPT) as it:
        asked(it, "write no")

        assert [frame["isError"] for frame in it.heard if frame["type"] == "tool_result"] == [True]
        assert not (talking.project / "no.md").exists()


@carries("PROMPT-4")
def test_a_second_prompt_in_a_session_that_runs_is_an_error_and_the_first_goes_on(talking: Served) -> None:
    with line(talking, PROMPT) as it:
        session = asked(it, "hello")["sessionId"]
        it.write({"type": "prompt", "text": "in parts", "sessionId": session})
        it.until("token")

        second = asked(it, "hello", sessionId=session)
        first = it.until("done", "error")

        assert (second["type"], first) == ("error", {"type": "done", "sessionId": session})
        assert tokens(it) == "Hello there.One two three."


def test_a_fault_of_the_provider_is_an_error_and_the_session_can_be_continued(talking: Served) -> None:
    with line(talking, PROMPT) as it:
        session = asked(it, "hello")["sessionId"]

        assert asked(it, "broken", sessionId=session)["type"] == "error"
        assert asked(it, "hello", sessionId=session)["type"] == "done"


@carries("PROMPT-3")
@pytest.mark.parametrize(
    "frame",
    [
        "no json",
        "7",
        {"text": "hello"},
        {"type": "other", "text": "hello"},
        {"type": "prompt"},
        {"type": "prompt", "text": ""},
        {"type": "prompt", "text": 7},
        {"type": "prompt", "text": "hello", "sessionId": "nowhere"},
        {"type": "prompt", "text": "hello", "sessionId": "\x00"},
    ],
)
def test_a_frame_that_does_not_fit_is_an_error_and_the_socket_lives(talking: Served, frame: object) -> None:
    with line(talking, PROMPT) as it:
        error = it.ask(frame)

        assert (error["type"], bool(error["message"])) == ("error", True)
        assert asked(it, "hello")["type"] == "done"


def test_a_stranger_gets_no_socket(talking: Served) -> None:
    with pytest.raises(InvalidStatus), line(talking, PROMPT, token=None):
        pass
    with pytest.raises(InvalidStatus), line(talking, PROMPT, origin="http://evil.example"):
        pass
