"""On whose behalf files change, and what one change is told of its version."""

from dataclasses import dataclass, field

from holdfast.store.audit import Entry
from holdfast.store.begin import Begun
from holdfast.store.versions import Origin
from holdfast.vocabulary.call import ToolCall

from .change import Verb
from .changes import Changes
from .item import ContentKind


@dataclass(frozen=True)
class Author:
    """Who changes something in which call; `audit` is the call's entry, recorded together with its first change."""

    call_id: str = ""
    session_id: str = ""
    user: str = ""
    agent: str = ""
    audit: Entry | None = None

    @property
    def origin(self) -> Origin:
        """The same, as a version has it."""
        return Origin(author=self.agent or self.user, session_id=self.session_id, call_id=self.call_id)


@dataclass
class Receipt:
    """How one change wants its version to be, and in `begun` the version that it got.

    What is None is for the ledger to find out. `undeletes` is the id of
    the file that comes back instead of a new one, `is_new` says that the
    store must not know the place either.
    """

    author: Author = field(default_factory=Author)
    kind: str | None = None
    content_kind: ContentKind | None = None
    file_type: str | None = None
    undeletes: str | None = None
    is_new: bool = False
    begun: Begun | None = None

    def version_kind(self, verb: Verb) -> str:
        """What the version is called."""
        return self.kind or ("write" if verb is Verb.TOUCH else verb.value)


def receipt_of(author: object) -> Receipt:
    """The receipt that a change carries; for one that carries only its author, a new one."""
    match author:
        case Receipt():
            return author
        case Author():
            return Receipt(author)
        case ToolCall():
            return Receipt(Author(author.id, author.caller.session, author.caller.user, author.caller.agent))
        case _:
            return Receipt()


def with_receipt(changes: Changes, receipt: Receipt) -> tuple[Changes, Receipt]:
    """`changes` as they are, but for one change with this receipt, which gets their author."""
    receipt.author = receipt_of(changes.author).author
    return changes.by(receipt), receipt
