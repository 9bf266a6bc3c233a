"""Starting ripgrep for a mount: what was asked for before the mount was closed meets no other folder."""

import asyncio
import os
import threading
from pathlib import Path

from holdfast.workspace.mount import Mount


async def test_what_is_started_after_its_mount_was_closed_still_has_the_mounts_own_folder(root: Path, outside: Path) -> None:
    (root / "mine.txt").write_text("mine\n")
    mount = Mount("project", root)
    await mount.spawner.confinement()
    held = threading.Event()
    mount.spawner._thread.submit(held.wait)  # pyright: ignore[reportPrivateUsage] - the thread is busy with something else
    starting = asyncio.create_task(mount.spawner.start_in("", ["--files"]))
    await asyncio.sleep(0)
    mount.close()
    # The next descriptor has the number that the mount's had.
    taken = os.open(outside, os.O_PATH | os.O_DIRECTORY)
    try:
        held.set()
        running = await starting
        await asyncio.to_thread(running.process.wait)
        found = os.read(running.output, 1_000)
        running.close()
    finally:
        os.close(taken)

    assert found == b"mine.txt\n"
