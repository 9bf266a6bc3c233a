"""One change of a workspace's files, as it is recorded before it is made."""

from dataclasses import dataclass
from enum import Enum
from typing import NewType, Protocol

from .inode import Inode
from .place import Place


class Verb(Enum):
    """What is done to a place."""

    WRITE = "write"
    MOVE = "move"
    REMOVE = "remove"
    MKDIR = "mkdir"
    TOUCH = "touch"


@dataclass(frozen=True)
class Change:
    """What is about to be done, with all that a ledger needs to record it.

    `before` is what stands at the place, `after` what will stand there,
    or at `target` when it is moved. Their descriptors can be read until
    the record is made. `folders` are the parents that were made for it,
    as paths in the mount. `author` is whatever `Changes.by` was given.
    """

    verb: Verb
    place: Place
    before: Inode | None
    after: Inode | None
    target: Place | None = None
    folders: tuple[str, ...] = ()
    author: object = None


Ticket = NewType("Ticket", str)


class Ledger(Protocol):
    """Where changes are recorded before they are made."""

    @property
    def durable(self) -> bool:
        """Whether its records outlast a power cut, so that the disk may be synced later, by the ledger."""
        ...

    async def pending(self, change: Change) -> Ticket:
        """Record what is about to be done. Whatever this raises stops the change, and nothing has happened."""
        ...

    async def applied(self, ticket: Ticket) -> None:
        """It is done, and there is no way back; so this raises nothing."""
        ...

    async def aborted(self, ticket: Ticket, error: BaseException) -> None:
        """It could not be done, and everything is as it was."""
        ...


class NoLedger:
    """Records nothing; every change syncs the disk itself."""

    durable = False

    async def pending(self, change: Change) -> Ticket:
        """Let it be done."""
        return Ticket(change.verb.value)

    async def applied(self, ticket: Ticket) -> None:
        """Nothing to note."""

    async def aborted(self, ticket: Ticket, error: BaseException) -> None:
        """Nothing to note."""
