"""How `workspace` shows entries, contents and changes, each written once."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypeVar

from holdfast.tool.rooted import sentence
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.moments import iso
from holdfast.workspace.item import ContentKind, Item, Saved, View
from holdfast.workspace.lines import Lines

FileType: TypeAlias = Literal["document", "folder", "canvas", "chat", "whiteboard", "agent", "skill", "plan"]

T = TypeVar("T")


def rooted(path: str) -> str:
    """A path counted from the workspace's root, as callers see it."""
    return f"/{path}"


def first(found: Sequence[T], limit: int) -> Sequence[T]:
    """At most `limit` of them; 0 means all."""
    return found[:limit] if limit else found


def window(offset: int, limit: int) -> Lines:
    """The lines that are asked for; a limit of 0 means all."""
    return Lines(offset, limit or None)


def entry(item: Item) -> dict[str, Json]:
    """What every listing tells of a file or folder."""
    return {
        "path": f"/{item.path}",
        "name": item.name,
        "synced": item.synced,
        "file_type": item.file_type,
        "is_virtual": item.is_virtual,
        "updated_at": iso(item.updated_at),
    }


def sized_entry(item: Item) -> Json:
    """An entry with its size; written out, because a listing has thousands of them."""
    path, name, _, file_type, is_virtual, synced, _, size, _, updated = item
    return {
        "path": f"/{path}",
        "name": name,
        "synced": synced,
        "file_type": file_type,
        "is_virtual": is_virtual,
        "updated_at": iso(updated),
        "size": size,
    }


def content(view: View) -> dict[str, Json]:
    """What a file says; bytes that are no text come as base64 and say so."""
    encoding: dict[str, Json] = {"encoding": "base64"} if view.kind is ContentKind.BINARY else {}
    return {"content": view.content, **encoding}


def change(saved: Saved) -> dict[str, Json]:
    """A change that has become a version."""
    merged: dict[str, Json] = {"merged_lines": [*saved.merged]} if saved.merged else {}
    return {"path": rooted(saved.path), "file_id": saved.file_id, "version_id": saved.version_id, "hash": saved.hash, **merged}


def path_of_failed(error: HoldfastError) -> str:
    """The path of one file of many that could not be had, as the caller wrote it."""
    # Half a character cannot be said.
    return str(error.facts.get("written") or error.facts.get("path") or "").encode(errors="replace").decode()


def told(error: HoldfastError) -> str:
    """What went wrong with one file of many."""
    return sentence(error)
