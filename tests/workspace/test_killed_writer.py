"""Writers that are killed in the middle, and what they leave behind."""

import random
import time
from pathlib import Path

import pytest

from holdfast.workspace.mount import Mount
from holdfast.workspace.sweep import sweep
from tests.promises import carries
from tests.workspace.writing import everything, leftovers, number_of, writing_process


@carries("WRITE-1")
async def test_a_killed_writer_leaves_a_whole_file_and_at_most_a_temporary(mount: Mount, root: Path, tmp_path: Path) -> None:
    await _kill_writers(mount, root, tmp_path / "acknowledged", times=10)


@pytest.mark.long
@carries("WRITE-1")
async def test_a_writer_killed_a_thousand_times_never_leaves_a_torn_file(mount: Mount, root: Path, tmp_path: Path) -> None:
    await _kill_writers(mount, root, tmp_path / "acknowledged", times=1000)


async def test_only_our_own_old_temporaries_are_swept(mount: Mount, root: Path, outside: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    for name in (".holdfast-0123456789abcdef", "a/b/.holdfast-00000000000000ff", ".holdfast-notes", "a/file"):
        (root / name).write_bytes(b"x")
    (root / "a/.holdfast-aaaaaaaaaaaaaaaa").mkdir()
    (outside / ".holdfast-0123456789abcdef").write_bytes(b"x")
    (root / "link").symlink_to(outside)

    young = await sweep(mount, older_than_seconds=60)
    old = await sweep(mount, older_than_seconds=-60)

    assert (young, old) == (0, 3)
    assert sorted(everything(root)) == [".holdfast-notes", "a", "a/b", "a/file", "link"]
    assert (outside / ".holdfast-0123456789abcdef").exists()


async def _kill_writers(mount: Mount, root: Path, acknowledged: Path, *, times: int) -> None:
    randomly, left, heard = random.Random(11), 0, 0
    for _ in range(times):
        promised = _write_and_be_killed(root, acknowledged, randomly.uniform(0.0, 0.03))

        seen = number_of((root / "a/b/file").read_bytes())
        assert seen is not None, "torn"
        assert seen >= promised, "an acknowledged write is lost"
        heard += seen
        left += len(leftovers(root))
        await sweep(mount, older_than_seconds=-60)
        assert sorted(everything(root)) == ["a", "a/b", "a/b/file"]
    # Otherwise they were not killed in the middle of anything.
    assert heard > times
    assert left > 0 or times < 100


def _write_and_be_killed(root: Path, acknowledged: Path, seconds: float) -> int:
    """Let a writer work for a while, and give the last generation that it was told is written."""
    acknowledged.unlink(missing_ok=True)
    writer = writing_process(root, acknowledged)
    writer.start()
    while not acknowledged.exists() or not acknowledged.stat().st_size:
        assert writer.is_alive(), "the writer failed by itself"
        time.sleep(0.001)
    time.sleep(seconds)
    writer.kill()
    writer.join()
    writer.close()
    return int(acknowledged.read_bytes().split()[-1])
