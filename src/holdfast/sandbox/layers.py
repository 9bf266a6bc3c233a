"""Making layers, and taking them away."""

import os
import secrets
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from . import discard
from .command import SandboxMount
from .hands import Hands
from .layer import Layer

_COARSE = 5  # CLOCK_REALTIME_COARSE: what files are stamped with


def make_layer(folder: Path, mounts: Sequence[SandboxMount], hands: Hands) -> Layer:
    """A new layer over every writable mount."""
    layer_id = secrets.token_hex(8)
    own = folder / layer_id
    _make(own, 0o700, hands)
    started: dict[str, int] = {}
    for mount in mounts:
        if not mount.writable:
            continue
        place = own / mount.name
        _make(place, 0o700, hands)
        # The root of the view is the upper's: with another mode than the mount's root has, the root would seem changed.
        _make(place / "upper", os.fstat(mount.descriptor).st_mode & 0o7777, hands)
        _make(place / "work", 0o700, hands)
        _make(place / "seen", 0o700, hands)
        started[mount.name] = _now_on(mount.descriptor)
    return Layer(layer_id, own, started)


def renew_work(layer: Layer, mount: str, hands: Hands) -> None:
    """Let a layer be used once more: overlayfs takes no `work` that was left without a sync, as all of ours are."""
    work = layer.work(mount)
    if (work / "work").exists():
        discard.remove(work)
        _make(work, 0o700, hands)


def sweep(folder: Path, known: Collection[str]) -> list[str]:
    """Remove the layers that nobody knows of, and name them."""
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    unknown = [name for name in names if not name.startswith(".") and name not in known]
    for name in unknown:
        discard.remove(folder / name)
    return unknown


def _make(folder: Path, mode: int, hands: Hands) -> None:
    folder.mkdir()
    if hands.dropped:
        os.chown(folder, hands.uid, hands.gid)
    folder.chmod(mode)


def _now_on(root: int) -> int:
    """The time as that file system stamps it, which may lag behind the clock; without leaving anything there.

    A stamp that has been looked at is followed by a finer one: with the
    coarse one, what was written just before would seem to be written since.
    """
    try:
        descriptor = os.open(f"/proc/self/fd/{root}", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except OSError:
        return time.clock_gettime_ns(_COARSE)
    try:
        os.fstat(descriptor)
        os.fchmod(descriptor, 0o600)
        return os.fstat(descriptor).st_ctime_ns
    finally:
        os.close(descriptor)
