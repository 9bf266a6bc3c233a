"""bash"""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.config.settings import load_settings
from holdfast.store import audit, sessions
from holdfast.tool import Category, Danger
from holdfast.vocabulary.call import Caller, ToolCall, Wish
from holdfast.vocabulary.events import Event, ToolOutput
from holdfast.vocabulary.outcome import Failed
from holdfast.vocabulary.profile import SHIPPED, Profile
from holdfast.vocabulary.scope import Permission, Scope
from tests.desk import Desk, open_desk
from tests.promises import carries


async def run(desk: Desk, command: str, *, effects: Wish = Wish.KEEP, profile: Profile | None = None, **more: int) -> dict[str, Any]:
    call = ToolCall("call-1", "bash", {"command": command, **more}, Caller(run=desk.holdfast.run), effects)
    desk.last = await desk.holdfast.take(call, profile)
    return cast("dict[str, Any]", desk.last.answer.body)


@carries("BASH-1", "BASH-4", "BASH-12")
async def test_it_runs_in_the_project_and_tells_what_it_printed_and_how_it_ended(desk: Desk) -> None:
    said = await run(desk, "echo hello; pwd")

    assert (said["output"], said["is_error"]) == (f"hello\n{desk.root}\n", False)
    told = said["metadata"]
    assert (told["exitCode"], told["effects"], told["effectsState"], told["sandboxTier"]) == (0, [], "none", 1)
    assert told["durationMs"] >= 0
    assert told["peakMemoryBytes"] >= 0


@carries("BASH-2")
async def test_an_exit_code_is_an_error_with_the_output(desk: Desk) -> None:
    said = await run(desk, "echo out; echo err >&2; exit 42")

    assert (said["output"], said["is_error"], said["metadata"]["exitCode"]) == ("out\nerr\n", True, 42)
    assert isinstance(desk.last, Failed)


@carries("BASH-3")
async def test_a_command_that_takes_too_long_is_ended_and_said_to_have_timed_out(desk: Desk) -> None:
    said = await run(desk, "echo begun; sleep 300", timeout=1)

    assert said["output"] == "begun\n[command timed out after 1 s]"
    assert (said["is_error"], said["metadata"]["endedBy"]) == (True, "timeout")


@carries("BASH-9")
async def test_the_longest_time_is_the_profiles_and_a_scope_sets_its_own(desk: Desk) -> None:
    limited = Profile("mine", ("core",), scope=Scope({"bash": Permission(timeout_seconds=1)}))

    assert (await run(desk, "true"))["metadata"]["timeoutSeconds"] == 60
    assert (await run(desk, "true", timeout=100_000))["metadata"]["timeoutSeconds"] == 600
    assert (await run(desk, "true", timeout=5, profile=limited))["metadata"]["timeoutSeconds"] == 1


@carries("BASH-6", "BASH-14")
async def test_secrets_are_not_in_its_environment_and_home_is_a_folder_of_its_own(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MY_API_KEY", "A_TOKEN", "SOME_SECRET", "HARMLESS"):
        monkeypatch.setenv(name, "planted-value")

    said = await run(desk, "env; ls -A ~; echo $HOME")

    assert "planted-value" not in said["output"]
    assert "PATH=/" in said["output"]
    assert os.environ["HOME"] not in said["output"].splitlines()


@carries("BASH-5", "BASH-11")
async def test_a_long_output_is_cut_and_the_whole_can_be_read_and_not_be_written(desk: Desk) -> None:
    said = await run(desk, "seq 1 100000 && echo the-end")

    path = said["metadata"]["output"]
    assert len(said["output"]) < 103_000
    assert path in said["output"]
    by_core = next(word for word in said["output"].split() if word.startswith(str(desk.state)))
    whole = (desk.state / "outputs" / Path(path).name).read_text(encoding="utf-8")
    assert whole.endswith("100000\nthe-end\n")
    assert (await desk.call("file_read", path=by_core))["output"].startswith("1\n2\n")
    assert (await desk.call("read", path=path, offset=99_999, limit=5))["result"]["content"] == "100000\nthe-end\n"
    assert not (await desk.call("fs.write", path=path, content="x"))["ok"]
    assert not (await desk.call("write", path=path, content="x", overwrite=True))["success"]


@carries("BASH-10")
async def test_what_it_prints_is_shown_while_it_runs(desk: Desk) -> None:
    events: list[Event] = []
    desk.holdfast.watch(events.append)

    await run(desk, "echo one; sleep 0.1; printf 'caf\\303'; sleep 0.1; printf '\\251'")

    chunks = [event.chunk for event in events if isinstance(event, ToolOutput)]
    assert ("".join(chunks), chunks[0]) == ("one\ncafé", "one\n")


@carries("BASH-8")
async def test_a_call_that_is_cancelled_leaves_no_process_and_no_effect(desk: Desk) -> None:
    running = asyncio.create_task(run(desk, "echo x > made.txt; echo begun; sleep 300"))
    begun = asyncio.Event()
    desk.holdfast.watch(lambda event: begun.set() if isinstance(event, ToolOutput) else None)
    await begun.wait()

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert not (desk.root / "made.txt").exists()
    assert not _layers(desk)


@carries("BASH-7", "BASH-15")
async def test_it_is_dangerous_runs_commands_and_is_in_the_profiles_that_say_so(desk: Desk) -> None:
    tool = desk.holdfast.platform.registry.get("bash")

    assert tool is not None
    assert (tool.danger, tool.category) == (Danger.DANGEROUS, Category.EXEC)
    assert (tool.schema["required"], set(cast("dict[str, Any]", tool.schema["properties"]))) == (["command"], {"command", "timeout"})
    for name in ("core", "coder"):
        assert "bash" in [each.name for each in desk.holdfast.tools(SHIPPED[name])]


@carries("EFFECT-1", "EFFECT-6")
async def test_what_it_changes_is_kept_as_versions_and_listed(desk: Desk) -> None:
    desk.write("old.txt", "one\n")
    desk.write("gone.txt", "bye\n")

    said = await run(desk, "echo two >> old.txt; echo new > new.txt; rm gone.txt; mkdir -p a/b")

    told = [(one["kind"], one["path"], one["added"], one["removed"]) for one in said["metadata"]["effects"]]
    assert told == [
        ("added", "/a", None, None),
        ("added", "/a/b", None, None),
        ("deleted", "/gone.txt", 0, 1),
        ("added", "/new.txt", 1, 0),
        ("changed", "/old.txt", 1, 0),
    ]
    assert said["metadata"]["effectsState"] == "kept"
    assert (desk.text("old.txt"), desk.text("new.txt"), (desk.root / "gone.txt").exists()) == ("one\ntwo\n", "new\n", False)
    history = (await desk.call("history", path="/old.txt"))["result"]
    assert history["versions"][0]["call_id"] == "call-1"


@carries("EFFECT-1")
async def test_effects_that_are_dropped_change_nothing_and_are_told(desk: Desk) -> None:
    said = await run(desk, "echo x > made.txt", effects=Wish.DROP)

    assert [one["path"] for one in said["metadata"]["effects"]] == ["/made.txt"]
    assert said["metadata"]["effectsState"] == "dropped"
    assert not (desk.root / "made.txt").exists()
    assert not _layers(desk)


@carries("EFFECT-5")
async def test_in_plan_mode_nothing_comes_of_it(desk: Desk) -> None:
    session = await _session(desk, mode="plan")

    call = ToolCall("c", "bash", {"command": "echo x > made.txt"}, Caller(session=session))
    said = cast("dict[str, Any]", (await desk.holdfast.take(call)).answer.body)

    assert said["metadata"]["effectsState"] == "dropped"
    assert not (desk.root / "made.txt").exists()


@carries("EFFECT-4")
async def test_protected_files_are_left_out_and_named(desk: Desk) -> None:
    said = await run(desk, "echo KEY=1 > .env; echo fine > fine.txt")

    assert "[not kept: /.env (protected)]" in said["output"]
    assert (desk.text("fine.txt"), (desk.root / ".env").exists()) == ("fine\n", False)


@carries("EFFECT-7")
async def test_protected_files_are_empty_for_a_profile_that_may_not_read_them_and_that_is_no_effect(desk: Desk) -> None:
    desk.write(".env", "KEY=planted\n")

    by_core = await run(desk, "cat .env; echo done", profile=SHIPPED["core"])
    by_coder = await run(desk, "cat .env", profile=SHIPPED["coder"])

    assert (by_core["output"], by_core["metadata"]["effects"]) == ("done\n", [])
    assert by_coder["output"] == "KEY=planted\n"
    assert desk.text(".env") == "KEY=planted\n"


@carries("EFFECT-3")
async def test_effects_over_what_has_changed_meanwhile_are_held_and_nothing_is_lost(desk: Desk) -> None:
    desk.write("a.txt", "one\n")
    shown = asyncio.Event()
    desk.holdfast.watch(lambda event: shown.set() if isinstance(event, ToolOutput) else None)
    running = asyncio.create_task(run(desk, "echo ready; sleep 0.3; echo theirs > a.txt; echo b > b.txt"))
    await shown.wait()

    desk.write("a.txt", "mine\n")
    said = await running

    assert (said["is_error"], said["metadata"]["effectsState"]) == (True, "held")
    assert [one["path"] for one in said["metadata"]["conflicts"]] == ["a.txt"]
    assert (desk.text("a.txt"), (desk.root / "b.txt").exists()) == ("mine\n", False)
    kept = await desk.call("keep", effects_id=said["metadata"]["effectsId"], paths=["/b.txt"])
    assert (kept["result"]["kept"], desk.text("b.txt")) == (["/b.txt"], "b\n")


@carries("COMMAND-2")
async def test_where_commands_cannot_be_confined_they_are_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", _nowhere)
    async with open_desk(tmp_path) as desk:
        said = await run(desk, "touch made.txt")

    assert said["is_error"]
    assert "bubblewrap is not installed" in said["output"]
    assert "packages: bubblewrap" in said["output"]
    assert not (tmp_path / "project" / "made.txt").exists()


@carries("COMMAND-2")
async def test_who_has_written_that_they_understand_gets_commands_without_a_sandbox_and_marked_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_UNCONFINED_COMMANDS", "I understand")
    monkeypatch.setattr(shutil, "which", _nowhere)
    async with open_desk(tmp_path) as desk:
        said = await run(desk, "echo x > made.txt")
        dropped = await run(desk, "echo y > made.txt", effects=Wish.DROP)

        assert (said["metadata"]["sandboxTier"], said["metadata"]["effectsState"]) == (0, "live")
        assert dropped["is_error"]
        assert desk.text("made.txt") == "x\n"


def test_the_words_that_allow_commands_without_a_sandbox_cannot_come_from_a_project(tmp_path: Path) -> None:
    (tmp_path / ".holdfast").mkdir()
    (tmp_path / ".holdfast" / "config.toml").write_text('unconfined_commands = "I understand"\n', encoding="utf-8")

    with pytest.raises(Exception, match="unconfined_commands"):
        load_settings(tmp_path, environ={"HOLDFAST_HOME": str(tmp_path)})


def _layers(desk: Desk) -> list[Path]:
    return [path for path in (desk.root.parent / "home" / "layers").glob("*/*") if not path.name.startswith(".")]


async def _session(desk: Desk, *, mode: str) -> str:
    held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
    row = await sessions.open_session(desk.holdfast.platform.database, held.lease, mode=mode, trust="guided", profile="coder")
    return row.id


def _nowhere(_program: str, *_given: object, **_more: object) -> None:
    return None


@carries("EFFECT-2", "COMMAND-3")
async def test_held_effects_outlive_the_process_and_are_decided_once(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        first = await run(desk, "echo one > one.txt; echo more > more.txt", effects=Wish.HOLD)
        second = await run(desk, "echo two > two.txt", effects=Wish.HOLD)
        assert not (desk.root / "one.txt").exists()
        assert len(_layers(desk)) == 2
    async with open_desk(tmp_path) as desk:
        ids = [said["metadata"]["effectsId"] for said in (first, second)]
        assert (await desk.call("effects"))["result"]["pending"] == ids
        shown = (await desk.call("effects", effects_id=ids[0], path="/one.txt"))["result"]
        assert shown["diff"].endswith("+one\n")

        kept = await desk.call("keep", effects_id=ids[0], paths=["/one.txt"], effects_hash=shown["effects_hash"])
        dropped = await desk.call("drop", effects_id=ids[1])
        again = await desk.call("keep", effects_id=ids[0])

        assert (kept["result"]["count"], dropped["result"]["count"]) == (1, 1)
        assert (again["success"], desk.last_code) == (False, "conflict")
        assert sorted(path.name for path in desk.root.iterdir()) == ["one.txt"]
        assert not _layers(desk)


@carries("EFFECT-8")
async def test_other_effects_than_those_that_were_looked_at_are_not_kept(desk: Desk) -> None:
    said = await run(desk, "echo x > made.txt", effects=Wish.HOLD)

    refused = await desk.call("keep", effects_id=said["metadata"]["effectsId"], effects_hash="0" * 64)

    assert (refused["success"], desk.last_code) == (False, "conflict")
    assert not (desk.root / "made.txt").exists()


async def test_effects_do_not_pile_up_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_UNDECIDED_EFFECTS", "1")
    async with open_desk(tmp_path) as desk:
        await run(desk, "echo x > made.txt", effects=Wish.HOLD)

        said = await run(desk, "echo y > other.txt", effects=Wish.HOLD)

    assert (said["is_error"], desk.last_code) == (True, "busy")


@carries("EFFECT-4")
async def test_settings_of_a_repository_are_kept_only_when_a_person_says_so(desk: Desk) -> None:
    said = await run(desk, "git init -q . && echo a > a && git add a && git -c user.name=x -c user.email=x@y commit -qm one")
    assert said["metadata"]["effectsState"] == "kept", said

    held = await run(desk, "git config alias.x '!touch /tmp/x'", effects=Wish.HOLD)
    quiet = await run(desk, "git status --short")

    assert quiet["metadata"]["effects"] == []
    refused = await desk.call("keep", effects_id=held["metadata"]["effectsId"])
    assert not refused["success"]
    kept = await desk.call("keep", effects_id=held["metadata"]["effectsId"], git_settings=True)
    assert kept["result"]["kept"] == ["/.git/config"]
    assert "touch" in desk.text(".git/config")


_DOOMED = """
import asyncio, sys
from holdfast import Holdfast
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.events import ToolOutput

async def main():
    async with Holdfast.open(sys.argv[1], home=sys.argv[2]) as holdfast:
        holdfast.watch(lambda event: print(event.chunk, end="", flush=True) if isinstance(event, ToolOutput) else None)
        await holdfast.take(ToolCall("doomed", "bash", {"command": sys.argv[3]}, Caller(session="")))

asyncio.run(main())
"""


@carries("COMMAND-1", "COMMAND-3")
async def test_a_command_whose_server_was_killed_is_gone_and_closed_as_not_run(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    script = "echo x > made.txt; echo begun; sleep 300"
    words = [sys.executable, "-c", _DOOMED, str(tmp_path / "project"), str(tmp_path / "home"), script]
    doomed = await asyncio.to_thread(subprocess.Popen, words, stdout=subprocess.PIPE)
    assert doomed.stdout is not None
    assert await asyncio.to_thread(doomed.stdout.readline) == b"begun\n"

    doomed.kill()
    await asyncio.to_thread(doomed.wait)

    async with open_desk(tmp_path) as desk:
        entries = await audit.entries(desk.holdfast.platform.database, desk.holdfast.workspace_id)
        assert [(one.call_id, one.outcome, one.code, one.output) for one in entries] == [
            ("doomed", "failed", "not_run", {"recovered": "not run"})
        ]
        assert not (desk.root / "made.txt").exists()
        assert not _layers(desk)
    # Whoever still had the pipe open would keep it from ending.
    assert await asyncio.wait_for(asyncio.to_thread(doomed.stdout.read), 5) == b""
    doomed.stdout.close()


@carries("COMMAND-2")
async def test_where_commands_cannot_be_run_they_are_not_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def offered(desk: Desk) -> bool:
        tools = await desk.holdfast.platform.tools(desk.holdfast.workspace_id, SHIPPED["coder"])
        return "bash" in [tool.name for tool in tools]

    async with open_desk(tmp_path) as desk:
        assert await offered(desk)
    monkeypatch.setattr(shutil, "which", _nowhere)
    async with open_desk(tmp_path) as desk:
        assert not await offered(desk)
    monkeypatch.setenv("HOLDFAST_UNCONFINED_COMMANDS", "I understand")
    async with open_desk(tmp_path) as desk:
        assert await offered(desk)
