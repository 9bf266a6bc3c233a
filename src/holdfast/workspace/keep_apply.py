"""Doing the steps of a keep to the disk. Each can be done again, after a crash at any moment, and is then done once.

What somebody else has put in the way stays, and is named.
"""

import errno
import hashlib
import os
import secrets
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from holdfast.vocabulary.effects import EffectKind, EntryType
from holdfast.vocabulary.errors import Conflict

from .entry import Kind
from .inode import Inode
from .keep_source import BLOCK, Source, check_same
from .keep_steps import Step, Was
from .keep_survey import seen_in
from .kernel import open_beneath
from .mount import Mount
from .sight import OWN_TEMPORARY
from .stage import give_to_owner_of, make_like, rename_new
from .trash import Trash, remove

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Somebody has put something else on the way.
_IN_THE_WAY = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EXDEV)


class _Foreign(Exception):
    """What stands there is somebody else's."""


class _Gone(Exception):
    """The bytes of a step can no longer be had."""


@dataclass
class Apply:
    """Steps of one mount on their way to the disk; `again` when some of them may have been done before.

    `foreign` are those that somebody else was quicker with.
    """

    mount: Mount
    source: Source
    trash: Trash
    again: bool
    foreign: list[Step] = field(default_factory=list[Step])
    _open: tuple[str, int] | None = field(default=None, repr=False)

    def all(self, steps: Iterable[Step]) -> None:
        """Do the steps, in the order in which they come.

        Raises:
            OSError: The disk refuses.
        """
        try:
            for step in steps:
                self._one(step)
        finally:
            self._leave()

    def set_modes(self, folders: Iterable[Step]) -> None:
        """Give folders the modes that they are to have; setgid, which makes files theirs, stays as it is."""
        for step in folders:
            try:
                named = open_beneath(self.mount.descriptor, step.path, os.O_PATH | os.O_DIRECTORY, follow=False)
            except OSError as error:
                if error.errno in _IN_THE_WAY:
                    continue
                raise
            try:
                os.chmod(f"/proc/self/fd/{named}", (os.fstat(named).st_mode & 0o7000) | step.effect.mode)
            finally:
                os.close(named)

    def _one(self, step: Step) -> None:
        try:
            self._do(step)
        except (_Foreign, _Gone, Conflict):
            self.foreign.append(step)
        except OSError as error:
            if error.errno not in _IN_THE_WAY:
                raise
            self.foreign.append(step)

    def _do(self, step: Step) -> None:
        match step.effect.kind:
            case EffectKind.MODE:
                self._set_mode(step)
            case EffectKind.RENAMED:
                self._rename(step)
            case EffectKind.DELETED:
                self._delete(step)
            case _ if step.effect.is_whole:
                self._give_back(step)
            case _ if step.makes_folder:
                self._make_folder(step)
            case _:
                self._put(step)

    def _put(self, step: Step) -> None:
        """Let a file or a link stand there, in place of exactly what was there before, or of nothing."""
        folder, name = self._folder(step.path), _name(step.path)
        if self.again and self._is_done(step, folder, name):
            return
        before = self._before(step, folder, name)
        if before is not None and before.type is EntryType.DIRECTORY:
            os.rmdir(name, dir_fd=folder)
            before = None
        if before is not None and step.aside:
            self.trash.take(folder, name, step.aside, leave=True)
        with self._staged(step, folder, name if before is not None and before.type is EntryType.FILE else None) as staged:
            if before is None:
                rename_new(folder, staged, folder, name)
            else:
                os.rename(staged, name, src_dir_fd=folder, dst_dir_fd=folder)

    def _make_folder(self, step: Step) -> None:
        folder, name = self._folder(step.path), _name(step.path)
        seen = seen_in(self.mount, folder, name, hashed=False)
        if seen is not None and seen.was.type is EntryType.DIRECTORY:
            if not self.again:
                raise _Foreign
            return
        if self._before(step, folder, name) is not None:
            if step.aside:
                self.trash.take(folder, name, step.aside, leave=True)
            os.unlink(name, dir_fd=folder)
        # What is put into it is put there by us, so it is open to us until all is done.
        os.mkdir(name, step.effect.mode | 0o700, dir_fd=folder)
        made = os.open(name, _FOLDER | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            give_to_owner_of(folder, made)
        finally:
            os.close(made)

    def _rename(self, step: Step) -> None:
        """Rename what was renamed, so that owner, times and attributes go along."""
        entered, new = self._folder(step.path), _name(step.path)
        if not self._is_moved(step, entered, new):
            left = open_beneath(self.mount.descriptor, step.left.rpartition("/")[0], _FOLDER, follow=False)
            try:
                self._before(step, left, _name(step.left))
                rename_new(left, _name(step.left), entered, new)
            finally:
                os.close(left)
        if step.effect.type is EntryType.FILE:
            self._chmod(entered, new, step.effect.mode)

    def _is_moved(self, step: Step, folder: int, name: str) -> bool:
        """Whether it is there already, which can only be when this is done again."""
        if not self.again:
            return False
        seen = seen_in(self.mount, folder, name, hashed=False)
        return seen is not None and step.was is not None and seen.was.inode == step.was.inode

    def _delete(self, step: Step) -> None:
        try:
            folder, name = self._folder(step.path), _name(step.path)
        except OSError as error:
            if self.again and error.errno in (errno.ENOENT, errno.ENOTDIR):
                return
            raise
        if self.again and seen_in(self.mount, folder, name, hashed=False) is None:
            return
        self._before(step, folder, name)
        if step.effect.is_whole and not step.aside:
            remove(folder, name)
        elif step.aside:
            self._put_aside(step, folder, name)
        elif step.effect.type is EntryType.DIRECTORY:
            os.rmdir(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)

    def _put_aside(self, step: Step, folder: int, name: str) -> None:
        if self.again and self.trash.has(step.aside):
            # A copy to another disk that was not finished.
            self.trash.forget(step.aside)
        self.trash.take(folder, name, step.aside, leave=False)

    def _give_back(self, step: Step) -> None:
        folder, name = self._folder(step.path), _name(step.path)
        if self.again and not self.trash.has(step.source):
            return
        if not self.again:
            self._before(step, folder, name)
        self.trash.give(step.source, folder, name)

    def _set_mode(self, step: Step) -> None:
        if step.effect.type is EntryType.DIRECTORY:
            return
        folder, name = self._folder(step.path), _name(step.path)
        self._before(step, folder, name)
        self._chmod(folder, name, step.effect.mode)

    def _chmod(self, folder: int, name: str, mode: int) -> None:
        named = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.chmod(f"/proc/self/fd/{named}", mode & 0o777)
        finally:
            os.close(named)

    def _before(self, step: Step, folder: int, name: str) -> Was | None:
        """What stands there, which must be what was there when all was looked at."""
        seen = seen_in(self.mount, folder, name, hashed=False)
        if step.was is None or seen is None:
            is_half_done = self.again and (step.puts_bytes or step.makes_folder)
            if seen is not None or (step.was is not None and not is_half_done):
                raise _Foreign
            return None
        if _is_same(seen.was, step.was):
            return seen.was
        if self.again and step.was.hash:
            # The recovery of a version may have written the same bytes anew.
            hashed = seen_in(self.mount, folder, name, hashed=True)
            if hashed is not None and (hashed.was.type, hashed.was.hash) == (step.was.type, step.was.hash):
                return hashed.was
        raise _Foreign

    def _is_done(self, step: Step, folder: int, name: str) -> bool:
        seen = seen_in(self.mount, folder, name, hashed=True)
        if seen is None or seen.was.type is not step.effect.type or seen.was.hash != step.effect.hash:
            return False
        if step.effect.type is EntryType.FILE:
            self._chmod(folder, name, step.effect.mode)
        return True

    @contextmanager
    def _staged(self, step: Step, folder: int, like: str | None) -> Generator[str]:
        """The new file or link under a name of our own, finished but for its name."""
        name = OWN_TEMPORARY + secrets.token_hex(8)
        try:
            with self._source(step) as source:
                if step.effect.type is EntryType.LINK:
                    self._make_link(step, source, folder, name)
                else:
                    self._make_file(step, source, folder, name, like)
            yield name
        finally:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)

    @contextmanager
    def _source(self, step: Step) -> Generator[int | bytes]:
        with ExitStack() as leaving:
            try:
                source = leaving.enter_context(self.source.opened(step))
            except OSError as error:
                raise _Gone from error
            yield source

    def _make_link(self, step: Step, source: int | bytes, folder: int, name: str) -> None:
        assert isinstance(source, bytes), "a link is its target"
        check_same(step, hashlib.sha256(source).hexdigest())
        os.symlink(os.fsdecode(source), name, dir_fd=folder)
        if os.geteuid() == 0:
            about = os.fstat(folder)
            os.chown(name, about.st_uid, about.st_gid, dir_fd=folder, follow_symlinks=False)

    def _make_file(self, step: Step, source: int | bytes, folder: int, name: str, like: str | None) -> None:
        descriptor = os.open(name, _NEW, 0o600, dir_fd=folder)
        try:
            check_same(step, _copied(source, descriptor))
            if like is None:
                give_to_owner_of(folder, descriptor)
            else:
                self._make_like(descriptor, folder, like)
            os.fchmod(descriptor, step.effect.mode & 0o777)
        finally:
            os.close(descriptor)

    def _make_like(self, descriptor: int, folder: int, like: str) -> None:
        replaced = os.open(like, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            make_like(descriptor, Inode(Kind.FILE, os.fstat(replaced), replaced))
        finally:
            os.close(replaced)

    def _folder(self, path: str) -> int:
        """The folder of a path, open until another one is needed."""
        above = path.rpartition("/")[0]
        if self._open is None or self._open[0] != above:
            opened = open_beneath(self.mount.descriptor, above, _FOLDER, follow=False)
            self._leave()
            self._open = above, opened
        return self._open[1]

    def _leave(self) -> None:
        if self._open is not None:
            os.close(self._open[1])
            self._open = None


def _copied(source: int | bytes, target: int) -> str:
    """Write the bytes to a file, and give their hash."""
    digest, position = hashlib.sha256(), 0
    while block := source[position : position + BLOCK] if isinstance(source, bytes) else os.pread(source, BLOCK, position):
        digest.update(block)
        rest = memoryview(block)
        while rest:
            rest = rest[os.write(target, rest) :]
        position += len(block)
    return digest.hexdigest()


def _is_same(seen: Was, was: Was) -> bool:
    if was.type is EntryType.DIRECTORY:
        return seen.type is was.type
    return (seen.type, seen.inode, seen.size, seen.changed_ns) == (was.type, was.inode, was.size, was.changed_ns)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
