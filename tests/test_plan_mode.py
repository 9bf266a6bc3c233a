"""In plan mode nothing changes but plans: every tool there is, aimed at real files, through every way in."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest

from holdfast.dispatch.approvals import Approvals
from holdfast.store import sessions
from holdfast.store.approvals import Approval
from holdfast.tool.registry import Registry
from holdfast.tool.tool import Tool
from holdfast.tool.toolset import find_toolsets
from holdfast.vocabulary.call import Caller, ToolCall, Wish
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done, Outcome
from holdfast.vocabulary.profile import SHIPPED
from holdfast.vocabulary.trust import Trust
from tests.desk import Desk, open_desk
from tests.doors.http.talking import line
from tests.promises import carries
from tests.served import Served, serving

REGISTRY = Registry(find_toolsets("holdfast.toolsets"))
TOOLS = [tool for name in REGISTRY.names() if (tool := REGISTRY.get(name)) is not None]
FRONT = "---\ncurrentNodeId: a\n---\nbody of {}\n"
COMMAND = "echo more >> notes.md; rm sub/main.py; mkdir made; echo x > made/new.md; chmod 600 notes.md; echo done"


@dataclass(frozen=True)
class Aim:
    """How calls are aimed: each tool at a file of its own, people's tools at versions and effects with these ids."""

    ids: dict[str, str]

    def arguments(self, tool: Tool) -> dict[str, Json]:
        """Arguments by the tool's schema with which it would do its work."""
        given = {each.wire_name: self._value(tool, each.wire_name, target_of(tool)) for each in tool.parameters}
        return {name: value for name, value in given.items() if value is not None}

    def _value(self, tool: Tool, name: str, target: str) -> Json:
        if name in ("path", "source", "destination", "plan_file_path") and tool.toolset != "person":
            return self._path(tool, name, target)
        known: dict[str, Json] = {
            "paths": [self._path(tool, name, target)],
            "content": FRONT.format("new"),
            "command": COMMAND,
            "patch": {"operation": "updateFrontmatter", "update": {"currentNodeId": {"set": "b"}}},
            "pattern": "body",
            "query": "holdfast",
            "title": "A plan",
            "name": "notes",
            "overwrite": True,
            "questions": [{"name": "go", "question": "Go?", "schema": {"type": "string"}}],
        }
        if tool.toolset == "person":
            return 0 if name == "event" else self.ids.get(f"{tool.name}.{name}")
        if name in ("old_string", "new_string"):
            return "body" if name == "old_string" else "soul"
        return known.get(name)

    def _path(self, tool: Tool, name: str, target: str) -> str:
        if name == "destination" or tool.name in ("mkdir", "plan_write"):
            target = f"{target}-made" + (".plan" if tool.name == "plan_write" else "")
        mount = "state" if tool.name == "fs.apply_patch" else "project"
        return {"fs": f"@{mount}/{target}", "workspace": f"/{target}"}.get(tool.toolset, target)


def snapshot(*roots: Path) -> dict[str, tuple[int, bytes]]:
    """All that there is in folders, byte for byte, but plans and what Holdfast itself notes about calls."""
    found: dict[str, tuple[int, bytes]] = {}
    for root in roots:
        for folder, below, names in os.walk(root):
            if folder == str(root):
                below[:] = [each for each in below if each not in ("logs", "outputs", "plans")]
            for path in (Path(folder) / name for name in [*below, *names]):
                if path.suffix != ".plan":
                    found[str(path)] = (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
    return found


@dataclass
class Room:
    """A project with a file of its own for each tool, versions, something deleted, and effects that wait."""

    desk: Desk
    session: str
    aim: Aim

    @property
    def files(self) -> dict[str, tuple[int, bytes]]:
        surroundings = self.desk.holdfast.road.surroundings
        return snapshot(self.desk.root, surroundings.mounts["central"].root, surroundings.state_of(self.session).root)

    async def call(self, tool: Tool) -> Outcome:
        """Call a tool in the session, as a model would whose every wish is granted."""
        arguments = self.aim.arguments(tool)
        caller = Caller(agent="coder" if tool.toolset != "person" else "", session=self.session)
        return await self.desk.holdfast.take(ToolCall(f"call-{uuid4()}", tool.name, arguments, caller))


def target_of(tool: Tool) -> str:
    is_plan = tool.name in ("plan_edit", "plan_read", "exit_plan_mode")
    return f"plans/{tool.name}-old-plan.plan" if is_plan else f"for-{tool.name}.md"


def fill(root: Path) -> None:
    """A file for each tool to be aimed at, but plans."""
    for name in ["notes.md", "sub/main.py", *(target_of(tool) for tool in TOOLS)]:
        if not name.endswith(".plan"):
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(FRONT.format(name), encoding="utf-8")


@asynccontextmanager
async def room(folder: Path, mode: str) -> AsyncGenerator[Room]:
    async with open_desk(folder) as desk:
        held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
        session = (
            await sessions.open_session(desk.holdfast.platform.database, held.lease, mode="build", trust="autonomous", profile="coder")
        ).id
        fill(desk.root)
        for tool in TOOLS:
            if target_of(tool).endswith(".plan"):
                await desk.call("plan_write", path=f"/{target_of(tool)}", title=tool.name, content="body\n")
        state = desk.holdfast.road.surroundings.state_of(session).root
        (state / "for-fs.apply_patch.md").write_text(FRONT.format("state"), encoding="utf-8")
        aim = Aim(await prepared(desk, session))
        await sessions.change(desk.holdfast.platform.database, held.lease, session, mode=mode)
        yield Room(desk, session, aim)


async def prepared(desk: Desk, session: str) -> dict[str, str]:
    """What people's tools are aimed at."""

    async def done(name: str, /, **arguments: Json) -> Any:
        call = ToolCall(f"before-{uuid4()}", name, arguments, Caller(session=session))
        outcome = await desk.holdfast.take(call)
        assert isinstance(outcome, Done), outcome
        return cast("dict[str, Any]", outcome.answer.body)["result"] | {"call": call.id}

    first = await done("write", path="/versions.md", content="first\n")
    await done("write", path="/versions.md", content="second\n", overwrite=True)
    gone = await done("write", path="/gone.md", content="gone\n")
    await done("rm", path="/gone.md")
    undoable = await done("write", path="/undoable.md", content="to be taken back\n")
    held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
    other = await sessions.open_session(desk.holdfast.platform.database, held.lease, trust="autonomous", profile="coder")
    await desk.holdfast.take(ToolCall("other", "write", {"path": "/other.md", "content": "of another"}, Caller(session=other.id)))
    effects: dict[str, dict[str, Any]] = {}
    for name in ("keep", "drop"):
        call = ToolCall(f"held-{name}", "bash", {"command": f"echo kept > {name}-made.md"}, Caller(session=session), effects=Wish.HOLD)
        outcome = await desk.holdfast.take(call)
        effects[name] = cast("dict[str, Any]", outcome.answer.metadata or {})
    return {
        "restore.file_id": first["file_id"],
        "restore.version_id": first["version_id"],
        "undelete.file_id": gone["file_id"],
        "undo.call_id": undoable["call"],
        "rewind.session": other.id,
        "keep.effects_id": str(effects["keep"].get("effectsId")),
        "drop.effects_id": str(effects["drop"].get("effectsId")),
        "describe_file.file_id": first["file_id"],
        "version_content.file_id": first["file_id"],
        "history.file_id": first["file_id"],
        "diff.file_id": first["file_id"],
    }


# What these do when nothing stops them can be seen in the files. touch changes times alone, and drop throws away what was pending.
CHANGING = {
    *("bash", "file_write", "fs.apply_patch", "fs.write", "edit", "mkdir", "mv", "rm", "write"),
    *("keep", "restore", "rewind", "undelete", "undo"),
}
# Asks a person and waits.
WAITING = {"ask_user"}


async def test_each_tool_that_can_change_something_does_so_with_these_calls_outside_of_plan_mode(tmp_path: Path) -> None:
    changing: set[str] = set()
    async with room(tmp_path, "build") as it:
        for tool in TOOLS:
            if tool.name not in WAITING:
                before = it.files
                await it.call(tool)
                changing |= {tool.name} if it.files != before else set()

    assert changing == CHANGING


@carries("PLAN-1", "PLAN-4")
async def test_in_plan_mode_no_tool_changes_a_byte_but_of_plans(tmp_path: Path) -> None:
    async with room(tmp_path, "plan") as it:
        before = it.files
        outcomes: dict[str, Outcome] = {}
        for tool in TOOLS:
            if tool.name not in WAITING:
                outcomes[tool.name] = await it.call(tool)
                assert it.files == before, tool.name

        assert "done" in outcomes["bash"].answer.text
        # Plans change, so the mode is no wall before everything.
        assert "soul" in it.desk.text("plans/plan_edit-old-plan.plan")
        assert (it.desk.root / "for-plan_write.md-made.plan").exists()
        assert (await it.desk.call("effects"))["result"]["pending"] == [it.aim.ids["keep.effects_id"]]


@dataclass
class Elsewhere:
    """A server on such a project, with a model that calls every tool of a profile."""

    served: Served

    def session(self, **settings: str) -> str:
        """A new session in plan mode."""
        body = {"mode": "plan", **settings}
        made = self.served.client().post(f"/api/v1/workspaces/{self.served.workspace_id}/sessions", json=body)
        return made.json()["id"]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    folder = tmp_path_factory.mktemp("planning")
    scripts = folder / "home" / "scripts"
    scripts.mkdir(parents=True)
    every = {name: [tool for tool in TOOLS if tool.toolset in SHIPPED[name].toolsets] for name in ("coder", "core", "fs")}
    turns = [
        {
            "when": {"user": f"all of {name}"},
            "answers": [
                [{"call": tool.name, "with": Aim({}).arguments(tool)} for tool in tools if tool.name not in WAITING],
                [{"say": "Done."}],
            ],
        }
        for name, tools in every.items()
    ]
    command = {"when": {"user": "a command"}, "answers": [[{"call": "bash", "with": {"command": COMMAND}}], [{"say": "Done."}]]}
    (scripts / "plan.yaml").write_text(json.dumps({"turns": [*turns, command]}), encoding="utf-8")
    with serving(folder, environ={"HOLDFAST_MODEL": "scripted/plan"}) as served:
        fill(served.project)
        yield Elsewhere(served)


@carries("PLAN-1", "PLAN-4")
def test_over_rest_no_tool_changes_a_byte_in_a_session_in_plan_mode(elsewhere: Elsewhere) -> None:
    served, session = elsewhere.served, elsewhere.session()
    client = served.client()
    first = served.call("write", path="/versions.md", content="first\n").json()["result"]
    served.call("write", path="/versions.md", content="second\n", overwrite=True)
    gone = served.call("write", path="/gone.md", content="gone\n").json()["result"]
    served.call("rm", path="/gone.md")
    held = client.post(served.tools, json={"tool": "bash", "args": {"command": "echo x > kept.md"}, "effects": "hold"}).json()
    ids = {"restore.file_id": first["file_id"], "restore.version_id": first["version_id"], "undelete.file_id": gone["file_id"]}
    aim = Aim({**ids, "keep.effects_id": held["result"]["metadata"]["effectsId"]})
    before = snapshot(served.project)

    for tool in TOOLS:
        if tool.name not in WAITING:
            for effects in ("keep", "drop", "hold") if tool.name == "bash" else (None,):
                more = {} if effects is None else {"effects": effects}
                client.post(served.tools, json={"tool": tool.name, "args": aim.arguments(tool), "session_id": session, **more})
                assert snapshot(served.project) == before, tool.name


@carries("PLAN-1", "PLAN-4")
@pytest.mark.parametrize("profile", ["coder", "core", "fs"])
def test_a_model_that_calls_every_tool_changes_no_byte_in_plan_mode(elsewhere: Elsewhere, profile: str) -> None:
    served, session = elsewhere.served, elsewhere.session(profile=profile, trust="autonomous")
    before = snapshot(served.project)

    with line(served) as it:
        end = it.send(f"all of {profile}", conversationId=session)

    called = [tool for tool in TOOLS if tool.toolset in SHIPPED[profile].toolsets and tool.name not in WAITING]
    assert (end["payload"]["reason"], len(it.of("chat:tool-result"))) == ("done", len(called))
    assert snapshot(served.project) == before
    if "core" in SHIPPED[profile].toolsets:
        bash = next(told["toolId"] for told in it.of("chat:tool-start") if told["toolName"] == "bash")
        assert "done" in next(told["result"] for told in it.of("chat:tool-result") if told["toolId"] == bash)


@carries("PLAN-4")
def test_nobody_is_asked_about_effects_that_are_dropped_anyhow(elsewhere: Elsewhere) -> None:
    served, session = elsewhere.served, elsewhere.session(profile="coder", trust="guided")
    before = snapshot(served.project)

    with line(served) as it:
        it.say("chat:send", content="a command", conversationId=session)
        told = it.until("chat:tool-confirm", "chat:stream-end")

    assert (told["type"], snapshot(served.project) == before) == ("chat:stream-end", True)


@carries("PLAN-1")
@pytest.mark.parametrize(
    ("tool", "arguments"), [("file_write", {"path": "late.md", "content": "x"}), ("bash", {"command": "echo x > late.md"})]
)
async def test_a_yes_that_comes_when_the_session_plans_again_changes_nothing(tmp_path: Path, tool: str, arguments: dict[str, Json]) -> None:
    async with room(tmp_path, "build") as it:
        held = await it.desk.holdfast.platform.hold(it.desk.holdfast.workspace_id)
        before, approvals = it.files, held.road.approvals
        assert approvals is not None
        call = ToolCall("late", tool, arguments, Caller(agent="core", session=it.session), trust=Trust.GUIDED)
        running = asyncio.create_task(it.desk.holdfast.take(call, SHIPPED["core"]))
        asked = await first_of(approvals)

        await sessions.change(it.desk.holdfast.platform.database, held.lease, it.session, mode="plan")
        await approvals.decide(asked.id, approved=True, by="ada")
        await running

        assert it.files == before


async def first_of(approvals: Approvals) -> Approval:
    """What is asked, once it is."""
    for _ in range(1_000):
        if pending := await approvals.in_state():
            return pending[0]
        await asyncio.sleep(0.01)
    raise AssertionError("nothing was asked")
