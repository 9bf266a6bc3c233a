"""Where the bytes of a step come from: the layer's upper, the trash, or the store. Nothing that an upper says is believed unread."""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from holdfast.vocabulary.effects import Effect, EntryType
from holdfast.vocabulary.errors import Conflict

from .keep_steps import Step
from .kernel import open_beneath
from .trash import Trash

BLOCK = 1024 * 1024
_MAX_CONFIG_BYTES = 64 * 1024
_MAX_LINK_BYTES = 4096

# What `git init`, `clone`, `remote` and `branch` write, none of which makes git run anything.
_PLAIN = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)"
    r"|remote\.[^\n]*\.(url|fetch)|branch\.[^\n]*\.(remote|merge)|user\.(name|email)|init\.defaultbranch"
)


@dataclass(frozen=True)
class Source:
    """The bytes of steps. `uppers` are open folders by mount; `given` are contents that were loaded from the store, by hash."""

    uppers: Mapping[str, int]
    trash: Trash
    given: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False)

    @contextmanager
    def held(self) -> Generator["Source"]:
        """The same for as long as a block runs, even if whoever opened the uppers has left and closed them."""
        with ExitStack() as leaving:
            uppers: dict[str, int] = {}
            for mount, upper in self.uppers.items():
                uppers[mount] = os.dup(upper)
                leaving.callback(os.close, uppers[mount])
            yield replace(self, uppers=uppers)

    @contextmanager
    def opened(self, step: Step) -> Generator[int | bytes]:
        """A file that can be read, or the bytes themselves.

        Raises:
            OSError: It is not there, or no file.
        """
        if step.effect.hash in self.given and not step.source:
            yield self.given[step.effect.hash]
            return
        named = self.trash.opened(step.source) if step.source else self._named(step)
        try:
            about = os.fstat(named)
            if step.effect.type is EntryType.LINK:
                if not stat.S_ISLNK(about.st_mode):
                    raise OSError(errno.EINVAL, "not a link", step.path)
                yield os.fsencode(os.readlink("", dir_fd=named))
                return
            descriptor = _readable(named, about)
            try:
                yield descriptor
            finally:
                os.close(descriptor)
        finally:
            os.close(named)

    def read(self, step: Step, at_most: int) -> bytes:
        """The first bytes of what is to be there."""
        with self.opened(step) as source:
            return source[:at_most] if isinstance(source, bytes) else os.pread(source, at_most, 0)

    def _named(self, step: Step) -> int:
        upper = self.uppers.get(step.mount)
        if upper is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), step.path)
        return open_beneath(upper, step.path, os.O_PATH | os.O_NOFOLLOW, follow=False)

    def is_plain_config(self, effect: Effect) -> bool:
        """Whether a repository's config says only what makes git run nothing."""
        try:
            return is_plain_config(self.read(Step(0, effect), _MAX_CONFIG_BYTES + 1))
        except OSError:
            return False


def is_plain_config(data: bytes) -> bool:
    """Whether every setting in a git config is one of the harmless ones; what is hard to read is not."""
    if len(data) > _MAX_CONFIG_BYTES:
        return False
    section = ""
    for line in data.decode(errors="replace").splitlines():
        text = line.strip()
        if not text or text[0] in "#;":
            continue
        if text.startswith("["):
            heading = re.fullmatch(r'\[([A-Za-z0-9.-]+)(?: "([^"\\]*)")?\]', text)
            if heading is None:
                return False
            section = heading[1].lower() + (f".{heading[2]}" if heading[2] is not None else "")
            continue
        name = re.match(r"[A-Za-z][A-Za-z0-9-]*", text)
        if name is None or text.endswith("\\") or _PLAIN.fullmatch(f"{section}.{name[0].lower()}") is None:
            return False
        if name[0].lower() == "url" and "::" in text:
            return False
    return True


def check_same(step: Step, digest: str) -> None:
    """Let only the bytes pass that were looked at.

    Raises:
        Conflict: They are others.
    """
    if digest != step.effect.hash:
        raise Conflict(f"'{step.path}' is not what was looked at", hint="Look at the effects again.", path=step.path)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _readable(named: int, about: os.stat_result) -> int:
    """A descriptor to read a file by; one of ours whose mode keeps us out is opened for a moment."""
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "not a file")
    path = f"/proc/self/fd/{named}"
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        mode = stat.S_IMODE(about.st_mode)
        os.chmod(path, mode | 0o400)
        try:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.chmod(path, mode)
