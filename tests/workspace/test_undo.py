"""A call is taken back to the last byte and bit, unless somebody has gone on from there; and that can be taken back too."""

from pathlib import Path

import pytest

from holdfast.vocabulary.errors import InvalidArguments, NotFound
from holdfast.workspace.keep_apply import Apply
from holdfast.workspace.trash import Trash
from tests.workspace.dying import Killed
from tests.workspace.keeping import Workbench, everything
from tests.workspace.shelf import Shelf
from tests.workspace.test_keep_recovery import SCRIPT, fill


@pytest.fixture
async def bench(shelf: Shelf, tmp_path: Path) -> Workbench:
    bench = Workbench(shelf, tmp_path / "home")
    await shelf.files.save(shelf.at("synced"), "1\n")
    await shelf.files.save(shelf.at("json"), {"a": 1})
    shelf.put("unsynced", "2\n").chmod(0o640)
    shelf.put("d/x", "x\n").chmod(0o751)
    return bench


async def test_a_command_that_did_everything_is_taken_back(bench: Workbench) -> None:
    fill(bench.root)
    for path in ("changed1", "moved1", "gone1", "mode1"):
        await bench.shelf.files.save(bench.shelf.at(path), f"{path}\n", overwrite=True)
    (bench.root / "gone2").chmod(0o711)
    (bench.root / "changed3").write_bytes(b"\0\xff" * 1000)
    before = everything(bench.root)
    await bench.do(SCRIPT)
    after = everything(bench.root)
    assert after != before

    undone = await bench.by("c2").undo("c1")

    assert (undone.conflicts, undone.left_out) == ((), ())
    assert everything(bench.root) == before

    again = await bench.by("c3").undo("c2")

    assert again.conflicts == ()
    assert everything(bench.root) == after

    await bench.by("c4").undo("c3")

    assert everything(bench.root) == before


async def test_what_comes_back_is_the_same_file_with_its_history(bench: Workbench) -> None:
    item = await bench.shelf.files.item(bench.shelf.at("json"))
    await bench.do("rm json; echo 3 >synced")

    await bench.by("c2").undo("c1")

    back = await bench.shelf.files.item(bench.shelf.at("json"))
    assert back.file_id == item.file_id
    assert (await bench.shelf.files.view(bench.shelf.at("json"))).content == {"a": 1}
    assert await bench.shelf.kinds(back.file_id or "") == ["write", "remove", "undelete"]
    synced = await bench.shelf.files.item(bench.shelf.at("synced"))
    assert await bench.shelf.kinds(synced.file_id or "") == ["write", "command", "undo"]
    assert await bench.shelf.rows("SELECT DISTINCT call_id FROM versions WHERE kind IN ('undo', 'undelete')") == [("c2",)]


async def test_a_repository_that_was_made_and_committed_to_is_taken_back(bench: Workbench) -> None:
    before = everything(bench.root)
    await bench.do("git init -q . && git add -A && git commit -qm first")
    assert (bench.root / ".git/HEAD").exists()

    undone = await bench.by("c2").undo("c1")

    assert undone.conflicts == ()
    assert everything(bench.root) == before


async def test_what_somebody_changed_since_is_a_conflict_and_nothing_is_done(bench: Workbench) -> None:
    await bench.do("echo 3 >synced; echo 4 >unsynced; echo a >added; rm d/x; chmod 600 json; mkdir e; echo f >e/f")
    bench.shelf.put("unsynced", "theirs\n")
    bench.shelf.put("added", "theirs\n")
    bench.shelf.put("d/x", "theirs\n")
    (bench.root / "json").chmod(0o666)
    now = everything(bench.root)

    undone = await bench.by("c2").undo("c1")

    found = {(one.path, one.why) for one in undone.conflicts}
    assert found == {("unsynced", "changed"), ("added", "changed"), ("d/x", "exists"), ("json", "changed")}
    assert (undone.restored, everything(bench.root)) == ((), now)


async def test_a_forced_undo_replaces_that_too_and_it_can_be_had_back(bench: Workbench) -> None:
    before = everything(bench.root)
    await bench.do("echo 3 >synced; echo 4 >unsynced; echo a >added; rm d/x; mv json j; chmod 700 d")
    bench.shelf.put("unsynced", "theirs\n")
    bench.shelf.put("added", "theirs\n")
    bench.shelf.put("d/x", "theirs\n")
    (bench.root / "synced").unlink()

    undone = await bench.by("c2").undo("c1", force=True)

    assert undone.conflicts == ()
    assert everything(bench.root) == before
    await bench.by("c3").undo("c2")
    assert (bench.shelf.text("unsynced"), bench.shelf.text("added"), bench.shelf.text("d/x")) == ("theirs\n", "theirs\n", "theirs\n")


async def test_a_folder_that_somebody_uses_stays(bench: Workbench) -> None:
    await bench.do("mkdir -p e/f e/g; echo h >e/f/h")
    bench.shelf.put("e/f/theirs", "theirs\n")

    undone = await bench.by("c2").undo("c1")

    assert undone.conflicts == ()
    assert sorted(str(path.relative_to(bench.root)) for path in (bench.root / "e").rglob("*")) == ["e/f", "e/f/theirs"]


async def test_what_file_tools_did_is_taken_back(bench: Workbench) -> None:
    shelf = bench.shelf
    (bench.root / "link").symlink_to("d")
    await shelf.files.make_folder(shelf.at("moved"))
    before = everything(bench.root)
    files = bench.by("c1")
    await files.save(shelf.at("new/deep/a"), "a")
    await files.save(shelf.at("synced"), "3\n", overwrite=True)
    await files.replace_saved(shelf.at("synced"), "3", "33")
    await files.replace_saved(shelf.at("unsynced"), "2", "22")
    await files.relocate(shelf.at("json"), shelf.at("moved/json"), exact=True)
    await files.discard(shelf.at("d/x"))
    await files.discard(shelf.at("d"))
    await files.discard(shelf.at("link", follow=False))
    await files.make_folder(shelf.at("made/folder"))
    after = everything(bench.root)

    undone = await bench.by("c2").undo("c1")

    assert (undone.conflicts, undone.left_out) == ((), ())
    assert everything(bench.root) == before
    await bench.by("c3").undo("c2")
    assert everything(bench.root) == after


async def test_a_moved_folder_goes_back_with_all_that_is_in_it(bench: Workbench) -> None:
    await bench.shelf.files.save(bench.shelf.at("d/known"), "known\n")
    await bench.shelf.files.make_folder(bench.shelf.at("into"))
    before = everything(bench.root)
    await bench.by("c1").relocate(bench.shelf.at("d"), bench.shelf.at("into/e"), exact=True)

    await bench.by("c2").undo("c1")

    assert everything(bench.root) == before
    assert (await bench.shelf.files.item(bench.shelf.at("d/known"))).synced


async def test_a_file_that_a_tool_wrote_and_another_call_went_on_with_is_a_conflict(bench: Workbench) -> None:
    await bench.by("c1").save(bench.shelf.at("synced"), "one\n", overwrite=True)
    await bench.by("c2").save(bench.shelf.at("synced"), "two\n", overwrite=True)

    undone = await bench.by("c3").undo("c1")
    then = await bench.by("c4").undo("c2")

    assert [(one.path, one.why) for one in undone.conflicts] == [("synced", "changed")]
    assert (then.conflicts, bench.shelf.text("synced")) == ((), "one\n")


@pytest.mark.parametrize("text", ["1\n", "other\n"])
async def test_a_file_that_somebody_had_deleted_and_a_call_wrote_anew_is_gone_again_after_the_undo(bench: Workbench, text: str) -> None:
    (bench.root / "synced").unlink()
    before = everything(bench.root)
    await bench.by("c1").save(bench.shelf.at("synced"), text, overwrite=True)
    after = everything(bench.root)

    await bench.by("c2").undo("c1")
    gone = everything(bench.root)
    await bench.by("c3").undo("c2")

    assert gone == before
    assert everything(bench.root) == after


async def test_undo_after_undo_goes_further_back(bench: Workbench) -> None:
    for number in range(1, 4):
        await bench.by(f"c{number}").save(bench.shelf.at("synced"), f"{number}\n", overwrite=True)
    await bench.do("echo 4 >synced", call="c4")

    seen: list[str] = []
    for number in range(5, 9):
        call = await bench.by("").last_call("s1")
        await bench.by(f"u{number}").undo(call)
        seen.append(bench.shelf.text("synced"))

    # The first call had written what was there already.
    assert seen == ["3\n", "2\n", "1\n", "1\n"]
    with pytest.raises(NotFound):
        await bench.by("").last_call("s1")


async def test_of_two_sessions_with_calls_of_the_same_id_one_is_taken_back_and_the_other_stays(bench: Workbench) -> None:
    await bench.by("call_1", "s1").save(bench.shelf.at("ours"), "ours\n")
    await bench.by("call_1", "s2").save(bench.shelf.at("theirs"), "theirs\n")

    with pytest.raises(InvalidArguments, match="s1, s2"):
        await bench.by("u1").undo("call_1")
    await bench.by("u2").undo("call_1", session_id="s1")

    assert ((bench.root / "ours").exists(), bench.shelf.text("theirs")) == (False, "theirs\n")
    assert await bench.by("").last_call("s2") == "call_1"
    with pytest.raises(NotFound):
        await bench.by("").last_call("s1")


async def test_a_call_that_changed_nothing_cannot_be_taken_back(bench: Workbench) -> None:
    with pytest.raises(NotFound):
        await bench.by("c2").undo("unknown")
    with pytest.raises(NotFound):
        await bench.by("c2").last_call("another session")


async def test_ignored_files_whose_trash_is_gone_are_said_not_to_be_kept(bench: Workbench) -> None:
    bench.shelf.put(".gitignore", "out\n")
    bench.shelf.put("out/a", "a\n")
    await bench.do("rm -r out; echo 3 >synced")
    Trash(bench.trash.folder, max_bytes=-1).limit()
    now = everything(bench.root)

    undone = await bench.by("c2").undo("c1")
    unchanged = everything(bench.root)
    forced = await bench.by("c3").undo("c1", force=True)

    assert [(one.path, one.why) for one in undone.conflicts] == [("out", "not_kept")]
    assert unchanged == now
    assert [one.effect.path for one in forced.left_out] == ["out"]
    assert bench.shelf.text("synced") == "1\n"


async def test_an_undo_that_dies_is_finished_by_the_next_holder(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(bench.root)
    before = everything(bench.root)
    await bench.do(SCRIPT)
    done, plain = 0, Apply._one  # pyright: ignore[reportPrivateUsage] - the moments are inside

    def one(self: Apply, step: object) -> None:
        nonlocal done
        done += 1
        if done == 100:
            raise Killed
        plain(self, step)  # pyright: ignore[reportArgumentType] - passed on as it is

    monkeypatch.setattr(Apply, "_one", one)
    with pytest.raises(Killed):
        await bench.by("c2").undo("c1")
    monkeypatch.undo()

    again, report = await bench.crash_and_recover()

    assert report.layers is not None
    assert (report.layers.finished, report.layers.failed) == (1, 0)
    assert everything(again.root) == before
