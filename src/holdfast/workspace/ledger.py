"""Every change becomes a version before it is made.

One transaction records what will be there, with its bytes, what was
there if the store did not know it, and the call that asked for it. Its
commit is the one sync that the caller waits for.
"""

from dataclasses import dataclass

from holdfast.store import audit, files, versions
from holdfast.store import changes as store
from holdfast.store.begin import Begun, begin
from holdfast.store.contents import Content
from holdfast.store.database import Transaction
from holdfast.store.files import File
from holdfast.store.leases import check_held
from holdfast.vocabulary.errors import HoldfastError, InvalidArguments, IsDirectory, LostLease, NotFound, Virtual

from .author import Receipt, receipt_of
from .change import Change, Ticket, Verb
from .entry import Kind
from .faults import told
from .inode import Inode
from .item import ContentKind
from .kept import keep
from .place import Place
from .records import Records
from .settling import Applied, Settling


class VersionLedger:
    """A `Ledger` that outlasts a power cut, so the disk is synced later, by `settling`."""

    durable = True

    def __init__(self, records: Records) -> None:
        self.records = records
        self.settling = Settling(records)
        self._under_way: dict[Ticket, Applied] = {}
        self._folders_made: dict[Ticket, tuple[str, ...]] = {}
        self._count = 0

    async def pending(self, change: Change) -> Ticket:
        """Record what is about to be done.

        Raises:
            Virtual: The place is a virtual file's.
            LostLease: Another process has taken the workspace over.
            Busy, NoSpace: The store cannot record it now.
        """
        receipt = receipt_of(change.author)
        if not self.records.remembers(change.place):
            return self._ticket(change, None)
        known = await self._known(change, receipt)
        if change.verb is Verb.TOUCH and change.before is not None and known is not None and not known.is_folder:
            await self._touch(known, receipt)
            return self._ticket(change, None)
        with told(change.place):
            wish = await _Promise(self.records, change, known, receipt).made()
        begun = await begin(self.records.database, self.records.lease, wish, receipt.author.origin, entry=receipt.author.audit)
        receipt.begun = begun
        return self._ticket(change, begun)

    async def _known(self, change: Change, receipt: Receipt) -> File | None:
        """What the store has at the place, when that is of the kind that the disk has there.

        Raises:
            Virtual, IsDirectory: The store alone has something there that is in the way.
        """
        known = await self.records.row(change.place)
        check_not_virtual(known, change.place)
        for path in change.folders:
            check_not_virtual(await self.records.row_at(change.place.mount, path), change.place)
        if known is None:
            return None
        if change.before is None:
            if known.is_folder and change.verb in (Verb.WRITE, Verb.TOUCH):
                raise IsDirectory(f"'{change.place}' is a directory, not a file", hint="Name a file in it.", path=str(change.place))
            return known
        if known.is_folder == _is_folder(change.before):
            return known
        taken = store.Import(path=known.path, mount=known.mount, found=await _Promise(self.records, change, None, receipt).found())
        return (await begin(self.records.database, self.records.lease, taken, receipt.author.origin)).file

    async def applied(self, ticket: Ticket) -> None:
        """Settle it when the disk has been synced."""
        self._folders_made.pop(ticket, None)
        self.settling.add(self._under_way.pop(ticket))

    async def aborted(self, ticket: Ticket, error: BaseException) -> None:
        """Take the version back, before anybody hears that the change failed."""
        applied = self._under_way.pop(ticket)
        made = self._folders_made.pop(ticket, ())
        if applied.version_id is None:
            return
        try:
            await versions.abort(self.records.database, self.records.lease, applied.version_id)
            await self._forget_folders(self.records.name_of(applied.mount), made)
        except (NotFound, LostLease):
            return
        except HoldfastError:
            self.settling.abort_later(applied.version_id)

    async def flush(self) -> None:
        """Sync and settle all that has been done so far."""
        await self.settling.flush()

    async def close(self) -> None:
        """Sync and settle what is left."""
        await self.settling.close()

    def _ticket(self, change: Change, begun: Begun | None) -> Ticket:
        self._count += 1
        ticket = Ticket(str(self._count))
        pending = begun is not None and begun.version.state == versions.PENDING
        self._under_way[ticket] = _to_sync(change, begun.version.id if begun and pending else None)
        if change.folders:
            self._folders_made[ticket] = change.folders
        return ticket

    async def _forget_folders(self, mount: str, made: tuple[str, ...]) -> None:
        """Let the store forget the folders that were made for a change which was not; the disk has taken them back."""
        if not made:
            return
        lease = self.records.lease

        def work(transaction: Transaction) -> None:
            check_held(transaction, lease)
            for path in reversed(made):
                files.retire_empty(transaction, lease, mount, path)

        await self.records.database.write(work)

    async def _touch(self, known: File, receipt: Receipt) -> None:
        entry, lease = receipt.author.audit, self.records.lease

        def work(transaction: Transaction) -> None:
            check_held(transaction, lease)
            files.dress(transaction, lease, known, file_type=None, display_name=None)
            if entry is not None:
                audit.put(transaction, entry)

        await self.records.database.write(work)


def check_not_virtual(known: File | None, place: Place) -> None:
    """Let no virtual file be changed. The folder of the chats may have other files in it.

    Raises:
        Virtual: It is one.
    """
    if known is not None and known.is_virtual and not known.is_folder:
        what = f"'{place}' is the chat of a session, made by the system from what is said there"
        raise Virtual(what, hint="It grows with the session, and cannot be written, moved or removed as a file.", path=str(place))


@dataclass(frozen=True)
class _Promise:
    """One change on its way into the words of the store."""

    records: Records
    change: Change
    known: File | None
    receipt: Receipt

    async def made(self) -> store.Change:
        if self.receipt.undeletes is not None:
            return store.Undelete(file_id=self.receipt.undeletes, folders_made=self._folders_made)
        match self.change.verb:
            case Verb.WRITE:
                return await self._write()
            case Verb.TOUCH if self.change.before is None:
                return await self._write()
            case Verb.TOUCH:
                return store.Import(path=self.change.place.path, mount=self._mount, found=await self.found())
            case Verb.MKDIR:
                return store.MakeFolder(
                    path=self.change.place.path, mount=self._mount, inode=number_of(self.change.after), folders_made=self._folders_made
                )
            case Verb.MOVE:
                return await self._move()
            case Verb.REMOVE:
                return store.Remove(
                    path=self.change.place.path,
                    mount=self._mount,
                    is_folder=_is_folder(self.change.before),
                    found=await self.found(),
                    mode=self.change.before.mode if self.change.before else None,
                    inode=number_of(self.change.before),
                )

    @property
    def _folders_made(self) -> int:
        return len(self.change.folders)

    @property
    def _mount(self) -> str:
        return self.records.name_of(self.change.place.mount)

    async def _write(self) -> store.Write:
        after = self.change.after
        assert after is not None, "what is written is there afterwards"
        return store.Write(
            path=self.change.place.path,
            mount=self._mount,
            kind=self.receipt.version_kind(self.change.verb),
            content=await keep(
                self.records, self.change.place.mount, after, self.receipt.content_kind, was_json=self._is_current and self._was_json
            ),
            file_type=self.receipt.file_type,
            if_exists=False if self.receipt.is_new else None,
            found=await self.found(),
            was_there=self.change.before is not None,
            mode=after.mode,
            inode=number_of(after),
            folders_made=self._folders_made,
        )

    async def _move(self) -> store.Move:
        target = self.change.target
        assert target is not None, "what is moved goes somewhere"
        if target.mount is not self.change.place.mount:
            raise InvalidArguments.of("destination", "is in another mount", hint="Write it there, then remove it here.")
        check_not_virtual(await self.records.row(target), target)
        return store.Move(
            source=self.change.place.path,
            target=target.path,
            mount=self._mount,
            is_folder=_is_folder(self.change.before),
            replace=True,
            found=await self.found(),
            inode=number_of(self.change.before),
            folders_made=self._folders_made,
        )

    async def found(self) -> Content | None:
        """What stands on the disk, when that is not what the store has as the newest version."""
        before = self.change.before
        if before is None or before.kind is Kind.DIRECTORY or (before.kind is Kind.FILE and self._is_current):
            return None
        return await keep(self.records, self.change.place.mount, before, None, was_json=self._was_json)

    @property
    def _is_current(self) -> bool:
        """Whether the store's newest version is what stands on the disk."""
        before = self.change.before
        return before is not None and self.known is not None and before.sha256 is not None and self.known.hash == before.sha256

    @property
    def _was_json(self) -> bool:
        return self.known is not None and self.known.content_kind == ContentKind.JSON.value


def number_of(inode: Inode | None) -> str:
    """What the recovery knows an inode by: its device and number."""
    return f"{inode.about.st_dev}:{inode.number}" if inode is not None else ""


def _is_folder(inode: Inode | None) -> bool:
    return inode is not None and inode.kind is Kind.DIRECTORY


def _to_sync(change: Change, version_id: str | None) -> Applied:
    place, target = change.place, change.target
    folders = {place.parent_path, *(path.rpartition("/")[0] for path in change.folders)}
    if target is not None:
        folders.add(target.parent_path)
    written = change.verb in (Verb.WRITE, Verb.TOUCH) and change.after is not None
    return Applied(place.mount, (place.path,) if written else (), tuple(folders), version_id)
