"""What a caller of the sandbox gets: output, exit codes, limits, what is seen and what is not."""

import asyncio
import os
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.sandbox.command import Command, Tier
from holdfast.vocabulary.errors import InvalidArguments, NoSpace, NotFound, Outside, TooLarge
from tests.untested import needs

from .yard import SMALL, Yard, open_yard

pytestmark = needs("bubblewrap", "commands run in it")


@pytest.fixture(scope="module")
async def yard() -> AsyncGenerator[Yard]:
    async with open_yard() as yard:
        assert yard.sandbox.tier is Tier.LAYERED, yard.sandbox.lacks
        yield yard


async def test_what_a_command_changes_lands_in_its_layer_and_nowhere_else(yard: Yard) -> None:
    layer = yard.sandbox.new_layer()

    await yard.run_in(layer, "echo second >> notes.txt; echo new > new.txt; mkdir deep; echo x > deep/er")

    upper = layer.upper("project")
    assert (upper / "notes.txt").read_text() == "first\nsecond\n"
    assert sorted(path.name for path in upper.rglob("*")) == ["deep", "er", "new.txt", "notes.txt"]
    assert [path.name for path in yard.project.iterdir()] == ["notes.txt"]
    await yard.sandbox.discard(layer)
    assert not layer.folder.exists()


async def test_a_layer_can_be_run_in_again_and_shows_what_was_done_in_it_before(yard: Yard) -> None:
    layer = yard.sandbox.new_layer()
    await yard.run_in(layer, "echo once > made; rm notes.txt")

    finished = await yard.run_in(layer, "cat made; echo twice >> made; ls")

    assert finished.head == b"once\nmade\n"
    assert (layer.upper("project") / "made").read_text() == "once\ntwice\n"
    await yard.sandbox.discard(layer)


async def test_layers_that_no_record_knows_of_are_swept_and_others_stay(yard: Yard) -> None:
    known, unknown = yard.sandbox.new_layer(), yard.sandbox.new_layer()
    await yard.run_in(unknown, "mkdir -p a/b; chmod 000 a; rm notes.txt")

    swept = await yard.sandbox.leftovers({known.id})

    assert swept == [unknown.id]
    assert known.folder.exists()
    assert not unknown.folder.exists()
    assert (await yard.run_in(known, "cat notes.txt")).head == b"first\n"
    await yard.sandbox.discard(known)


async def test_a_command_that_only_reads_leaves_an_empty_layer(yard: Yard) -> None:
    layer = yard.sandbox.new_layer()

    await yard.run_in(layer, "cat notes.txt; ls -la; find . | wc -l")

    assert list(layer.upper("project").iterdir()) == []
    assert layer.upper("project").stat().st_mode == yard.project.stat().st_mode
    await yard.sandbox.discard(layer)


async def test_a_layer_starts_no_later_than_what_is_written_to_the_workspace_afterwards(yard: Yard) -> None:
    layer = yard.sandbox.new_layer()
    later = yard.project / "later"
    later.touch()
    made = later.stat().st_ctime_ns
    later.unlink()

    assert layer.started["project"] <= made
    assert made - layer.started["project"] < 60_000_000_000
    await yard.sandbox.discard(layer)


@pytest.mark.parametrize(
    ("script", "code", "signal"),
    [("true", 0, 0), ("exit 3", 3, 0), ("no-such-program", 127, 0), ("kill -9 $$", 137, 9), ("kill -TERM $$", 143, 15), ("if", 2, 0)],
)
async def test_a_command_leaves_with_the_exit_code_that_sh_gives_it(yard: Yard, script: str, code: int, signal: int) -> None:
    finished = await yard.run(script)

    assert (finished.exit_code, finished.signal, finished.reason, finished.tier) == (code, signal, "", Tier.LAYERED)


async def test_a_shell_killed_by_a_signal_says_nothing_that_it_would_not_say_outside(yard: Yard) -> None:
    finished = await yard.run("echo before; kill -9 $$")

    assert finished.head == b"before\n"


async def test_output_is_shown_while_the_command_still_runs(yard: Yard) -> None:
    seen: list[bytes] = []
    layer = yard.sandbox.new_layer()
    script = "echo one; while [ ! -e ~/go ]; do sleep 0.01; done; echo two"

    def show(chunk: bytes) -> None:
        seen.append(chunk)
        (yard.settings.home / "go").touch()

    finished = await yard.sandbox.run(Command(script, 20, ("project", "")), layer, show)

    assert (finished.exit_code, seen) == (0, [b"one\n", b"two\n"])
    await yard.sandbox.discard(layer)


async def test_the_head_is_kept_in_memory_the_whole_in_a_file_and_what_is_over_the_cap_is_said(tmp_path: Path) -> None:
    limits = replace(SMALL, output_bytes=300_000, head_bytes=1000)
    async with open_yard(limits=limits) as yard:
        small = await yard.run("head -c 200000 /dev/zero | tr '\\0' x", output=tmp_path / "small")
        large = await yard.run("head -c 900000 /dev/zero | tr '\\0' y", output=tmp_path / "large")

    assert (small.head, small.total_bytes, small.output_capped) == (b"x" * 1000, 200_000, False)
    assert (tmp_path / "small").read_bytes() == b"x" * 200_000
    assert (large.total_bytes, large.output_capped) == (900_000, True)
    assert (tmp_path / "large").read_bytes() == b"y" * 300_000


async def test_the_most_memory_that_a_command_had_is_known(yard: Yard) -> None:
    finished = await yard.run("/usr/bin/python3 -c 'import time; x = b\"x\" * 120_000_000; time.sleep(0.3)'")

    assert 100_000_000 < finished.peak_memory_bytes < 300_000_000


async def test_a_disk_that_is_nearly_full_refuses_to_begin() -> None:
    async with open_yard(limits=replace(SMALL, free_disk_bytes=2**60)) as yard:
        assert yard.sandbox.tier is Tier.LAYERED, yard.sandbox.lacks

        with pytest.raises(NoSpace):
            await yard.run("true")


async def test_the_environment_is_what_is_allowed_and_what_the_caller_adds(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "vi")
    monkeypatch.setenv("API_TOKEN", "planted")
    monkeypatch.setenv("LC_TIME", "C")

    finished = await yard.run("env", environment={"ADDED": "by the caller", "LD_LIBRARY_PATH": "/nowhere"})

    names = {line.split("=")[0] for line in finished.head.decode().splitlines()}
    passed = {"PATH", "HOME", "LANG", "LC_TIME", "TERM", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR", "PWD"}
    assert {"ADDED", "LD_LIBRARY_PATH", "PATH", "HOME", "LC_TIME"} <= names
    others = {name for name in names - passed if not name.startswith("GIT_")}
    assert others - {"ADDED", "LD_LIBRARY_PATH"} <= {name for name in os.environ if name.startswith("LC_")}


async def test_home_outlives_a_command_and_is_emptied_when_it_has_grown_too_large() -> None:
    async with open_yard(limits=replace(SMALL, home_bytes=1_000_000)) as yard:
        await yard.run("echo cached > ~/cache")
        assert (await yard.run("cat ~/cache")).head == b"cached\n"

        flood = await yard.run("head -c 3000000 /dev/zero > ~/big; sleep 20")

        assert flood.reason == "disk"
        assert (await yard.run("ls -A ~")).head == b""


async def test_a_hidden_file_looks_empty_cannot_be_changed_and_leaves_no_trace() -> None:
    def prepare(project: Path) -> None:
        (project / ".env").write_text("PASSWORD=1\n")
        (project / "hooks").mkdir()
        (project / "hooks" / "pre-commit").write_text("evil\n")
        (project / "link").symlink_to("config/real")
        (project / "config").mkdir()
        (project / "config" / "real").write_text("SECRET=2\n")

    async with open_yard(prepare=prepare) as yard:
        layer = yard.sandbox.new_layer()
        hidden = [("project", path) for path in (".env", "hooks", "link", "not-there")]
        script = "cat .env link config/real; ls hooks; echo x > .env; rm -f .env; echo y > hooks/new; ls -A; true"

        finished = await yard.run_in(layer, script, hidden=hidden)

        assert b"PASSWORD" not in finished.head
        assert b"SECRET" not in finished.head
        assert b"pre-commit" not in finished.head
        assert b"not-there" not in finished.head
        assert list(layer.upper("project").rglob("*")) == []
        await yard.sandbox.discard(layer)


async def test_the_folder_of_outputs_can_be_read_and_not_written(yard: Yard) -> None:
    outputs = yard.folder / "data" / "state" / "outputs"
    outputs.mkdir(parents=True)
    (outputs / "earlier").write_text("what came before\n")
    (outputs / "earlier").chmod(0o600)

    finished = await yard.run(f"cat {outputs}/earlier; echo x > {outputs}/new; ls {outputs}/../..", outputs=outputs)

    assert finished.head.startswith(b"what came before\n")
    assert [path.name for path in outputs.iterdir()] == ["earlier"]
    assert b"layers" not in finished.head


async def test_our_own_data_is_not_seen_even_where_a_mount_contains_it() -> None:
    async with open_yard() as outer, open_yard(read_only={"all": outer.folder}, holdfast_home=outer.folder / "data") as yard:
        (outer.folder / "data" / "secret").write_text("ours\n")

        finished = await yard.run(f"ls {outer.folder}; ls -A {outer.folder}/data")

        assert finished.head == b"data\nproject\n"


async def test_a_read_only_mount_can_be_read_and_not_written(tmp_path: Path) -> None:
    async with open_yard() as other, open_yard(read_only={"docs": other.project}) as yard:
        finished = await yard.run(f"cat {other.project}/notes.txt; echo x > {other.project}/notes.txt; touch {other.project}/new")

        assert finished.head.startswith(b"first\n")
        assert [path.name for path in other.project.iterdir()] == ["notes.txt"]
        assert (other.project / "notes.txt").read_text() == "first\n"


async def test_a_project_whose_path_has_every_kind_of_character_works() -> None:
    def prepare(project: Path) -> None:
        (project / "a, b:c\\d 'e\" ü\n").mkdir()

    async with open_yard(prepare=prepare) as yard:
        strange = next(path for path in yard.project.iterdir() if path.is_dir())
        async with open_yard(read_only={"strange": strange}) as inner:
            assert inner.sandbox.tier is Tier.LAYERED
        finished = await yard.run("pwd; touch here", cwd=strange.name)

    assert finished.exit_code == 0
    assert str(strange).encode() in finished.head


async def test_a_folder_that_is_not_there_cannot_be_run_in(yard: Yard) -> None:
    with pytest.raises(NotFound):
        await yard.run("true", cwd="nowhere")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"script": "true\0--bind"}, InvalidArguments),
        ({"environment": {"A": "1\0--bind\0/\0/mnt"}}, InvalidArguments),
        ({"environment": {"A\0--bind\0/\0/mnt": "1"}}, InvalidArguments),
        ({"environment": {"A=B": "1"}}, InvalidArguments),
        ({"environment": {"": "1"}}, InvalidArguments),
        ({"cwd": "../outside"}, Outside),
        ({"cwd": "/etc"}, Outside),
        ({"cwd": "a\0--bind"}, Outside),
    ],
)
async def test_what_could_be_read_as_something_else_on_the_way_is_refused(
    yard: Yard, given: dict[str, Any], error: type[Exception]
) -> None:
    words: dict[str, Any] = {"script": "true", **given}

    with pytest.raises(error):
        await yard.run(**words)


async def test_a_command_whose_output_cannot_be_kept_is_not_begun(yard: Yard) -> None:
    with pytest.raises(FileNotFoundError):
        await yard.run("sleep 4321.5", output=yard.folder / "nowhere" / "out")

    assert (await yard.run("true")).exit_code == 0


async def test_a_command_longer_than_a_command_line_is_refused(yard: Yard) -> None:
    with pytest.raises(TooLarge):
        await yard.run("#" * 200_000)


async def test_many_commands_at_once_each_have_a_layer_of_their_own(yard: Yard) -> None:
    async def one(number: int) -> bytes:
        return (await yard.run(f"echo {number} > mine; sleep 0.05; cat mine; ls | wc -l")).head

    assert await asyncio.gather(*(one(number) for number in range(8))) == [f"{number}\n2\n".encode() for number in range(8)]


async def test_a_running_command_gives_all_its_descriptors_back(yard: Yard) -> None:
    await yard.run("true")
    before = len(os.listdir("/proc/self/fd"))

    for _ in range(5):
        await yard.run("echo x", output=yard.folder / "out")

    assert len(os.listdir("/proc/self/fd")) == before
