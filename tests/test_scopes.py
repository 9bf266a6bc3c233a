"""What a profile permits, and what happens to a call that it does not."""

import asyncio
from pathlib import Path

import pytest

from holdfast.vocabulary.limits import Limits
from holdfast.vocabulary.profile import SHIPPED, Profile
from holdfast.vocabulary.scope import Permission, Scope
from tests.desk import Desk
from tests.promises import carries


def only(**permissions: Permission) -> Profile:
    """A profile of fs and core with exactly these permissions; `fs_read` means fs.read."""
    named = {name.replace("fs_", "fs."): permission for name, permission in permissions.items()}
    return Profile("custom", ("fs", "core"), Scope(named))


@carries("SCOPE-1", "AUDIT-1")
async def test_a_tool_outside_the_scope_is_not_shown_and_calling_it_is_refused_and_audited(desk: Desk) -> None:
    profile = only(fs_read=Permission())

    said = await desk.take("fs.write", {"path": "@project/new.md", "content": "x"}, profile, agent="a")

    assert [tool.name for tool in desk.holdfast.tools(profile)] == ["fs.read"]
    assert (said["ok"], desk.last_code) == (False, "not_permitted")
    assert not (desk.root / "new.md").exists()
    line = desk.audit()[-1]
    assert (len(desk.audit()), line["toolName"], line["agentId"], line["output"]["code"]) == (1, "fs.write", "a", "not_permitted")


@carries("SCOPE-1")
async def test_a_tool_of_another_toolset_is_unknown(desk: Desk) -> None:
    await desk.take("read_file", {"path": "x"}, only(fs_read=Permission()))

    assert (desk.last_code, "Unknown tool" in desk.last_text) == ("unknown_tool", True)


@carries("SCOPE-2", "TYPE-2")
async def test_allowed_false_hides_a_tool(desk: Desk) -> None:
    profile = only(fs_read=Permission(), fs_list=Permission(allowed=False))

    await desk.take("fs.list", {"path": "@project"}, profile)

    assert [tool.name for tool in desk.holdfast.tools(profile)] == ["fs.read"]
    assert desk.last_code == "not_permitted"


@carries("SCOPE-3", "TYPE-2")
@pytest.mark.parametrize("mount", ["project", "state", "central"])
async def test_globs_of_paths_are_judged_against_every_mount(desk: Desk, mount: str) -> None:
    profile = only(fs_write=Permission(paths=("docs/**", "*.md")))

    codes: dict[str, str | None] = {}
    for path in ("docs/a.txt", "docs/deep/er/b.txt", "top.md", "top.txt", "sub/c.md", "docsx/d.txt"):
        await desk.take("fs.write", {"path": f"@{mount}/{path}", "content": "x"}, profile)
        codes[path] = desk.last_code

    assert [path for path, code in codes.items() if code is None] == ["docs/a.txt", "docs/deep/er/b.txt", "top.md"]
    assert {code for code in codes.values() if code} == {"not_permitted"}


@carries("SCOPE-3")
@pytest.mark.parametrize("path", ["@project", "@project/docs", "@project/.hidden", "@state"])
async def test_two_stars_are_every_path_and_every_mounts_root(desk: Desk, path: str) -> None:
    for folder in ("docs", ".hidden"):
        (desk.root / folder).mkdir()

    said = await desk.take("fs.list", {"path": path}, only(fs_list=Permission(paths=("**",))))

    assert said["ok"] is True


@carries("SCOPE-3")
async def test_a_folder_whose_contents_are_all_permitted_can_be_listed_and_searched_itself(desk: Desk) -> None:
    desk.write("src/deep/a.py", "needle\n")
    paths = Permission(paths=("src/**",))
    profile = only(fs_list=paths, fs_search=paths)

    listed = await desk.take("fs.list", {"path": "@project/src"}, profile)
    found = await desk.take("fs.search", {"path": "@project/src", "pattern": "needle"}, profile)
    root = await desk.take("fs.list", {"path": "@project"}, profile)

    assert (listed["ok"], len(found["matches"]), root["ok"]) == (True, 1, False)


@carries("SCOPE-3")
@pytest.mark.parametrize("pattern", ["needle", "/needl./"])
async def test_a_search_looks_only_into_files_that_the_globs_permit(desk: Desk, pattern: str) -> None:
    for path in ("docs/a.md", "docs/deep/b.md", "docs/private.txt", "docs/deep/private.txt"):
        desk.write(path, "needle\n")
    profile = only(fs_search=Permission(paths=("docs", "docs/**/*.md")))

    found = await desk.take("fs.search", {"path": "@project/docs", "pattern": pattern, "maxMatches": 2}, profile)

    assert [match["path"] for match in found["matches"]] == ["@project/docs/a.md", "@project/docs/deep/b.md"]
    assert found["truncated"] is False


@carries("SCOPE-3")
async def test_the_globs_hold_for_where_a_link_leads(desk: Desk) -> None:
    desk.write("private/x.md", "canary\n")
    (desk.root / "docs").mkdir()
    (desk.root / "docs/link.md").symlink_to("../private/x.md")

    said = await desk.take("fs.read", {"path": "@project/docs/link.md"}, only(fs_read=Permission(paths=("docs/**",))))

    assert (desk.last_code, "canary" in str(said)) == ("not_permitted", False)


@carries("SCOPE-3")
async def test_globs_permit_nothing_that_is_protected(desk: Desk) -> None:
    desk.write(".env", "canary\n")

    await desk.take("file_read", {"path": ".env"}, only(file_read=Permission(paths=("**", ".env"))))

    assert desk.last_code == "protected"


@carries("SCOPE-4", "ROAD-3", "TYPE-2")
async def test_the_timeout_of_a_permission_is_the_tools_deadline(desk: Desk) -> None:
    for number in range(300):
        desk.write(f"{number % 10}/{number}.txt", "filler\n" * 2_000)
    profile = only(fs_search=Permission(timeout_seconds=0.001))

    said = await asyncio.wait_for(desk.take("fs.search", {"path": "@project", "pattern": "/needl./"}, profile), 10)

    assert (said["ok"], desk.last_code) == (False, "timed_out")
    assert len(desk.audit()) == 1


@carries("SCOPE-4", "ROAD-3")
async def test_without_a_timeout_a_tool_has_60_seconds(desk: Desk) -> None:
    assert Permission().timeout_seconds is None
    assert Limits().tool_seconds == 60


@carries("SCOPE-5")
@pytest.mark.parametrize("name", ["core", "fs", "simple"])
async def test_a_shipped_profile_permits_the_whole_of_its_toolsets(desk: Desk, name: str) -> None:
    profile = SHIPPED[name]

    shown = {tool.name for tool in desk.holdfast.tools(profile)}

    assert shown == {tool.name for tool in desk.holdfast.tools() if tool.toolset in profile.toolsets}
    assert shown
    assert SHIPPED.keys() == {"coder", "core", "fs", "simple", "planner"}


@carries("SCOPE-1")
async def test_a_custom_profile_without_permissions_may_only_read(desk: Desk) -> None:
    desk.write("notes.md", "text\n")
    profile = Profile("bare", ("core", "fs"), Scope())

    read = await desk.take("file_read", {"path": "notes.md"}, profile)
    await desk.take("file_write", {"path": "notes.md", "content": "x"}, profile)

    assert (read["output"], desk.last_code, desk.text("notes.md")) == ("text\n", "not_permitted", "text\n")


@carries("MOUNT-3")
@pytest.mark.parametrize("run", ["../evil", "a/b", "/", ".", "x" * 101, "a b", "\0"])
async def test_a_run_whose_name_could_be_a_path_is_refused_and_leaves_nothing(tmp_path: Path, run: str) -> None:
    from holdfast.vocabulary.errors import InvalidArguments
    from tests.desk import open_desk

    with pytest.raises(InvalidArguments):
        async with open_desk(tmp_path, run=run):
            pass
    assert not (tmp_path / "home").exists()
