"""Where things are in the text of a YAML document."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, SequenceNode


@dataclass(frozen=True)
class Scalar:
    """A single value; `style` is its kind of quotes, `|` or `>`, or "" when it is plain."""

    start: int
    end: int
    value: str
    style: str

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is written there."""
        return self.start == self.end


@dataclass(frozen=True)
class Pair:
    """A key and its value; `colon` is right behind the colon between them."""

    key: "YamlNode"
    value: "YamlNode"
    colon: int


@dataclass(frozen=True)
class Collection:
    """A mapping with its pairs or a list with its items; `flow` means in brackets, `column` is where its lines begin."""

    start: int
    end: int
    column: int
    flow: bool
    pairs: tuple[Pair, ...] = ()
    items: tuple["YamlNode", ...] = ()

    def pair(self, key: str) -> Pair | None:
        """The pair that has this key."""
        return next((pair for pair in self.pairs if isinstance(pair.key, Scalar) and pair.key.value == key), None)


YamlNode: TypeAlias = Scalar | Collection


def compose(text: str) -> YamlNode | None:
    """The tree of the document, or None when there is nothing but comments in it."""
    root = reader().compose(text)
    return None if root is None else _node(root, text, 0)


def reader() -> Any:
    """What reads YAML: into plain values, with nothing in the text being run. It can be used once."""
    return YAML(typ="safe", pure=True)


def _node(raw: Any, text: str, after: int) -> YamlNode:
    """`raw` in our own words, with its true end: the parser's may lie behind the comments that follow.

    `after` is where what is before it ends: there a value begins and
    ends of which nothing is written.
    """
    start, end = int(raw.start_mark.index), int(raw.end_mark.index)
    if isinstance(raw, MappingNode):
        return _mapping(raw, text, start, end)
    if isinstance(raw, SequenceNode):
        return _list(raw, text, start, end)
    style = str(raw.style or "")
    if start == end:
        return Scalar(after, after, "", style)
    if style in ("|", ">") and "+" not in text[start:end].partition("\n")[0].partition("#")[0]:
        end = len(text[:end].rstrip())
    return Scalar(start, end, str(raw.value), style)


def _mapping(raw: Any, text: str, start: int, end: int) -> Collection:
    pairs: list[Pair] = []
    for raw_key, raw_value in raw.value:
        key = _node(raw_key, text, start)
        colon = text.find(":", key.end) + 1 or key.end
        pairs.append(Pair(key, _node(raw_value, text, colon), colon))
    flow = bool(raw.flow_style)
    true_end = end if flow or not pairs else pairs[-1].value.end
    return Collection(start, true_end, int(raw.start_mark.column), flow, pairs=tuple(pairs))


def _list(raw: Any, text: str, start: int, end: int) -> Collection:
    items = tuple(_node(item, text, len(text[: item.start_mark.index].rstrip())) for item in raw.value)
    flow = bool(raw.flow_style)
    return Collection(start, end if flow or not items else items[-1].end, int(raw.start_mark.column), flow, items=items)
