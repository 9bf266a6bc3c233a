"""Changing a YAML mapping in its text, so that every other byte stays as it is.

The document is read only to learn where things are. What is new is put
there, and the comments, order, quotes and white space around it are
never written again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from holdfast.vocabulary.json import Json

from .yaml_nodes import Collection, Pair, Scalar, compose
from .yaml_text import as_entry, as_item, inline

# From where, to where, and what stands there instead.
Edit: TypeAlias = tuple[int, int, str]

_INDENT = 2
_NOTHING = Collection(0, 0, 0, flow=False)


class Splice:
    """The text of a YAML mapping, and what is to be different in it. A key can be changed once.

    What is at the key must be of the kind that the change needs: the
    caller has looked. If the text is written in some rare way the result
    may be wrong: the caller looks again.
    """

    def __init__(self, text: str, *, newline: str = "\n") -> None:
        root = compose(text)
        self._root = root if isinstance(root, Collection) else _NOTHING
        self._flow = self._root.flow and bool(self._root.pairs)
        self._indent = self._root.column + _INDENT
        self._text = text
        self._newline = newline
        self._edits: list[Edit] = []
        self._added: list[tuple[str, list[str]]] = []

    def set(self, key: str, value: Json) -> None:
        """Give a key this value."""
        pair = self._root.pair(key)
        if pair is None:
            self._added.append((f"{inline(key)}: {inline(value)}", []))
        else:
            self._replace(pair, value)

    def merge(self, key: str, values: Mapping[str, Json]) -> None:
        """Give some keys of the mapping at `key` these values."""
        pair = self._root.pair(key)
        if pair is None or not isinstance(pair.value, Collection) or not pair.value.pairs:
            self._begin(key, pair, inline(values), _entries(values, self._indent))
            return
        mapping = pair.value
        new: dict[str, Json] = {}
        for name, value in values.items():
            if (below := mapping.pair(name)) is not None:
                self._replace(below, value)
            else:
                new[name] = value
        if new and mapping.flow:
            at = mapping.pairs[-1].value.end
            self._edits.append((at, at, f", {inline(new)[1:-1]}"))
        elif new:
            self._edits.append(self._lines_after(mapping.end, _entries(new, mapping.column)))

    def append(self, key: str, items: Sequence[Json]) -> None:
        """Add items to the list at `key`."""
        pair = self._root.pair(key)
        if pair is None or not isinstance(pair.value, Collection) or not pair.value.items:
            self._begin(key, pair, inline(items), _items(items, self._indent))
        elif pair.value.flow:
            at = pair.value.items[-1].end
            self._edits.append((at, at, f", {inline(items)[1:-1]}"))
        else:
            self._edits.append(self._lines_after(pair.value.end, _items(items, pair.value.column)))

    def result(self) -> str:
        """The text with all of it done."""
        # The new keys last: what is added to the last of the old ones comes before them.
        edits = sorted([*self._edits, *self._additions()], key=lambda edit: edit[0])
        pieces: list[str] = []
        position = 0
        for start, end, text in edits:
            pieces += [self._text[position:start], text]
            position = end
        return "".join([*pieces, self._text[position:]])

    def _replace(self, pair: Pair, value: Json) -> None:
        old = pair.value
        if isinstance(old, Scalar) and not old.is_empty and old.style not in ("|", ">"):
            self._edits.append((old.start, old.end, inline(value, quote=old.style)))
        elif isinstance(old, Collection) and old.flow:
            self._edits.append((old.start, old.end, inline(value)))
        else:
            ended_a_line = self._text[pair.colon : old.end].endswith("\n")
            self._edits.append((pair.colon, old.end, f" {inline(value)}{self._newline if ended_a_line else ''}"))

    def _begin(self, key: str, pair: Pair | None, on_one_line: str, lines: list[str]) -> None:
        """Give a key its first content, where there was `[]`, `{}`, null, nothing, or not even the key."""
        if pair is None:
            self._added.append((f"{inline(key)}: {on_one_line}", []) if self._flow else (f"{inline(key)}:", lines))
        elif self._flow:
            self._edits.append((pair.colon, pair.value.end, f" {on_one_line}"))
        else:
            self._edits.append((pair.colon, pair.value.end, ""))
            self._edits.append(self._lines_after(pair.value.end, lines))

    def _additions(self) -> list[Edit]:
        if not self._added:
            return []
        margin = " " * self._root.column
        lines = [line for first, rest in self._added for line in (margin + first, *rest)]
        if self._root is _NOTHING:
            return [self._lines_after(len(self._text), lines)]
        if not self._root.pairs:
            return [(self._root.start, self._root.end, self._newline.join(lines))]
        if self._flow:
            at = self._root.pairs[-1].value.end
            return [(at, at, "".join(f", {line}" for line, _ in self._added))]
        return [self._lines_after(self._root.end, lines)]

    def _lines_after(self, position: int, lines: Iterable[str]) -> Edit:
        """Lines put behind the one in which `position` is."""
        text = self._newline.join([*lines, ""])
        if position == 0 or self._text[position - 1] == "\n":
            return position, position, text
        next_line = self._text.find("\n", position) + 1
        if next_line == 0:
            return len(self._text), len(self._text), self._newline + text
        return next_line, next_line, text


def _entries(values: Mapping[str, Json], indent: int) -> list[str]:
    return [line for name, value in values.items() for line in as_entry(name, value, indent=indent)]


def _items(values: Sequence[Json], indent: int) -> list[str]:
    return [line for value in values for line in as_item(value, indent=indent)]
