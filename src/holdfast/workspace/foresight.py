"""What a tool would change, without its changing anything.

A change is staged before it is recorded, and up to then can be taken
back without a trace. Here it always is.
"""

from dataclasses import replace
from typing import NoReturn

from holdfast.vocabulary.difference import MAX_DIFF_BYTES, Difference, quick_difference
from holdfast.vocabulary.json import Json

from .change import Change, Ticket, Verb
from .changes import Changes
from .entry import Kind
from .inode import Inode
from .place import Place

_KINDS = {Verb.REMOVE: "deleted", Verb.MOVE: "renamed"}


class ForeseenError(Exception):
    """Ends a call that is only looked ahead at; `effect` is what it would have done."""

    def __init__(self, effect: dict[str, Json]) -> None:
        super().__init__("this was only looked at")
        self.effect = effect


class Foresight:
    """A ledger that lets nothing be done."""

    durable = True

    async def pending(self, change: Change) -> NoReturn:
        """Say what it is, instead of letting it be done.

        Raises:
            ForeseenError: Always.
        """
        raise ForeseenError(await change.place.mount.pool.run(_told, change))

    async def applied(self, ticket: Ticket) -> None:
        """Never."""

    async def aborted(self, ticket: Ticket, error: BaseException) -> None:
        """Never."""


def foreseeing(changes: Changes) -> Changes:
    """The same files under the same locks, where nothing is done."""
    return replace(changes, ledger=Foresight())


def _told(change: Change) -> dict[str, Json]:
    kind = _KINDS.get(change.verb) or ("added" if change.before is None else "changed")
    found = _difference(change)
    target = f" → {_path(change.target)}" if change.target is not None else ""
    return {
        "path": _path(change.place),
        "kind": kind,
        "added": None if found is None else found.added,
        "removed": None if found is None else found.removed,
        "text": f"{_path(change.place)}{target}",
        "diff": None if found is None else found.text,
    }


def _path(place: Place) -> str:
    return f"/{place.path}" if place.mount.name == "project" else place.alias


def _difference(change: Change) -> Difference | None:
    if change.verb not in (Verb.WRITE, Verb.REMOVE):
        return None
    old, new = _content(change.before), _content(change.after)
    return None if old is None or new is None else quick_difference(old, new, change.place.path)


def _content(inode: Inode | None) -> bytes | None:
    """The bytes of what may be compared; of nothing there are none."""
    if inode is None:
        return b""
    return inode.read() if inode.kind is Kind.FILE and inode.size <= MAX_DIFF_BYTES else None
