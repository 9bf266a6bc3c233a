"""Files as disk and store know them together: what the `workspace` and `person` toolsets speak of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.store.layers import NewLayer
from holdfast.vocabulary.effects import Effects
from holdfast.vocabulary.errors import Broken
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.protected import ProtectedPaths

from . import arrange, items, save
from .author import receipt_of
from .changes import Changes
from .find import Criteria
from .grep import grep
from .history import History
from .item import Item, Saved, VersionInfo, View
from .keep import Kept, keep
from .lines import Lines
from .match import Found, Query
from .mount import Mount
from .place import Place
from .plans import plan_files
from .read import EVERYTHING
from .records import Records
from .resolve import resolve
from .rewind import Rewound, rewind
from .save import WHOLE, Part
from .sight import Sight
from .trash import Trash
from .undo import Undone, last_call, undo
from .view import about, view


@dataclass(frozen=True)
class Library:
    """The union of disk and store. Without `records` there is only the disk, which can be looked at but not be saved to.

    Paths in what it gives are counted from the mount's root. Errors that
    all methods may raise: NotFound, AccessDenied, Busy, LostLease.
    """

    sight: Sight
    changes: Changes
    records: Records | None = None
    mounts: Mapping[str, Mount] = field(default_factory=dict[str, Mount])
    untouchable: ProtectedPaths | None = None
    trash: Trash | None = None

    # Looking

    async def items(self, place: Place, *, recursive: bool) -> list[Item]:
        """What is in a folder: folders first, then by path. Raises NotDirectory for a file."""
        return await items.items(self.records, place, recursive=recursive)

    async def find_items(self, place: Place, criteria: Criteria, *, file_type: str | None = None) -> Sequence[Item]:
        """What fits the criteria beneath a folder, by path."""
        return await items.find_items(self.records, place, criteria, file_type=file_type)

    async def glob_items(self, place: Place, patterns: Sequence[str]) -> Sequence[Item]:
        """What matches one of the patterns beneath a folder, by path."""
        return await items.glob_items(self.records, place, patterns)

    async def item(self, place: Place) -> Item:
        """What is at the place."""
        return await items.item(self.records, place)

    async def view(self, place: Place, lines: Lines = EVERYTHING, *, max_bytes: int | None = None) -> View:
        """What a file says. Raises IsDirectory for a folder, TooLarge for what is not text and over the limit."""
        return await view(self.records, place, lines, max_bytes=max_bytes)

    async def about(self, place: Place) -> View:
        """All of a view but the content, of files of any size. Raises IsDirectory for a folder."""
        return await about(self.records, place)

    async def grep(self, query: Query, path_filter: Callable[[str], bool] | None, place: Place) -> Found:
        """The lines that match, ordered by path and line; `path_filter` is given paths counted from the mount's root."""
        session_id = receipt_of(self.changes.author).author.session_id
        return await grep(self.records, place, query, path_filter, self.sight, session_id=session_id)

    async def plan_files(self) -> list[tuple[Item, bytes]]:
        """Every plan of the project with its bytes, by path."""
        return await plan_files(self.records, await resolve(self.mounts["project"], "", written="/"))

    # Changing

    async def save(self, place: Place, content: Json, *, file_type: str | None = None, overwrite: bool = False) -> Saved:
        """Make `content` the whole of a file: a string as text, anything else as JSON. Raises Exists, IsDirectory, Virtual."""
        return await save.save(self._kept(), self.changes, place, content, file_type=file_type, overwrite=overwrite)

    async def replace_saved(
        self, place: Place, old: str, new: str, *, only_if: str | None = None, merge: bool = False, part: Part = WHOLE
    ) -> Saved:
        """Put `new` where `old` is. Raises NoMatch, ManyMatches, StaleHash, MergeConflict, IsDirectory, Virtual."""
        return await save.replace_saved(self._kept(), self.changes, place, old, new, only_if=only_if, merge=merge, part=part)

    async def insert_saved(
        self, place: Place, line: int, content: str, *, only_if: str | None = None, merge: bool = False, part: Part = WHOLE
    ) -> Saved:
        """Put whole lines before a line, counted from 0. Raises InvalidRange, and otherwise as `replace_saved`."""
        return await save.insert_saved(self._kept(), self.changes, place, line, content, only_if=only_if, merge=merge, part=part)

    async def discard(self, place: Place) -> str | None:
        """Remove a file or an empty folder; its id, or None when the store did not know it. Raises NotEmpty, Virtual."""
        return await arrange.discard(self._kept(), self.changes, place)

    async def relocate(self, source: Place, target: Place, *, exact: bool = False) -> Saved:
        """Move a file or a folder; a folder at the target receives it, unless that is `exact`. Raises Exists, InvalidArguments, Virtual."""
        return await arrange.relocate(self._kept(), self.changes, source, target, exact=exact, untouchable=self.untouchable)

    async def touch_item(self, place: Place) -> Item:
        """Set a file's time to now, or make it empty. Raises IsDirectory, Virtual."""
        return await arrange.touch_item(self._kept(), self.changes, place)

    async def make_folder(self, place: Place) -> Item:
        """Make a folder and what is missing above it. Raises Exists over a file."""
        return await arrange.make_folder(self._kept(), self.changes, place)

    # Remembering

    async def history(self, file_id: str) -> list[VersionInfo]:
        """All versions of a file, the newest first."""
        return await self._history().versions(file_id)

    async def content_of(self, file_id: str, version_id: str | None) -> View:
        """What a file was by a version, or is by its newest. Raises NotKept."""
        return await self._history().content(file_id, version_id)

    async def bytes_of(self, file_id: str, version_id: str | None) -> tuple[VersionInfo, bytes]:
        """A version of a file, or its newest, with its bytes. Raises NotKept."""
        return await self._history().bytes_of(file_id, version_id)

    async def difference(self, file_id: str, from_version: str, to_version: str) -> str:
        """A unified diff of two versions. Raises NotKept, TooLarge."""
        return await self._history().difference(file_id, from_version, to_version)

    async def restore(self, file_id: str, version_id: str) -> Saved:
        """Make an old version the newest one. Raises NotKept, InvalidArguments."""
        return await self._history().restore(file_id, version_id)

    async def undelete(self, file_id: str) -> Saved:
        """Bring a removed file back to where it was. Raises Exists, Conflict, NotKept."""
        return await self._history().undelete(file_id)

    async def deleted_items(self) -> list[Item]:
        """What can be undeleted, the latest deletion first."""
        return await self._history().deleted()

    async def item_by_id(self, file_id: str) -> Item:
        """The file with that id, deleted or not."""
        return await self._history().item(file_id)

    # What commands did, and taking back what a call did

    async def keep(
        self,
        layer: NewLayer,
        effects: Effects,
        uppers: Mapping[str, int],
        *,
        only: Iterable[tuple[str, str]] | None = None,
        may_write_git: bool = False,
        may_write_protected: bool = False,
    ) -> Kept:
        """Make the effects of a layer real, or `only` those at or below some paths. Raises Conflict, NoSpace."""
        return await keep(
            self._kept(),
            self.changes,
            self.mounts,
            layer,
            effects,
            uppers,
            trash=self._trash(),
            only=only,
            may_write_git=may_write_git,
            may_write_protected=may_write_protected,
        )

    async def undo(self, call_id: str, *, session_id: str | None = None, force: bool = False) -> Undone:
        """Take back all that a call did. Raises NotFound, InvalidArguments."""
        trash = self._trash()
        return await undo(self._kept(), self.changes, self.mounts, call_id, trash=trash, session_id=session_id, force=force)

    async def rewind(self, session_id: str, event: int, *, dry_run: bool = False) -> Rewound:
        """Take back all that a session did after an event, but for what others have changed since. Raises NotFound, InvalidArguments."""
        return await rewind(self._kept(), self.changes, self.mounts, session_id, event, trash=self._trash(), dry_run=dry_run)

    async def last_call(self, session_id: str) -> str:
        """The latest call of a session that can be taken back. Raises NotFound."""
        return (await last_call(self._kept(), session_id))[1]

    def _trash(self) -> Trash:
        if self.trash is None:
            raise Broken("this workspace was opened without a trash", hint="Open it with one.")
        return self.trash

    def _history(self) -> History:
        return History(self._kept(), self.changes, self.mounts)

    def _kept(self) -> Records:
        if self.records is None:
            raise Broken("this workspace was opened without a store", hint="Open it with one.")
        return self.records
