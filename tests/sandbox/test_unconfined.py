"""Without a sandbox nothing runs, unless the person has written that they understand; then it is marked and ended like any other."""

import asyncio
import os
import random
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.sandbox import chain
from holdfast.sandbox.command import Tier
from holdfast.vocabulary.errors import AccessDenied, NotFound
from tests.untested import needs

from .processes import alive
from .yard import PERSON, SMALL, Yard, open_yard


@pytest.fixture
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have programs looked for where everything but bubblewrap is."""
    for name in ("unshare", "setpriv", "mount", "sh"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    monkeypatch.setitem(chain.CLEAN, "PATH", str(tmp_path))


@pytest.fixture
async def yard(no_bubblewrap: None) -> AsyncGenerator[Yard]:
    async with open_yard(unconfined=True) as yard:
        yield yard


async def test_without_a_sandbox_commands_are_not_offered_and_the_fix_is_named(no_bubblewrap: None) -> None:
    async with open_yard() as yard:
        assert yard.sandbox.tier is Tier.UNCONFINED
        assert not yard.sandbox.offers_commands
        assert [lack.fix for lack in yard.sandbox.lacks] == ["apt-get install bubblewrap"]

        with pytest.raises(AccessDenied, match="bubblewrap is not installed"):
            await yard.run("touch made")
        with pytest.raises(AccessDenied):
            yard.sandbox.new_layer()

        assert not (yard.project / "made").exists()


async def test_an_unconfined_command_works_on_the_project_itself_and_is_marked(yard: Yard) -> None:
    finished = await yard.run("pwd; echo more >> notes.txt; echo error >&2; exit 3")

    assert (finished.tier, finished.exit_code) == (Tier.UNCONFINED, 3)
    assert finished.head.decode() == f"{yard.project}\nerror\n"
    assert (yard.project / "notes.txt").read_text() == "first\nmore\n"


async def test_an_unconfined_command_has_the_same_environment_and_limits(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "planted")

    finished = await yard.run("env; ulimit -n; head -c 100000000 /dev/zero > big; ls -s --block-size=1M big | cut -d' ' -f1")

    assert b"planted" not in finished.head
    assert b"\n4096\n" in finished.head
    assert finished.head.endswith(b"\n64\n") or finished.head.endswith(b"\n65\n")


async def test_daemons_of_an_unconfined_command_end_with_it_by_exit_timeout_and_cancel(yard: Yard) -> None:
    for how in ("exit", "timeout", "cancel"):
        mark = str(random.randrange(10**12, 10**13))
        script = f"setsid sh -c 'sleep 1234.{mark}; :' & (setsid nohup sleep 1235.{mark} >/dev/null 2>&1 &); echo up"
        if how == "exit":
            assert (await yard.run(script)).exit_code == 0
        elif how == "timeout":
            assert (await yard.run(script + "; sleep 100", seconds=0.2)).timed_out
        else:
            running = asyncio.ensure_future(yard.run(script + "; sleep 100"))
            await asyncio.sleep(0.2)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

        assert alive(mark) == []


async def test_an_unconfined_command_in_a_folder_that_is_not_there_is_not_run(yard: Yard) -> None:
    with pytest.raises(NotFound):
        await yard.run("true", cwd="nowhere")


async def test_what_a_person_has_running_besides_is_not_counted_against_a_command(no_bubblewrap: None) -> None:
    owner = PERSON if os.geteuid() == 0 else os.getuid()
    async with open_yard(owner=owner, unconfined=True, limits=replace(SMALL, processes=20)) as yard:
        with _sleepers(40, owner):
            finished = await yard.run("(echo first); (echo second)")
            bomb = await yard.run("for i in $(seq 200); do sleep 5 & done; echo all")

    assert (finished.exit_code, finished.head) == (0, b"first\nsecond\n")
    assert b"all" not in bomb.head


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
async def test_a_root_server_runs_an_unconfined_command_as_the_owner_of_the_project(no_bubblewrap: None) -> None:
    async with open_yard(owner=12345, unconfined=True) as yard:
        finished = await yard.run("id -u; touch made", environment={"LD_PRELOAD": "/nonexistent"})

        assert b"12345" in finished.head
        assert (yard.project / "made").stat().st_uid == 12345


@contextmanager
def _sleepers(count: int, owner: int) -> Generator[None]:
    as_owner = owner if os.geteuid() == 0 else None
    sleepers = [subprocess.Popen(["sleep", "60"], user=as_owner) for _ in range(count)]
    try:
        yield
    finally:
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()


@needs("bubblewrap", "commands run in it")
async def test_a_sandbox_that_can_confine_never_runs_without_a_layer() -> None:
    async with open_yard(unconfined=True) as yard:
        assert yard.sandbox.tier is Tier.LAYERED, yard.sandbox.lacks
        with pytest.raises(AccessDenied):
            await yard.run_in(None, "touch made")

        assert not (yard.project / "made").exists()
