"""plan_write, plan_read, plan_edit, plan_list"""

import re

import pytest

from holdfast.toolsets.workspace import plan_write
from holdfast.workspace import plan_names
from holdfast.workspace.plan_text import PlanMetadata, body_begins, compose, metadata_of
from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused, sha256

BODY = "# Overview\n\n## Goals\n- Goal 1\n- Goal 2"
LEGACY = "# An old plan\n\nwithout front matter\n"


@carries("WS-PLAN-1", "WS-PLAN-2", "WS-VERSION-1")
async def test_a_plan_gets_a_name_of_three_words_and_front_matter(desk: Desk) -> None:
    said = await done(desk, "plan_write", title="Feature: the \u201cnew\u201d one", content=BODY)

    assert re.fullmatch(r"/plans/[a-z]+-[a-z]+-[a-z]+\.plan", said["path"])
    assert said.keys() == {"path", "file_id", "version_id", "hash", "metadata"}
    metadata = said["metadata"]
    assert (metadata["title"], metadata["status"]) == ("Feature: the \u201cnew\u201d one", "draft")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", metadata["created_at"])
    text = desk.text(said["path"][1:])
    assert text.startswith("---\ntitle: ")
    assert text.endswith(f"---\n{BODY}")
    assert said["hash"] == sha256(text)
    info = await done(desk, "file_info", path=said["path"])
    assert (info["file_type"], info["synced"]) == ("plan", True)


@carries("WS-PLAN-2")
async def test_a_name_that_is_taken_is_not_given_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("plans/one-one-one.plan", LEGACY)
    names = iter(["one-one-one", "two-two-two", "two-two-two", "three-three-three"])
    monkeypatch.setattr(plan_write, "invent_name", lambda: next(names))

    first = await done(desk, "plan_write", title="First", content="1")
    second = await done(desk, "plan_write", title="Second", content="2")

    assert [first["path"], second["path"]] == ["/plans/two-two-two.plan", "/plans/three-three-three.plan"]
    assert desk.text("plans/one-one-one.plan") == LEGACY


@carries("WS-PLAN-2")
def test_names_are_many() -> None:
    names = {plan_names.invent_name() for _ in range(1000)}

    assert len(names) > 990
    assert all(re.fullmatch(r"[a-z]+-[a-z]+-[a-z]+", name) for name in names)


@carries("WS-PLAN-3")
async def test_writing_a_plan_again_is_a_new_version_and_keeps_when_it_was_made(desk: Desk) -> None:
    first = await done(desk, "plan_write", title="First", content="1", path="/plans/a.plan")

    second = await done(desk, "plan_write", title="Second", content="2", path="/plans/a.plan", status="approved")

    assert second["file_id"] == first["file_id"]
    assert second["metadata"] == {"title": "Second", "status": "approved", "created_at": first["metadata"]["created_at"]}
    assert len((await done(desk, "history", file_id=first["file_id"]))["versions"]) == 2
    assert (await done(desk, "plan_read", path="/plans/a.plan"))["content"] == "2"


@carries("WS-PLAN-3")
async def test_an_older_plan_gets_front_matter_when_it_is_written_again(desk: Desk) -> None:
    desk.write("plans/old.plan", LEGACY)

    said = await done(desk, "plan_write", title="Now", content="new", path="/plans/old.plan")

    assert (await done(desk, "plan_read", name="old"))["metadata"] == said["metadata"]
    assert len((await done(desk, "history", file_id=said["file_id"]))["versions"]) == 2


@carries("WS-PLAN-4")
@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("plan_write", {"title": "T", "content": "c", "path": "/plans/a.md"}, "path"),
        ("plan_write", {"title": "T", "content": "c", "path": "/plans"}, "path"),
        ("plan_write", {"title": "T", "content": "c", "status": "done"}, "status"),
        ("plan_write", {"title": "T", "content": "c", "status": "Draft"}, "status"),
        ("plan_write", {"content": "c"}, "title"),
        ("plan_write", {"title": "T"}, "content"),
        ("plan_read", {"path": "/plans/a.md"}, "path"),
        ("plan_edit", {"path": "/plans/a.md", "old_string": "a", "new_string": "b"}, "path"),
        ("plan_list", {"status": "done"}, "status"),
        ("plan_list", {"limit": -1}, "limit"),
    ],
)
async def test_what_is_no_plan_is_a_bad_request(desk: Desk, tool: str, arguments: dict[str, str], named: str) -> None:
    desk.write("plans/a.md", "a")

    said = await refused(desk, 400, tool, **arguments)

    assert said["fields"].keys() == {named}
    assert desk.text("plans/a.md") == "a"


@carries("WS-PLAN-5", "WS-PLAN-6")
@pytest.mark.parametrize(
    "by", [{"path": "/plans/bold-meadow-quest.plan"}, {"name": "bold-meadow-quest"}, {"name": "bold-meadow-quest.plan"}]
)
async def test_a_plan_is_found_by_path_and_by_name(desk: Desk, by: dict[str, str]) -> None:
    wrote = await done(desk, "plan_write", title="Title", content=BODY, path="/plans/bold-meadow-quest.plan")

    said = await done(desk, "plan_read", cursor=3, **by)

    assert said["path"] == "/plans/bold-meadow-quest.plan"
    assert (said["metadata"], said["content"], said["total_lines"]) == (wrote["metadata"], BODY, 5)
    assert said["hash"] == wrote["hash"] == sha256(desk.text("plans/bold-meadow-quest.plan"))


@carries("WS-PLAN-5")
async def test_neither_path_nor_name_is_a_bad_request_and_an_unknown_name_is_not_found(desk: Desk) -> None:
    await refused(desk, 400, "plan_read")
    await refused(desk, 400, "plan_read", name="")
    await refused(desk, 404, "plan_read", name="nothing-like-this")
    await refused(desk, 400, "plan_read", name="../secret")


@carries("WS-PLAN-6")
@pytest.mark.parametrize(
    ("arguments", "content", "truncated"),
    [
        ({"offset": 2, "limit": 2}, "## Goals\n- Goal 1\n", True),
        ({"offset": -1}, "- Goal 2", False),
        ({"limit": 1}, "# Overview\n", True),
        ({"limit": 0}, BODY, False),
        ({"offset": 9}, "", False),
    ],
)
async def test_lines_are_counted_in_the_body(desk: Desk, arguments: dict[str, int], content: str, truncated: bool) -> None:
    await done(desk, "plan_write", title="Title", content=BODY, path="/plans/a.plan")

    said = await done(desk, "plan_read", name="a", **arguments)

    assert (said["content"], said["total_lines"], said["truncated"]) == (content, 5, truncated)


@carries("WS-PLAN-6")
async def test_500_lines_are_read_unless_told_otherwise(desk: Desk) -> None:
    await done(desk, "plan_write", title="Title", content="x\n" * 600, path="/plans/a.plan")

    said = await done(desk, "plan_read", name="a")

    assert (said["content"].count("\n"), said["total_lines"], said["truncated"]) == (500, 600, True)


@carries("WS-PLAN-7")
@pytest.mark.parametrize("text", [LEGACY, "---\nnot: [closed\n---\nbody\n", "---\njust a line\n---\nbody\n", "---\nno end\n", ""])
async def test_a_plan_without_front_matter_has_no_metadata_and_all_its_content(desk: Desk, text: str) -> None:
    desk.write("plans/old.plan", text)

    said = await done(desk, "plan_read", name="old")

    assert (said["metadata"], said["content"], said["synced"]) == (None, text, False)


@carries("WS-PLAN-8")
@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        ({"old_string": "- Goal 1", "new_string": "- Goal 1 (completed)"}, BODY.replace("Goal 1", "Goal 1 (completed)")),
        ({"insert_line": 0, "insert_content": "first"}, f"first\n{BODY}"),
        ({"insert_line": 5, "insert_content": "last"}, f"{BODY}\nlast\n"),
        ({"old_string": "# Overview", "new_string": "---"}, BODY.replace("# Overview", "---", 1)),
    ],
)
async def test_the_body_alone_is_edited(desk: Desk, arguments: dict[str, str | int], body: str) -> None:
    wrote = await done(desk, "plan_write", title="Goal 1", content=BODY, path="/plans/a.plan")
    front = desk.text("plans/a.plan").removesuffix(BODY)

    said = await done(desk, "plan_edit", path="/plans/a.plan", last_read_hash=wrote["hash"], **arguments)

    assert desk.text("plans/a.plan") == front + body
    assert (said["file_id"], said["hash"]) == (wrote["file_id"], sha256(front + body))
    assert (await done(desk, "plan_read", name="a"))["metadata"] == wrote["metadata"]


@carries("WS-PLAN-8")
@pytest.mark.parametrize("arguments", [{"old_string": "draft", "new_string": "approved"}, {"insert_line": 6, "insert_content": "x"}])
async def test_the_front_matter_can_be_neither_matched_nor_counted(desk: Desk, arguments: dict[str, str | int]) -> None:
    await done(desk, "plan_write", title="Title", content=BODY, path="/plans/a.plan")
    before = desk.text("plans/a.plan")

    await refused(desk, 400, "plan_edit", path="/plans/a.plan", **arguments)

    assert desk.text("plans/a.plan") == before


@carries("WS-PLAN-8")
async def test_an_older_plan_is_edited_as_it_is_and_becomes_one_of_type_plan(desk: Desk) -> None:
    desk.write("plans/old.plan", LEGACY)

    await done(desk, "plan_edit", path="/plans/old.plan", old_string="An old plan", new_string="A plan")

    assert desk.text("plans/old.plan") == LEGACY.replace("An old", "A")
    assert (await done(desk, "file_info", path="/plans/old.plan"))["file_type"] == "plan"


@carries("WS-PLAN-9")
async def test_a_plan_that_has_changed_since_is_a_conflict(desk: Desk) -> None:
    wrote = await done(desk, "plan_write", title="Title", content=BODY, path="/plans/a.plan")
    await done(desk, "plan_write", title="Title", content=BODY, path="/plans/a.plan", status="approved")

    await refused(desk, 409, "plan_edit", path="/plans/a.plan", old_string="Goal 1", new_string="x", last_read_hash=wrote["hash"])
    await refused(desk, 404, "plan_edit", path="/plans/b.plan", old_string="Goal 1", new_string="x")
    await refused(desk, 400, "plan_edit", path="/plans/a.plan", old_string="Goal 1")

    assert desk.text("plans/a.plan").endswith(BODY)


@carries("WS-PLAN-10")
async def test_plans_are_listed_with_the_newest_first(desk: Desk) -> None:
    for name, made, status in [("a", "2025-01-15", "approved"), ("b", "2025-03-01", "draft"), ("c", "2025-02-01", "approved")]:
        metadata = PlanMetadata(f"Plan {name}", status, f"{made}T10:30:00Z")
        await done(desk, "write", path=f"/plans/{name}.plan", content=compose(metadata, BODY), file_type="plan")
    await done(desk, "write", path="/elsewhere/d.plan", content=LEGACY, file_type="plan")
    desk.write("plans/deep/disk.plan", "---\ntitle: On disk\nstatus: archived\ncreated_at: 2024-01-01T00:00:00Z\n---\nx\n")
    desk.write("plans/note.md", "no plan")
    desk.write("outside.plan", "not listed: not in /plans, and no plan by type")

    said = await done(desk, "plan_list")

    assert said["total"] == 5
    assert [plan["name"] for plan in said["plans"]] == ["d", "b", "c", "a", "disk"]
    assert said["plans"][3] == {
        "path": "/plans/a.plan",
        "name": "a",
        "metadata": {"title": "Plan a", "status": "approved", "created_at": "2025-01-15T10:30:00Z"},
    }
    assert said["plans"][0]["metadata"] is None
    assert said["plans"][4]["metadata"]["created_at"].startswith("2024-01-01T00:00:00")


@carries("WS-PLAN-10")
@pytest.mark.parametrize(
    ("arguments", "count", "total"),
    [
        ({}, 50, 60),
        ({"limit": 0}, 60, 60),
        ({"limit": 7}, 7, 60),
        ({"status": "approved", "limit": 5}, 5, 20),
        ({"status": "draft"}, 40, 40),
    ],
)
async def test_the_total_is_before_the_limit(desk: Desk, arguments: dict[str, str | int], count: int, total: int) -> None:
    for number in range(60):
        metadata = PlanMetadata("T", "approved" if number % 3 == 0 else "draft", "2025-01-15T10:30:00Z")
        desk.write(f"plans/{number}.plan", compose(metadata, BODY))

    said = await done(desk, "plan_list", **arguments)

    assert (len(said["plans"]), said["total"]) == (count, total)


@pytest.mark.parametrize(
    "title", ["plain", "with: colon", "'quoted'", '"double"', "two\nlines", "# hash", "- dash", "no", "\u2713 \U0001f600", ""]
)
def test_whatever_the_title_is_it_is_read_back(title: str) -> None:
    metadata = PlanMetadata(title, "draft", "2025-01-15T10:30:00.000Z")

    data = compose(metadata, "---\nbody\n").encode()

    assert metadata_of(data) == metadata
    assert data[body_begins(data) :] == b"---\nbody\n"
