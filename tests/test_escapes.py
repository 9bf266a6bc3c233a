"""Every tool that takes a path, found by looking, against every way out that we know of.

A new tool is attacked as soon as it is there: what it takes beside its
path is made from its schema, and how it spells paths is found by trying.
"""

import asyncio
import faulthandler
import os
import secrets
import socket
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.tool.registry import Registry
from holdfast.tool.schema import Parameter
from holdfast.tool.tool import Tool
from holdfast.tool.toolset import find_toolsets
from holdfast.vocabulary.access import Want
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done
from scripts.race import swapping
from tests.desk import Desk, open_desk
from tests.promises import carries
from tests.ways_out import LEADING_OUT, LINKS_TO_PROTECTED, ODD, PROTECTED, RAW

REGISTRY = Registry(find_toolsets("holdfast.toolsets"))
TOOLS = [tool for name in REGISTRY.names() if (tool := REGISTRY.get(name)) is not None]
TARGETS = [(tool, parameter) for tool in TOOLS for parameter in tool.parameters if parameter.asks is not None]
every_target = pytest.mark.parametrize(("tool", "parameter"), TARGETS, ids=[f"{tool.name} {each.wire_name}" for tool, each in TARGETS])

SECONDS = 10.0
# The ways in which toolsets spell a file of the project or of a run's state; the traps are in both.
SPELLINGS = ("{path}", "@project/{path}", "@state/{path}", "/{path}", "{root}/{path}", "{state}/{path}")
# Values that get further into a tool than the plainest that its schema allows.
TELLING: dict[str, Json] = {
    "pattern": "needle",
    "content": "forged\n",
    "update": {"currentNodeId": {"set": "forged"}},
    "source": "inside.md",
}
# What a tool needs beside what its schema requires.
ALSO: dict[str, dict[str, Json]] = {
    "edit": {"old_string": "needle", "new_string": "forged"},
    "plan_edit": {"old_string": "needle", "new_string": "forged"},
    "glob": {"pattern": "*"},
    "write": {"overwrite": True},
}


@dataclass(frozen=True)
class Scene:
    """A project full of traps, and beside it an outside whose every byte is known."""

    desk: Desk
    outside: Path
    secret: str
    protected: str
    told: list[str]

    def watch(self) -> None:
        """Keep all that is told of calls."""
        self.desk.holdfast.watch(lambda event: self.told.append(repr(event)))

    def log(self) -> str:
        return (self.desk.state / "logs" / "execution.jsonl").read_text(errors="replace")


@pytest.fixture(autouse=True)
def bound() -> Generator[None]:
    """An end to a test whose loop is blocked, as by a FIFO that was opened; there, no timeout of asyncio's would help."""
    faulthandler.dump_traceback_later(120, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncGenerator[Scene]:
    outside = tmp_path / "outside"
    secret, protected = secrets.token_hex(16), secrets.token_hex(16)
    (outside / "folder").mkdir(parents=True)
    for path in ("canary.txt", "folder/canary.txt", "canary.md"):
        (outside / path).write_text(f"---\ncurrentNodeId: a\n---\nneedle {secret}\n")
    (outside / "folder" / f"name-{secret}.txt").write_text("needle\n")
    async with open_desk(tmp_path) as desk:
        set_traps(desk.root, outside, protected)
        set_traps(desk.state, outside, protected)
        scene = Scene(desk, outside, secret, protected, [])
        scene.watch()
        yield scene


def set_traps(root: Path, outside: Path, protected: str) -> None:
    """Links, protected files and things that are no files."""
    front = "---\ncurrentNodeId: a\n---\n"
    for path in ("inside.md", "sub/inside.md", "e\N{COMBINING ACUTE ACCENT}.md", "@project/inside.md"):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(f"{front}needle of the inside\n")
    for path in (".env", "sub/.ENV.local", "id_rsa", "My-Credentials.json", "deep.SECRET", ".git/config", ".git/hooks/pre-commit", "x.pem"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"{front}needle {protected}\n")
    up = os.path.relpath(outside, root)
    links = {
        "absolute": outside / "canary.txt",
        "relative": f"{up}/canary.txt",
        "folder": f"{up}/folder",
        "whole": outside,
        "chain1": "chain2",
        "chain2": "sub/chain3",
        "sub/chain3": f"../{up}/canary.txt",
        "middle": "folder/../folder",
        "winding": f"sub/../{up}/canary.txt",
        "loop": "loop",
        "loop1": "loop2",
        "loop2": "loop1",
        "slash": "/",
        "proc-root": f"/proc/self/root{outside}",
        "proc-cwd": "/proc/self/cwd",
        "proc-fd": "/proc/self/fd",
        "proc-environ": "/proc/self/environ",
        "dangling": "nowhere/at/all",
        "dangling-out": f"{up}/new.txt",
        "dangling-absolute": outside / "new.txt",
        "to-protected": ".env",
        "to-hooks": ".git/hooks",
        "to-key": "id_rsa",
        "null": "/dev/null",
        "zero": "/dev/zero",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(root, os.O_PATH)
        listener.bind(f"/proc/self/fd/{here}/socket")  # an address has room for 107 bytes, and temporary folders have long names
        os.close(here)
    with suppress(PermissionError):  # a container may not let root make devices either
        os.mknod(root / "device", 0o666 | 0o020000, os.makedev(1, 5))


@carries("PATH-1", "PATH-2", "PATH-4", "ROAD-6", "ROAD-9", "AUDIT-1")
@every_target
async def test_no_path_leads_a_tool_outside_and_nothing_breaks(scene: Scene, tool: Tool, parameter: Parameter) -> None:
    spellings = spellings_of(tool, scene)
    assert spellings, f"no spelling of SPELLINGS names a file of the project for {tool.name}; add the one that its dialect has"
    before, began = snapshot(scene), time.monotonic()
    # Only root can make a device; without one, its name is like any other.
    there = [path for path in LEADING_OUT if path != "device" or (scene.desk.root / path).exists()]
    leading_out = [spell(path) for path in there for spell in spellings]
    must_fail = [path for path in leading_out if not stays_inside(scene, tool, parameter, path)]
    may_be_done = [path for path in leading_out if path not in must_fail]
    may_be_done += [spellings[0](path) for path in ODD] + [fill(path, scene) for path in (*ODD, *RAW)]

    for path in must_fail:
        assert await attack(scene, tool, parameter, path) is not None, f"{tool.name} did it: {path[:100]!r}"
    for path in may_be_done:
        await attack(scene, tool, parameter, path)

    assert snapshot(scene) == before
    assert scene.secret not in scene.log() + "".join(scene.told)
    assert scene.protected not in scene.log() + "".join(scene.told) or tool.dialect.reads_protected
    assert scene.log().count("\n") == len(must_fail) + len(may_be_done)
    assert time.monotonic() - began < 60


@carries("PROT-4", "PROT-5", "PROT-6", "PATH-7")
@every_target
async def test_no_spelling_and_no_link_gets_a_tool_to_a_protected_file(scene: Scene, tool: Tool, parameter: Parameter) -> None:
    assert parameter.asks is not None
    before = snapshot(scene)

    for path in PROTECTED:
        for spell in spellings_of(tool, scene):
            code = await attack(scene, tool, parameter, spell(path))

            may_read = parameter.asks.want is Want.READ and tool.dialect.reads_protected
            is_link_itself = not parameter.asks.follow and path in LINKS_TO_PROTECTED
            assert code is not None or may_read or is_link_itself, f"{tool.name} did it: {path!r}"
    for folder in ("", "sub", ".git"):
        for spell in spellings_of(tool, scene):
            await attack(scene, tool, parameter, spell(folder))

    assert snapshot(scene) == before
    assert tool.dialect.reads_protected or scene.protected not in scene.log() + "".join(scene.told)


@carries("PATH-5")
@every_target
async def test_links_that_are_swapped_in_while_a_tool_works_lead_it_nowhere(scene: Scene, tool: Tool, parameter: Parameter) -> None:
    assert parameter.asks is not None
    spell = spellings_of(tool, scene, parameter.asks.only or "project")[0]
    root = scene.desk.holdfast.road.surroundings.mounts[parameter.asks.only or "project"].root
    for path, target in (("race/file.md", "canary.md"), ("race/folder", "folder")):
        file = root / path / "canary.txt" if target == "folder" else root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("---\ncurrentNodeId: a\n---\nneedle of the inside\n")
        (root / f"{path}.link").symlink_to(scene.outside / target)
    paths = [spell(path) for path in ("race/file.md", "race/folder", "race/folder/canary.txt", "race", "race/folder/new.md")]
    before = snapshot(scene)

    with swapping(root, ["race/file.md", "race/folder"]):
        until = time.monotonic() + 0.1
        while time.monotonic() < until:
            for path in paths:
                await attack(scene, tool, parameter, path)

    assert snapshot(scene) == before
    assert scene.secret not in scene.log() + "".join(scene.told)


@every_target
async def test_the_same_attacks_would_be_done_if_they_stayed_inside(scene: Scene, tool: Tool, parameter: Parameter) -> None:
    """So that what is refused above is refused for where it leads, and not for an argument that is wrong anyway."""
    assert parameter.asks is not None

    for number, spell in enumerate(spellings_of(tool, scene, parameter.asks.only)):
        for content in ("an older version\n", "needle\n"):
            await scene.desk.call("plan_write", path="/inside.plan", title="Plan", content=content)
        await scene.desk.call("write", path=f"/gone{number}.md", content="deleted\n")
        await scene.desk.call("rm", path=f"/gone{number}.md")
        paths = ("inside.md", "sub", f"new{number}.md", f"new{number}/file.md", "inside.plan", f"gone{number}.md")

        codes = [await attack(scene, tool, parameter, spell(path)) for path in paths]

        assert None in codes, codes


def stays_inside(scene: Scene, tool: Tool, parameter: Parameter, path: str) -> bool:
    """Whether a path that leads out elsewhere does not here: dots end at this dialect's root, or a link is meant and not where it leads."""
    assert parameter.asks is not None
    with suppress(HoldfastError):
        meant = tool.dialect.locate(path, scene.desk.holdfast.road.surroundings.mounts).path
        dots_end_at_root = ".." in path.split("/") and meant not in LEADING_OUT
        return dots_end_at_root or (not parameter.asks.follow and (scene.desk.root / meant).is_symlink())
    return False


def spellings_of(tool: Tool, scene: Scene, only: str | None = None) -> list["Spelling"]:
    """The ways in which this tool's dialect names a file of the project, or of the one mount that it works in."""
    mounts = scene.desk.holdfast.road.surroundings.mounts
    found: list[Spelling] = []
    for text in SPELLINGS:
        spelling = Spelling(text, scene.desk.root, scene.desk.state)
        with suppress(HoldfastError):
            spot = tool.dialect.locate(spelling("sub/inside.md"), mounts)
            if spot.path == "sub/inside.md" and spot.mount.name in ((only,) if only else ("project", "state")):
                found.append(spelling)
    return found


@dataclass(frozen=True)
class Spelling:
    """One way to write a path of a mount."""

    text: str
    root: Path
    state: Path

    def __call__(self, path: str) -> str:
        return self.text.replace("{root}", str(self.root)).replace("{state}", str(self.state)).replace("{path}", path)


def fill(text: str, scene: Scene) -> str:
    for name, folder in (("outside", scene.outside), ("root", scene.desk.root), ("state", scene.desk.state)):
        text = text.replace(f"{{{name}}}", str(folder))
    return text


async def attack(scene: Scene, tool: Tool, parameter: Parameter, path: str) -> str | None:
    """Call the tool with that path, see that nothing of the outside came back, and give the code of the error, if it is one."""
    arguments = {each.wire_name: good_value(each.wire_name, each.schema) for each in tool.parameters if each.required}
    arguments |= ALSO.get(tool.name, {})
    if "destination" in arguments:
        scene.desk.write("inside.md", "needle of the inside\n")
        arguments["destination"] = f"moved-{secrets.token_hex(4)}.md"
    arguments[parameter.wire_name] = [path] if parameter.is_list else path
    await asyncio.wait_for(scene.desk.take(tool.name, arguments), SECONDS)
    outcome = scene.desk.last
    assert outcome is not None
    answer = f"{outcome.answer.body!r} {outcome.answer.text} {outcome.answer.metadata!r}"
    assert scene.secret not in answer, f"{tool.name} gave bytes of the outside for {path[:100]!r}"
    assert "root:x:0" not in answer
    assert tool.dialect.reads_protected or scene.protected not in answer, f"{tool.name} gave protected bytes for {path[:100]!r}"
    assert "Traceback" not in answer
    if isinstance(outcome, Done):
        return "in the list" if parameter.is_list and has_error(outcome.answer.body) else None
    assert outcome.error.code not in ("internal", "unjudgeable"), f"{tool.name} broke on {path[:100]!r}"
    return outcome.error.code


def has_error(told: object) -> bool:
    """Whether an answer has an error in it that says something."""
    if isinstance(told, dict):
        inside = cast("dict[str, object]", told)
        return any((key == "error" and value is not None) or has_error(value) for key, value in inside.items())
    return isinstance(told, list) and any(has_error(each) for each in cast("list[object]", told))


def good_value(name: str, schema: Any) -> Json:
    """A value that the schema allows."""
    if "const" in schema:
        return schema["const"]
    if name in TELLING:
        return TELLING[name]
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case "array":
            return [good_value(name, schema["items"])]
        case "object":
            inner = cast("dict[str, Any]", schema.get("properties", {}))
            return {key: good_value(key, inner[key]) for key in schema.get("required", [])}
        case _:
            return "inside.md"


def snapshot(scene: Scene) -> dict[str, tuple[object, ...]]:
    """Everything outside, and what is protected or no file inside: names, kinds, times and bytes."""
    watched = [*scene.outside.rglob("*"), scene.outside]
    for root in (scene.desk.root, scene.desk.state):
        names = (".env", "sub/.ENV.local", "id_rsa", "My-Credentials.json", "deep.SECRET", "x.pem", "fifo", "socket", "device")
        watched += [root / name for name in names if os.path.lexists(root / name)]
        watched += [path for path in (root / ".git").rglob("*") if path.name in ("config", "hooks", "pre-commit")]
    seen: dict[str, tuple[object, ...]] = {}
    for path in sorted(watched):
        about = path.lstat()
        data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        seen[str(path)] = (about.st_mode, about.st_ino, about.st_size, about.st_mtime_ns, data)
    return seen
