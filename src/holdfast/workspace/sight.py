"""What a call may see of a workspace while it walks through it."""

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.vocabulary.protected import ProtectedPaths

from .place import Place

OWN_TEMPORARY = ".holdfast-"


@dataclass(frozen=True)
class Sight:
    """Which entries do not exist for this call: what is protected from its reading, and our own temporary files.

    `permitted` says of a file's path whether it may be looked into; a
    folder that is not permitted may still lead to files that are.
    """

    protected: ProtectedPaths | None = None
    permitted: Callable[[str], bool] | None = None

    def permits(self, path: str) -> bool:
        """Whether the file at `path`, counted from the mount's root, may be looked into."""
        return self.permitted is None or self.permitted(path)

    def hides(self, mount: str, path: str) -> bool:
        """Whether the entry at `path`, counted from the mount's root, is kept from the call."""
        if path.rpartition("/")[2].startswith(OWN_TEMPORARY):
            return True
        return self.protected is not None and self.protected.covers(path, mount=mount)

    def may_hide(self, paths: str) -> bool:
        """A quick look at many paths at once, in any text that holds them; False means that none of them is hidden."""
        return OWN_TEMPORARY in paths or (self.protected is not None and self.protected.may_cover(paths))

    def hides_place(self, place: Place) -> bool:
        """`hides`, for a place."""
        return self.hides(place.mount.name, place.path)
