"""Where that goes which a keep takes away and the store does not have: ignored files, and whole folders of them.

It lies in HOLDFAST_HOME, one folder for each keep. What was there comes
from commands and people, so it is handled by descriptors like any
hostile tree. The oldest goes for good when there is too much.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.vocabulary.limits import MIB

from .kernel import RENAME_NOREPLACE, open_beneath, rename_beneath

MAX_BYTES = 4 * 1024 * MIB

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_MARK = "bytes"
_BLOCK = MIB


@dataclass(frozen=True)
class Trash:
    """The trash of one workspace. Names in it are `<layer>/<number>`."""

    folder: Path
    max_bytes: int = MAX_BYTES

    def has(self, name: str) -> bool:
        """Whether something of that name is there."""
        return os.path.lexists(self.folder / name)

    def take(self, folder: int, entry: str, name: str, *, leave: bool) -> None:
        """Put an entry of a folder here. With `leave` it also stays where it is, until something takes its place."""
        self._make(name)
        target = self.folder / name
        try:
            if leave:
                os.link(entry, target, src_dir_fd=folder, follow_symlinks=False)
            else:
                os.rename(entry, target, src_dir_fd=folder)
            return
        except FileExistsError:
            return
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
                raise
        with _opened(target.parent) as parent:
            copy(folder, entry, parent, target.name)
        if not leave:
            remove(folder, entry)

    def give(self, name: str, folder: int, entry: str) -> None:
        """Put what is here where it was; what may be there already is a copy of it that was not finished."""
        with _opened((self.folder / name).parent) as parent:
            base = os.path.basename(name)
            try:
                rename_beneath(parent, base, folder, entry, flags=RENAME_NOREPLACE)
                return
            except OSError as error:
                if error.errno not in (errno.EXDEV, errno.EEXIST, errno.EINVAL):
                    raise
            copy(parent, base, folder, entry)
            remove(parent, base)

    def forget(self, name: str) -> None:
        """Remove what is here under that name."""
        with _opened((self.folder / name).parent) as parent:
            remove(parent, os.path.basename(name))

    def opened(self, name: str) -> int:
        """A file that is here, as a descriptor that only names it."""
        return os.open(self.folder / name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)

    def hash_of(self, name: str) -> str:
        """SHA-256 of a file that is here, or of where a link leads."""
        named = self.opened(name)
        try:
            if stat.S_ISLNK(os.fstat(named).st_mode):
                return hashlib.sha256(os.fsencode(os.readlink("", dir_fd=named))).hexdigest()
            digest = hashlib.sha256()
            with _reopened(named, os.O_RDONLY) as reading:
                while block := os.read(reading, _BLOCK):
                    digest.update(block)
            return digest.hexdigest()
        finally:
            os.close(named)

    def note(self, layer_id: str, size: int) -> None:
        """Remember how much a keep has put here."""
        if (self.folder / layer_id).is_dir():
            (self.folder / layer_id / _MARK).write_text(str(size))

    def limit(self) -> list[str]:
        """Remove the oldest until the rest is small enough, and name the layers that cannot be taken back whole any more."""
        try:
            found = [(entry.stat().st_mtime_ns, entry.name) for entry in os.scandir(self.folder) if entry.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            return []
        sizes = {name: self._size(name) for _, name in found}
        total, removed = sum(sizes.values()), list[str]()
        for _, name in sorted(found):
            if total <= self.max_bytes:
                break
            with _opened(self.folder) as parent:
                remove(parent, name)
            total -= sizes[name]
            removed.append(name)
        return removed

    def _size(self, name: str) -> int:
        try:
            return int((self.folder / name / _MARK).read_text())
        except (OSError, ValueError):
            return 0

    def _make(self, name: str) -> None:
        parent = (self.folder / name).parent
        if not parent.is_dir():
            parent.mkdir(parents=True, exist_ok=True, mode=0o700)


def copy(source: int, name: str, target: int, as_name: str) -> None:
    """Copy an entry, a folder with all that is in it, from one open folder to another. Special files are left out."""
    waiting = [(name, as_name)]
    modes: list[tuple[str, int]] = []
    while waiting:
        here, there = waiting.pop()
        named = open_beneath(source, here, os.O_PATH | os.O_NOFOLLOW, follow=False)
        try:
            about = os.fstat(named)
            above, _, last = there.rpartition("/")
            into = open_beneath(target, above, _FOLDER, follow=False)
            try:
                if stat.S_ISDIR(about.st_mode):
                    with suppress(FileExistsError):
                        os.mkdir(last, 0o700, dir_fd=into)
                    modes.append((there, stat.S_IMODE(about.st_mode)))
                    with _reopened(named, _FOLDER) as listed:
                        waiting += [(f"{here}/{entry}", f"{there}/{entry}") for entry in os.listdir(listed)]
                else:
                    _copy_one(named, about, into, last)
                _give(about, into, last)
            finally:
                os.close(into)
        finally:
            os.close(named)
    for there, mode in reversed(modes):
        descriptor = open_beneath(target, there, os.O_PATH | os.O_DIRECTORY, follow=False)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", mode & 0o777)
        finally:
            os.close(descriptor)


def remove(folder: int, name: str) -> None:
    """Remove an entry, a folder with all that is in it, however deep: what lies deeper is moved up before it is emptied."""
    try:
        os.unlink(name, dir_fd=folder)
        return
    except FileNotFoundError:
        return
    except IsADirectoryError:
        pass
    top, moved = _made_ready(folder, name), 0
    try:
        while entries := os.listdir(top):
            for entry in entries:
                moved = _removed(top, entry, moved)
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=folder)


def _removed(top: int, entry: str, moved: int) -> int:
    """Remove an entry of `top`, whose own folders then lie in `top`, under numbers."""
    if not stat.S_ISDIR(os.lstat(entry, dir_fd=top).st_mode):
        os.unlink(entry, dir_fd=top)
        return moved
    inside = _made_ready(top, entry)
    try:
        for inner in os.listdir(inside):
            if not stat.S_ISDIR(os.lstat(inner, dir_fd=inside).st_mode):
                os.unlink(inner, dir_fd=inside)
                continue
            os.close(_made_ready(inside, inner))
            moved = _moved_up(inside, inner, top, moved)
    finally:
        os.close(inside)
    os.rmdir(entry, dir_fd=top)
    return moved


def _moved_up(inside: int, inner: str, top: int, moved: int) -> int:
    while True:
        moved += 1
        try:
            os.rename(inner, f".{moved}", src_dir_fd=inside, dst_dir_fd=top)
        except (FileExistsError, NotADirectoryError):
            continue
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
        else:
            return moved


def _made_ready(folder: int, name: str) -> int:
    """A folder that its owner may list and change, whatever mode it had."""
    named = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        if os.geteuid() != 0 and stat.S_IMODE(os.fstat(named).st_mode) & 0o700 != 0o700:
            os.chmod(f"/proc/self/fd/{named}", 0o700)
        return os.open(f"/proc/self/fd/{named}", _FOLDER | os.O_CLOEXEC)
    finally:
        os.close(named)


def _copy_one(named: int, about: os.stat_result, into: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=into)
    if stat.S_ISLNK(about.st_mode):
        os.symlink(os.readlink("", dir_fd=named), name, dir_fd=into)
    if not stat.S_ISREG(about.st_mode):
        return
    with _reopened(named, os.O_RDONLY) as reading:
        writing = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=into)
        try:
            while block := os.read(reading, _BLOCK):
                rest = memoryview(block)
                while rest:
                    rest = rest[os.write(writing, rest) :]
            os.fchmod(writing, stat.S_IMODE(about.st_mode) & 0o777)
            os.utime(writing, ns=(about.st_atime_ns, about.st_mtime_ns))
        finally:
            os.close(writing)


def _give(about: os.stat_result, into: int, name: str) -> None:
    if os.geteuid() == 0:
        with suppress(FileNotFoundError):
            os.chown(name, about.st_uid, about.st_gid, dir_fd=into, follow_symlinks=False)


@contextmanager
def _opened(folder: Path) -> Generator[int]:
    descriptor = os.open(folder, _FOLDER | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _reopened(named: int, flags: int) -> Generator[int]:
    descriptor = os.open(f"/proc/self/fd/{named}", flags | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
