"""Disks that are full or may not be written: clear errors, nothing half-done, and work again when they are well."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.promises import carries
from tests.served import Served, serving

IS_ROOT = os.geteuid() == 0
as_root = pytest.mark.skipif(not IS_ROOT, reason="only root can mount a small disk")
# The modes of files hold for everybody but root: without its powers, also for root.
ORDINARY = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if IS_ROOT else ()


@contextmanager
def small_disk(folder: Path, size: str) -> Generator[Path]:
    """A disk of its own, in memory."""
    folder.mkdir(parents=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(folder: Path) -> Path:
    """Take all the room that there is."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return ballast


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")} - {"ballast"}


def is_told(answer: httpx.Response, status: int, code: str) -> bool:
    return (answer.status_code, answer.json()["code"], answer.json()["success"]) == (status, code, False)


@as_root
@carries("REST-10")
def test_a_full_project_is_507_with_nothing_half_written_and_works_again_by_itself(tmp_path: Path) -> None:
    with small_disk(tmp_path / "project", "2m") as project, serving(tmp_path) as own:
        own.call("write", path="/old.md", content="old\n")
        ballast = fill(project)

        written = own.call("write", path="/new.md", content="x" * 100_000)
        replaced = own.call("write", path="/old.md", content="x" * 100_000, overwrite=True)
        edited = own.call("edit", path="/old.md", old_string="old", new_string="x" * 100_000)
        left = names(project)
        read = own.call("read", path="/old.md")
        ballast.unlink()
        again = own.call("write", path="/new.md", content="x" * 100_000)
        history = versions(own, "/old.md")

    assert all(is_told(answer, 507, "NO_SPACE") for answer in (written, replaced, edited)), written.text
    assert left == {"old.md"}
    assert read.json()["result"]["content"] == "old\n"
    assert again.status_code == 200
    assert history == 1


@as_root
@carries("REST-10")
def test_a_full_data_folder_is_507_and_works_again_by_itself(tmp_path: Path) -> None:
    with small_disk(tmp_path / "home", "24m") as home, serving(tmp_path) as own:
        own.call("write", path="/old.md", content="old\n")
        ballast = fill(home)

        answers = [own.call("write", path="/new.md", content=os.urandom(150_000).hex(), overwrite=True) for _ in range(3)]
        ready = own.client(None).get("/readyz")
        left = names(own.project)
        ballast.unlink()
        again = own.call("write", path="/new.md", content="new\n", overwrite=True)
        read = own.call("read", path="/new.md")
        ready_again = own.client(None).get("/readyz")

    assert all(is_told(answer, 507, "NO_SPACE") for answer in answers), [answer.text for answer in answers]
    assert ready.status_code in (200, 507)
    assert left == {"old.md"}
    assert (again.status_code, read.json()["result"]["content"], ready_again.status_code) == (200, "new\n", 200), again.text


@carries("REST-10")
def test_a_folder_that_may_only_be_read_is_403_and_works_again_by_itself(tmp_path: Path) -> None:
    with serving(tmp_path, before=ORDINARY) as own:
        own.call("write", path="/old.md", content="old\n")
        own.project.chmod(0o555)

        answers = [
            own.call("write", path="/new.md", content="x"),
            own.call("write", path="/old.md", content="x", overwrite=True),
            own.call("edit", path="/old.md", old_string="old", new_string="new"),
            own.call("rm", path="/old.md"),
            own.call("mv", source="/old.md", destination="/new.md"),
            own.call("mkdir", path="/folder"),
            own.call("touch", path="/new.md"),
        ]
        read = own.call("read", path="/old.md")
        left = names(own.project)
        own.project.chmod(0o755)
        again = own.call("write", path="/new.md", content="x")

    assert all(is_told(answer, 403, "FORBIDDEN") for answer in answers), [answer.text for answer in answers]
    assert read.json()["result"]["content"] == "old\n"
    assert (left, again.status_code) == ({"old.md"}, 200)


def versions(server: Served, path: str) -> int:
    file = server.call("file_info", path=path).json()["result"]
    listed = server.call("ls").json()["result"]["entries"]
    id = next(each["id"] for each in listed if each["path"] == path)
    assert file["path"] == path
    answer = server.client().get(f"/api/v1/workspaces/{server.workspace_id}/files/{id}/versions").json()
    return len([each for each in answer["versions"] if each["state"] != "aborted"])
