"""Sessions as files: each is `chats/<id>.chat` of the project, virtual, and read as text.

Nothing of them is on the disk. What is told of a chat, its size, lines
and hash, is found out by going through its messages once; since a chat
only grows, what was found out is kept and goes on from where it ended.
"""

import asyncio
import hashlib
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace

from holdfast.store import chats
from holdfast.store.chats import Chat
from holdfast.store.database import Database
from holdfast.store.files import FOLDER as FOLDER_TYPE
from holdfast.store.files import PROJECT, File

from .chat_text import rendered
from .lines import Lines
from .paths import MAX_NAME_BYTES
from .sight import OWN_TEMPORARY
from .text import whole_characters

FOLDER = "chats"
EXTENSION = ".chat"
CHAT = "chat"
_MESSAGES_A_PAGE = 100
_MAX_SURVEYS = 10_000
_MAX_TEXT_BYTES = 1024 * 1024
_MAX_TEXTS_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class ChatFile(File):
    """A chat in the form of a row; `hash` and `size` are None as long as nobody has asked for them."""

    last_seq: int = 0


@dataclass(frozen=True)
class ChatPart:
    """Some lines of a chat, and what is known of the whole; `first` is the number of the first, counted from 0."""

    text: str
    first: int
    lines: int
    total_lines: int
    more: bool
    size: int
    sha256: str


@dataclass(frozen=True)
class _Survey:
    """What is known of a chat up to the event `seq`. `marks` are where pages of messages end: the event, and the lines up to there."""

    seq: int = 0
    size: int = 0
    lines: int = 0
    marks: tuple[tuple[int, int], ...] = ((0, 0),)
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)  # pyright: ignore[reportPrivateUsage] - it has no other name

    def with_page(self, text: bytes, seq: int) -> "_Survey":
        digest = self.digest.copy()
        digest.update(text)
        lines = self.lines + text.count(b"\n")
        return _Survey(seq, self.size + len(text), lines, (*self.marks, (seq, lines)), digest)


class Chats:
    """The chats of one workspace."""

    def __init__(self, database: Database, workspace_id: str) -> None:
        self._database = database
        self._workspace_id = workspace_id
        self._surveys: OrderedDict[str, _Survey] = OrderedDict()
        self._texts: OrderedDict[str, tuple[int, bytes]] = OrderedDict()
        self._texts_bytes = 0

    async def are_there(self) -> bool:
        """Whether there is one."""
        return await chats.latest(self._database, self._workspace_id) is not None

    async def at(self, path: str) -> ChatFile | None:
        """The chat at a path of the project."""
        session_id = _session_at(path)
        found = await chats.find(self._database, self._workspace_id, session_id) if session_id else None
        return self._file(found) if found is not None else None

    async def every(self, wanted: Callable[[str], bool] = lambda _: True) -> list[ChatFile]:
        """All chats whose paths are wanted; sessions whose ids cannot be names of files have none."""
        found = await chats.every(self._database, self._workspace_id)
        return [self._file(chat) for chat in found if _session_at(path := path_of(chat.id)) and wanted(path)]

    async def folder(self) -> File | None:
        """The folder that the chats are in, when there are any."""
        latest = await chats.latest(self._database, self._workspace_id)
        return self._row(FOLDER, FOLDER, FOLDER_TYPE, latest._replace(id=FOLDER)) if latest is not None else None

    async def measured(self, chat: ChatFile) -> ChatFile:
        """The chat with its hash and its size."""
        survey = await self._survey(chat)
        return replace(chat, hash=survey.digest.hexdigest(), size=survey.size)

    async def read(self, chat: ChatFile, lines: Lines, max_bytes: int) -> ChatPart:
        """The wanted lines, at most `max_bytes` of them."""
        survey = await self._survey(chat)
        first = lines.skip if lines.skip >= 0 else max(0, survey.lines + lines.skip)
        wanted = survey.lines - first if lines.at_most is None else min(lines.at_most, survey.lines - first)
        found, size = list[bytes](), 0
        seq, here = survey.marks[bisect_right(survey.marks, first, key=lambda mark: mark[1]) - 1]
        pages = self._pages(chat.id, after=seq, until=survey.seq)
        while len(found) < wanted and size <= max_bytes and (page := await anext(pages, None)) is not None:
            every = page[0].split(b"\n")[:-1]
            some = every[max(0, first - here) :][: wanted - len(found)]
            here += len(every)
            found += some
            size += sum(map(len, some)) + len(some)
        await pages.aclose()
        whole = b"".join(line + b"\n" for line in found)
        part = whole if len(whole) <= max_bytes else whole_characters(whole[:max_bytes])
        count = part.count(b"\n") + (1 if part and not part.endswith(b"\n") else 0)
        more = first + count < survey.lines or len(part) < len(whole)
        return ChatPart(part.decode(), first, count, survey.lines, more, survey.size, survey.digest.hexdigest())

    async def text(self, chat: ChatFile) -> bytes:
        """All that was said. What was asked for last is kept, so that a search need not go through every session again."""
        seq, text = self._texts.get(chat.id, (0, b""))
        if seq >= chat.last_seq:
            return text
        text += b"".join([page async for page, _ in self._pages(chat.id, after=seq, until=chat.last_seq)])
        if len(text) <= _MAX_TEXT_BYTES:
            self._keep_text(chat, text)
        return text

    def _keep_text(self, chat: ChatFile, text: bytes) -> None:
        _, before = self._texts.pop(chat.id, (0, b""))
        self._texts_bytes += len(text) - len(before)
        self._texts[chat.id] = (chat.last_seq, text)
        while self._texts_bytes > _MAX_TEXTS_BYTES:
            _, (_, oldest) = self._texts.popitem(last=False)
            self._texts_bytes -= len(oldest)

    async def _survey(self, chat: ChatFile) -> _Survey:
        known = self._surveys.get(chat.id, _Survey())
        if known.seq >= chat.last_seq:
            return known
        async for page, seq in self._pages(chat.id, after=known.seq, until=chat.last_seq):
            known = known.with_page(page, seq)
        # What came after the last message is no message, and need not be looked at again.
        known = replace(known, seq=chat.last_seq)
        self._surveys[chat.id] = known
        self._surveys.move_to_end(chat.id)
        while len(self._surveys) > _MAX_SURVEYS:
            self._surveys.popitem(last=False)
        return known

    async def _pages(self, session_id: str, *, after: int, until: int) -> AsyncGenerator[tuple[bytes, int]]:
        """The text, a few messages at a time, each with the number of its last event."""
        database, workspace_id = self._database, self._workspace_id
        while page := await chats.messages(database, workspace_id, session_id, after=after, until=until, limit=_MESSAGES_A_PAGE):
            after = page[-1].seq
            yield rendered(page), after
            await asyncio.sleep(0)

    def _file(self, chat: Chat) -> ChatFile:
        row = self._row(path_of(chat.id), chat.title or f"{chat.id}{EXTENSION}", CHAT, chat)
        return ChatFile(**vars(row), last_seq=chat.last_seq)

    def _row(self, path: str, display_name: str, file_type: str, chat: Chat) -> File:
        return File(
            id=chat.id,
            workspace_id=self._workspace_id,
            mount=PROJECT,
            path=path,
            name=path.rpartition("/")[2],
            display_name=display_name,
            file_type=file_type,
            parent_id="",
            created_at=chat.created_at,
            updated_at=chat.updated_at,
            deleted_at=None,
            version_id=None,
            number=None,
            content_kind="text" if file_type == CHAT else None,
            hash=None,
            size=None,
            is_virtual=True,
        )


def path_of(session_id: str) -> str:
    """Where the chat of a session is."""
    return f"{FOLDER}/{session_id}{EXTENSION}"


def may_be_chat(path: str) -> bool:
    """Whether a chat could be at the path."""
    return path.startswith(f"{FOLDER}/") and path.endswith(EXTENSION)


def _session_at(path: str) -> str:
    """The id of the session whose chat would be at the path; "" when none can be."""
    if not may_be_chat(path):
        return ""
    name = path[len(FOLDER) + 1 :]
    is_name = "/" not in name and "\0" not in name and name == name.strip() and not name.startswith(OWN_TEMPORARY)
    return name.removesuffix(EXTENSION) if is_name and len(name.encode(errors="replace")) <= MAX_NAME_BYTES else ""
