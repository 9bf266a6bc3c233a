"""The names in directories, remembered for as long as the directories stay the same.

A directory's mtime and ctime change with every name that comes, goes or
is replaced, so that one look at them spares reading it again. They tick,
and some file systems keep them badly: nothing is kept of a directory
that changed a moment before it was read, nor on file systems that are
not known to be good.
"""

import ctypes
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from .kernel import WouldBlock

MAX_KEPT_NAMES = 400_000
MAX_NAMES_ON_LOOP = 1_000
_MAX_ENDINGS = 4

_SETTLED_NS = 20_000_000
_SECOND_NS = 1_000_000_000

# ext2 to ext4, xfs, btrfs, tmpfs, overlayfs, zfs, f2fs
_GOOD = frozenset({0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x794C7630, 0x2FC12FC1, 0xF2F52010})

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Names:
    """What is in one directory, each kind sorted. `others` are links, devices, FIFOs and sockets.

    The files' names are held as one text, each between slashes: most are
    passed over, and looking at an object for each would cost the most of
    all that is done with them. `every` is such a text of all the names.
    """

    text: str
    directories: list[str]
    others: list[str]
    every: str
    _ending: dict[str, list[str]] = field(default_factory=dict[str, list[str]], compare=False, repr=False)

    @classmethod
    def of(cls, files: Iterable[str], directories: Iterable[str] = (), others: Iterable[str] = ()) -> "Names":
        """The names, from lists in any order."""
        text, folders, rest = "/".join(["", *sorted(files), ""]), sorted(directories), sorted(others)
        return cls(text, folders, rest, text + "/".join([*folders, *rest, ""]) if folders or rest else text)

    @property
    def files(self) -> list[str]:
        """The names of the files."""
        return self.text.split("/")[1:-1]

    def files_ending(self, ending: str) -> list[str]:
        """The names of the files that end so; the same is often asked again."""
        kept = self._ending.get(ending)
        if kept is None:
            if len(self._ending) >= _MAX_ENDINGS:
                self._ending.clear()
            kept = self._ending[ending] = self._look_for(ending)
        return kept.copy()

    def _look_for(self, ending: str) -> list[str]:
        found: list[str] = []
        end = f"{ending}/"
        # The first slash ends no name.
        at = self.text.find(end, 1)
        while at >= 0:
            last = at + len(ending)
            found.append(self.text[self.text.rfind("/", 0, at) + 1 : last])
            at = self.text.find(end, last + 1)
        return found

    def __len__(self) -> int:
        return self.text.count("/") - 1 + len(self.directories) + len(self.others)


class Directories:
    """The names in the directories of one mount that were read last; several threads may ask at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, int], tuple[int, int, Names]] = OrderedDict()
        self.size = 0

    def names(self, descriptor: int, *, wait: bool = True) -> Names:
        """The names in an open directory, from memory if it has not changed.

        Raises:
            WouldBlock: Only without `wait`: there are too many names to go through them on the loop's thread.
        """
        about = os.fstat(descriptor)
        key = (about.st_dev, about.st_ino)
        kept = self._kept.get(key)
        if kept is not None and kept[0] == about.st_mtime_ns and kept[1] == about.st_ctime_ns:
            if not wait and len(kept[2]) > MAX_NAMES_ON_LOOP:
                raise WouldBlock
            return kept[2]
        started = time.time_ns()
        names = _read(descriptor, wait=wait)
        if is_lasting(descriptor, about, started):
            self._keep(key, about, names)
        return names

    def _keep(self, key: tuple[int, int], about: os.stat_result, names: Names) -> None:
        with self._lock:
            before = self._kept.pop(key, None)
            self.size += 1 + len(names) - (1 + len(before[2]) if before is not None else 0)
            self._kept[key] = (about.st_mtime_ns, about.st_ctime_ns, names)
            while self.size > MAX_KEPT_NAMES:
                _, (_, _, oldest) = self._kept.popitem(last=False)
                self.size -= 1 + len(oldest)


def is_lasting(descriptor: int, about: os.stat_result, started: int) -> bool:
    """Whether a later change would show in the times of what was read from `started` on, in nanoseconds."""
    # Where times are told in whole seconds, a change within this one would not show.
    if started - about.st_ctime_ns < _SETTLED_NS or about.st_ctime_ns % _SECOND_NS == 0:
        return False
    good = _is_good.get(about.st_dev)
    if good is None:
        good = _is_good[about.st_dev] = _file_system(descriptor) in _GOOD
    return good


_is_good: dict[int, bool] = {}


def _read(descriptor: int, *, wait: bool) -> Names:
    files: list[str] = []
    directories: list[str] = []
    others: list[str] = []
    with os.scandir(descriptor) as entries:
        for count, entry in enumerate(entries, 1):
            if count > MAX_NAMES_ON_LOOP and not wait:
                raise WouldBlock
            if entry.is_file(follow_symlinks=False):
                files.append(entry.name)
            elif entry.is_dir(follow_symlinks=False):
                directories.append(entry.name)
            else:
                others.append(entry.name)
    return Names.of(files, directories, others)


def _file_system(descriptor: int) -> int:
    """The magic number of the file system, 0 if it cannot be told."""
    answer = (ctypes.c_long * 32)()
    return int(answer[0]) if _libc.fstatfs(descriptor, answer) == 0 else 0
