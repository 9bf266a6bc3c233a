"""Where a workspace's memory is: its rows, the right to change them, and the folder of large contents."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from holdfast.store import files
from holdfast.store.contents import MAX_FILE_BYTES
from holdfast.store.database import Database
from holdfast.store.files import PROJECT, File
from holdfast.store.leases import Lease

from .chats import FOLDER as CHATS
from .chats import Chats, may_be_chat
from .mount import Mount
from .place import Place

STATE = "state"


@dataclass(frozen=True)
class Records:
    """The store of one workspace, for the process that holds it. Contents over `max_kept_bytes` are not kept."""

    database: Database
    lease: Lease
    content_folder: Path
    max_kept_bytes: int = MAX_FILE_BYTES

    @property
    def workspace_id(self) -> str:
        """Whose rows they are."""
        return self.lease.workspace_id

    def name_of(self, mount: Mount) -> str:
        """What the store calls the mount: `@state` is another folder in each run, and their rows must not be mixed up."""
        if mount.name != STATE:
            return mount.name
        if mount.root.parent.name == STATE:
            return f"{STATE}/{mount.root.name}"
        return f"{STATE}/@{sha256(bytes(mount.root)).hexdigest()[:16]}"

    @cached_property
    def chats(self) -> Chats:
        """The sessions, which are files of the project."""
        return Chats(self.database, self.workspace_id)

    async def row(self, place: Place) -> File | None:
        """The active file or folder that the store has at a place, a chat of a session first; the root of a mount has no row."""
        return await self.row_at(place.mount, place.path)

    async def row_at(self, mount: Mount, path: str) -> File | None:
        """The same, for a path of a mount."""
        if path.startswith(CHATS) and mount.name == PROJECT:
            if may_be_chat(path) and (chat := await self.chats.at(path)) is not None:
                return chat
            if path == CHATS:
                return await self.stored_at(mount, path) or await self.chats.folder()
        return await self.stored_at(mount, path)

    async def stored_at(self, mount: Mount, path: str) -> File | None:
        """The row alone, which a chat may hide."""
        return await files.find(self.database, self.workspace_id, path, mount=self.name_of(mount)) if path else None

    def remembers(self, place: Place) -> bool:
        """Whether changes there become versions. The audit log is its own memory."""
        return place.mount.name != STATE or not f"{place.path}/".startswith("logs/")
