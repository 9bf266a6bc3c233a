"""One scenario, every dialect, one truth: the same file through each toolset, and each toolset's answer to the others' paths."""

import base64
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.desk import Desk, open_desk
from tests.promises import carries


@dataclass(frozen=True)
class Seen:
    """A file as a dialect tells of it; None is what it does not tell."""

    text: str
    size: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Speaker:
    """One dialect: how it spells a path of the project, and how it reads and writes."""

    toolset: str
    spell: Callable[[Desk, str], str]
    read: Callable[[Desk, str], Awaitable[Seen]]
    reader: str
    write: Callable[[Desk, str, str], Awaitable[None]] | None = None
    writer: str | None = None


async def _core_reads(desk: Desk, path: str) -> Seen:
    said = await desk.call("file_read", path=path)
    return Seen(said["output"], said["metadata"]["bytes"], said["metadata"]["sha256"])


async def _fs_reads(desk: Desk, path: str) -> Seen:
    said = await desk.call("fs.read", path=path)
    return Seen(said["content"], said["bytes"], said["sha256"])


async def _simple_reads(desk: Desk, path: str) -> Seen:
    return Seen((await desk.call("read_file", path=path))["output"])


async def _core_writes(desk: Desk, path: str, content: str) -> None:
    assert (await desk.call("file_write", path=path, content=content))["is_error"] is False


async def _fs_writes(desk: Desk, path: str, content: str) -> None:
    assert (await desk.call("fs.write", path=path, content=content))["ok"] is True


async def _workspace_reads(desk: Desk, path: str) -> Seen:
    said = (await desk.call("read", path=path, limit=0))["result"]
    info = (await desk.call("file_info", path=path))["result"]
    assert info["hash"] == said["hash"]
    return Seen(said["content"], info["size"], said["hash"])


async def _workspace_writes(desk: Desk, path: str, content: str) -> None:
    assert (await desk.call("write", path=path, content=content, overwrite=True))["success"] is True


def _as_host_path(desk: Desk, path: str) -> str:
    return f"{desk.root}/{path}"


SPEAKERS = {
    "core": Speaker("core", lambda _, path: path, _core_reads, "file_read", _core_writes, "file_write"),
    "core by host path": Speaker("core", _as_host_path, _core_reads, "file_read", _core_writes, "file_write"),
    "fs": Speaker("fs", lambda _, path: f"@project/{path}", _fs_reads, "fs.read", _fs_writes, "fs.write"),
    "simple": Speaker("simple", lambda _, path: path, _simple_reads, "read_file"),
    "workspace": Speaker("workspace", lambda _, path: f"/{path}", _workspace_reads, "read", _workspace_writes, "write"),
}
WRITERS = [name for name, speaker in SPEAKERS.items() if speaker.write is not None]
CONTENTS = {
    "text": "# Title\n\nfirst \N{SNOWMAN}\n",
    "windows": "one\r\ntwo\r\n",
    "no end": "last line without an end",
    "empty": "",
    "odd": 'tabs\t and "quotes" \\ and \x01 control and \N{GRINNING FACE}\n',
    "at the limit": "x" * 49_999 + "\n",
}


async def test_every_toolset_with_files_has_a_speaker_here(desk: Desk) -> None:
    toolsets = {tool.toolset for tool in desk.holdfast.tools() if tool.asks}

    assert toolsets == {speaker.toolset for speaker in SPEAKERS.values()}, (
        "give the new toolset a Speaker, so that it is heard with the others"
    )


@carries("DIALECT-1")
@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("writer", WRITERS)
async def test_what_one_dialect_writes_has_the_same_text_size_and_hash_in_every_other(desk: Desk, writer: str, content: str) -> None:
    text = CONTENTS[content]
    speaker = SPEAKERS[writer]
    assert speaker.write is not None

    await speaker.write(desk, speaker.spell(desk, "docs/shared.md"), text)

    truth = Seen(text, len(text.encode()), hashlib.sha256(text.encode()).hexdigest())
    assert (desk.root / "docs/shared.md").read_bytes() == text.encode()
    for name, reader in SPEAKERS.items():
        seen = await reader.read(desk, reader.spell(desk, "docs/shared.md"))

        assert seen.text == truth.text, name
        assert (seen.size, seen.sha256) in ((truth.size, truth.sha256), (None, None)), name


@carries("DIALECT-1")
@pytest.mark.parametrize(
    ("data", "is_text"),
    [(b"caf\xe9\n", True), (b"\xef\xbb\xbfmarked\n", True), (b"\xff\xfeh\x00i\x00\n\x00", True), (bytes(range(256)), False)],
)
async def test_bytes_that_are_no_plain_text_look_the_same_in_every_dialect(desk: Desk, data: bytes, is_text: bool) -> None:
    desk.write("odd.bin", data)

    seen = {name: await speaker.read(desk, speaker.spell(desk, "odd.bin")) for name, speaker in SPEAKERS.items()}

    assert len({one.text for name, one in seen.items() if is_text or name != "workspace"}) == 1
    assert is_text or seen["workspace"].text == base64.b64encode(data).decode()
    assert {one.sha256 for one in seen.values()} == {hashlib.sha256(data).hexdigest(), None}
    assert {one.size for one in seen.values()} == {len(data), None}


@carries("DIALECT-1")
async def test_a_change_through_one_dialect_is_seen_at_once_through_all_others(desk: Desk) -> None:
    for number, writer in enumerate(WRITERS * 3):
        speaker = SPEAKERS[writer]
        assert speaker.write is not None

        await speaker.write(desk, speaker.spell(desk, "busy.md"), f"{number:03}\n")

        texts = {(await reader.read(desk, reader.spell(desk, "busy.md"))).text for reader in SPEAKERS.values()}
        assert texts == {f"{number:03}\n"}


@carries("DIALECT-2")
@pytest.mark.parametrize(
    ("reader", "foreign", "right"),
    [
        ("fs", "notes.md", "'@project/notes.md'"),
        ("fs", "./docs/a.md", "'@project/docs/a.md'"),
        ("fs", "{root}/docs/a.md", "'@project/docs/a.md'"),
        ("fs", "{root}", "'@project'"),
        ("fs", "{central}/plan.md", "'@central/plan.md'"),
        ("core", "@project/docs/a.md", "'docs/a.md'"),
        ("core", "@project", "'.'"),
        ("core", "@central/plan.md", "'{central}/plan.md'"),
        ("workspace", "@project/docs/a.md", "'/docs/a.md'"),
        ("workspace", "@project", "'/'"),
        ("simple", "@project/docs/a.md", "'docs/a.md'"),
        ("simple", "@project", "'.'"),
        ("simple", "{root}/docs/a.md", "'docs/a.md'"),
    ],
)
async def test_a_path_in_another_dialects_language_is_an_error_that_shows_the_right_form(
    desk: Desk, reader: str, foreign: str, right: str
) -> None:
    roots = {"root": desk.root, "central": desk.holdfast.road.surroundings.mounts["central"].root}
    for path in ("notes.md", "docs/a.md"):
        desk.write(path, "x\n")

    await desk.call(SPEAKERS[reader].reader, path=foreign.format(**roots))

    assert desk.last_code == "invalid_path"
    assert right.format(**roots) in desk.last_text


@carries("DIALECT-2")
@pytest.mark.parametrize("foreign", ["@state/flow.md", "@central/plan.md", "{central}/plan.md"])
async def test_what_a_dialect_cannot_say_at_all_is_outside(desk: Desk, foreign: str) -> None:
    central = desk.holdfast.road.surroundings.mounts["central"].root
    (central / "plan.md").write_text("canary\n")
    (desk.state / "flow.md").write_text("canary\n")

    said = await desk.call("read_file", path=foreign.format(central=central))

    assert (desk.last_code, "outside" in said["output"], "canary" in said["output"]) == ("outside", True, False)


@carries("DIALECT-2")
@pytest.mark.parametrize("path", ["@projectile.md", "@types/index.d.ts", "sub/@project/x"])
async def test_a_name_that_only_looks_like_a_mount_is_an_ordinary_file(desk: Desk, path: str) -> None:
    desk.write(path, "ordinary\n")

    for name in ("core", "simple", "fs"):
        speaker = SPEAKERS[name]
        assert (await speaker.read(desk, speaker.spell(desk, path))).text == "ordinary\n"


@carries("DIALECT-4")
@pytest.mark.parametrize(
    "keys", [("startLine", "endLine"), ("start_line", "end_line"), ("StartLine", "END_LINE"), ("startline", "end-line")]
)
async def test_argument_names_are_taken_in_camel_and_snake_case(desk: Desk, keys: tuple[str, str]) -> None:
    desk.write("ten.txt", "".join(f"{number}\n" for number in range(1, 11)))

    said = await desk.take("fs.read", {"path": "@project/ten.txt", keys[0]: 2, keys[1]: 3})

    assert said["content"] == "2\n3\n"


@carries("DIALECT-4")
async def test_of_two_spellings_the_documents_own_wins(desk: Desk) -> None:
    desk.write("ten.txt", "1\n2\n3\n")

    said = await desk.take("fs.read", {"start_line": 1, "path": "@project/ten.txt", "startLine": 3, "StartLine": 2})

    assert said["content"] == "3\n"


@carries("DIALECT-4")
async def test_what_is_inside_content_and_update_is_never_renamed(desk: Desk) -> None:
    content = '{"snake_case": 1, "camelCase": 2, "if_match_sha256": 3}\n'
    (desk.state / "flow.md").write_text("---\nvariables: {}\n---\n")

    await desk.call("fs.write", path="@project/keys.json", content=content)
    update = {"variables": {"set": {"snake_case": 1, "camelCase": {"if_match_sha256": 2}}}}
    await desk.call("fs.apply_patch", path="@state/flow.md", patch={"operation": "updateFrontmatter", "update": update})

    assert desk.text("keys.json") == content
    assert all(key in (desk.state / "flow.md").read_text() for key in ("snake_case", "camelCase", "if_match_sha256"))


@carries("DIALECT-3", "PY-1")
async def test_results_keep_their_documents_field_names(desk: Desk) -> None:
    wrote = await desk.call("fs.write", path="@project/new.md", content="x\n")
    core = await desk.call("file_write", path="new.md", content="x\n")
    good = await desk.call("read_file", path="new.md")
    bad = await desk.call("read_file", path="gone.md")

    assert wrote.keys() == {"ok", "path", "bytesWritten", "sha256After"}
    assert core.keys() == {"output", "is_error", "metadata"}
    assert (good.keys(), bad.keys()) == ({"output"}, {"output", "isError"})


@carries("MOUNT-5")
async def test_a_read_only_mount_refuses_every_change_in_every_dialect(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir()
    (locked / "flow.md").write_text("theirs\n")
    async with open_desk(tmp_path, mounts={"locked": f"{locked}:ro"}) as desk:
        calls = [(tool, path) for tool in ("fs.write", "file_write") for path in ("flow.md", "new.md", "sub/new.md")]
        for tool, path in calls:
            await desk.call(tool, path=f"@locked/{path}" if tool == "fs.write" else f"{locked}/{path}", content="mine\n")

            assert desk.last_code == "read_only"
        assert [entry.name for entry in locked.iterdir()] == ["flow.md"]
        assert (locked / "flow.md").read_text() == "theirs\n"
        assert (await desk.call("fs.read", path="@locked/flow.md"))["content"] == "theirs\n"
