"""The audit log: one line for every call, with what a person needs to understand it and no more."""

import asyncio
import hashlib
import json
from datetime import UTC, datetime

import pytest

from holdfast import ToolHost
from holdfast.vocabulary.json import Json
from tests.desk import Desk
from tests.promises import carries

# Each kind of ending, and the code that its line has.
ENDINGS: dict[str, tuple[str, dict[str, Json] | str, str | None]] = {
    "done": ("fs.read", {"path": "@project/notes.md"}, None),
    "refused": ("fs.read", {"path": "@project/../x"}, "outside"),
    "protected": ("file_write", {"path": ".env", "content": "x"}, "protected"),
    "bad arguments": ("fs.read", {"path": 3}, "invalid_arguments"),
    "no JSON": ("fs.read", "{not json", "invalid_arguments"),
    "failed": ("fs.read", {"path": "@project/missing"}, "not_found"),
    "unknown tool": ("fs.delete", {"path": "@project/notes.md"}, "unknown_tool"),
}


@carries("AUDIT-1", "ROAD-2")
@pytest.mark.parametrize("ending", ENDINGS)
async def test_every_call_leaves_exactly_one_line_however_it_ends(desk: Desk, ending: str) -> None:
    desk.write("notes.md", "text\n")
    tool, arguments, code = ENDINGS[ending]

    for _ in range(2):
        await desk.take(tool, arguments)

    lines = desk.audit()
    assert [line["toolName"] for line in lines] == [tool, tool]
    assert [line["output"].get("code") for line in lines] == [code, code]
    assert desk.last_code == code


@carries("AUDIT-2")
async def test_a_line_says_when_what_who_with_what_and_how_long(desk: Desk) -> None:
    desk.write("notes.md", "text\n")
    before = datetime.now(UTC)

    await desk.take("fs.read", {"path": "@project/notes.md", "startLine": 1}, agent="sm")

    line = desk.audit()[0]
    assert line.keys() == {"ts", "kind", "toolCallId", "toolName", "agentId", "input", "output", "durationMs"}
    assert (line["kind"], line["toolCallId"], line["toolName"], line["agentId"]) == ("tool.exec", "test", "fs.read", "sm")
    assert (line["input"], line["output"]["ok"]) == ({"path": "@project/notes.md", "startLine": 1}, True)
    assert 0 <= line["durationMs"] < 60_000
    said = datetime.fromisoformat(line["ts"])
    assert said.tzinfo is not None
    assert abs((said - before).total_seconds()) < 60


WHOLE = "".join(f"a line of the contents, number {number}\n" for number in range(100))


@carries("AUDIT-3")
@pytest.mark.parametrize("as_text", [False, True], ids=["as an object", "as JSON text"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("fs.write", {"path": "@project/notes.md", "content": WHOLE}),
        ("fs.write", {"path": "@project/notes.md", "Content": WHOLE}),
        ("file_write", {"path": "notes.md", "CONTENT": WHOLE[:500]}),
        ("file_write", {"path": "notes.md", "content": "a short secret"}),
        ("fs.read", {"path": "@project/notes.md"}),
        ("file_read", {"path": "notes.md"}),
        ("read_file", {"path": "notes.md"}),
        ("fs.search", {"path": "@project", "pattern": "number 5", "before": 100, "after": 100}),
        ("fs.write", {"path": "../" * 3000, "content": WHOLE}),
    ],
)
async def test_contents_are_recorded_by_size_hash_and_the_beginning_never_whole(
    desk: Desk, tool: str, arguments: dict[str, Json], as_text: bool
) -> None:
    desk.write("notes.md", WHOLE)

    await desk.take(tool, json.dumps(arguments) if as_text else arguments)

    line = json.dumps(desk.audit()[0], ensure_ascii=False)
    shown = line.replace("\\n", "\n")
    assert WHOLE[:600] not in shown or len(line) < 4_000
    assert WHOLE not in shown
    assert WHOLE[:500] not in shown or "content" not in str(arguments).lower() or len(str(arguments)) > 1_000
    assert "a short secret" not in shown


@carries("AUDIT-3")
async def test_the_size_and_hash_of_written_contents_are_true(desk: Desk) -> None:
    await desk.call("fs.write", path="@project/notes.md", content=WHOLE)

    recorded = desk.audit()[0]["input"]["content"]

    assert (recorded["bytes"], recorded["sha256"]) == (len(WHOLE), hashlib.sha256(WHOLE.encode()).hexdigest())
    assert WHOLE.startswith(recorded["preview"])
    assert 0 < len(recorded["preview"].encode()) <= 1024


@carries("AUDIT-3")
async def test_a_line_stays_short_whatever_a_caller_sends(desk: Desk) -> None:
    nested: Json = 1
    for _ in range(60):
        nested = [nested]
    wide: dict[str, Json] = {f"key {number}": "x" * 10_000 for number in range(1_000)}

    await desk.take("x" * 1_000_000, {"path": "y" * 1_000_000})
    await desk.take("fs.read", {"path": "@project/x", "extra": nested, "list": ["z"] * 100_000, "number": 10**5000})
    await desk.take("fs.read", {"path": "@project/x", "k" * 50_000: 1})
    await desk.take("fs.list", wide)

    log = desk.state / "logs" / "execution.jsonl"
    lengths = [len(line) for line in log.read_bytes().splitlines()]
    assert len(lengths) == 4
    assert max(lengths) < 120_000


@carries("AUDIT-4")
@pytest.mark.parametrize(
    ("tool", "path", "mount", "normalised"),
    [
        ("fs.read", "@project//./link/x", "project", "link/x"),
        ("fs.write", "@state/logs/./x", "state", "logs/x"),
        ("fs.write", "@project/sub//.env", "project", "sub/.env"),
        ("file_read", "a/../.git/config", "project", ".git/config"),
        ("read_file", "./link", "project", "link"),
    ],
)
async def test_a_refused_paths_line_has_its_mount_its_normalised_path_and_the_reason(
    desk: Desk, tool: str, path: str, mount: str, normalised: str
) -> None:
    (desk.root / "link").symlink_to("/etc")

    await desk.take(tool, {"path": path, "content": "x"})

    output = desk.audit()[0]["output"]
    assert (output["facts"]["mount"], output["facts"]["path"]) == (mount, normalised)
    assert output["reason"]
    assert output["refused"] is True


@carries("AUDIT-4")
@pytest.mark.parametrize("path", ["@nowhere/x", "@project/../x", "/etc/passwd", "x\0y"])
async def test_a_path_that_has_no_place_has_at_least_itself_and_the_reason_in_its_line(desk: Desk, path: str) -> None:
    await desk.take("fs.read", {"path": path})

    line = desk.audit()[0]
    assert line["input"]["path"] == path
    assert line["output"]["reason"]


@carries("AUDIT-5")
async def test_many_calls_at_once_leave_whole_lines(desk: Desk) -> None:
    desk.write("notes.md", WHOLE)
    hosts = [ToolHost(desk.holdfast) for _ in range(4)]
    calls = [
        hosts[number % 4].execute(f"call-{number}", "fs_write", json.dumps({"path": f"@project/{number % 7}.md", "content": WHOLE * 2}))
        for number in range(100)
    ]

    await asyncio.gather(*calls)

    assert sorted(line["toolCallId"] for line in desk.audit()) == sorted(f"call-{number}" for number in range(100))


SECRETS = {
    "key": "sk-live0123456789abcdef",
    "github": "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    "url": "https://anna:hunter2canary@example.org",
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIEcanary\n-----END RSA PRIVATE KEY-----",
}


@carries("AUDIT-6")
@pytest.mark.parametrize("padding", [0, 10, 2_000])
@pytest.mark.parametrize("secret", SECRETS)
async def test_a_secret_in_arguments_or_files_does_not_reach_the_log(desk: Desk, secret: str, padding: int) -> None:
    value = SECRETS[secret]
    content = f"{'x' * padding} {value} {'y' * 5_000 if padding else ''}"
    desk.write("notes.md", content)

    await desk.call("fs.write", path="@project/new.md", content=content)
    await desk.take("fs.write", json.dumps({"path": "@project/new.md", "content": content}))
    await desk.call("fs.read", path="@project/notes.md")
    await desk.call("file_read", path="notes.md")
    await desk.call("fs.search", path="@project", pattern=value[4:12])
    await desk.call("fs.read", path=f"@project/{value[:60]}")
    await desk.take("fs.read", {"path": "@project/x", "api_key": "plain-canary", "password": "plain-canary", value: 1})
    await desk.take("fs.read", f'{{"path": "@project/x", "x": "{value}')
    await desk.take("fs.read", '{"token": "plain-canary", "path": "@project/a path that is long enough", no JSON}')
    await desk.take(value, {})

    log = (desk.state / "logs" / "execution.jsonl").read_text()
    telling = {"key": "live0123456789", "github": "0123456789abcdefgh", "url": "hunter2canary", "pem": "MIIEcanary"}[secret]
    assert len(desk.audit()) == 10
    assert telling not in log
    assert "plain-canary" not in log
