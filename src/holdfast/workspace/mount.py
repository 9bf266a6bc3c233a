"""One named root of a workspace: a directory held open, and what may be done in it."""

import os
from pathlib import Path

from holdfast.vocabulary.access import MountMode
from holdfast.vocabulary.errors import AccessDenied, NotDirectory, NotFound

from .directories import Directories
from .pool import Pool
from .recent import Recent
from .spawner import Confinement, Spawner
from .survey import Surveys


class Mount:
    """A directory that is held by descriptor, so that moving it does not lead us elsewhere."""

    def __init__(self, name: str, root: Path, mode: MountMode = MountMode.READ_WRITE, *, pool: Pool | None = None) -> None:
        self.name = name
        self.mode = mode
        # Callers may write either: the folder as it was named, or where that leads.
        self.given_root = Path(os.path.abspath(root))
        self.root = Path(os.path.realpath(root))
        try:
            self.descriptor = os.open(self.root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise NotFound(f"the folder of mount @{name} does not exist: {root}", hint="Create it, or mount another folder.") from None
        except NotADirectoryError:
            raise NotDirectory(f"the root of mount @{name} is not a directory: {root}", hint="Mount a folder.") from None
        except PermissionError:
            raise AccessDenied(f"the system does not let us enter the folder of mount @{name}: {root}", hint="Check its owner.") from None
        self._owns_pool = pool is None
        self.pool = pool or Pool(name)
        self.directories = Directories()
        self.spawner = Spawner(name, self.descriptor)
        # Landlock is at hand at once, and bubblewrap costs nothing once it stands: so each has the trees that it is better for.
        self.spawner_for_large = Spawner(f"{name}-large", self.descriptor, ways=(Confinement.BUBBLEWRAP, Confinement.LANDLOCK))
        self.surveys = Surveys()
        self.recent = Recent(self.descriptor)

    def true_root(self) -> str:
        """Where the root is now, which is not where it was opened when somebody has moved it."""
        return os.readlink(f"/proc/self/fd/{self.descriptor}")

    def path_of(self, absolute: str) -> str | None:
        """An absolute path of this machine as it is counted from the root; None when it does not lie beneath it."""
        for root in (str(self.root), str(self.given_root)):
            if absolute == root or absolute.startswith(root.rstrip("/") + "/"):
                return absolute[len(root) :].strip("/")
        return None

    def close(self) -> None:
        """Give the threads back, and the descriptor when they are done with it: its number may be another folder's at once."""
        self.spawner.close()
        self.spawner_for_large.close()
        self.pool.afterwards(self._let_go)
        if self._owns_pool:
            self.pool.close()

    def _let_go(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        os.close(descriptor)
