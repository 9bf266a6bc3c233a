"""/ws/chat over real sockets, with a script in the model's place."""

from typing import Any
from uuid import uuid4

import pytest
from websockets.exceptions import ConnectionClosed

from tests.doors.http.talking import Line, line
from tests.promises import carries
from tests.served import Served


@carries("CHAT-2")
def test_what_the_model_says_comes_as_it_is_said_between_one_start_and_one_end(talking: Served) -> None:
    with line(talking) as it:
        end = it.send("hello")

        assert it.text == "Hello there."
        assert [frame["type"] for frame in it.heard if "seq" in frame] == ["chat:message", "chat:stream-start", "chat:stream-end"]
        [start] = it.of("chat:stream-start")
        assert (end["payload"]["reason"], end["payload"]["messageId"]) == ("done", start["messageId"])
        assert start["model"] == "scripted/talk"
        assert len({frame["payload"]["conversationId"] for frame in it.heard}) == 1


def test_a_call_is_told_with_its_start_and_its_result(talking: Served) -> None:
    with line(talking) as it:
        it.send("read it")

        [begun], [result] = it.of("chat:tool-start"), it.of("chat:tool-result")
        assert (begun["toolName"], begun["input"]) == ("read", {"path": "/known.md"})
        assert (result["toolId"], result["status"], "known" in result["result"]) == (begun["toolId"], "success", True)
        assert it.text == "Looking. It is known."


@carries("CHAT-8")
def test_an_id_that_the_client_chose_is_the_conversations_and_a_known_one_goes_on(talking: Served) -> None:
    chosen = f"mine-{uuid4()}"
    with line(talking) as it:
        it.send("hello", conversationId=chosen)
        it.send("think", conversationId=chosen, history=[{"role": "user", "content": "not looked at"}])

        assert {told["conversationId"] for told in it.of("chat:stream-end")} == {chosen}
        assert messages(talking, chosen) == [
            ("user", "hello"),
            ("assistant", "Hello there."),
            ("user", "think"),
            ("assistant", "So it is."),
        ]


@carries("CHAT-8", "CHAT-9")
def test_a_history_is_what_a_new_conversation_begins_with(talking: Served) -> None:
    chosen = f"old-{uuid4()}"
    with line(talking) as it:
        it.send("hello", conversationId=chosen, history=[{"role": "user", "content": "A?"}, {"role": "assistant", "content": "B."}])

    assert messages(talking, chosen)[:3] == [("user", "A?"), ("assistant", "B."), ("user", "hello")]
    with line(talking) as it:
        it.say("chat:resume", conversationId=chosen)
        it.until("chat:stream-end")
        assert [(told["role"], told["content"]) for told in it.of("chat:message")] == [
            ("user", "A?"),
            ("assistant", "B."),
            ("user", "hello"),
        ]


@pytest.mark.parametrize("by", ["approvalId", "toolId"])
def test_what_was_said_yes_to_is_done(talking: Served, by: str) -> None:
    with line(talking) as it:
        asked = waiting(it, "write yes")
        (talking.project / "yes.md").unlink(missing_ok=True)
        assert (asked["toolName"], asked["input"]["path"], bool(asked["reason"])) == ("write", "/yes.md", True)
        assert it.of("chat:tool-start") == []

        it.say("chat:tool-approve", approved=True, **{by: asked[by]})
        it.until("chat:stream-end")

        assert (talking.project / "yes.md").read_text() == "yes\n"
        [decided] = it.of("chat:tool-decided")
        assert (decided["decision"], decided["approvalId"]) == ("approved", asked["approvalId"])
        assert it.text == "Written."


@carries("ASK-2")
def test_what_was_said_no_to_is_not_done_and_the_model_hears_why(talking: Served) -> None:
    with line(talking) as it:
        asked = waiting(it, "write no")

        it.say("chat:tool-approve", toolId=asked["toolId"], approved=False, feedback="not there")
        it.until("chat:stream-end")

        [result] = it.of("chat:tool-result")
        assert (result["status"], "not there" in result["result"], it.of("chat:tool-start")) == ("error", True, [])
        assert not (talking.project / "no.md").exists()


@carries("ASK-4")
def test_a_yes_may_change_the_arguments(talking: Served) -> None:
    with line(talking) as it:
        asked = waiting(it, "write changed")
        (talking.project / "changed.md").unlink(missing_ok=True)

        it.say("chat:tool-approve", toolId=asked["toolId"], approved=True, input={"path": "/changed.md", "content": "yours\n"})
        it.until("chat:stream-end")

        assert (talking.project / "changed.md").read_text() == "yours\n"


def test_an_autonomous_conversation_asks_nothing(talking: Served) -> None:
    with line(talking) as it:
        it.send("write late", trustLevel="autonomous")

        assert it.of("chat:tool-confirm") == []
        assert (talking.project / "late.md").read_text() == "late\n"


@carries("ASK-7")
def test_an_approval_is_taken_only_from_whoever_watches_and_only_once(talking: Served) -> None:
    with line(talking) as it, line(talking) as stranger:
        asked = waiting(it, "write no")

        stranger.say("chat:tool-approve", approvalId=asked["approvalId"], approved=True)
        assert stranger.until("chat:error")["payload"]["code"] == "not_found"
        it.say("chat:tool-approve", approvalId=asked["approvalId"], approved=True, keep=[{"path": "a"}])
        assert it.until("chat:error")["payload"]["code"] == "invalid_arguments"
        it.say("chat:tool-approve", approvalId=asked["approvalId"], approved="yes")
        assert it.until("chat:error")["payload"]["code"] == "invalid_arguments"
        it.say("chat:tool-approve", approvalId=asked["approvalId"], approved=False)
        it.until("chat:stream-end")
        it.say("chat:tool-approve", approvalId=asked["approvalId"], approved=True)
        assert it.until("chat:error")["payload"]["code"] == "not_found"

        assert not (talking.project / "no.md").exists()


@carries("CHAT-18")
def test_an_answer_to_a_question_goes_to_the_model(talking: Served) -> None:
    with line(talking) as it:
        it.say("chat:send", content="ask me")
        asked = it.until("chat:question")["payload"]
        it.say("chat:answer", questionId=asked["questionId"], answers={"colour": 7})
        assert it.until("chat:error")["payload"]["code"] == "invalid_arguments"

        it.say("chat:answer", questionId=asked["questionId"], answers={"colour": "blue"})
        it.until("chat:stream-end")

        assert "blue" in it.of("chat:tool-result")[0]["result"]


@carries("CHAT-12")
def test_a_turn_is_cancelled_and_the_conversation_goes_on(talking: Served) -> None:
    with line(talking) as it:
        it.say("chat:send", content="slowly")
        conversation = it.until("chat:text-delta")["payload"]["conversationId"]

        it.say("chat:cancel", conversationId=conversation)
        end = it.until("chat:stream-end")
        it.say("chat:cancel", conversationId=conversation)
        nothing = it.until("chat:error")

        assert (end["payload"]["reason"], nothing["payload"]["code"]) == ("cancelled", "not_found")
        assert it.send("hello", conversationId=conversation)["payload"]["reason"] == "done"


@carries("CHAT-12")
def test_a_turn_that_is_cancelled_while_a_call_waits_leaves_no_call_open(talking: Served) -> None:
    with line(talking) as it:
        conversation = waiting(it, "write no")["conversationId"]

        it.say("chat:cancel", conversationId=conversation)
        it.until("chat:stream-end")
        end = it.send("hello", conversationId=conversation)

        assert end["payload"]["reason"] == "done"
        assert [role for role, _ in messages(talking, conversation)] == ["user", "assistant", "tool", "user", "assistant"]


@carries("CHAT-13")
def test_a_second_message_while_a_turn_runs_is_an_error_and_the_turn_goes_on(talking: Served) -> None:
    with line(talking) as it:
        it.say("chat:send", content="in parts")
        conversation = it.until("chat:text-delta")["payload"]["conversationId"]

        it.say("chat:send", content="hello", conversationId=conversation)
        error = it.until("chat:error")
        end = it.until("chat:stream-end")

        assert (error["payload"]["code"], error["payload"]["conversationId"]) == ("busy", conversation)
        assert (end["payload"]["reason"], it.text) == ("done", "One two three.")


@carries("CHAT-10")
def test_whoever_resumes_after_a_number_gets_all_that_came_after_it_and_what_was_said_whole(talking: Served) -> None:
    with line(talking) as it:
        conversation = it.send("read it")["payload"]["conversationId"]
        start = next(frame["seq"] for frame in it.heard if frame["type"] == "chat:stream-start")
        result = next(frame["seq"] for frame in it.heard if frame["type"] == "chat:tool-result")

    for after, text, kinds in [
        (0, "Looking. It is known.", ["chat:message", "chat:stream-start", "chat:text-delta", "chat:tool-start", "chat:tool-result"]),
        (start, "Looking. It is known.", ["chat:text-delta", "chat:tool-start", "chat:tool-result"]),
        (result, "It is known.", []),
    ]:
        with line(talking) as again:
            again.say("chat:resume", conversationId=conversation, after=after)
            again.until("chat:stream-end")

            assert [frame["type"] for frame in again.heard] == [*kinds, "chat:text-delta", "chat:stream-end"]
            assert again.text == text
            assert all(frame["seq"] > after for frame in again.heard)
            assert [frame["seq"] for frame in again.heard] == sorted(frame["seq"] for frame in again.heard)
            assert {told["messageId"] for told in again.of("chat:text-delta")} == {it.of("chat:stream-start")[0]["messageId"]}


@carries("CHAT-10")
def test_whoever_comes_in_the_middle_of_an_answer_gets_it_whole_and_nothing_twice(talking: Served) -> None:
    with line(talking) as it, line(talking) as late:
        it.say("chat:send", content="in parts")
        conversation = it.until("chat:text-delta")["payload"]["conversationId"]

        late.say("chat:resume", conversationId=conversation)
        late.until("chat:stream-end")
        it.until("chat:stream-end")

        assert late.text == it.text == "One two three."
        seqs = [frame["seq"] for frame in late.heard if "seq" in frame]
        assert seqs == sorted(set(seqs))


@carries("CHAT-9", "CHAT-11", "ASK-9")
def test_two_who_watch_see_the_same_and_either_may_decide(talking: Served) -> None:
    with line(talking) as it, line(talking) as other:
        asked = waiting(it, "write yes")
        other.say("chat:resume", conversationId=asked["conversationId"])
        seen = other.until("chat:tool-confirm")["payload"]

        other.say("chat:tool-approve", toolId=seen["toolId"], approved=True)
        it.until("chat:stream-end")
        other.until("chat:stream-end")

        assert numbered(it) == numbered(other)


@carries("CHAT-23")
def test_a_turn_goes_on_when_whoever_began_it_has_gone(talking: Served) -> None:
    with line(talking) as it:
        it.say("chat:send", content="in parts")
        conversation = it.until("chat:text-delta")["payload"]["conversationId"]

    with line(talking) as again:
        again.say("chat:resume", conversationId=conversation)
        assert again.until("chat:stream-end")["payload"]["reason"] == "done"


@carries("CHAT-14")
@pytest.mark.parametrize(
    "frame",
    [
        "no json",
        b"\xff\xfe",
        "[]",
        "{}",
        '{"type": 7}',
        {"type": "chat:dance"},
        {"type": "chat:send"},
        {"type": "chat:send", "payload": []},
        {"type": "chat:send", "payload": {"content": ""}},
        {"type": "chat:send", "payload": {"content": "hello", "trustLevel": "blind"}},
        {"type": "chat:send", "payload": {"content": "hello", "profile": "everything"}},
        {"type": "chat:send", "payload": {"content": "hello", "model": "nobody/knows"}},
        {"type": "chat:send", "payload": {"content": "hello", "conversationId": "\x00"}},
        {"type": "chat:resume", "payload": {"conversationId": "nowhere"}},
        {"type": "chat:resume", "payload": {"conversationId": "nowhere", "after": -1}},
        {"type": "chat:tool-approve", "payload": {"approved": True}},
        {"type": "chat:answer", "payload": {"questionId": "none", "answers": {}}},
    ],
)
def test_a_frame_that_does_not_fit_is_an_error_and_the_socket_lives(talking: Served, frame: object) -> None:
    with line(talking) as it:
        error = it.ask(frame)

        assert error["type"] == "chat:error"
        assert error["payload"]["code"] in ("invalid_arguments", "invalid_setting", "not_found")
        assert it.send("hello")["payload"]["reason"] == "done"


@carries("CHAT-14")
def test_a_frame_that_is_too_large_ends_the_socket_and_nothing_else(talking: Served) -> None:
    with line(talking) as it, pytest.raises(ConnectionClosed):
        it.ask("x" * (11 * 1024 * 1024))
    with line(talking) as it:
        assert it.send("hello")["payload"]["reason"] == "done"


async def test_whoever_may_not_change_things_has_a_model_that_may_not_either(talking: Served) -> None:
    user = await talking.user(f"{uuid4()}@example.org", scopes=())
    (talking.project / "late.md").unlink(missing_ok=True)
    with line(talking, token=talking.token(user)) as it, line(talking) as other:
        it.send("write late", trustLevel="autonomous")

        assert [told["status"] for told in it.of("chat:tool-result")] == ["error"]
        assert not (talking.project / "late.md").exists()
        asked = waiting(other, "write no")
        it.say("chat:tool-approve", toolId=asked["toolId"], approved=True)
        assert it.until("chat:error")["payload"]["code"] == "forbidden"
        other.say("chat:cancel", conversationId=asked["conversationId"])


def test_much_that_is_said_at_once_reaches_whoever_reads(talking: Served) -> None:
    with line(talking) as it:
        it.send("much")

        assert it.text == "0123456789 " * 2_000


@carries("CHAT-11")
def test_whoever_does_not_read_is_let_go_and_slows_nobody(talking: Served) -> None:
    with line(talking) as slow, line(talking) as it:
        conversation = slow.send("hello")["payload"]["conversationId"]

        it.send("flood" * 100_000, conversationId=conversation)

        assert len(it.text) == 40 * 500_000
        with pytest.raises(ConnectionClosed):
            slow.until("chat:stream-end")


def waiting(it: Line, content: str) -> dict[str, Any]:
    """What the client is asked before the call that the model wants."""
    it.say("chat:send", content=content)
    return it.until("chat:tool-confirm")["payload"]


def numbered(it: Line) -> list[tuple[int, str]]:
    return [(frame["seq"], frame["type"]) for frame in it.heard if "seq" in frame and frame["type"] != "chat:text-delta"]


def messages(talking: Served, session: str) -> list[tuple[str, str]]:
    """What was said in a session, without what the model is told first."""
    told = talking.client().get(f"/api/v1/workspaces/{talking.workspace_id}/sessions/{session}/messages").json()
    assert [each["sort_order"] for each in told] == list(range(len(told)))
    assert told[0]["role"] == "system"
    return [(each["role"], each["content"]) for each in told[1:]]


@carries("CHAT-21")
def test_whoever_is_there_hears_of_every_session_and_of_files_that_change(talking: Served) -> None:
    chosen = f"seen-{uuid4()}"
    (talking.project / "yes.md").unlink(missing_ok=True)
    with line(talking) as it, line(talking) as other:
        it.say("chat:send", content="write yes", conversationId=chosen, clientId="window-1")
        asked = it.until("chat:tool-confirm")["payload"]
        it.say("chat:tool-approve", toolId=asked["toolId"], approved=True)
        it.until("chat:stream-end")

        # Which files have changed is gathered for a moment, so it may come after the end.
        other.until_news("files:changed", paths=["/yes.md"])
        for state in ("idle", "running", "waiting", "running", "idle"):
            told = {"sessionId": chosen, "state": state, "title": "write yes"}
            assert other.next_state(chosen) == told

        assert it.of("chat:message")[0]["clientId"] == "window-1"
        assert other.heard == []
