"""Profile files: what they say, every mistake with its line, and what a project's may not say."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.profiles import known_tools
from holdfast.config.profile_document import as_document, as_yaml
from holdfast.config.profile_file import KEYS, KnownTools, read_profile
from holdfast.vocabulary.errors import InvalidSetting
from holdfast.vocabulary.limits import CoreLimits, FsLimits, Limits
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.profile import SHIPPED, Environment, Origin, Profile, Workflow
from holdfast.vocabulary.scope import Permission, Scope
from holdfast.vocabulary.trust import Trust, When
from tests.config.conftest import Mistakes, Read
from tests.promises import carries

WHOLE = """\
description: reads and mends the documentation
model: ollama/qwen3
system_prompt: |
  You mend documentation.
  Be brief.
toolsets: [workspace, core]
tool_permissions:
  file_read: { allowed: true }
  write: { allowed: true, paths: ["docs/**", "*.md"] }
  bash: { allowed: true, timeout: 120s }
  mcp__mail__send: { allowed: true }
  rm: { allowed: false }
trust: autonomous
ask: effects
mode: plan
mounts:
  pkg: /srv/packages
  more: ~/notes:ro
env: [inherit, CI, "NODE_ENV=test", "EMPTY="]
limits:
  turns: 50
  time: 1h
  model_time: 90s
  tool_time: 30s
  command_time: 5m
  core: { max_read_bytes: 2MB }
  fs: { max_read_bytes: 50KB, max_write_bytes: 1MiB, max_entries: 20 }
workflow:
  edges:
    start: [middle, end]
    end: []
"""


@carries("PROFILE-1", "PROFILE-4", "PROFILE-5")
def test_everything_that_a_file_says_is_in_the_profile(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/anna")

    assert read(WHOLE) == Profile(
        "mine",
        ("workspace", "core"),
        Scope(
            {
                "file_read": Permission(),
                "write": Permission(paths=("docs/**", "*.md")),
                "bash": Permission(timeout_seconds=120),
                "mcp__mail__send": Permission(),
                "rm": Permission(allowed=False),
            }
        ),
        limits=Limits(
            CoreLimits(2_000_000),
            FsLimits(50_000, 2**20, 20),
            turns=50,
            loop_seconds=3600,
            model_seconds=90,
            tool_seconds=30,
            command_seconds=300,
        ),
        workflow=Workflow({"start": ("middle", "end"), "end": ()}),
        description="reads and mends the documentation",
        model="ollama/qwen3",
        system_prompt="You mend documentation.\nBe brief.\n",
        trust=Trust.AUTONOMOUS,
        ask=When.EFFECTS,
        mode=Mode.PLAN,
        mounts={"pkg": "/srv/packages", "more": "/home/anna/notes:ro"},
        env=Environment(inherits=True, passed=("CI",), given={"NODE_ENV": "test", "EMPTY": ""}),
    )


@carries("PROFILE-2")
@pytest.mark.parametrize("text", ["", "# nothing\n", "tool_permissions:\n", "tool_permissions: {}\n", "toolsets: [fs]\n"])
def test_without_permissions_there_are_the_two_safe_tools_of_core(read: Read, text: str) -> None:
    profile = read(text)

    assert profile.scope == Scope()
    assert "core" in profile.toolsets


def test_without_toolsets_they_are_those_of_the_permitted_tools(read: Read) -> None:
    profile = read("tool_permissions: {read_file: {allowed: true}, fs.read: {allowed: true}, bash: {allowed: false}}")

    assert profile.toolsets == ("core", "fs", "simple")


def test_with_tools_of_other_servers_alone_the_toolsets_are_not_all(read: Read) -> None:
    assert read("tool_permissions: {mcp__a__b: {allowed: true}}").toolsets == ("core",)


@pytest.mark.parametrize("text", ["env: inherit", "env: [inherit]"])
def test_inherit_may_stand_alone(read: Read, text: str) -> None:
    assert read(text).env == Environment(inherits=True)


# Mistakes


@carries("PROFILE-9")
def test_all_mistakes_are_told_at_once_each_with_its_line(mistakes: Mistakes) -> None:
    text = """\
trsut: guided
ask: sometimes
tool_permissions:
  file_reed: { allowed: true }
  bash: { timeout: 120 }
  write:
    allowed: "yes"
    paths: ["/src"]
limits:
  fs: { max_read_bytes: lots, depth: 3 }
  time: 30
"""

    found = mistakes(text)

    assert [each.split(":")[0] for each in found] == [f"line {line}" for line in (1, 2, 4, 5, 5, 7, 8, 10, 10, 11)]
    assert "did you mean 'trust'" in found[0]
    assert all(key in found[0] for key in KEYS)
    assert "before, effects" in found[1]
    assert "did you mean 'file_read'" in found[2]
    assert "120s" in found[3] or "120s" in found[4]


@carries("PROFILE-9")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "mapping"),
        ("just text", "mapping"),
        ("7", "mapping"),
        ("trust: guided\ntrust: guided", "line 2: 'trust' is here twice"),
        ("1: x", "text"),
        ("? [a]\n: b", "text"),
        ("trust:", "supervised, guided, autonomous"),
        ("trust: [guided]", "supervised, guided, autonomous"),
        ("mode: Plan", "plan, build"),
        ("model: qwen", "provider/name"),
        ("model: 7", "text"),
        ("description: ''", "empty"),
        ("description: |\n  two\n  lines\n", "one line"),
        ("system_prompt: [x]", "text"),
        ("toolsets: []", "not be empty"),
        ("toolsets: core", "list"),
        ("toolsets: [core, core]", "twice"),
        ("toolsets: [person]", "core, fs, simple, workspace"),
        ("toolsets: [fs]\ntool_permissions: {bash: {allowed: true}}", "line 2: tool_permissions.bash: this is of the toolset core"),
        ("tool_permissions: all", "mapping"),
        ("tool_permissions: {keep: {allowed: true}}", "no 'keep'"),
        ("tool_permissions: {bash: true}", "mapping"),
        ("tool_permissions: {bash: {}}", "'allowed' is missing"),
        ("tool_permissions: {bash: {allowed: true, paths: [src]}}", "takes no paths"),
        ("tool_permissions: {mcp__a__b: {allowed: true, paths: [src]}}", "takes no paths"),
        ("tool_permissions: {write: {allowed: true, paths: []}}", "not be empty"),
        ("tool_permissions: {write: {allowed: true, paths: [../x]}}", "match nothing"),
        ("tool_permissions: {write: {allowed: true, paths: ['@project/x']}}", "match nothing"),
        ("tool_permissions: {bash: {allowed: true, timeout: 25h}}", "at most 24h"),
        ("tool_permissions: {bash: {allowed: true, timeout: 0s}}", "120s"),
        ("mounts: [a]", "mapping"),
        ("mounts: {project: /x}", "name of a mount"),
        ("mounts: {a-b: /x}", "name of a mount"),
        ("mounts: {a: x}", "from / or ~/"),
        ("env: {A: b}", "list"),
        ("env: ['1A']", "NAME=value"),
        ("env: [PATH]", "for Holdfast"),
        ("env: ['HOME=/root']", "for Holdfast"),
        ("env: [HOLDFAST_JWT_SECRET]", "for Holdfast"),
        ("env: [A, A=b]", "twice"),
        ("limits: {turns: 0}", "from 1 to"),
        ("limits: {turns: 1.5}", "from 1 to"),
        ("limits: {turns: '٣'}", "from 1 to"),
        ("limits: {audit_preview_bytes: 9}", "there is: turns"),
        ("limits: {core: {max_write_bytes: 9}}", "there is: max_read_bytes"),
        ("workflow: {}", "'edges' is missing"),
        ("workflow: {edges: {a: b}}", "list"),
        ("workflow: {edges: {a: [1]}}", "text"),
        ("trust: &a guided\nmode: *a", "anchors and aliases"),
        ("system_prompt: !!binary aGk=", "text"),
        ("trust: !trust guided", "supervised"),
        ("<<: {trust: guided}", "text"),
        ("a: [", "line 1: this is not YAML"),
        ("trust: guided\n---\ntrust: guided", "this is not YAML"),
        ("trust: guided\n\tmode: plan", "this is not YAML"),
        ("trust: \0", "this is not YAML"),
        ("[" * 5000, "nested too deeply"),
        ("trust: &a guided", "anchors and aliases"),
        ("toolsets:\n" + "- core\n" * 10_000, "too long"),
    ],
)
def test_a_mistake_says_what_is_allowed(mistakes: Mistakes, text: str, told: str) -> None:
    found = mistakes(text)

    assert len(found) == 1, found
    assert told in found[0]
    assert found[0].startswith("line ")


@carries("PROFILE-11")
@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from([*KEYS, ":", " ", "\n", "- ", "{", "}", "[", "]", "&a", "*a", "1", "!!x", "'"])).map("".join)
)
def test_whatever_a_file_holds_gives_a_profile_or_mistakes(text: str) -> None:
    reading = read_or_mistakes(text)

    assert reading if isinstance(reading, list) else reading.toolsets and reading.scope is not None


def read_or_mistakes(text: str) -> Profile | list[str]:
    try:
        return read_profile(text, name="mine", origin=Origin.PROJECT, file="x.yaml", known=known_tools())
    except InvalidSetting as error:
        return str(error).splitlines()[1:]


# What comes with a project


@carries("PROFILE-10")
@pytest.mark.parametrize(
    "text",
    [
        "trust: autonomous",
        "mounts: {more: /}",
        "mounts: {}",
        "env: inherit",
        "env: [CI]",
        "env: ['CI=1']",
        "limits: {turns: 201}",
        "limits: {time: 31m}",
        "limits: {model_time: 3m}",
        "limits: {tool_time: 11m}",
        "limits: {command_time: 11m}",
        "limits: {fs: {max_read_bytes: 2MB}}",
        "limits: {fs: {max_write_bytes: 2MB}}",
        "limits: {fs: {max_entries: 1001}}",
        "limits: {core: {max_read_bytes: 2MB}}",
        "limits: {simple: {max_read_bytes: 2MB}}",
        "tool_permissions: {bash: {allowed: true, timeout: 11m}}",
    ],
)
def test_what_could_be_used_against_the_person_is_for_the_persons_own_folder(read: Read, mistakes: Mistakes, text: str) -> None:
    assert read(text)

    assert len(mistakes(text, Origin.PROJECT)) == 1


@carries("PROFILE-10")
def test_a_project_may_choose_tools_and_narrow_them(read: Read) -> None:
    text = """\
model: anthropic/claude
system_prompt: You work here.
trust: supervised
ask: effects
mode: plan
tool_permissions:
  file_write: { allowed: true, paths: ["src/**", "_bmad-output/**"] }
  bash: { allowed: true, timeout: 120s }
limits: { turns: 200, time: 30m, fs: { max_read_bytes: 1KB } }
workflow: { edges: { a: [b] } }
"""

    profile = read(text, Origin.PROJECT)

    assert (profile.origin, profile.trust) == (Origin.PROJECT, Trust.SUPERVISED)
    assert (profile.mounts, profile.env) == ({}, Environment())


# And back

_texts = st.text(min_size=1, max_size=30).filter(lambda text: bool(text.strip()))
_lines = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=30).filter(str.strip)
_names = st.from_regex(r"[A-Z][A-Z_]{1,6}", fullmatch=True)
_tools = st.sampled_from(["read", "write", "edit", "fs.read", "file_write"])
_permissions = st.builds(
    Permission,
    st.booleans(),
    st.lists(st.sampled_from(["**", "src/**", "*.md"]), unique=True).map(tuple),
    st.none() | st.integers(1, 86400),
)
_profiles = st.builds(
    Profile,
    name=st.just("mine"),
    toolsets=st.just(("core", "fs", "workspace")),
    scope=st.builds(Scope, st.dictionaries(_tools, _permissions)),
    limits=st.builds(Limits, turns=st.none() | st.integers(1, 10_000), tool_seconds=st.integers(1, 86400)),
    workflow=st.none() | st.builds(Workflow, st.dictionaries(_lines, st.lists(_lines, unique=True).map(tuple))),
    description=st.just("") | _lines,
    model=st.sampled_from([None, "ollama/x:7b"]),
    system_prompt=st.just("") | _texts,
    trust=st.none() | st.sampled_from(Trust),
    ask=st.sampled_from(When),
    mode=st.sampled_from(Mode),
    mounts=st.dictionaries(_names, st.just("/srv/x:ro")),
    env=st.builds(Environment, st.booleans(), st.just(("CI",)), st.dictionaries(_names.map("X_".__add__), _lines)),
)


@carries("PROFILE-14")
@given(_profiles)
def test_what_is_told_of_a_profile_is_read_as_the_same(profile: Profile) -> None:
    known = known_tools()

    assert read_profile(as_yaml(profile, known), name="mine", origin=Origin.PERSON, file="x", known=known) == profile


@carries("PROFILE-14")
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_profile_is_told_tool_by_tool_and_can_be_ones_own(name: str, read: Read, known: KnownTools) -> None:
    shipped = SHIPPED[name]

    own = read(as_yaml(shipped, known))

    assert (own.toolsets, own.ask, own.mode) == (shipped.toolsets, shipped.ask, shipped.mode)
    assert own.scope is not None
    assert list(own.scope.permissions) == [tool for toolset in shipped.toolsets for tool in known.toolsets[toolset]]
    assert as_document(own, known) == as_document(shipped, known)


@carries("PROFILE-1")
def test_the_profile_of_the_documentation_is_one(read: Read) -> None:
    page = (Path(__file__).parents[2] / "docs/profiles.md").read_text()

    shown = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)

    assert shown
    for text in shown:
        assert read(text).scope != Scope()
