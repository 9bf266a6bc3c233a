"""What the store knows of files: where they are, and what is in which folder."""

import pytest

from holdfast.store import files
from holdfast.store.changes import Import, MakeFolder, Move, Remove
from holdfast.store.database import NOTHING, Database, Parameters, Row, Transaction
from holdfast.store.leases import Lease
from holdfast.store.opening import open_database
from holdfast.store.within import within
from tests.store.scene import do, held_workspace, write


async def paths_below(database: Database, lease: Lease, path: str = "") -> list[str]:
    return [file.path for file in await files.below(database, lease.workspace_id, path)]


async def test_a_file_is_found_by_its_path_and_by_its_id(database: Database, lease: Lease) -> None:
    made = (await write(database, lease, "notes/todo.md", "milk")).file

    assert await files.find(database, lease.workspace_id, "notes/todo.md") == made
    assert await files.get(database, lease.workspace_id, made.id) == made
    assert (made.name, made.display_name, made.file_type, made.is_virtual) == ("todo.md", "todo.md", "document", False)


async def test_a_file_of_another_workspace_is_not_found(database: Database, lease: Lease) -> None:
    made = (await write(database, lease, "todo.md", "milk")).file
    other = await held_workspace(database)

    assert await files.find(database, other.workspace_id, "todo.md") is None
    assert await files.get(database, other.workspace_id, made.id) is None
    assert await files.below(database, other.workspace_id, "") == []


async def test_the_same_path_in_two_mounts_is_two_files(database: Database, lease: Lease) -> None:
    here = (await write(database, lease, "todo.md", "milk")).file
    there = (await write(database, lease, "todo.md", "bread", mount="central")).file

    assert await files.find(database, lease.workspace_id, "todo.md") == here
    assert await files.find(database, lease.workspace_id, "todo.md", mount="central") == there


async def test_missing_folders_come_into_being_with_the_file(database: Database, lease: Lease) -> None:
    made = (await write(database, lease, "a/b/c.txt", "x")).file

    folder = await files.find(database, lease.workspace_id, "a/b")

    assert folder is not None
    assert (folder.is_folder, folder.hash, folder.size, made.parent_id) == (True, None, None, folder.id)
    assert await paths_below(database, lease) == ["a", "a/b", "a/b/c.txt"]


async def test_children_are_what_is_directly_in_a_folder(database: Database, lease: Lease) -> None:
    for path in ("b.txt", "a/x.txt", "a/deep/y.txt", "a.txt"):
        await write(database, lease, path, "x")

    folder = await files.find(database, lease.workspace_id, "a")

    assert [file.path for file in await files.children(database, lease.workspace_id, None)] == ["a", "a.txt", "b.txt"]
    assert [file.path for file in await files.children(database, lease.workspace_id, folder)] == ["a/deep", "a/x.txt"]


async def test_below_is_everything_under_a_folder_and_nothing_that_only_begins_like_it(database: Database, lease: Lease) -> None:
    for path in ("ab/1", "a/2", "a-b/3", "a.txt", "a/z/4", "a0/5", "ä/6", "A/7"):
        await write(database, lease, path, "x")

    assert await paths_below(database, lease, "a") == ["a/2", "a/z", "a/z/4"]
    everything = await paths_below(database, lease)
    assert everything == sorted(everything)
    assert len(everything) == 15


async def test_below_comes_in_pages(database: Database, lease: Lease) -> None:
    for number in range(7):
        await write(database, lease, f"d/{number}", "x")

    first = await files.below(database, lease.workspace_id, "d", limit=3)
    second = await files.below(database, lease.workspace_id, "d", limit=3, after=first[-1].path)

    assert [file.name for file in first + second] == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize("letter", ["x", "🦀"])
async def test_the_longest_paths_are_stored_found_listed_and_moved(database: Database, lease: Lease, letter: str) -> None:
    name = letter * (200 // len(letter.encode()))
    deep = "/".join([name] * 19)
    twin = f"{deep[:-1]}y"
    await write(database, lease, f"{deep}/file", "deep")
    await write(database, lease, f"{twin}/file", "twin")

    found = await files.find(database, lease.workspace_id, f"{deep}/file")
    below_deep = await paths_below(database, lease, deep)
    await do(database, lease, Move(source=deep, target="shallow"))

    assert found is not None
    assert below_deep == [f"{deep}/file"]
    assert await paths_below(database, lease, "shallow") == ["shallow/file"]
    assert await paths_below(database, lease, twin) == [f"{twin}/file"]


async def test_a_moved_folder_takes_everything_along(database: Database, lease: Lease) -> None:
    inside = (await write(database, lease, "old/sub/file.txt", "x")).file
    await write(database, lease, "older/file.txt", "not this one")

    moved = (await do(database, lease, Move(source="old", target="new/place"))).file

    assert moved.path == "new/place"
    assert await paths_below(database, lease) == ["new", "new/place", "new/place/sub", "new/place/sub/file.txt", "older", "older/file.txt"]
    again = await files.get(database, lease.workspace_id, inside.id)
    assert again is not None
    assert (again.path, again.parent_id, again.hash) == ("new/place/sub/file.txt", inside.parent_id, inside.hash)


async def test_deleted_files_are_listed_apart_the_latest_first(database: Database, lease: Lease) -> None:
    for path in ("one", "two"):
        await write(database, lease, path, path)
        await do(database, lease, Remove(path=path))

    assert [file.path for file in await files.deleted(database, lease.workspace_id)] == ["two", "one"]
    assert await paths_below(database, lease) == []


async def test_a_touched_file_is_newer_and_has_no_new_version(database: Database, lease: Lease) -> None:
    made = (await write(database, lease, "todo.md", "milk")).file

    at = await files.touch(database, lease, made.id)

    touched = await files.get(database, lease.workspace_id, made.id)
    assert touched is not None
    assert (touched.updated_at, touched.version_id) == (at, made.version_id)
    assert at > made.updated_at


async def test_a_folder_can_be_known_without_having_been_made_by_us(database: Database, lease: Lease) -> None:
    imported = await do(database, lease, Import(path="src", found=None))
    made = await do(database, lease, MakeFolder(path="docs"))

    assert (imported.file.is_folder, imported.version.kind, imported.version.state) == (True, "baseline", "settled")
    assert (made.file.is_folder, made.version.kind, made.version.state) == (True, "mkdir", "pending")


async def test_a_folder_of_many_files_is_listed_whole(database: Database, lease: Lease) -> None:
    def work(transaction: Transaction) -> None:
        for number in range(1_005):
            files.add(transaction, lease, "project", f"d/{number:05}", file_type="document")

    await within(60, database).write(work)

    listed = await files.children(database, lease.workspace_id, await files.find(database, lease.workspace_id, "d"))

    assert [file.name for file in listed] == [f"{number:05}" for number in range(1_005)]


async def test_a_path_is_found_by_an_index_however_many_files_there_are(sqlite_url: str) -> None:
    database = await open_database(sqlite_url)
    lease = await held_workspace(database)
    await write(database, lease, "a/b", "x")
    statements = Statements(database)

    await files.find(statements, lease.workspace_id, "a/b")
    await files.children(statements, lease.workspace_id, None)
    await files.below(statements, lease.workspace_id, "a")

    assert [plan.partition("(")[2] for plan in await statements.plans()] == [
        "workspace_id=? AND mount=? AND <expr>=?)",
        "workspace_id=? AND mount=? AND parent_id=? AND name>?)",
        "workspace_id=? AND mount=? AND <expr>>? AND <expr><?)",
    ]
    await database.close()


class Statements:
    """A database that remembers what was read from it."""

    embedded = True

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen: list[tuple[str, Parameters]] = []
        self.write = database.write
        self.post = database.post
        self.close = database.close

    async def row(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float = 5) -> Row | None:
        self._seen.append((sql, parameters))
        return await self._database.row(sql, parameters, deadline=deadline)

    async def rows(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float = 5) -> list[Row]:
        self._seen.append((sql, parameters))
        return await self._database.rows(sql, parameters, deadline=deadline)

    async def scan(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float = 5) -> list[Row]:
        self._seen.append((sql, parameters))
        return await self._database.scan(sql, parameters, deadline=deadline)

    async def plans(self) -> list[str]:
        """How SQLite finds the first table's rows for each statement."""
        return [(await self._database.rows(f"EXPLAIN QUERY PLAN {sql}", values))[0][3] for sql, values in self._seen]


async def test_known_below_tells_the_same_paths_as_below(database: Database, lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("a/1", "a/2/3", "ab", "b"):
        await write(database, lease, path, "x")
    monkeypatch.setattr(files, "_FEW", 2)

    for folder in ("", "a", "b"):
        known = await files.known_below(database, lease.workspace_id, folder)
        below = await files.below(database, lease.workspace_id, folder)
        assert [(one.path, one.is_folder, one.is_virtual) for one in known] == [(one.path, one.is_folder, False) for one in below]


async def test_files_of_one_type_are_found_wherever_they_are(database: Database, lease: Lease) -> None:
    await write(database, lease, "z.plan", "x", file_type="plan")
    await write(database, lease, "a/b.plan", "x", file_type="plan")
    await write(database, lease, "c.plan", "x")

    assert [file.path for file in await files.of_type(database, lease.workspace_id, "plan")] == ["a/b.plan", "z.plan"]
