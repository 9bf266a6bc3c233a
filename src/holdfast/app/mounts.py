"""The mounts of one workspace: its project, what else was mounted, and a `@state` for each run."""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from holdfast.config.home import workspace_folder
from holdfast.vocabulary.access import MountMode
from holdfast.vocabulary.errors import InvalidArguments
from holdfast.workspace.mount import Mount
from holdfast.workspace.pool import Pool

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")


class OpenMounts:
    """All mounts of a workspace, held open; each `@state` is opened when it is first asked for."""

    def __init__(self, project: Path, more: Mapping[str, str | Path], home: Path) -> None:
        self._own = workspace_folder(home, project)
        self._states: dict[str, Mount] = {}
        self._state_pool = Pool("state")
        self._state_root = more.get("state")
        self.named: dict[str, Mount] = {"project": Mount("project", project)}
        try:
            if "central" not in more:
                self.named["central"] = Mount("central", _made(self._own / "central"))
            for name, folder in more.items():
                if name != "state":
                    self.named[name] = _mount(name, str(folder))
            # Opened now, so that a folder that is not there is heard of at once.
            if self._state_root is not None:
                self.state("default")
        except BaseException:
            self.close()
            raise

    def state(self, run: str) -> Mount:
        """The `@state` of one run or session."""
        if self._state_root is not None:
            run = ""
        if run not in self._states:
            self._states[run] = self._open_state(run)
        return self._states[run]

    def close(self) -> None:
        """Give everything back."""
        for mount in (*self.named.values(), *self._states.values()):
            mount.close()
        self._state_pool.close()

    def _open_state(self, run: str) -> Mount:
        if self._state_root is not None:
            return _mount("state", str(self._state_root))
        # A client may choose its session's id; what cannot be the name of a folder gets one.
        name = run if _PLAIN_NAME.fullmatch(run) else f"x-{hashlib.sha256(run.encode()).hexdigest()[:32]}"
        return Mount("state", _made(self._own / "state" / name), pool=self._state_pool)


def own_paths(mounts: Mapping[str, Mount], home: Path) -> tuple[str, ...]:
    """What is Holdfast's own and lies in somebody's mount: its folder, and the logs of a run that is mounted there."""
    folder, logs = Path(os.path.realpath(home)), mounts["state"].root / "logs"
    own = [(mount, folder) for mount in mounts.values()] + [(mount, logs) for mount in mounts.values() if mount.name != "state"]
    return tuple(str(PurePosixPath(mount.name, path.relative_to(mount.root))) for mount, path in own if path.is_relative_to(mount.root))


def parse_mount(name: str, folder: str) -> tuple[str, Path, MountMode]:
    """A mount as it is written: a name, and a folder that may end in `:ro`.

    Raises:
        InvalidArguments: The name cannot be that of a mount.
    """
    if name == "project" or not name.isidentifier():
        raise InvalidArguments.of("mount", f"'{name}' cannot be the name of a mount", hint="Use letters, digits and '_'.")
    mode = MountMode.READ_ONLY if folder.endswith(":ro") or name == "pkg" else MountMode.READ_WRITE
    return name, Path(folder.removesuffix(":ro")).absolute(), mode


def _mount(name: str, folder: str) -> Mount:
    return Mount(*parse_mount(name, folder))


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
