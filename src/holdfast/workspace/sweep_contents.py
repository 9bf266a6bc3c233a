"""Removing contents that were put into the data folder and never got their row."""

import asyncio
import os
import time
from pathlib import Path

from holdfast.store import contents

from .kept import TEMPORARY
from .records import Records

# Whoever has put one there records it within seconds, or not at all.
_MIN_AGE_SECONDS = 3_600


async def sweep_contents(records: Records) -> int:
    """Remove what no row refers to, unless it is new, and return how much that was."""
    swept = 0
    for name in await asyncio.to_thread(_old, records.content_folder):
        is_kept = not name.startswith(TEMPORARY) and await contents.get(records.database, name, size=0) is not None
        if not is_kept:
            swept += await asyncio.to_thread(_removed, records.content_folder / name)
        await asyncio.sleep(0)
    return swept


def _old(folder: Path) -> list[str]:
    before = time.time() - _MIN_AGE_SECONDS
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_file() and entry.stat().st_mtime < before]
    except FileNotFoundError:
        return []


def _removed(path: Path) -> bool:
    try:
        # Somebody may have found a use for it just now.
        if path.stat().st_mtime >= time.time() - _MIN_AGE_SECONDS:
            return False
        path.unlink()
    except FileNotFoundError:
        return False
    return True
