"""The engine as one call sees it: its operations, with what may be seen and who is changing things already said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.vocabulary.json import Json

from . import edit, front_matter, make
from .entry import Entry
from .find import Criteria, find
from .glob import Selection, glob
from .info import Info, info
from .library import Library
from .lines import Lines
from .listing import list_directory
from .make import Made
from .move import Moved, move
from .place import Place
from .read import EVERYTHING, Slice, read
from .remove import Removed, remove
from .search import Found, Query, search
from .sight import Sight
from .write import Check, Written, write

# Names and sizes of protected files are no secret, what is in them is.
_NAMES = Sight()


@dataclass(frozen=True)
class Files(Library):
    """What a tool does to files. Every argument is a `Place`, so every path has been checked."""

    async def read(
        self, place: Place, lines: Lines = EVERYTHING, *, max_bytes: int, whole_lines: bool = False, surveyed: bool = True
    ) -> Slice:
        """Some lines of a file, and the hash and line count of the whole."""
        return await read(place, lines, max_bytes=max_bytes, whole_lines=whole_lines, surveyed=surveyed)

    async def list(self, place: Place) -> list[Entry]:
        """What is in a directory, by name."""
        return await list_directory(place, _NAMES)

    async def search(self, place: Place, query: Query) -> Found:
        """The lines that match, ordered by path and line; protected files are not looked into."""
        return await search(place, query, self.sight)

    async def glob(self, place: Place, patterns: Sequence[str], *, limit: int = 0) -> Selection:
        """The entries whose path matches one of the patterns."""
        return await glob(place, patterns, _NAMES, limit=limit)

    async def find(self, place: Place, criteria: Criteria, *, limit: int = 0) -> Selection:
        """The entries that fit the criteria."""
        return await find(place, criteria, _NAMES, limit=limit)

    async def info(self, place: Place) -> Info:
        """What is known of an entry without opening it."""
        return await info(place)

    async def write(
        self, place: Place, data: bytes, *, only_if: str | None = None, exists: bool | None = None, check: Check | None = None
    ) -> Written:
        """Make `data` the whole content of a file; missing folders are made."""
        return await write(self.changes, place, data, only_if=only_if, exists=exists, parents=True, check=check)

    async def replace(self, place: Place, old: str, new: str, *, only_if: str | None = None) -> Written:
        """Put `new` where `old` is, which must be there exactly once."""
        return await edit.replace(self.changes, place, old, new, only_if=only_if)

    async def insert(self, place: Place, line: int, content: str, *, only_if: str | None = None) -> Written:
        """Put whole lines before a line; the count of lines appends."""
        return await edit.insert(self.changes, place, line, content, only_if=only_if)

    async def patch_front_matter(
        self, place: Place, update: Mapping[str, Json], *, only_if: str | None = None, max_bytes: int, check: Check | None = None
    ) -> Written:
        """Change fields of a file's front matter, and nothing else in it."""
        return await front_matter.patch(self.changes, place, update, only_if=only_if, max_bytes=max_bytes, check=check)

    async def move(self, source: Place, target: Place, *, parents: bool = False) -> Moved:
        """Give what stands at `source` the path `target`, where nothing may stand."""
        return await move(self.changes, source, target, parents=parents)

    async def remove(self, place: Place, *, only_if: str | None = None) -> Removed:
        """Remove a file, a link itself, or an empty folder."""
        return await remove(self.changes, place, only_if=only_if)

    async def make_directory(self, place: Place) -> Made:
        """Make a directory and what is missing above it."""
        return await make.make_directory(self.changes, place)

    async def touch(self, place: Place) -> Made:
        """Set a file's time to now, or make it empty."""
        return await make.touch(self.changes, place, parents=True)
