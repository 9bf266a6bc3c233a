"""A session is taken back to any of its events, whatever it did since, and what others did stays."""

import random
import re
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.store import events, sessions
from holdfast.store.events import NewEvent
from holdfast.vocabulary.errors import HoldfastError, InvalidArguments, NotFound
from holdfast.workspace.files import Files
from holdfast.workspace.keep_apply import Apply
from holdfast.workspace.rewind import Rewound
from tests.promises import carries
from tests.workspace.dying import Killed
from tests.workspace.keeping import Workbench, everything
from tests.workspace.shelf import Shelf

_PATHS = ("a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "f", "f/a", "g/h/i")
_SCRIPTS = (
    "echo more >> a; rm -f b; mkdir -p d/new; echo n > d/new/n",
    "rm -rf d; echo d > f2; chmod 700 a",
    "mv a moved; mv f g2; ln -sf a link",
    "mkdir -p g/h; echo i > g/h/i; mv d e; echo x >> e/a",
)


class Session:
    """A session at a bench: its calls, and its events."""

    def __init__(self, bench: Workbench, session_id: str = "s1") -> None:
        self.bench = bench
        self.id = session_id
        self.calls = 0

    async def begin(self) -> None:
        shelf = self.bench.shelf
        await sessions.open_session(shelf.database, shelf.records.lease, session_id=self.id, trust="guided", profile="coder")

    async def event(self) -> int:
        """The number of a new event."""
        shelf = self.bench.shelf
        [event] = await events.append(shelf.database, shelf.records.lease, self.id, [NewEvent("chat:message", {})])
        return event.seq

    @property
    def files(self) -> Files:
        """The files as the next call has them."""
        self.calls += 1
        return self.bench.by(f"{self.id}-{self.calls}", self.id)

    async def command(self, script: str) -> None:
        self.calls += 1
        await self.bench.keep(*await self.bench.ran(f"({script}) 2>/dev/null; true"), call=f"{self.id}-{self.calls}", session=self.id)

    async def rewind(self, event: int, *, call: str = "back", dry_run: bool = False) -> Rewound:
        """As a person does it, who is in no session."""
        return await self.bench.by(call, "").rewind(self.id, event, dry_run=dry_run)


@pytest.fixture
async def session(shelf: Shelf, tmp_path: Path) -> Session:
    session = Session(Workbench(shelf, tmp_path / "home"))
    await session.begin()
    await shelf.files.save(shelf.at("synced"), "1\n")
    shelf.put("unsynced", "2\n").chmod(0o640)
    shelf.put("d/x", "x\n").chmod(0o751)
    return session


async def _anything(session: Session, chance: random.Random) -> None:
    shelf, files = session.bench.shelf, session.files
    place, text = shelf.at(chance.choice(_PATHS)), f"{chance.random()}\n" * chance.randrange(5)
    match chance.randrange(8):
        case 0 | 1:
            await files.save(place, text, overwrite=True)
        case 2:
            await files.insert_saved(place, 0, text)
        case 3:
            await files.discard(place)
        case 4 | 5:
            await files.relocate(place, shelf.at(chance.choice(_PATHS)))
        case 6:
            await files.make_folder(place)
        case _:
            if chance.random() < 0.4:
                await session.command(chance.choice(_SCRIPTS))


@carries("REWIND-1", "REWIND-3")
@pytest.mark.parametrize("seed", [14, 118])
async def test_any_history_is_taken_back_to_any_of_its_events_and_that_too(session: Session, seed: int) -> None:
    chance, root = random.Random(seed), session.bench.root
    was = {0: everything(root)}
    for _ in range(25):
        with suppress(HoldfastError):
            await _anything(session, chance)
        if chance.random() < 0.3:
            was[await session.event()] = everything(root)
    end = everything(root)

    for number, event in enumerate(chance.sample(sorted(was), 3)):
        before = everything(root)
        told = await session.rewind(event, dry_run=True)
        assert everything(root) == before
        done = await session.rewind(event, call=f"back{number}")
        assert (done.restored, done.left) == (told.restored, told.left)
        assert done.left == ()
        assert everything(root) == was[event], event
    for number in (2, 1, 0):
        with suppress(NotFound):
            await session.bench.by(f"forth{number}", "").undo(f"back{number}")
    assert everything(root) == end


@carries("REWIND-2")
@pytest.mark.parametrize("seed", [2, 162])
async def test_nothing_that_somebody_wrote_by_hand_is_touched(session: Session, seed: int) -> None:
    chance, root = random.Random(seed), session.bench.root
    marks = [0]
    for number in range(25):
        with suppress(HoldfastError):
            await _anything(session, chance)
        if chance.random() < 0.3:
            marks.append(await session.event())
        if chance.random() < 0.3:
            with suppress(OSError):
                (root / chance.choice(_PATHS)).write_text(f"theirs {number}")
    before = everything(root)
    told = await session.rewind(marks[seed % len(marks)], dry_run=True)
    assert everything(root) == before

    done = await session.rewind(marks[seed % len(marks)])

    assert (done.restored, done.left) == (told.restored, told.left)
    assert _by_hand(before) <= _by_hand(everything(root))


def _by_hand(found: dict[str, tuple[str, int, bytes]]) -> set[bytes]:
    return {data for _, _, data in found.values() if re.fullmatch(rb"theirs \d+", data)}


@carries("REWIND-1")
async def test_only_what_came_after_the_event_is_taken_back_newest_first_and_told(session: Session) -> None:
    shelf = session.bench.shelf
    await session.files.save(shelf.at("a"), "first\n")
    event = await session.event()
    await session.files.replace_saved(shelf.at("a"), "first", "second")
    await session.files.replace_saved(shelf.at("a"), "second", "third")
    await session.files.save(shelf.at("new/b"), "b\n")
    await session.command("rm synced; chmod 600 unsynced; echo more >> a")

    done = await session.rewind(event)

    assert done.calls == ("s1-5", "s1-4", "s1-3", "s1-2")
    told = {(effect.path, effect.kind.value) for effect in done.restored}
    assert told == {("a", "changed"), ("new", "deleted"), ("new/b", "deleted"), ("synced", "added"), ("unsynced", "mode")}
    assert done.left == ()
    assert (shelf.text("a"), shelf.text("synced"), (shelf.root / "unsynced").stat().st_mode & 0o777) == ("first\n", "1\n", 0o640)
    assert await shelf.rows("SELECT DISTINCT call_id FROM versions WHERE kind IN ('undo', 'undelete')") == [("back",)]
    item = await shelf.files.item(shelf.at("a"))
    assert await shelf.kinds(item.file_id or "") == ["write", "edit", "edit", "command", "undo"]
    assert (await session.rewind(event, call="again")).restored == ()


@carries("REWIND-2")
async def test_what_others_changed_since_is_left_alone_and_told_with_the_reason(session: Session) -> None:
    shelf, other = session.bench.shelf, Session(session.bench, "s2")
    await other.begin()
    await session.files.save(shelf.at("edited"), "ours\n")
    await session.files.save(shelf.at("replaced"), "ours\n")
    await session.files.save(shelf.at("gone"), "ours\n")
    await session.files.save(shelf.at("between"), "ours\n")
    await session.files.discard(shelf.at("unsynced"))
    await session.files.save(shelf.at("folder/a"), "ours\n")
    await session.files.save(shelf.at("synced"), "ours\n", overwrite=True)
    shelf.put("edited", "theirs\n")
    await other.files.save(shelf.at("replaced"), "theirs\n", overwrite=True)
    (shelf.root / "gone").unlink()
    shelf.put("between", "theirs\n")
    await session.files.replace_saved(shelf.at("between"), "theirs", "ours again")
    shelf.put("unsynced", "theirs\n")
    shelf.put("folder/theirs", "theirs\n")

    done = await session.rewind(0)

    assert {(each.path, each.why) for each in done.left} == {
        ("edited", "changed"),
        ("replaced", "changed"),
        ("between", "changed_between"),
        ("unsynced", "exists"),
    }
    assert {(each.path, each.kind.value) for each in done.restored} == {
        ("between", "changed"),
        ("folder/a", "deleted"),
        ("synced", "changed"),
    }
    texts = {path: shelf.text(path) for path in ("edited", "replaced", "between", "unsynced", "folder/theirs", "synced")}
    assert texts == {**dict.fromkeys(texts, "theirs\n"), "synced": "1\n"}
    assert not (shelf.root / "folder/a").exists()


@carries("REWIND-1")
async def test_a_file_that_was_moved_and_changed_in_a_moved_folder_goes_back_and_so_does_what_only_came_along(session: Session) -> None:
    shelf = session.bench.shelf
    before = everything(shelf.root)
    await session.files.relocate(shelf.at("d"), shelf.at("moved"))
    await session.files.replace_saved(shelf.at("moved/x"), "x", "y")
    await session.files.relocate(shelf.at("moved/x"), shelf.at("moved/y"))
    shelf.put("moved/theirs", "theirs\n")

    done = await session.rewind(0)

    assert done.left == ()
    assert everything(shelf.root) == {**before, "d/theirs": ("file", 0o644, b"theirs\n")}


@carries("REWIND-3")
async def test_the_last_undo_after_a_rewind_is_of_what_is_still_there_and_a_rewind_is_undone_like_a_call(session: Session) -> None:
    shelf = session.bench.shelf
    await session.files.save(shelf.at("a"), "first\n")
    event = await session.event()
    await session.files.save(shelf.at("a"), "second\n", overwrite=True)
    await session.files.save(shelf.at("b"), "b\n")
    await session.rewind(event)

    assert await session.bench.by("next", "").last_call("s1") == "s1-1"
    await session.bench.by("forth", "").undo("back")

    assert (shelf.text("a"), shelf.text("b")) == ("second\n", "b\n")
    assert await session.bench.by("next", "").last_call("s1") == "s1-3"
    await session.rewind(0, call="all")
    assert not (shelf.root / "a").exists()


@carries("REWIND-4")
async def test_a_rewind_that_dies_is_finished_by_the_next_holder(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, before = session.bench.shelf, everything(session.bench.root)
    for number in range(5):
        await session.files.save(shelf.at(f"new/{number}"), f"{number}\n")
    await session.command("echo more >> synced; rm -r d")
    plain, done = Apply._one, 0  # pyright: ignore[reportPrivateUsage] - where a process dies is inside

    def one(self: Apply, step: object) -> None:
        nonlocal done
        done += 1
        if done == 4:
            raise Killed
        plain(self, step)  # pyright: ignore[reportArgumentType] - it is passed on

    monkeypatch.setattr(Apply, "_one", one)
    with pytest.raises(Killed):
        await session.rewind(0)
    monkeypatch.undo()
    assert everything(session.bench.root) != before

    again, report = await session.bench.crash_and_recover()

    assert report.layers is not None
    assert (report.layers.finished, report.layers.failed) == (1, 0)
    assert everything(again.root) == before
    assert (await Session(again).rewind(0, call="more")).restored == ()


@carries("REWIND-5")
async def test_a_session_or_an_event_that_is_not_there_is_an_error(session: Session) -> None:
    with pytest.raises(NotFound):
        await Session(session.bench, "nobody").rewind(0)
    with pytest.raises(InvalidArguments):
        await session.rewind(1)
    assert await session.rewind(0) == Rewound(())


@carries("REWIND-1", "REWIND-2")
async def test_what_git_ignores_goes_back_too_unless_a_whole_folder_of_it_was_replaced(session: Session) -> None:
    shelf = session.bench.shelf
    for path, text in ((".gitignore", "log/\ncache/\n"), (".git/HEAD", "ref: refs/heads/main\n"), ("log/a", "0\n"), ("log/b", "b\n")):
        shelf.put(path, text)
    shelf.put("cache/c", "c\n")
    before = everything(shelf.root)
    await session.command("echo 1 >> log/a; rm log/b")
    await session.command("echo 2 >> log/a; ln -s a log/link; rm -r cache")
    first = await session.event()
    await session.command("rm log/link; echo b > log/b; mkdir cache; echo other > cache/c")

    done = await session.rewind(0)

    assert [(each.path, each.why) for each in done.left] == [("cache", "impossible")]
    left = {path: told for path, told in everything(shelf.root).items() if not path.startswith("cache/")}
    assert left == {path: told for path, told in before.items() if not path.startswith("cache/")}
    again = await session.rewind(first, call="forth")
    assert (again.left, shelf.text("log/a"), (shelf.root / "log/link").is_symlink()) == ((), "0\n1\n2\n", True)
