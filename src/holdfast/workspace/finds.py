"""Many entries, held by column.

A large tree has thousands of them, and an object for each would cost more
than to ask the system about it. So one is made when it is looked at.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar, overload

from .entry import Entry

T = TypeVar("T", covariant=True)
A = TypeVar("A")

# From the path, the mode, the size and the time of an entry.
Make: TypeAlias = Callable[[str, int, int, float], A]


@dataclass(frozen=True, slots=True)
class Columns:
    """What is known of entries: the paths that can be said, counted from the mount's root, and what the system has told."""

    paths: list[str] = field(default_factory=list[str])
    modes: list[int] = field(default_factory=list[int])
    sizes: list[int] = field(default_factory=list[int])
    times: list[float] = field(default_factory=list[float])

    def add(self, paths: list[str], abouts: list[os.stat_result]) -> None:
        """Have some more at the end."""
        self.paths.extend(paths)
        self.modes.extend([about.st_mode for about in abouts])
        self.sizes.extend([about.st_size for about in abouts])
        self.times.extend([about.st_mtime for about in abouts])

    def cut(self, length: int) -> None:
        """Leave out what comes after so many."""
        for column in (self.paths, self.modes, self.sizes, self.times):
            del column[length:]


class Finds(Sequence[T]):
    """The entries of some columns, each made by `make` when it is looked at."""

    __slots__ = ("_make", "columns")

    def __init__(self, columns: Columns, make: Make[T]) -> None:
        self.columns = columns
        self._make = make

    def made(self, make: Make[A]) -> "Finds[A]":
        """The same as something else."""
        return Finds(self.columns, make)

    def __len__(self) -> int:
        return len(self.columns.paths)

    def __iter__(self) -> Iterator[T]:
        return self._all(slice(None))

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return list(self._all(index))
        columns = self.columns
        return self._make(columns.paths[index], columns.modes[index], columns.sizes[index], columns.times[index])

    def _all(self, part: slice) -> Iterator[T]:
        columns = self.columns
        return map(self._make, columns.paths[part], columns.modes[part], columns.sizes[part], columns.times[part])


def entries(columns: Columns) -> Finds[Entry]:
    """The columns as entries."""
    return Finds(columns, Entry.told)
