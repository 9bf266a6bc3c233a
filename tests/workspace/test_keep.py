"""Effects become real all at once, become versions, and take nobody's work away."""

import asyncio
import hashlib
import os
import resource
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from holdfast.store import layers
from holdfast.store.opening import open_database
from holdfast.vocabulary.effects import Effect, EffectKind, EntryType
from holdfast.vocabulary.errors import Conflict
from holdfast.workspace.keep_apply import Apply
from holdfast.workspace.keep_choice import IMPOSSIBLE, NEEDED, PROTECTED
from holdfast.workspace.keep_source import Source
from holdfast.workspace.keep_steps import Step
from holdfast.workspace.kernel import RENAME_EXCHANGE, rename_beneath
from holdfast.workspace.mount import Mount
from holdfast.workspace.trash import Trash
from tests.store.scene import held_workspace
from tests.workspace.keeping import Workbench, everything
from tests.workspace.shelf import Shelf, opened_shelf
from tests.workspace.writing import leftovers


@pytest.fixture
async def bench(shelf: Shelf, tmp_path: Path) -> Workbench:
    bench = Workbench(shelf, tmp_path / "home")
    await shelf.files.save(shelf.at("synced"), "1\n")
    await shelf.files.save(shelf.at("d/known"), "known\n")
    shelf.put("unsynced", "2\n")
    shelf.put("d/x", "x\n")
    shelf.put("d/deep/y", "y\n")
    (shelf.root / "link").symlink_to("synced")
    return bench


async def _as_inside(bench: Workbench, script: str) -> dict[str, tuple[str, int, bytes]]:
    """What a folder like the workspace looks like after the script has run in it, plainly."""
    twin = bench.home / "twin"
    _shell(f"mkdir -p {bench.home}; cp -a {bench.root} {twin}; cd {twin}; {script}")
    return everything(twin)


def _shell(script: str) -> str:
    return subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True).stdout


EVERYTHING = """
echo new >added; echo 3 >synced; echo 4 >unsynced; mkdir -p e/f/g; echo deep >e/f/g/h; chmod 750 e/f; ln -sfn d link; ln -s nowhere dangling
mv d/known e/moved; chmod 600 e/moved; rm d/x; chmod 711 d; rm -r d/deep; printf x >d/deep; : >empty
printf '\\0\\377' >binary; chmod 755 added
"""


async def test_the_workspace_is_what_the_command_saw(bench: Workbench) -> None:
    expected = await _as_inside(bench, EVERYTHING)

    kept = await bench.do(EVERYTHING)

    assert (kept.conflicts, kept.left_out, kept.forgotten) == ((), (), ())
    assert everything(bench.root) == expected
    assert leftovers(bench.root) == []
    [row] = await layers.of_call(bench.shelf.database, bench.shelf.records.workspace_id, "c1")
    assert (row.state, row.kept_by) == ("settled", "c1")


async def test_what_was_kept_is_versions_and_what_was_there_before_too(bench: Workbench) -> None:
    await bench.do("echo 3 >synced; echo 4 >unsynced; mv d/known d/moved; rm d/x; mkdir n; echo n >n/n; chmod 711 d/deep/y; ln -sfn d link")

    files = bench.shelf.files
    told: dict[str, list[str]] = {}
    for path in ("synced", "unsynced", "d/moved", "n/n", "n", "d/deep/y", "link"):
        item = await files.item(bench.shelf.at(path, follow=False))
        told[path] = await bench.shelf.kinds(item.file_id or "")
    assert told == {
        "synced": ["write", "command"],
        "unsynced": ["baseline", "command"],
        "d/moved": ["write", "move"],
        "n/n": ["command"],
        "n": ["mkdir"],
        "d/deep/y": ["baseline", "mode"],
        "link": ["baseline", "command"],
    }
    assert [item.path for item in await files.deleted_items()] == ["d/x"]
    versions = await files.history((await files.item(bench.shelf.at("unsynced"))).file_id or "")
    assert {version.call_id for version in versions} == {"c1"}
    assert (await files.content_of(versions[1].file_id, versions[1].version_id)).content == "2\n"
    assert await bench.shelf.rows("SELECT DISTINCT state FROM versions WHERE call_id = 'c1'") == [("settled",)]


async def test_a_person_s_change_meanwhile_is_a_conflict_and_nothing_is_kept(bench: Workbench) -> None:
    layer, effects = await bench.ran("echo 3 >synced; echo 4 >unsynced; echo a >added; rm -r d; mkdir made; echo m >made/m")
    bench.shelf.put("unsynced", "theirs\n")
    bench.shelf.put("added", "theirs\n")
    bench.shelf.put("d/deep/new", "theirs\n")
    bench.shelf.put("made/other", "theirs\n")
    (bench.root / "d/x").chmod(0o600)
    before = everything(bench.root)

    kept = await bench.keep(layer, effects)

    assert {(one.path, one.why) for one in kept.conflicts} == {
        ("unsynced", "changed"),
        ("added", "exists"),
        ("d/deep/new", "exists"),
        ("d/x", "changed"),
    }
    assert (kept.kept, everything(bench.root)) == ((), before)
    assert await bench.shelf.rows("SELECT 1 FROM layers") == []


async def test_what_somebody_removed_that_the_command_changed_is_a_conflict(bench: Workbench) -> None:
    layer, effects = await bench.ran("echo 3 >synced; rm unsynced; mv d/x d/z")
    for path in ("synced", "unsynced", "d/x"):
        (bench.root / path).unlink()

    kept = await bench.keep(layer, effects)

    assert {(one.path, one.why) for one in kept.conflicts} == {("synced", "gone"), ("d/x", "gone")}


async def test_something_new_in_a_folder_that_is_gone_is_a_conflict(bench: Workbench) -> None:
    layer, effects = await bench.ran("echo a >d/deep/added; mv synced d/deep/moved; mkdir d/deep/e; echo f >d/deep/e/f")
    (bench.root / "d/deep/y").unlink()
    (bench.root / "d/deep").rmdir()
    before = everything(bench.root)

    kept = await bench.keep(layer, effects)

    assert {(one.path, one.why) for one in kept.conflicts} == {("d/deep", "gone")}
    assert everything(bench.root) == before


async def test_a_folder_that_is_swapped_for_a_link_leads_nothing_outside(bench: Workbench, outside: Path) -> None:
    upper = bench.home / "upper"
    (upper / "d").mkdir(parents=True)
    (upper / "d/new").write_text("new")
    digest = hashlib.sha256(b"new").hexdigest()
    step = Step(0, Effect("project", "d/new", EffectKind.ADDED, EntryType.FILE, mode=0o644, size=3, hash=digest))
    opened = os.open(upper, os.O_RDONLY)
    (bench.root / "swap").symlink_to(outside)
    over = threading.Event()

    def swap() -> None:
        folder = os.open(bench.root, os.O_RDONLY)
        while not over.is_set():
            rename_beneath(folder, "d", folder, "swap", flags=RENAME_EXCHANGE)
        os.close(folder)

    swapping = threading.Thread(target=swap)
    swapping.start()
    applied = 0
    for number in range(50_000):
        # A busy machine may let the folder be the wrong one every time, for a while.
        if number >= 2_000 and applied:
            break
        apply = Apply(bench.shelf.mount, Source({"project": opened}, bench.trash), bench.trash, again=False)
        apply.all([step])
        for name in ("d", "swap"):
            if not (bench.root / name).is_symlink() and not apply.foreign:
                applied += 1
                (bench.root / name / "new").unlink(missing_ok=True)
    over.set()
    swapping.join()
    os.close(opened)

    assert os.listdir(outside) == ["secret.txt"]
    assert applied > 0


async def test_a_keep_that_leaves_conflicts_out_keeps_the_rest(bench: Workbench) -> None:
    layer, effects = await bench.ran("echo 3 >synced; echo 4 >unsynced; mkdir -p e/f; echo g >e/f/g; echo h >e/h; rm -r d")
    bench.shelf.put("unsynced", "theirs\n")

    kept = await bench.keep(layer, effects, only=[("project", "synced"), ("project", "e/f"), ("project", "d/deep")])

    assert kept.conflicts == ()
    assert {effect.path for effect in kept.kept} == {"synced", "e", "e/f", "e/f/g", "d/deep", "d/deep/y"}
    assert (bench.shelf.text("unsynced"), bench.shelf.text("synced"), bench.shelf.text("e/f/g")) == ("theirs\n", "3\n", "g\n")
    assert not (bench.root / "e/h").exists()
    assert not (bench.root / "d/deep").exists()
    assert (bench.root / "d/x").exists()


async def test_a_call_just_before_the_command_is_no_conflict(bench: Workbench) -> None:
    for number in range(5):
        bench.shelf.put("unsynced", f"{number}\n")
        await bench.shelf.files.save(bench.shelf.at("synced"), f"{number}\n", overwrite=True)

        kept = await bench.do("echo more >>synced; echo more >>unsynced", call=f"c{number}")

        assert kept.conflicts == ()
    assert bench.shelf.text("synced") == "4\nmore\n"


async def test_protected_paths_are_left_out_and_named(bench: Workbench) -> None:
    bench.shelf.put(".git/config", "[core]\n")
    bench.shelf.put(".git/hooks/pre-commit.sample", "")
    bench.shelf.put("conf/.env", "A=1\n")
    before = everything(bench.root)
    script = "echo '[x]' >>.git/config; echo run >.git/hooks/post-commit; echo B=2 >.env; rm -r conf; echo fine >fine; mv unsynced id_rsa"

    kept = await bench.do(script)

    assert {(one.effect.path, one.why) for one in kept.left_out} == {
        (".git/config", PROTECTED),
        (".git/hooks/post-commit", PROTECTED),
        (".env", PROTECTED),
        ("conf/.env", PROTECTED),
        ("conf", NEEDED),
        ("id_rsa", PROTECTED),
    }
    fine = {"fine": ("file", 0o644, b"fine\n")}
    assert everything(bench.root) == before | fine


async def test_a_person_who_was_asked_gets_the_config_of_git_and_no_other_protected_path(bench: Workbench) -> None:
    bench.shelf.put(".git/config", "[core]\n")

    kept = await bench.do("echo '[x]' >>.git/config; mkdir .git/hooks; echo run >.git/hooks/post-commit; echo B=2 >.env", git=True)

    assert [one.effect.path for one in kept.left_out] == [".env"]
    assert bench.shelf.text(".git/hooks/post-commit") == "run\n"


async def test_a_repository_is_not_half_removed(bench: Workbench) -> None:
    for path in (".git/config", ".git/HEAD", ".git/refs/heads/main", ".git/hooks/h"):
        bench.shelf.put(path, "x")
    before = everything(bench.root)

    kept = await bench.do("rm -rf .git; echo a >added")

    assert everything(bench.root) == before | {"added": ("file", 0o644, b"a\n")}
    assert len(kept.left_out) == 8


async def test_a_new_repository_with_a_commit_can_be_kept(bench: Workbench) -> None:
    kept = await bench.do("git init -q -b main . && git remote add origin https://example.com/x.git && git add -A && git commit -qm first")

    assert kept.left_out == ()
    assert _shell(f"cd {bench.root} && git fsck --no-progress && git -c safe.directory='*' status --porcelain") == ""


@pytest.mark.parametrize(
    "trick", ["git config core.fsmonitor 'touch /tmp/pwned'", "git config alias.x '!sh'", "echo x >.git/hooks/post-checkout"]
)
async def test_a_new_repository_that_would_run_programs_asks(bench: Workbench, trick: str) -> None:
    kept = await bench.do(f"git init -q . && {trick}")

    assert [one.why for one in kept.left_out] == [PROTECTED]


async def test_what_cannot_be_kept_is_named_and_the_rest_kept(bench: Workbench) -> None:
    script = "mkfifo fifo; printf x >\"$(printf 'bad\\377')\"; touch .holdfast-0123456789abcdef; truncate -s 1T huge; echo a >added"

    kept = await bench.do(script)

    assert {one.why for one in kept.left_out} == {IMPOSSIBLE}
    assert len(kept.left_out) == 4
    assert [effect.path for effect in kept.kept] == ["added"]


async def test_a_layer_that_changed_after_it_was_looked_at_is_not_kept(bench: Workbench) -> None:
    layer, effects = await bench.ran("echo a >added; echo 3 >synced")
    (layer.upper("project") / "added").write_text("b\n")
    before = everything(bench.root)

    with pytest.raises(Conflict):
        await bench.keep(layer, effects)

    assert everything(bench.root) == before


async def test_a_held_layer_with_a_conflict_is_pending_again(bench: Workbench) -> None:
    layer, effects = await bench.ran("echo 3 >synced")
    records = bench.shelf.records
    new = layers.NewLayer(id=layer.id, session_id="s1", call_id="c1", started=layer.started)
    await layers.hold(records.database, records.lease, new, effects)
    bench.shelf.put("synced", "theirs\n")

    first = await bench.keep(layer, effects, call="c2")
    state_between = await bench.shelf.rows("SELECT state FROM layers")
    await layers.move(records.database, records.lease, layer.id, to="dropped", only_from=("pending",))
    with pytest.raises(Conflict):
        await bench.keep(layer, effects, call="c3")

    assert len(first.conflicts) == 1
    assert state_between == [("pending",)]


async def test_ignored_files_are_kept_without_versions_and_go_to_the_trash(bench: Workbench) -> None:
    bench.shelf.put(".gitignore", "out\nnode_modules\n")
    bench.shelf.put("out/old.o", "old\n")
    bench.shelf.put("out/gone.o", "gone\n")
    bench.shelf.put("node_modules/p/index.js", "js\n")

    kept = await bench.do("echo new >out/old.o; rm out/gone.o; echo add >out/add.o; rm -r node_modules")

    assert len(kept.kept) == 4
    assert {path.name: path.read_text() for path in (bench.root / "out").iterdir()} == {"old.o": "new\n", "add.o": "add\n"}
    assert not (bench.root / "node_modules").exists()
    assert await bench.shelf.rows("SELECT path FROM files WHERE path LIKE 'out%' OR path LIKE 'node%'") == []
    trashed = {path.read_bytes() for path in bench.trash.folder.rglob("*") if path.is_file() and path.name != "bytes"}
    assert trashed == {b"old\n", b"gone\n", b"js\n"}


async def test_a_folder_too_large_for_the_trash_is_said_to_be_forgotten(bench: Workbench) -> None:
    bench.shelf.put(".gitignore", "out\n")
    bench.shelf.put("out/large", "x" * 10_000)

    kept = await bench.do("rm -r out", trash=Trash(bench.trash.folder, max_bytes=5_000))

    assert [effect.path for effect in kept.forgotten] == ["out"]
    assert not (bench.root / "out").exists()


async def test_a_removed_ignored_folder_is_gone_for_the_store_too(bench: Workbench) -> None:
    bench.shelf.put(".gitignore", "out\n")
    await bench.shelf.files.save(bench.shelf.at("out/known"), "1")

    await bench.do("rm -r out")

    assert [item.path for item in await bench.shelf.files.items(bench.shelf.at(""), recursive=True) if item.path.startswith("out")] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
async def test_a_root_server_takes_no_files_away_from_the_person(bench: Workbench) -> None:
    os.chown(bench.root, 4711, 4712)
    os.chown(bench.root / "unsynced", 4713, 4714)
    os.chmod(bench.root / "unsynced", 0o640)

    await bench.do("echo 4 >unsynced; mkdir e; echo f >e/f; ln -s f e/l; mv synced moved; chmod 4755 e/f; chmod 2777 e")

    owners = {path: ((bench.root / path).lstat().st_uid, (bench.root / path).lstat().st_gid) for path in ("unsynced", "e", "e/f", "e/l")}
    assert owners == {"unsynced": (4713, 4714), "e": (4711, 4712), "e/f": (4711, 4712), "e/l": (4711, 4712)}
    assert stat.S_IMODE((bench.root / "e/f").stat().st_mode) == 0o755
    assert stat.S_IMODE((bench.root / "e").stat().st_mode) == 0o777
    assert stat.S_IMODE((bench.root / "unsynced").stat().st_mode) == 0o640


MANY = """python3 -c '
import os
for d in range({count} // 100):
    os.makedirs(f"n/{{d}}")
    for f in range(100):
        open(f"n/{{d}}/{{f}}", "w").write(f"{{d}} {{f}}")
'"""


async def test_other_calls_go_on_while_many_files_are_kept(mount: Mount, sqlite_url: str, tmp_path: Path) -> None:
    await _keep_many(mount, sqlite_url, tmp_path, count=3_000)


@pytest.mark.long
async def test_fifty_thousand_files_are_kept_in_bounded_memory(mount: Mount, address: str, tmp_path: Path) -> None:
    await _keep_many(mount, address, tmp_path, count=50_000)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 600 * 1024


async def _keep_many(mount: Mount, address: str, tmp_path: Path, *, count: int) -> None:
    database = await open_database(address)
    lease = await held_workspace(database)
    async with opened_shelf(mount, database, lease, tmp_path / "content") as shelf:
        bench = Workbench(shelf, tmp_path / "home")
        layer, effects = await bench.ran(MANY.format(count=count))

        keeping = asyncio.create_task(bench.keep(layer, effects))
        saved = 0
        while not keeping.done():
            await shelf.files.save(shelf.at("mine"), str(saved), overwrite=True)
            saved += 1
        kept = await keeping

        assert len(kept.kept) == len(effects) == count + count // 100 + 1
        assert (mount.root / f"n/{count // 100 - 1}/99").read_text() == f"{count // 100 - 1} 99"
        assert saved > 10
        undone = await bench.by("c2").undo("c1")
        assert (len(undone.restored), undone.conflicts) == (len(effects), ())
        assert [path.name for path in mount.root.iterdir()] == ["mine"]
    await database.close()
