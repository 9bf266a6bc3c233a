"""A file or folder as both the disk and the store know it."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from holdfast.vocabulary.json import Json


class ContentKind(Enum):
    """What a file's content is: text by lines, a JSON value as it was written, or bytes."""

    TEXT = "text"
    JSON = "json"
    BINARY = "binary"


class Item(NamedTuple):
    """One entry of the union of disk and store. `synced` means that the store has an active row for it.

    `path` is counted from the mount's root; `size` is None for folders.
    Times are microseconds since 1970.
    """

    path: str
    name: str
    display_name: str
    file_type: str
    is_virtual: bool
    synced: bool
    file_id: str | None
    size: int | None
    created_at: int
    updated_at: int

    @property
    def is_folder(self) -> bool:
        """Whether other entries can be in it."""
        return self.file_type == "folder"


@dataclass(frozen=True)
class View:
    """Part of a file's content. `total_lines`, `first` and `truncated` are None for what is not text.

    `content` is the text of the lines, the JSON value, or base64 of the bytes.
    """

    item: Item
    kind: ContentKind
    content: Json
    hash: str
    size: int
    total_lines: int | None
    first: int | None
    lines: int | None
    truncated: bool | None


@dataclass(frozen=True)
class Saved:
    """A change that has become a version. `version_id` is None where none is made (touch), `merged` are lines that a merge changed."""

    path: str
    file_id: str
    version_id: str | None
    hash: str | None
    merged: tuple[int, ...] = ()


@dataclass(frozen=True)
class VersionInfo:
    """One version of a file, as a person sees it."""

    version_id: str
    file_id: str
    number: int
    kind: str
    state: str
    path: str
    content_kind: str
    hash: str | None
    size: int | None
    author: str
    session_id: str
    call_id: str
    created_at: int
