"""Sessions, their events, and the questions that they put to the person."""

import threading
import time
from typing import Any
from uuid import uuid4

import httpx
import pytest

from holdfast.agent.sessions import Sessions
from holdfast.store import leases
from holdfast.store.events import NewEvent
from holdfast.store.leases import Lease
from tests.doors.http.talking import line
from tests.promises import carries
from tests.served import Served

QUESTION = {
    "name": "go",
    "question": "Go on?",
    "schema": {"type": "string", "minLength": 3},
    "buttons": [{"label": "Yes", "value": "y"}, {"label": "No", "value": "n"}],
}


def under(server: Served, rest: str) -> str:
    return f"/api/v1/workspaces/{server.workspace_id}{rest}"


def made(server: Served, **body: Any) -> dict[str, Any]:
    answer = server.client().post(under(server, "/sessions"), json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


@carries("REST-18")
def test_a_session_is_made_found_changed_and_removed(either: Served) -> None:
    client = either.client()
    session = made(either, title="First")
    address = under(either, f"/sessions/{session['id']}")

    found = client.get(address).json()
    listed = [each["id"] for each in client.get(under(either, "/sessions")).json()]
    changed = client.patch(address, json={"title": "Second", "mode": "plan", "trust": "supervised"}).json()
    removed = client.delete(address)
    after = client.get(address)

    assert found == session
    assert (session["title"], session["mode"], session["trust"], session["state"]) == ("First", "build", "guided", "idle")
    assert session["id"] in listed
    assert (changed["title"], changed["mode"], changed["trust"]) == ("Second", "plan", "supervised")
    assert (removed.status_code, removed.content, after.status_code) == (204, b"", 404)
    assert session["id"] not in [each["id"] for each in client.get(under(either, "/sessions")).json()]


@carries("REST-18")
def test_an_id_that_the_client_chose_is_kept_and_taken_once(either: Served) -> None:
    chosen = f"mine {uuid4()} ü"

    first = made(either, id=chosen)
    second = either.client().post(under(either, "/sessions"), json={"id": chosen})

    assert first["id"] == chosen
    assert (second.status_code, second.json()["code"]) == (409, "CONFLICT")


@carries("REST-18", "REST-7")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"mode": "fast"}, "mode"),
        ({"trust": "blind"}, "trust"),
        ({"title": 7}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"id": ""}, "id"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_session_that_does_not_fit_is_400(either: Served, body: dict[str, Any], field: str) -> None:
    answer = either.client().post(under(either, "/sessions"), json=body)

    assert (answer.status_code, set(answer.json()["fields"])) == (400, {field})


@carries("REST-18")
async def test_events_are_read_after_and_before_a_number(either: Served) -> None:
    session = made(either)["id"]
    database = await either.database()
    try:
        row = await database.row("SELECT epoch FROM workspaces WHERE id = :id", {"id": either.workspace_id})
        node = await leases.holder(database, either.workspace_id)
        assert row is not None
        assert node is not None
        sessions = Sessions(database, Lease(either.workspace_id, node.id, row[0]))
        await sessions.append(session, [NewEvent("note", {"n": number}) for number in range(1, 6)])
    finally:
        await database.close()
    client, address = either.client(), under(either, f"/sessions/{session}/events")

    def numbers(**query: int) -> list[int]:
        return [each["payload"]["n"] for each in client.get(address, params=query).json()]

    assert numbers() == [1, 2, 3, 4, 5]
    assert numbers(after=2) == [3, 4, 5]
    assert numbers(after=1, before=4) == [2, 3]
    assert numbers(after=1, limit=2) == [2, 3]
    assert client.get(under(either, "/sessions/nowhere/events")).status_code == 404


@carries("REST-19")
def test_a_question_without_a_session_is_pending_and_answered_once(either: Served) -> None:
    client = either.client()
    asked = either.call("ask_user", questions=[QUESTION]).json()["result"]
    address = under(either, f"/questions/{asked['question_id']}/answer")

    pending = [each["id"] for each in client.get(under(either, "/questions")).json()]
    answered = client.post(address, json={"answers": {"go": "y"}})
    again = client.post(address, json={"answers": {"go": "n"}})

    assert asked["question_id"] in pending
    assert (answered.status_code, answered.json()["state"], answered.json()["answers"]) == (200, "answered", {"go": "y"})
    assert (again.status_code, again.json()["code"]) == (409, "CONFLICT")
    assert asked["question_id"] not in [each["id"] for each in client.get(under(either, "/questions")).json()]
    assert asked["question_id"] in [each["id"] for each in client.get(under(either, "/questions?state=answered")).json()]


@carries("REST-19")
def test_a_call_in_a_session_waits_for_the_answer(either: Served) -> None:
    session = made(either)["id"]
    heard: list[httpx.Response] = []

    def ask() -> None:
        with httpx.Client(base_url=either.base, headers={"Authorization": f"Bearer {either.told['token']}"}, timeout=60) as client:
            body = {"tool": "ask_user", "args": {"questions": [QUESTION]}, "session_id": session}
            heard.append(client.post(either.tools, json=body))

    asking = threading.Thread(target=ask)
    asking.start()
    client = either.client()
    while not (pending := [each for each in client.get(under(either, "/questions")).json() if each["session_id"] == session]):
        time.sleep(0.02)
    client.post(under(either, f"/questions/{pending[0]['id']}/answer"), json={"answers": {"go": "a word"}})
    asking.join(30)

    assert heard[0].status_code == 200
    assert heard[0].json()["result"] == {"go": "a word"}


@carries("REST-19", "REST-7")
@pytest.mark.parametrize("answers", [{}, {"go": "x"}, {"go": 7}, {"go": "y", "other": 1}, {"other": "y"}])
def test_an_answer_that_does_not_fit_is_400_and_the_question_stays(server: Served, client: httpx.Client, answers: dict[str, Any]) -> None:
    asked = server.call("ask_user", questions=[QUESTION]).json()["result"]["question_id"]

    answer = client.post(under(server, f"/questions/{asked}/answer"), json={"answers": answers})

    assert (answer.status_code, answer.json()["code"]) == (400, "VALIDATION_ERROR")
    assert asked in [each["id"] for each in client.get(under(server, "/questions")).json()]


@carries("REST-19")
def test_a_question_that_is_not_there_is_404_and_a_state_that_is_none_400(server: Served, client: httpx.Client) -> None:
    assert client.post(under(server, f"/questions/{uuid4()}/answer"), json={"answers": {}}).status_code == 404
    assert client.get(under(server, "/questions?state=lost")).status_code == 400


def _said(client: httpx.Client, base: str, session: str) -> list[tuple[str, str]]:
    return [(each["role"], each["content"]) for each in client.get(f"{base}/{session}/messages").json()[1:]]


def test_a_fork_has_what_was_said_up_to_an_event_and_goes_its_own_way(talking: Served) -> None:
    client, base = talking.client(), f"/api/v1/workspaces/{talking.workspace_id}/sessions"
    with line(talking) as it:
        origin = it.send("hello")["payload"]["conversationId"]
        it.send("think", conversationId=origin)
        ends = [frame["seq"] for frame in it.heard if frame["type"] == "chat:stream-end"]

        made = client.post(f"{base}/{origin}/fork", json={"event": ends[0]}).json()
        it.send("read it", conversationId=made["id"])

        assert made["title"] == "hello (fork)"
        assert _said(client, base, origin)[2:] == [("user", "think"), ("assistant", "So it is.")]
        forked = _said(client, base, made["id"])
        assert forked[:3] == [("user", "hello"), ("assistant", "Hello there."), ("user", "read it")]
        events = client.get(f"{base}/{made['id']}/events").json()
        assert {each["payload"]["conversationId"] for each in events if each["type"].startswith("chat:")} == {made["id"]}


def test_a_fork_in_the_middle_of_a_turn_has_ended_there_and_asks_for_nothing(talking: Served) -> None:
    client, base = talking.client(), f"/api/v1/workspaces/{talking.workspace_id}/sessions"
    with line(talking) as it:
        it.say("chat:send", content="write no")
        asked = it.until("chat:tool-confirm")

        made = client.post(f"{base}/{asked['payload']['conversationId']}/fork", json={"event": asked["seq"]}).json()
        it.say("chat:tool-approve", approvalId=asked["payload"]["approvalId"], approved=False)
        it.until("chat:stream-end")

        types = [each["type"] for each in client.get(f"{base}/{made['id']}/events").json()]
        assert types[-3:] == ["chat:tool-decided", "message", "chat:stream-end"]
        assert _said(client, base, made["id"])[-1][0] == "tool"
        assert it.send("hello", conversationId=made["id"])["payload"]["reason"] == "done"


@pytest.mark.parametrize(
    ("session", "event", "status"), [("nowhere", 1, 404), (None, 10_000, 400), (None, 0, 400), (None, "1", 400), (None, True, 400)]
)
def test_what_cannot_be_forked_is_told(talking: Served, session: str | None, event: object, status: int) -> None:
    client, base = talking.client(), f"/api/v1/workspaces/{talking.workspace_id}/sessions"
    with line(talking) as it:
        chosen = session or it.send("hello")["payload"]["conversationId"]

    assert client.post(f"{base}/{chosen}/fork", json={"event": event}).status_code == status


def test_the_profiles_are_listed_with_their_tools_and_those_of_the_project_on_request(talking: Served) -> None:
    client = talking.client()
    folder = talking.project / ".holdfast/profiles"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reader.yaml").write_text("toolsets: [simple]\ntool_permissions: {read_file: {allowed: true}}\n", encoding="utf-8")
    (folder / "wrong.yaml").write_text("toolset: []\n", encoding="utf-8")

    shipped = {each["name"]: each for each in client.get("/api/v1/profiles").json()}
    every = {each["name"]: each for each in client.get(f"/api/v1/profiles?workspace={talking.workspace_id}").json()}

    assert (shipped["simple"]["tools"], shipped["planner"]["mode"]) == (["list_directory", "read_file"], "plan")
    assert set(every) - set(shipped) == {"reader", "wrong"}
    assert (every["reader"]["tools"], every["reader"]["origin"], every["wrong"]["usable"]) == (["read_file"], "project", False)
    assert talking.client(None).get("/api/v1/profiles").status_code == 401


def test_what_is_set_anew_over_rest_is_heard_by_whoever_watches(talking: Served) -> None:
    client, base = talking.client(), f"/api/v1/workspaces/{talking.workspace_id}/sessions"
    with line(talking) as it:
        session = it.send("hello")["payload"]["conversationId"]

        client.patch(f"{base}/{session}", json={"title": "renamed", "mode": "plan"}).raise_for_status()

        assert it.until("chat:mode")["payload"] == {"conversationId": session, "mode": "plan"}
        while it.next_state(session)["title"] != "renamed":
            pass
        assert [each["type"] for each in client.get(f"{base}/{session}/events").json()][-1] == "chat:mode"


def test_deleting_a_session_ends_what_runs_of_it_and_what_it_asks(talking: Served) -> None:
    client, base = talking.client(), f"/api/v1/workspaces/{talking.workspace_id}"
    with line(talking) as it:
        it.say("chat:send", content="write no")
        asked = it.until("chat:tool-confirm")["payload"]

        assert client.delete(f"{base}/sessions/{asked['conversationId']}").status_code == 204

        assert it.until("chat:stream-end")["payload"]["reason"] == "cancelled"
        assert client.post(f"{base}/approvals/{asked['approvalId']}", json={"approved": True}).status_code == 409
        assert not (talking.project / "no.md").exists()


def test_the_files_of_a_session_are_taken_back_to_before_an_event_but_for_what_others_changed(talking: Served) -> None:
    client, base = talking.client(), f"/api/v1/workspaces/{talking.workspace_id}/sessions"
    changed, yes = talking.project / "changed.md", talking.project / "yes.md"
    changed.unlink(missing_ok=True)
    yes.unlink(missing_ok=True)
    with line(talking) as it:
        session = it.send("write changed", trustLevel="autonomous")["payload"]["conversationId"]
        first = it.heard[-1]["seq"]
        it.send("write yes", conversationId=session)
        changed.write_text("by hand\n", encoding="utf-8")

        looked = client.post(f"{base}/{session}/rewind", json={"event": first, "dry_run": True}).json()
        still_there = yes.exists()
        done = client.post(f"{base}/{session}/rewind", json={"event": first}).json()
        further = client.post(f"{base}/{session}/rewind", json={"event": 0}).json()

        assert (looked["count"], done["count"], still_there, yes.exists()) == (1, 1, True, False)
        assert ([each["path"] for each in further["left_alone"]], changed.read_text()) == (["/changed.md"], "by hand\n")
        assert client.post(f"{base}/nowhere/rewind", json={"event": 0}).status_code == 404
        assert client.post(f"{base}/{session}/rewind", json={"event": 10_000}).status_code == 400
