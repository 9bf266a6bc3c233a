"""A process that is gone right after it has recorded a change, and before it has made it."""

from holdfast.workspace.author import Author
from holdfast.workspace.change import Change, Ticket
from holdfast.workspace.changes import Changes
from holdfast.workspace.files import Files
from holdfast.workspace.ledger import VersionLedger
from tests.workspace.shelf import Shelf


class Killed(BaseException):
    """The process is gone."""


class _Dying(VersionLedger):
    async def pending(self, change: Change) -> Ticket:
        await super().pending(change)
        raise Killed


def dying(shelf: Shelf, author: Author | None = None) -> Files:
    """The files of a shelf, for a process that does not survive its next change."""
    return Files(shelf.files.sight, Changes(_Dying(shelf.records), author), shelf.records, shelf.files.mounts)
