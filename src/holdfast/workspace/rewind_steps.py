"""Many calls taken back at once: what each path must become, and what must stand there for that.

The ways back of the calls, the newest first, are gone through on paper.
Each entry that they speak of has a node, which knows where it stands on
the disk, what must stand there, and what has become of it on paper.
Where a way back does not join the one before, somebody else has changed
the entry between the two calls: it goes back that far and no further.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from holdfast.vocabulary.effects import Effect, EffectKind, EntryType

from .keep_choice import IMPOSSIBLE, above_all
from .keep_steps import Step
from .keep_survey import AS_IT_IS, Seen, entries_below, seen_at
from .mount import Mount
from .undo_steps import After, Back

BETWEEN = "changed_between"

Key: TypeAlias = tuple[str, str]

_FOLDER = After(EntryType.DIRECTORY, "", None)
# What a call left has the paths after it, what it took away those before it; so the names go back between the two.
_ORDER = (EffectKind.MODE, EffectKind.CHANGED, EffectKind.DELETED, EffectKind.RENAMED, EffectKind.ADDED)


@dataclass
class _Node:
    """One entry. `origin` is where it stands on the disk, None for nowhere; `now` what it is on paper, None for nothing.

    `content` is the step that gives it what it must hold; without one it
    stays as it is. `is_met` is an entry that only came along with its
    folder, and of which nobody has said anything.
    """

    origin: str | None
    expected: After | None
    now: After | None
    content: Step | None = None
    mode: int = AS_IT_IS
    is_met: bool = False
    is_stopped: bool = False


class Paper:
    """Where everything is, as far as the calls have been taken back."""

    def __init__(self, mounts: Mapping[str, Mount]) -> None:
        self._mounts = mounts
        self._nodes: dict[Key, _Node] = {}
        self._buried: list[tuple[str, _Node]] = []
        self._whole: set[Key] = set()
        self.left: dict[Key, str] = {}
        self.pairs: list[tuple[Key, Key]] = []

    def take_back(self, backs: Iterable[Back]) -> None:
        """Take back one more call, which is older than those before it."""
        for back in sorted(backs, key=_when):
            node = self._met(back)
            if node is not None:
                self._apply(back, node)

    def backs(self) -> list[Back]:
        """One step for each path that must change, with what it takes the place of.

        Afterwards `pairs` are those paths of which both must change, or none: what goes from the one comes to the other.
        """
        self.left |= {key: IMPOSSIBLE for key in self._whole if self._is_whole(key)}
        net = _Net(self._mounts, self._nodes, self._buried)
        found = list(net.backs())
        self.pairs = net.pairs
        return found

    def _met(self, back: Back) -> _Node | None:
        """The entry that the way back is about; None when it goes no further."""
        key = (back.step.mount, back.step.left)
        node = self._nodes.get(key)
        if whole := next((above for above in above_all(key[1]) if self._is_whole((key[0], above))), ""):
            # It comes back with all that was in it when it went, so what changed in it before that cannot be taken back as well.
            self._whole.add((key[0], whole))
            return None
        if node is None:
            origin = back.step.left if back.expected is not None else None
            node = self._nodes[key] = _Node(origin, back.expected, back.expected)
        if node.is_stopped:
            return None
        if node.is_met:
            node.is_met = False
            node.expected = node.now = back.expected or node.expected
        if _joins(node.now, back.expected):
            return node
        self._stop(key, node, BETWEEN)
        return None

    def _apply(self, back: Back, node: _Node) -> None:
        step, effect = back.step, back.step.effect
        match effect.kind:
            case EffectKind.DELETED:
                node.now, node.content, node.mode = None, None, AS_IT_IS
                if effect.is_whole:
                    node.content = step
            case EffectKind.RENAMED:
                self._rename(step, node)
            case EffectKind.MODE:
                node.mode = effect.mode
                node.now = replace(node.now, mode=effect.mode) if node.now else None
            case EffectKind.ADDED if node.origin is not None and (effect.is_whole or (node.content and node.content.effect.is_whole)):
                # One folder cannot go and another come whole in its place.
                self._stop((step.mount, step.path), node, IMPOSSIBLE)
                node.content, node.now = step, node.expected
            case EffectKind.ADDED | EffectKind.CHANGED:
                mode = effect.mode if effect.mode != AS_IT_IS else node.now.mode if node.now else None
                node.now, node.content = After(effect.type, effect.hash, mode), step
                node.mode = effect.mode if effect.mode != AS_IT_IS else node.mode

    def _rename(self, step: Step, node: _Node) -> None:
        source, target = (step.mount, step.left), (step.mount, step.path)
        there = self._nodes.get(target)
        if there is not None and (there.now is not None or there.is_stopped):
            self._stop(source, node, BETWEEN)
            return
        if step.effect.type is EntryType.DIRECTORY:
            self._meet_below(source)
            for mount, path in [key for key in self._nodes if key[0] == source[0] and key[1].startswith(f"{source[1]}/")]:
                self._move((mount, path), (mount, target[1] + path[len(source[1]) :]))
        self._move(source, target)
        if step.effect.mode != AS_IT_IS and step.effect.type is not EntryType.LINK:
            node.mode = step.effect.mode
            node.now = replace(node.now, mode=node.mode) if node.now else None

    def _move(self, source: Key, target: Key) -> None:
        there = self._nodes.get(target)
        if there is not None and there.origin is not None:
            self._buried.append((target[0], there))
        self._nodes[target] = self._nodes.pop(source)
        self._nodes[source] = _Node(None, None, None)

    def _meet_below(self, folder: Key) -> None:
        """What is in a folder goes with it, whoever has put it there."""
        origins = {node.origin for (mount, _), node in self._nodes.items() if mount == folder[0]}
        origins |= {node.origin for mount, node in self._buried if mount == folder[0]}
        for path, kind in entries_below(self._mounts[folder[0]], folder[1]):
            if path not in origins and (folder[0], path) not in self._nodes:
                self._nodes[folder[0], path] = _Node(path, After(kind, "", None), After(kind, "", None), is_met=True)

    def _is_whole(self, key: Key) -> bool:
        """Whether a folder has come back there with all that was in it."""
        node = self._nodes.get(key)
        return node is not None and node.now is not None and node.content is not None and node.content.effect.is_whole

    def _stop(self, key: Key, node: _Node, why: str) -> None:
        node.is_stopped = True
        self.left[key] = why


def _when(back: Back) -> tuple[int, bool]:
    """Files change their names before the folders that they are in."""
    return _ORDER.index(back.step.effect.kind), back.step.effect.type is EntryType.DIRECTORY


def _joins(now: After | None, expected: After | None) -> bool:
    """Whether what one way back leads to is what the next begins with."""
    if now is None or expected is None:
        return now is expected
    if now.type is not expected.type:
        return False
    if now.type is EntryType.DIRECTORY:
        return True
    has_mode = now.type is EntryType.FILE and now.mode is not None and expected.mode is not None
    return now.hash == expected.hash and (not has_mode or now.mode == expected.mode)


class _Net:
    """What is left to do when everything is on paper."""

    def __init__(self, mounts: Mapping[str, Mount], nodes: Mapping[Key, _Node], buried: Sequence[tuple[str, _Node]]) -> None:
        self._mounts = mounts
        self._nodes = nodes
        self._buried = buried
        everyone = [(mount, path, node) for (mount, path), node in nodes.items()] + [(mount, "", node) for mount, node in buried]
        self._by_origin = {(mount, node.origin): node for mount, _, node in everyone if node.origin is not None}
        self._disturbed = {
            (mount, above)
            for mount, place, node in everyone
            if not node.is_met and (node.origin is not None or node.now is not None)
            for path in (place, node.origin or "")
            for above in above_all(path)
        }
        self._in_use = {(mount, above) for (mount, path), node in nodes.items() if node.now is not None for above in above_all(path)}
        self._moved_whole: set[Key] = set()
        self.pairs: list[tuple[Key, Key]] = []

    def backs(self) -> Iterator[Back]:
        for key, node in sorted(self._nodes.items(), key=lambda one: (one[0][0], one[0][1].split("/"))):
            yield from self._of(key, node)
        for mount, node in self._buried:
            yield from self._gone(mount, node)

    def _of(self, key: Key, node: _Node) -> Iterator[Back]:
        mount, path = key
        if node.now is None:
            yield from self._gone(mount, node)
        elif node.origin is None:
            yield from self._put(key, node)
        elif node.origin == path:
            yield from self._changed(key, node)
        elif not self._went_with_its_folder(mount, node.origin):
            yield from self._moved(key, node)

    def _gone(self, mount: str, node: _Node) -> Iterator[Back]:
        """What stood there goes, unless something else comes to stand there, which is told with that, or in it."""
        if node.origin is None or node.expected is None or self._comes((mount, node.origin)) or (mount, node.origin) in self._in_use:
            return
        whole = node.content.effect if node.content is not None and node.content.effect.is_whole else None
        kind, digest = node.expected.type, node.expected.hash
        gone = whole or Effect(mount, node.origin, EffectKind.DELETED, kind, mode=node.expected.mode or 0, hash=digest)
        yield Back(Step(0, gone), node.expected)

    def _comes(self, key: Key) -> bool:
        there = self._nodes.get(key)
        return there is not None and there.now is not None

    def _put(self, key: Key, node: _Node) -> Iterator[Back]:
        """Something comes to stand where nothing of its own stands."""
        assert node.content is not None, "what is nowhere on the disk has been said"
        replaced = self._by_origin.get(key)
        effect = node.content.effect
        mode = effect.mode if node.mode == AS_IT_IS else node.mode
        if replaced is None or replaced.expected is None:
            added = replace(effect, path=key[1], kind=EffectKind.ADDED, mode=mode, before="")
            yield Back(replace(node.content, effect=added), None)
        elif not (effect.type is EntryType.DIRECTORY and replaced.expected.type is EntryType.DIRECTORY):
            changed = replace(effect, path=key[1], kind=EffectKind.CHANGED, mode=mode, before="")
            yield Back(replace(node.content, effect=changed, file_id=""), replaced.expected)

    def _changed(self, key: Key, node: _Node) -> Iterator[Back]:
        expected, content = node.expected, node.content
        assert expected is not None, "what stands on the disk is something"
        if content is not None and (content.effect.type is not expected.type or content.effect.hash != expected.hash):
            changed = replace(content.effect, path=key[1], kind=EffectKind.CHANGED, mode=node.mode, before="")
            yield Back(replace(content, effect=changed, file_id=""), expected)
        elif node.mode not in (AS_IT_IS, expected.mode) and expected.type is not EntryType.LINK:
            effect = Effect(key[0], key[1], EffectKind.MODE, expected.type, mode=node.mode, hash=expected.hash)
            yield Back(Step(0, effect), expected)

    def _moved(self, key: Key, node: _Node) -> Iterator[Back]:
        mount, path = key
        assert node.origin is not None
        assert node.expected is not None
        seen = seen_at(self._mounts[mount], node.origin, hashed=node.is_met)
        if seen is None:
            # It is told as what is not there any more.
            yield Back(Step(0, self._renamed(mount, path, node, None)), node.expected)
            return
        if node.is_met:
            node.expected = After(seen.was.type, seen.was.hash, None)
        is_free = key not in self._by_origin and not self._comes((mount, node.origin))
        is_same = node.content is None or node.content.effect.hash == node.expected.hash
        if node.expected.type is EntryType.DIRECTORY:
            yield from self._moved_folder(key, node, seen)
        elif is_free and is_same:
            yield Back(Step(0, self._renamed(mount, path, node, seen)), node.expected)
        else:
            held = Effect(mount, path, EffectKind.ADDED, seen.was.type, mode=seen.was.mode, size=seen.was.size, hash=node.expected.hash)
            content = node.content or Step(0, held)
            mode = seen.was.mode if node.mode == AS_IT_IS else node.mode
            self.pairs.append(((mount, node.origin), key))
            yield from self._put(key, replace(node, origin=None, content=content, mode=mode))
            yield from self._gone(mount, node)

    def _moved_folder(self, key: Key, node: _Node, seen: Seen) -> Iterator[Back]:
        """A folder goes back by its name alone when all in it does, and otherwise piece by piece."""
        mount, path = key
        assert node.origin is not None
        origin = (mount, node.origin)
        mode = seen.was.mode if node.mode == AS_IT_IS else node.mode
        if mode == seen.was.mode and key not in self._by_origin and not self._comes(origin) and not self._disturbed & {key, origin}:
            self._moved_whole.add(origin)
            yield Back(Step(0, self._renamed(mount, path, node, seen)), _FOLDER)
            return
        made = Effect(mount, path, EffectKind.ADDED, EntryType.DIRECTORY, mode=mode)
        yield from self._put(key, replace(node, origin=None, content=Step(0, made)))
        yield from self._gone(mount, node)

    def _went_with_its_folder(self, mount: str, origin: str) -> bool:
        return any((mount, above) in self._moved_whole for above in above_all(origin))

    def _renamed(self, mount: str, path: str, node: _Node, seen: Seen | None) -> Effect:
        assert node.origin is not None
        assert node.expected is not None
        size = seen.was.size if seen is not None else 0
        kind, digest = node.expected.type, node.expected.hash
        return Effect(mount, path, EffectKind.RENAMED, kind, mode=node.mode, size=size, hash=digest, before=node.origin)
