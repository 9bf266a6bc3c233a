"""Custom profiles in use: what an agent with one may do, sees and is given; and as they travel to another process."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app import EVERYTHING, SAFE_ONLY, Holdfast, list_tools, named_profile
from holdfast.app.profiles import hear_profile, known_tools, tell_profile
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import Busy, InvalidArguments, InvalidSetting
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.limits import FsLimits, Limits
from holdfast.vocabulary.outcome import Done, Outcome
from holdfast.vocabulary.profile import SHIPPED, Environment, Origin, Profile, Workflow
from holdfast.vocabulary.scope import Permission, Scope
from holdfast.vocabulary.trust import Trust, When
from tests.promises import carries
from tests.untested import needs


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project/.holdfast/profiles").mkdir(parents=True)
    (tmp_path / "project/docs").mkdir()
    (tmp_path / "home/profiles").mkdir(parents=True)
    return tmp_path / "project"


def mine(project: Path, name: str, text: str) -> None:
    (project.parent / f"home/profiles/{name}.yaml").write_text(text)


def theirs(project: Path, name: str, text: str) -> None:
    (project / f".holdfast/profiles/{name}.yaml").write_text(text)


@asynccontextmanager
async def opened(project: Path, profile: str | Profile | None) -> AsyncGenerator[Holdfast]:
    async with Holdfast.open(project, profile=profile, home=project.parent / "home") as holdfast:
        yield holdfast


def code(outcome: Outcome) -> str | None:
    return None if isinstance(outcome, Done) else outcome.error.code


# What holds


@carries("PROFILE-1", "PROFILE-12")
async def test_an_agent_has_exactly_the_tools_of_its_profile_within_their_paths(project: Path) -> None:
    permitted = (
        'tool_permissions:\n  file_write: {allowed: true, paths: ["docs/**"]}\n  file_read: {allowed: true}\n  bash: {allowed: false}\n'
    )
    theirs(project, "writer", permitted)

    async with opened(project, "writer") as holdfast:
        tools = [tool.name for tool in holdfast.tools()]
        inside = await holdfast.call("file_write", path="docs/a.md", content="x")
        outside = await holdfast.call("file_write", path="a.md", content="x")
        hidden = await holdfast.call("bash", command="true")
        unnamed = await holdfast.call("web_search", query="x")

    assert tools == ["file_read", "file_write"]
    assert [code(each) for each in (inside, outside, hidden, unnamed)] == [None, "not_permitted", "not_permitted", "not_permitted"]
    assert not (project / "a.md").exists()


@carries("PROFILE-2")
@pytest.mark.parametrize("text", ["", "toolsets: [fs, simple]\n", "tool_permissions: {}\ntoolsets: [workspace]\n"])
async def test_a_profile_that_permits_nothing_has_two_safe_tools(project: Path, text: str) -> None:
    mine(project, "bare", text)

    async with opened(project, "bare") as holdfast:
        assert [tool.name for tool in holdfast.tools()] == ["file_read", "web_search"]
        assert code(await holdfast.call("file_write", path="a.md", content="x")) == "not_permitted"


@carries("PROFILE-4", "PROFILE-5")
async def test_limits_and_workflow_of_a_profile_hold(project: Path) -> None:
    tools = "tool_permissions: {fs.write: {allowed: true}, fs.read: {allowed: true}}\n"
    theirs(project, "engine", f"{tools}limits: {{fs: {{max_write_bytes: 1KB}}}}\nworkflow: {{edges: {{a: [b]}}}}\n")

    async with opened(project, "engine") as holdfast:
        await holdfast.call("fs.write", path="@state/workflow.md", content="---\ncurrentNodeId: a\n---\n")
        moved = await holdfast.call("fs.write", path="@state/workflow.md", content="---\ncurrentNodeId: c\n---\n")
        written = await holdfast.call("fs.write", path="@project/a", content="x" * 1000)
        too_long = await holdfast.call("fs.write", path="@project/a", content="x" * 1001)

    assert [code(each) for each in (moved, written, too_long)] == ["invalid_transition", None, "content_too_large"]


@carries("PROFILE-6")
async def test_the_mounts_of_a_profile_are_there_when_it_is_opened(project: Path, tmp_path: Path) -> None:
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages/a.md").write_text("packed\n")
    mine(project, "packer", f"mounts: {{more: '{tmp_path}/packages:ro'}}\ntool_permissions: {{fs.read: {{allowed: true}}}}\n")

    async with opened(project, "packer") as holdfast:
        read: Any = (await holdfast.call("fs.read", path="@more/a.md")).answer.body

    assert read["content"] == "packed\n"


@carries("PROFILE-6")
@needs("bubblewrap", "commands run inside it")
async def test_the_variables_of_a_profile_reach_commands(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSED_ON", "by name")
    monkeypatch.setenv("STAYS_HERE", "planted")
    mine(project, "builder", "env: [PASSED_ON, 'NODE_ENV=test']\ntool_permissions: {bash: {allowed: true, timeout: 30s}}\n")

    async with opened(project, "builder") as holdfast:
        outcome = await holdfast.call("bash", command='echo "$PASSED_ON/$NODE_ENV/$STAYS_HERE"')

    assert outcome.answer.text.splitlines()[0] == "by name/test/"
    assert isinstance(outcome.answer.metadata, dict)
    assert outcome.answer.metadata["timeoutSeconds"] == 30


# What is found


@carries("PROFILE-12")
def test_a_name_is_looked_for_in_the_folders_that_are_given(project: Path) -> None:
    mine(project, "mine", "tool_permissions: {read_file: {allowed: true}}\n")
    theirs(project, "theirs", "tool_permissions: {read_file: {allowed: true}}\n")
    home = project.parent / "home"

    assert named_profile("mine", home=home).origin is Origin.PERSON
    assert named_profile("theirs", project=project, home=home).origin is Origin.PROJECT
    with pytest.raises(InvalidArguments):
        named_profile("theirs", home=home)
    assert (named_profile(None), named_profile("everything"), named_profile("safe-only")) == (EVERYTHING, EVERYTHING, SAFE_ONLY)


@carries("PROFILE-9")
async def test_a_project_is_not_opened_with_a_profile_that_has_mistakes(project: Path) -> None:
    theirs(project, "broken", "trust: autonomous\nextra: 1\n")

    with pytest.raises(InvalidSetting, match=r"2 mistakes"):
        async with opened(project, "broken"):
            pass


def test_tools_for_people_are_nothing_that_a_profile_could_name() -> None:
    assert "person" not in known_tools().toolsets
    assert sorted(tool.name for tool in list_tools()) == sorted(tool for tools in known_tools().toolsets.values() for tool in tools)


# To another process

_scopes = st.none() | st.builds(
    Scope,
    st.dictionaries(
        st.sampled_from(["fs.read", "file_write", "read"]), st.builds(Permission, st.booleans(), st.sampled_from([(), ("a/**",)]))
    ),
)
_profiles = st.builds(
    Profile,
    name=st.text(max_size=20),
    toolsets=st.sampled_from([(), ("fs",), ("fs", "core", "workspace"), ("person",)]),
    scope=_scopes,
    dangerous=st.booleans(),
    limits=st.builds(Limits, fs=st.builds(FsLimits, st.integers(1, 10**6)), tool_seconds=st.sampled_from([60, 0.3, 0.05])),
    workflow=st.none() | st.just(Workflow({"a": ("b",)})),
    system_prompt=st.just("") | st.text(min_size=1).filter(str.strip),
    trust=st.none() | st.sampled_from(Trust),
    ask=st.sampled_from(When),
    env=st.just(Environment(passed=("CI",))),
)


@carries("PROFILE-12")
@given(_profiles)
def test_a_profile_that_a_program_made_is_heard_as_it_was_told(profile: Profile) -> None:
    assert hear_profile(tell_profile(profile)) == profile


@carries("PROFILE-12")
@pytest.mark.parametrize("profile", [*SHIPPED.values(), EVERYTHING, SAFE_ONLY], ids=lambda profile: profile.name)
def test_a_profile_that_all_processes_have_travels_by_its_name(profile: Profile) -> None:
    assert tell_profile(profile) == profile.name
    assert hear_profile(profile.name) is profile


@pytest.mark.parametrize("told", ["nobody", {}, {"name": "x", "origin": "stranger"}])
def test_what_is_no_profile_is_not_heard_as_one(told: Any) -> None:
    with pytest.raises((ValueError, KeyError)):
        hear_profile(told)


@carries("PROFILE-12")
async def test_a_call_that_is_passed_on_takes_its_profile_along(project: Path) -> None:
    mine(project, "writer", 'tool_permissions: {write: {allowed: true, paths: ["docs/**"]}}\n')

    def call(path: str) -> ToolCall:
        arguments: dict[str, Json] = {"path": path, "content": "x"}
        return ToolCall(f"call-{path}", "write", arguments, Caller())

    async with opened(project, None), opened(project, "writer") as beside:
        with pytest.raises(Busy):
            _ = beside.road
        permitted, refused = await beside.take(call("/docs/a.md")), await beside.take(call("/a.md"))
        hasty = Profile("hasty", ("workspace",), Scope.of("read"), limits=Limits(tool_seconds=0.05))
        by_program = await beside.take(call("/docs/b.md"), hasty)

    assert [code(each) for each in (permitted, refused, by_program)] == [None, "not_permitted", "not_permitted"]
    assert [file.name for file in (project / "docs").iterdir()] == ["a.md"]


@carries("PROFILE-6")
async def test_a_profile_with_mounts_needs_a_workspace_that_nobody_else_holds(project: Path, tmp_path: Path) -> None:
    mine(project, "packer", f"mounts: {{more: '{tmp_path}'}}\n")

    async with opened(project, None):
        with pytest.raises(Busy):
            async with opened(project, "packer"):
                pass
