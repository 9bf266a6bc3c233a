"""Taking back all that one call did to files, whether a tool or a command.

What is to be there again is found out from the records, and then kept
like the effects of a command: in one logical step, as versions of a new
call. So an undo outlives a crash, and can be taken back itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.store import layers, versions
from holdfast.store.layers import LayerRow, NewLayer
from holdfast.store.uuid7 import uuid7
from holdfast.store.versions import Version
from holdfast.vocabulary.effects import Effect, Effects
from holdfast.vocabulary.errors import InvalidArguments, NotFound, NotKept

from .author import receipt_of
from .changes import Changes
from .keep import UNDO, Keeper, Plan
from .keep_choice import LeftOut
from .keep_source import Source
from .keep_steps import Step
from .keep_survey import KeepConflict
from .kept import kind_of, load
from .mount import Mount
from .records import Records
from .trash import Trash
from .undo_steps import AsLeft, Back, back_from_layer, back_from_versions

_VERSIONS_A_PAGE = 1_000
_LOOKED_THROUGH = 50
NOT_KEPT = "not_kept"
MANY = "\n"  # between the calls that one rewind takes back


@dataclass(frozen=True)
class Undone:
    """What came of an undo: of which call, what is again as it was, and what was in the way. With conflicts nothing was done."""

    call_id: str
    restored: tuple[Effect, ...] = ()
    conflicts: tuple[KeepConflict, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


async def last_call(records: Records, session_id: str | None) -> tuple[str, str]:
    """The latest call of a session, or of all, that changed files and has not been taken back, after its session; undos are not meant.

    Raises:
        NotFound: There is none.
    """
    database, workspace_id = records.database, records.workspace_id
    undos = sorted(await layers.undone(database, workspace_id, session_id), key=lambda row: row.created_at, reverse=True)
    taken_back: set[tuple[str, str]] = set()
    for row in undos:
        if (row.session_id, row.kept_by) not in taken_back:
            taken_back |= {(row.session_id, call_id) for call_id in row.undoes.split(MANY)}
    by_undos = {row.kept_by for row in undos}
    for session, call_id in await layers.last_calls(database, workspace_id, session_id):
        if (session, call_id) not in taken_back and call_id not in by_undos:
            return session, call_id
    raise NotFound("there is nothing to take back", hint="Name a call.", session=session_id)


async def undo(
    records: Records,
    changes: Changes,
    mounts: Mapping[str, Mount],
    call_id: str,
    *,
    trash: Trash,
    session_id: str | None = None,
    force: bool = False,
) -> Undone:
    """Make everything that a call changed what it was before, bytes and modes.

    What somebody has changed since is a conflict; with `force` it is
    replaced too, and becomes a version first.

    Raises:
        NotFound: The call changed nothing.
        InvalidArguments: Calls of several sessions have that id, and it was not said which is meant.
        NoSpace, AccessDenied, Busy, LostLease: As the names say.
    """
    by_name = {records.name_of(mount): mount for mount in mounts.values()}
    keeper = Keeper(records, changes, by_name, trash)
    way = await way_back(keeper, call_id, session_id)
    back = way.backs
    if not way.is_known:
        raise NotFound("that call changed no files, or they are not on record", hint="Look at the history of the file.", call=call_id)
    away = [one for one in back if one.step.mount not in by_name]
    if away:
        raise NotFound("the call changed a mount that is not here", hint="Open the workspace with that mount.", mount=away[0].step.mount)
    steps, lost = await with_contents(keeper, back)
    if lost and not force:
        return Undone(call_id, conflicts=tuple(KeepConflict(step.mount, step.path, NOT_KEPT) for step in lost))
    author = receipt_of(changes.author).author
    new = NewLayer(id=uuid7(), session_id=way.session_id or author.session_id, call_id=author.call_id, started={}, undoes=call_id)
    effects = Effects(tuple(step.effect for step in steps))
    expected = {(one.step.mount, one.step.left): one.expected for one in back}
    kept = await keeper.carry_out(Plan(new, effects, steps, UNDO), Source({}, trash), AsLeft(expected, way.until_ns, forces=force))
    if not kept.kept and not kept.conflicts:
        # Everything was as it had been; from now on the call counts as taken back.
        await layers.add(records.database, records.lease, replace(new, state=layers.SETTLED))
    return Undone(call_id, kept.kept, kept.conflicts, (*kept.left_out, *(LeftOut(step.effect, NOT_KEPT) for step in lost)))


_DONE = (layers.COMMITTED, layers.SETTLED)


@dataclass(frozen=True)
class WayBack:
    """What takes a call back. `until_ns` is when it had made its last effect real, 0 for tools."""

    backs: list[Back]
    is_known: bool
    session_id: str
    until_ns: int


async def way_back(keeper: Keeper, call_id: str, session_id: str | None = None) -> WayBack:
    """What takes a call back, as the records tell it.

    Raises:
        InvalidArguments: Calls of several sessions have that id, as some models give them, and it was not said which is meant.
    """
    records = keeper.records
    found = await layers.of_call(records.database, records.workspace_id, call_id)
    rows = [row for row in found if row.state in _DONE and session_id in (None, row.session_id)]
    keys = tuple(f"{row.id}/" for row in rows) or ("\0",)
    every = await _versions(records, call_id)
    alone = [each for each in every if not (each.key or "").startswith(keys) and session_id in (None, each.session_id)]
    whose = sorted({each.session_id for each in (*rows, *alone)})
    if len(whose) > 1:
        named = ", ".join(each or "none" for each in whose)
        raise InvalidArguments.of("session_id", f"is needed: sessions {named} have a call of that id", hint="Say which is meant.")
    back = [one for row in rows for one in await _from_layer(keeper, row, every)]
    back += await back_from_versions(records, alone)
    return WayBack(back, bool(whose), whose[0] if whose else "", max((row.updated_at for row in rows), default=0) * 1_000)


async def _versions(records: Records, call_id: str) -> list[Version]:
    """What the call made, in order; not what it met."""
    found: list[Version] = []
    after = ""
    while page := await versions.of_call(records.database, records.workspace_id, call_id, after=after, limit=_VERSIONS_A_PAGE):
        found += [one for one in page if one.state != versions.ABORTED and one.kind not in ("baseline", "external")]
        after = page[-1].id
    return found


async def _from_layer(keeper: Keeper, row: LayerRow, made: Sequence[Version]) -> list[Back]:
    steps = await keeper.recorded(row)
    removed = {version.key: version.file_id for version in made if version.kind == "remove" and version.key}
    return [back_from_layer(step, removed.get(f"{row.id}/{step.number}", "")) for step in steps]


async def with_contents(keeper: Keeper, back: Sequence[Back]) -> tuple[list[Step], list[Step]]:
    """The steps, in the order of their paths, with what kind of content each puts back; and those whose bytes are not kept."""
    found: list[Step] = []
    lost: list[Step] = []
    for one in sorted(back, key=lambda one: (one.step.mount, one.step.path.split("/"))):
        step = one.step
        if step.source:
            there = await keeper.in_thread(keeper.trash.has, step.source)
            if there and step.puts_bytes:
                digest = await keeper.in_thread(keeper.trash.hash_of, step.source)
                step = replace(step, effect=replace(step.effect, hash=digest))
        elif step.puts_bytes and not step.content_kind:
            kind = await _kind(keeper, step)
            there, step = bool(kind), replace(step, content_kind=kind)
        else:
            there = not (step.effect.is_whole and step.effect.kind.value == "added")
        (found if there else lost).append(step)
    return [replace(step, number=number) for number, step in enumerate(found)], lost


async def _kind(keeper: Keeper, step: Step) -> str:
    """What kind of content the bytes are; "" when they are not kept."""
    effect, records = step.effect, keeper.records
    try:
        data = await load(records, effect.hash, effect.size, mount=keeper.mounts[step.mount])
    except NotKept:
        return ""
    if effect.type.value == "link":
        return "link"
    row = await records.row_at(keeper.mounts[step.mount], step.path)
    if row is not None:
        for version in await versions.history(records.database, records.workspace_id, row.id, limit=_LOOKED_THROUGH):
            if version.hash == effect.hash and version.content_kind:
                return version.content_kind
    return kind_of(data).value
