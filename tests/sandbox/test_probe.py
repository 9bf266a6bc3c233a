"""Whether commands can be confined is found by trying, and what is missing is named with the way to get it."""

import os
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from holdfast.sandbox import kernel, probe
from holdfast.sandbox.probe import explain, file_system_of, probe_folder
from holdfast.sandbox.settings import SandboxSettings
from tests.untested import needs

pytestmark = needs("bubblewrap", "commands run in it")


@pytest.fixture
def folder() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="holdfast-probe-", dir="/var/tmp") as folder:
        (Path(folder) / "project").mkdir()
        yield Path(folder)


def settings(folder: Path) -> SandboxSettings:
    return SandboxSettings(folder / "data" / "layers", folder / "data" / "home", folder / "data")


async def test_a_folder_can_be_probed_alone_and_nothing_is_left_of_it(folder: Path) -> None:
    (folder / "project" / "file").write_text("stays\n")

    assert await probe_folder(folder / "project", settings(folder)) == ()

    assert [path.name for path in (folder / "project").iterdir()] == ["file"]
    assert [path.name for path in (folder / "data" / "layers").iterdir()] == [".made"]


async def test_layers_inside_the_workspace_are_refused(folder: Path) -> None:
    inside = settings(folder / "project")

    lacks = await probe_folder(folder / "project", inside)

    assert ["inside the workspace" in lack.what for lack in lacks] == [True]


async def test_a_folder_of_the_system_is_no_workspace(folder: Path) -> None:
    lacks = await probe_folder(Path("/etc"), settings(folder))

    assert [lack.what for lack in lacks] == ["/etc is a folder of the system"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs it")
async def test_a_root_folder_that_cannot_be_shown_as_somebody_elses_says_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(mount: int, user_namespace: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(kernel, "map_owners", refuse)

    lacks = await probe_folder(folder / "project", settings(folder))

    assert [lack.fix for lack in lacks] == ["run as an ordinary user, or chown the folder"]


async def test_a_layer_that_does_not_show_deletions_as_we_read_them_is_no_layer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_SCRIPT", "echo changed >> a && rm b")  # the folder is not replaced, so nothing says that it was

    lacks = await probe_folder(folder / "project", settings(folder))

    assert len(lacks) == 1


@pytest.mark.parametrize(
    ("switches", "complaint", "fix"),
    [
        (
            {"kernel/apparmor_restrict_unprivileged_userns": "1"},
            "unshare: Operation not permitted",
            "apparmor_restrict_unprivileged_userns=0",
        ),
        ({"kernel/unprivileged_userns_clone": "0"}, "unshare: Operation not permitted", "unprivileged_userns_clone=1"),
        ({"user/max_user_namespaces": "0"}, "unshare: No space left on device", "max_user_namespaces="),
    ],
)
def test_a_switch_of_the_kernel_is_named_with_its_command(
    switches: dict[str, str], complaint: str, fix: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_switches(monkeypatch, switches)

    assert fix in explain(complaint, folder).fix


@pytest.mark.parametrize(
    ("complaint", "file_system", "fix"),
    [
        ("mount: /x/seen: wrong fs type, bad option, bad superblock on overlay", "overlay", "docker run -v holdfast:"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "ext4", "systempaths=unconfined"),
        ("unshare: unshare failed: Operation not permitted", "ext4", "seccomp=unconfined"),
    ],
)
def test_what_a_container_refuses_is_named_with_the_option_that_allows_it(
    complaint: str, file_system: str, fix: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_it(path: Path) -> str:
        return file_system

    _with_switches(monkeypatch, {})
    monkeypatch.setattr(probe, "_in_container", lambda: True)
    monkeypatch.setattr(probe, "file_system_of", on_it)

    assert fix in explain(complaint, folder / "layers").fix


def test_the_file_system_of_a_path_is_what_the_kernel_says() -> None:
    assert file_system_of(Path("/proc")) == "proc"


def _with_switches(monkeypatch: pytest.MonkeyPatch, switches: dict[str, str]) -> None:
    def of(name: str) -> str:
        return switches.get(name, "")

    monkeypatch.setattr(probe, "_sysctl", of)
