"""What is said, decided and ended over REST while a model works; and whose models there are."""

import time
from typing import Any
from uuid import uuid4

import pytest

from tests.doors.http.talking import line
from tests.promises import carries
from tests.served import Served


def under(talking: Served, rest: str) -> str:
    return f"/api/v1/workspaces/{talking.workspace_id}{rest}"


def session(talking: Served) -> str:
    return talking.client().post(under(talking, "/sessions"), json={}).json()["id"]


def pending(talking: Served, session_id: str) -> dict[str, Any]:
    """The approval that the session waits for."""
    client = talking.client()
    for _ in range(500):
        for each in client.get(under(talking, "/approvals")).json():
            if each["session_id"] == session_id:
                return each
        time.sleep(0.02)
    raise AssertionError("nothing was asked")


def ended(talking: Served, session_id: str) -> dict[str, Any]:
    """The end of the session's turn."""
    client = talking.client()
    for _ in range(500):
        events = client.get(under(talking, f"/sessions/{session_id}/events")).json()
        if events and events[-1]["type"] == "chat:stream-end":
            return events[-1]["payload"]
        time.sleep(0.02)
    raise AssertionError("the turn does not end")


def say(talking: Served, session_id: str, content: str, **more: object) -> int:
    return talking.client().post(under(talking, f"/sessions/{session_id}/messages"), json={"content": content, **more}).status_code


@carries("SESSION-6")
def test_what_is_said_over_rest_is_answered(talking: Served) -> None:
    chosen = session(talking)

    assert say(talking, chosen, "hello") == 202
    assert ended(talking, chosen)["reason"] == "done"

    told = talking.client().get(under(talking, f"/sessions/{chosen}/messages")).json()
    assert [each["role"] for each in told] == ["system", "user", "assistant"]


@carries("SESSION-6")
def test_what_cannot_be_said_is_told(talking: Served) -> None:
    chosen = session(talking)

    assert say(talking, "nowhere", "hello") == 404
    assert say(talking, chosen, "hello", model="nobody/knows") == 400
    assert say(talking, chosen, "hello", profile="everything") == 400
    assert say(talking, chosen, "slowly") == 202
    assert say(talking, chosen, "hello") == 409
    assert talking.client().post(under(talking, f"/sessions/{chosen}/cancel")).json()["running"] is True
    assert ended(talking, chosen)["reason"] == "cancelled"
    assert talking.client().post(under(talking, f"/sessions/{chosen}/cancel")).json()["running"] is False


@carries("ASK-9")
def test_a_decision_over_rest_is_heard_by_whoever_watches_and_counts_once(talking: Served) -> None:
    client = talking.client()
    (talking.project / "yes.md").unlink(missing_ok=True)
    with line(talking) as it:
        it.say("chat:send", content="write yes")
        asked = it.until("chat:tool-confirm")["payload"]
        found = pending(talking, asked["conversationId"])
        address = under(talking, f"/approvals/{found['id']}")
        assert "+yes" in client.get(f"{address}/effects/1/diff").json()["diff"]

        first = client.post(address, json={"approved": True, "feedback": "go"})
        it.until("chat:stream-end")
        second = client.post(address, json={"approved": False})

        assert found["id"] == asked["approvalId"]
        assert (first.status_code, first.json()["state"], second.status_code) == (200, "approved", 409)
        assert it.of("chat:tool-decided")[0]["decision"] == "approved"
        assert found["id"] in [each["id"] for each in client.get(under(talking, "/approvals?state=approved")).json()]


@carries("ASK-6")
def test_what_nobody_watches_waits_without_a_clock(talking: Served) -> None:
    chosen = session(talking)
    say(talking, chosen, "write no")

    found = pending(talking, chosen)
    with line(talking) as it:
        watched_id = f"watched-{uuid4()}"
        it.say("chat:send", content="write no", conversationId=watched_id)
        watched = it.until("chat:tool-confirm")["payload"]
        it.say("chat:cancel", conversationId=watched_id)

    assert found["expires_at"] is None
    assert watched["expiresAt"]
    talking.client().post(under(talking, f"/approvals/{found['id']}"), json={"approved": False})
    assert ended(talking, chosen)["reason"] == "done"


async def test_whoever_may_not_change_things_decides_nothing(talking: Served) -> None:
    user = await talking.user(f"{uuid4()}@example.org", scopes=())
    chosen = session(talking)
    say(talking, chosen, "write no")
    address = under(talking, f"/approvals/{pending(talking, chosen)['id']}")

    refused = talking.client(talking.token(user)).post(address, json={"approved": True})

    assert refused.status_code == 403
    assert talking.client().post(address, json={"approved": False}).status_code == 200


@carries("ASK-10")
def test_some_of_the_effects_can_be_looked_at_and_kept_and_the_rest_is_dropped(talking: Served) -> None:
    client = talking.client()
    with line(talking) as it:
        it.say("chat:send", content="run it")
        asked = it.until("chat:tool-confirm")["payload"]
        numbers = {each["path"]: each["n"] for each in asked["effects"]}
        address = under(talking, f"/approvals/{asked['approvalId']}")

        diff = client.get(f"{address}/effects/{numbers['/b.txt']}/diff").json()
        no_such = client.get(f"{address}/effects/99/diff")
        unknown = {"approved": True, "effects_hash": asked["effectsHash"], "keep": [{"path": "/none.txt"}]}
        refused = client.post(address, json=unknown)
        it.say("chat:tool-approve", toolId=asked["toolId"], approved=True, effectsHash=asked["effectsHash"], keep=[{"path": "/d"}])
        it.until("chat:stream-end")

        assert (diff["kind"], "+b" in diff["diff"], no_such.status_code, refused.status_code) == ("added", True, 404, 400)
        assert (it.of("chat:tool-decided")[0]["decision"], it.of("chat:tool-decided")[0]["kept"]) == ("kept", ["/d"])
        assert "kept only these, and dropped the rest: /d" in it.of("chat:tool-result")[0]["result"]
        assert ((talking.project / "d/a.txt").read_text(), (talking.project / "b.txt").exists()) == ("a\n", False)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"approved": "yes"},
        {"approved": True, "keep": []},
        {"approved": True, "keep": "some"},
        {"approved": True, "remember": True},
        {"approved": False, "keep": [{"path": "/a"}]},
        {"approved": False, "input": {}},
    ],
)
def test_a_decision_that_does_not_fit_is_400(talking: Served, body: dict[str, Any]) -> None:
    assert talking.client().post(under(talking, f"/approvals/{uuid4()}"), json=body).status_code == 400


def test_an_approval_that_is_not_there_is_404(talking: Served) -> None:
    assert talking.client().post(under(talking, f"/approvals/{uuid4()}"), json={"approved": True}).status_code == 404


def test_the_models_are_listed_for_whoever_has_a_token(talking: Served) -> None:
    told = {each["id"]: each for each in talking.client().get("/api/v1/models").json()}

    assert told["scripted/talk"]["supports_tools"] is True
    assert told["scripted/talk"]["reachable"] is True
    assert talking.client(None).get("/api/v1/models").status_code == 401
