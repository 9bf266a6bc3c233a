"""What a call may see of a workspace while it walks through it."""

from dataclasses import dataclass

from holdfast.vocabulary.protected import ProtectedPaths

from .place import Place

OWN_TEMPORARY = ".holdfast-"


@dataclass(frozen=True)
class Sight:
    """Which entries do not exist for this call: what is protected from its reading, and our own temporary files."""

    protected: ProtectedPaths | None = None

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
