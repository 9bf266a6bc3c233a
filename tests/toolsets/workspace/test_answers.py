"""The envelope, the codes, and how paths are written."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from holdfast.vocabulary.errors import HoldfastError, InvalidArguments, Mistake, every_error
from holdfast.vocabulary.statuses import status_of
from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused, status_now

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


@carries("WS-ANSWER-1", "WS-ANSWER-2")
async def test_a_success_and_an_error_have_the_documents_envelope(desk: Desk) -> None:
    good = await desk.call("ls")
    bad = await desk.call("ls", path="/nowhere")

    assert good == {"success": True, "result": {"path": "/", "entries": [], "truncated": False}, "error": None}
    assert (bad["success"], bad["code"], "result" in bad) == (False, "NOT_FOUND", False)
    assert json.loads(desk.last_text) == bad


@carries("WS-ANSWER-2")
async def test_every_bad_argument_is_named_in_fields(desk: Desk) -> None:
    said = await refused(desk, 400, "read", path=7, offset="first", limit=-1)

    assert said["code"] == "VALIDATION_ERROR"
    assert said["fields"].keys() == {"path", "offset", "limit"}
    assert said["error"].startswith("Validation failed")


@carries("WS-ANSWER-2")
async def test_a_missing_argument_is_named_in_fields(desk: Desk) -> None:
    said = await refused(desk, 400, "read")

    assert said["fields"] == {"path": "is required"}


@carries("WS-ANSWER-3")
@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.code)
def test_every_error_has_one_of_the_codes_that_clients_know(kind: type[HoldfastError]) -> None:
    from holdfast.toolsets.workspace import DIALECT

    error = kind([Mistake("x", "is wrong")]) if kind is InvalidArguments else kind("x")  # pyright: ignore[reportArgumentType] - it alone is made of mistakes

    body: Any = DIALECT.problem(error).body

    known = {"VALIDATION_ERROR", "INVALID_TOKEN", "FORBIDDEN", "NOT_FOUND", "CONFLICT", "PAYLOAD_TOO_LARGE", "BUSY", "NO_SPACE"}
    assert body["code"] in known | {"INTERNAL_ERROR", "RATE_LIMITED"}
    assert body["code"] == status_of(kind.code).code


@carries("WS-ANSWER-7")
def test_an_error_that_is_ours_tells_no_facts() -> None:
    from holdfast.toolsets.workspace import DIALECT

    body: Any = DIALECT.problem(HoldfastError("it broke", insides="/host/path")).body

    assert body == {"success": False, "error": "It broke", "code": "INTERNAL_ERROR"}


@carries("WS-ANSWER-4", "WS-ANSWER-7")
@pytest.mark.parametrize("tool", ["read", "file_info", "rm", "edit", "plan_read"])
async def test_what_is_nowhere_is_not_found_by_its_path(desk: Desk, tool: str) -> None:
    more = {"old_string": "a", "new_string": "b"} if tool == "edit" else {}

    said = await refused(desk, 404, tool, path="/nonexistent/file.plan", **more)

    assert (said["code"], said["error"].startswith("File not found: /nonexistent/file.plan")) == ("NOT_FOUND", True)
    assert str(desk.root) not in desk.last_text


@carries("WS-ANSWER-5")
async def test_times_are_iso_8601_in_utc(desk: Desk) -> None:
    desk.write("disk.txt", "x")
    await done(desk, "write", path="/stored.txt", content="x")

    entries = (await done(desk, "ls"))["entries"]
    info = await done(desk, "file_info", path="/stored.txt")

    assert all(MOMENT.fullmatch(entry["updated_at"]) for entry in entries)
    assert MOMENT.fullmatch(info["created_at"])


@carries("WS-ANSWER-6")
async def test_unknown_arguments_are_ignored(desk: Desk) -> None:
    desk.write("a.txt", "x\n")

    said = await done(desk, "read", path="/a.txt", cursor=7, pushToRemote=True)

    assert said["content"] == "x\n"


@carries("WS-PATH-1", "WS-PATH-2", "WS-PATH-3")
@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("  /docs/a.md \n", "/docs/a.md"),
        ("//docs///a.md", "/docs/a.md"),
        ("/docs/./a.md", "/docs/a.md"),
        ("/docs/x/../a.md", "/docs/a.md"),
        ("/docs/a.md/", "/docs/a.md"),
        ("docs/a.md", "/docs/a.md"),
        ("./docs/a.md", "/docs/a.md"),
        ("/../../docs/a.md", "/docs/a.md"),
        ("/docs/../../../docs/a.md", "/docs/a.md"),
        ("/@types/a.md", "/@types/a.md"),
        ("@types/a.md", "/@types/a.md"),
        ("/etc/passwd", "/etc/passwd"),
        ("../../../../etc/passwd", "/etc/passwd"),
    ],
)
async def test_a_path_is_made_clean_and_stays_in_the_workspace(desk: Desk, written: str, path: str) -> None:
    desk.write(path[1:], "ours\n")

    said = await done(desk, "read", path=written)

    assert (said["path"], said["content"]) == (path, "ours\n")


@carries("WS-PATH-1")
@pytest.mark.parametrize("written", ["/", "", "//", "/.", "/docs/.."])
async def test_the_root_is_a_slash(desk: Desk, written: str) -> None:
    assert (await done(desk, "ls", path=written))["path"] == "/"


@carries("WS-PATH-3")
@pytest.mark.parametrize(("foreign", "right"), [("@project/docs/a.md", "'/docs/a.md'"), ("@project", "'/'")])
async def test_a_path_of_another_dialect_is_an_error_that_shows_the_right_form(desk: Desk, foreign: str, right: str) -> None:
    said = await refused(desk, 400, "read", path=foreign)

    assert right in said["error"]


async def test_another_mount_is_outside(desk: Desk) -> None:
    said = await refused(desk, 403, "read", path="@central/plan.md")

    assert "outside" in said["error"]


@pytest.mark.parametrize("path", ["a\0b", "x" * 256, "y/" * 3000])
async def test_what_no_path_can_be_is_a_bad_request(desk: Desk, path: str) -> None:
    await refused(desk, 400, "read", path=path)


@carries("WS-PATH-4")
@pytest.mark.parametrize("path", ["/.env", "/conf/credentials.json", "/.git/config"])
async def test_a_protected_file_can_be_read_and_not_be_changed(desk: Desk, path: str) -> None:
    desk.write(path[1:], "secret\n")

    seen = await done(desk, "read", path=path)
    for tool, arguments in [
        ("write", {"path": path, "content": "x", "overwrite": True}),
        ("edit", {"path": path, "old_string": "secret", "new_string": "x"}),
        ("rm", {"path": path}),
        ("touch", {"path": path}),
        ("mv", {"source": path, "destination": "/moved"}),
    ]:
        said = await refused(desk, 403, tool, **arguments)
        assert said["code"] == "FORBIDDEN"

    assert seen["content"] == "secret\n"
    assert desk.text(path[1:]) == "secret\n"


@carries("WS-PATH-5")
async def test_a_link_that_leads_out_is_forbidden(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "canary.txt").write_text("canary")
    (desk.root / "link").symlink_to("../canary.txt")

    for tool, arguments in [("read", {"path": "/link"}), ("write", {"path": "/link", "content": "x", "overwrite": True})]:
        said = await refused(desk, 403, tool, **arguments)
        assert "canary" not in said["error"].replace("/link", "")
    many = await done(desk, "read_multiple_files", paths=["/link"])

    assert many["files"][0]["success"] is False
    assert (tmp_path / "canary.txt").read_text() == "canary"


async def test_a_path_through_a_file_is_where_nothing_is(desk: Desk) -> None:
    desk.write("file.txt", "kept")

    for tool in ("read", "file_info", "rm"):
        await desk.call(tool, path="/file.txt/below")
        assert status_now(desk) in (400, 404)
    for tool in ("write", "touch"):
        await desk.call(tool, path="/file.txt/below", content="x")
        assert status_now(desk) in (400, 409)

    assert desk.text("file.txt") == "kept"
