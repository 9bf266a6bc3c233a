"""The files that are made for commands to see: a small /etc, and what stands in the place of what is hidden.

/etc is copied in part, once, because to show its parts one by one takes
bubblewrap longer than all the rest.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from .environment import HOME, UID, USER

# What compilers, interpreters and git look at; nothing that could hold a secret.
_COPIED = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ssl/certs", "ssl/openssl.cnf", "ca-certificates", "pki/tls/certs"),
    *("localtime", "timezone", "locale.alias", "default/locale", "os-release", "debian_version", "services", "protocols", "mime.types"),
    *(
        "magic",
        "terminfo",
        "fonts",
        "perl",
        "python3",
        "python3.11",
        "python3.12",
        "python3.13",
        "java-17-openjdk",
        "inputrc",
        "bash.bashrc",
    ),
)
_WRITTEN = {
    "passwd": f"root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n{USER}:x:{UID}:{UID}::{HOME}:/bin/sh\n",
    "group": f"root:x:0:\n{USER}:x:{UID}:\n",
    "hosts": "127.0.0.1 localhost holdfast\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
}


def make(folder: Path) -> None:
    """Make `etc`, the empty file `empty` and the empty folder `nothing`; `etc` anew when the system's has changed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nothing").mkdir(exist_ok=True)
    (folder / "empty").touch()
    stamp = _stamp()
    if not _is(folder / "stamp", stamp):
        # Into a new folder, put in place at once: commands of an earlier server may still be looking at the old one.
        new = folder / f"etc-{os.getpid()}"
        shutil.rmtree(new, ignore_errors=True)
        _copy(new)
        old = folder / f"old-{os.getpid()}"
        with suppress(FileNotFoundError):
            (folder / "etc").rename(old)
        new.rename(folder / "etc")
        shutil.rmtree(old, ignore_errors=True)
        (folder / "stamp").write_text(stamp)
    for path in (folder, folder / "nothing", folder / "etc"):
        path.chmod(0o755)


def _copy(target: Path) -> None:
    for name in _COPIED:
        source = Path("/etc", name)
        with suppress(OSError, shutil.Error):  # what cannot be read is nothing that a command needs
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir() and not source.is_symlink():
                shutil.copytree(source, target / name, symlinks=True)
            else:
                shutil.copy2(source, target / name, follow_symlinks=False)
    for name, text in _WRITTEN.items():
        (target / name).write_text(text)


def _stamp() -> str:
    """When the originals last changed, as far as their own times tell, and what we write beside them."""
    times = [f"{name} {_changed(name)}" for name in _COPIED]
    return "\n".join([*times, *_WRITTEN.values()])


def _changed(name: str) -> int:
    try:
        return os.lstat(f"/etc/{name}").st_mtime_ns
    except OSError:
        return 0


def _is(file: Path, text: str) -> bool:
    try:
        return file.read_text() == text
    except OSError:
        return False
