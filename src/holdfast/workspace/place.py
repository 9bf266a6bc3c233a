"""Names of files that have already been checked.

A `Place` can only be made by `resolve`, so code that holds one never
has to ask whether the path is safe. Its path has no link in it, and it
is opened without following any: if one is put there later, opening
fails instead of leading elsewhere.
"""

from collections.abc import Iterable
from dataclasses import InitVar, dataclass
from typing import Annotated

from holdfast.vocabulary.access import Want
from holdfast.vocabulary.errors import InvalidPath

from .mount import Mount


class Maker:
    """The right to make places. Only `resolve` holds one."""


_MAKER = Maker()


@dataclass(frozen=True)
class Place:
    """One checked path in one mount.

    `path` is counted from the mount's root, "" for the root itself.
    `written` is how the caller wrote it, for messages. The maker is shown
    and not kept, so that nobody makes another place from this one.
    """

    mount: Mount
    path: str
    written: str
    maker: InitVar[Maker]

    def __post_init__(self, maker: Maker) -> None:
        if maker is not _MAKER:
            raise TypeError("a Place is made by resolve alone")

    @property
    def alias(self) -> str:
        """The place as `@mount/path`."""
        return f"@{self.mount.name}/{self.path}" if self.path else f"@{self.mount.name}"

    @property
    def name(self) -> str:
        """The last component, "" for a root."""
        return self.path.rpartition("/")[2]

    @property
    def parent_path(self) -> str:
        """The path of the directory that this is in."""
        return self.path.rpartition("/")[0]

    def child(self, name: str) -> "Place":
        """One entry of this directory, as it was met on a walk.

        Raises:
            InvalidPath: `name` is not the name of one entry.
        """
        return self.children([name])[0]

    def children(self, names: Iterable[str]) -> "list[Place]":
        """Several entries of this directory; quicker than one after the other.

        Raises:
            InvalidPath: One of `names` is not the name of one entry.
        """
        above, written = f"{self.path}/" if self.path else "", f"{self.written.rstrip('/')}/"
        return [Place(self.mount, above + checked, written + checked, _MAKER) for checked in map(_name, names)]

    def below(self, path: str) -> "Place":
        """An entry at any depth beneath this one, by its path from the mount's root, as it was met on a walk.

        Raises:
            InvalidPath: A component is not the name of one entry.
        """
        rest = "/".join(map(_name, path[len(self.path) :].strip("/").split("/")))
        return Place(self.mount, f"{self.path}/{rest}" if self.path else rest, f"{self.written.rstrip('/')}/{rest}", _MAKER)

    def sibling(self, name: str) -> "Place":
        """Another entry of the directory that this is in.

        Raises:
            InvalidPath: `name` is not the name of one entry.
        """
        above, slash, _ = self.written.rstrip("/").rpartition("/")
        entry = Place(self.mount, self.parent_path, above, _MAKER).child(name)
        return entry if slash else Place(self.mount, entry.path, name, _MAKER)

    def __str__(self) -> str:
        return self.written


def _name(name: str) -> str:
    if not name or "/" in name or "\0" in name or name in (".", ".."):
        raise InvalidPath(f"not a name: {name!r}")
    return name


def grant_maker() -> Maker:
    """For `resolve` alone."""
    return _MAKER


@dataclass(frozen=True)
class Asks:
    """What a path parameter asks for.

    Without `follow` it means the entry itself, should it be a link;
    `only` is the one mount that it may be in. `receives` is the parameter
    before this one that goes there: if a directory is meant, then it is
    the entry of that one's name in it that is asked for.
    """

    want: Want
    follow: bool = True
    only: str | None = None
    receives: str | None = None


Readable = Annotated[Place, Asks(Want.READ)]
Writable = Annotated[Place, Asks(Want.WRITE)]
Movable = Annotated[Place, Asks(Want.WRITE, follow=False)]
