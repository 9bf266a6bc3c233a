"""A YAML file that is read strictly: every mistake is put down with its line, and reading goes on, so that all are told at once."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from typing import Any, TypeVar

from holdfast.vocabulary.errors import InvalidSetting

from .amounts import parse_bytes, parse_seconds, say_bytes, say_seconds

_TAG = "tag:yaml.org,2002:"
_MAX_SHOWN = 60
_MAX_DEPTH = 16
_MAX_EVENTS = 10_000

E = TypeVar("E", bound=Enum)


@dataclass
class Page:
    """One file, and what is wrong in it; a mistake is a line and a sentence."""

    file: str
    mistakes: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def compose(self, text: str) -> "Node | None":
        """The whole of the text, or None when it is empty or no YAML that we take."""
        from ruamel.yaml import YAML
        from ruamel.yaml.error import MarkedYAMLError, YAMLError

        try:
            if not self._is_plain(text):
                return None
            yaml: Any = YAML(typ="safe", pure=True)
            raw: Any = yaml.compose(text)
        except MarkedYAMLError as error:
            told: Any = error
            line = told.problem_mark.line + 1 if told.problem_mark is not None else 1
            self.mistakes.append((line, f"this is not YAML: {told.problem or told.context}"))
            return None
        except (YAMLError, ValueError):
            self.mistakes.append((1, "this is not YAML: there is a character that may not be there"))
            return None
        return None if raw is None else Node(raw, self, "")

    def _is_plain(self, text: str) -> bool:
        """Whether there is nothing in it that could grow when it is read: no aliases, and no nesting or length without end."""
        from ruamel.yaml import YAML

        yaml: Any = YAML(typ="safe", pure=True)
        depth = 0
        for number, event in enumerate(yaml.parse(text)):
            kind = type(event).__name__
            depth += kind.endswith(("SequenceStartEvent", "MappingStartEvent")) - kind.endswith(("SequenceEndEvent", "MappingEndEvent"))
            problem = ""
            if getattr(event, "anchor", None) is not None:
                problem = "anchors and aliases (& and *) are not taken here; write it out"
            elif depth > _MAX_DEPTH or number > _MAX_EVENTS:
                problem = "this is nested too deeply" if depth > _MAX_DEPTH else "this is too long"
            if problem:
                self.mistakes.append((event.start_mark.line + 1, problem))
                return False
        return True

    def check(self) -> None:
        """End the reading.

        Raises:
            InvalidSetting: There were mistakes; all are told.
        """
        if not self.mistakes:
            return
        told = [f"line {line}: {problem}" for line, problem in sorted(self.mistakes, key=lambda each: each[0])]
        heading = "1 mistake" if len(told) == 1 else f"{len(told)} mistakes"
        raise InvalidSetting(f"{self.file} has {heading}:\n  " + "\n  ".join(told), file=self.file, mistakes=told)


class Node:
    """One value and what it is the value of. What does not fit is put down on the page, and None given."""

    def __init__(self, raw: Any, page: Page, name: str, key_line: int = 0) -> None:
        self._raw = raw
        self._page = page
        self.name = name
        self.line: int = raw.start_mark.line + 1
        self.key_line = key_line or self.line

    def wrong(self, problem: str) -> None:
        """Put down a mistake."""
        self._page.mistakes.append((self.line, f"{self.name}: {problem}" if self.name else problem))

    def fields(
        self, allowed: Collection[str], *, required: Sequence[str] = (), also: re.Pattern[str] | None = None, listed: str = ""
    ) -> dict[str, "Node"]:
        """The values of a mapping that has these keys, `also` those that match, and no others.

        `listed` is told instead of the keys when those are too many.
        """
        found: dict[str, Node] = {}
        for key, value in self.pairs():
            if key in allowed or (also is not None and also.fullmatch(key)):
                found[key] = value
                continue
            near = get_close_matches(key, allowed, 1)
            meant = f"; did you mean '{near[0]}'?" if near else ""
            where = f"{self.name}: " if self.name else ""
            told = listed or f"there is: {', '.join(allowed)}"
            self._page.mistakes.append((value.key_line, f"{where}there is no '{_short(key)}' here{meant} ({told})"))
        if self._raw.id == "mapping":
            for key in required:
                if key not in found:
                    self.wrong(f"'{key}' is missing")
        return found

    def pairs(self) -> Iterator[tuple[str, "Node"]]:
        """Key and value of everything in a mapping, each key once."""
        if self._raw.id != "mapping":
            return self.wrong("this must be a mapping, with a line 'name: value' for each")
        seen: set[str] = set()
        for raw_key, raw_value in self._raw.value:
            key = Node(raw_key, self._page, self.name).text()
            if key is None:
                continue
            if key in seen:
                Node(raw_key, self._page, self.name).wrong(f"'{_short(key)}' is here twice")
                continue
            seen.add(key)
            name = f"{self.name}.{_short(key)}" if self.name else _short(key)
            yield key, Node(raw_value, self._page, name, raw_key.start_mark.line + 1)

    def items(self) -> list["Node"]:
        """The items of a list."""
        if self._raw.id != "sequence":
            self.wrong("this must be a list, such as [one, two]")
            return []
        return [Node(each, self._page, self.name) for each in self._raw.value]

    def texts(self, *, or_one: bool = False) -> list[tuple[str, "Node"]]:
        """The items of a list that are texts, each once; with `or_one` a single text is a list of it."""
        found: dict[str, Node] = {}
        for item in [self] if or_one and self._raw.id == "scalar" else self.items():
            text = item.text()
            if text in found:
                item.wrong(f"'{_short(text)}' is here twice")
            elif text is not None:
                found[text] = item
        return list(found.items())

    def text(self) -> str | None:
        """A text that is not empty; what YAML takes for something else is one when it is quoted."""
        if self._raw.id != "scalar" or not self._is("str"):
            return self.wrong("this must be a text; put it in quotes if it looks like something else")
        if not str(self._raw.value).strip():
            return self.wrong("this must not be empty; leave it out")
        return str(self._raw.value)

    def yes_or_no(self) -> bool | None:
        """True or false."""
        if self._raw.id != "scalar" or not self._is("bool"):
            return self.wrong("this must be true or false")
        return str(self._raw.value).casefold() == "true"

    def choice(self, kind: type[E]) -> E | None:
        """One of the words of an enumeration."""
        words = {each.value: each for each in kind}
        text = self._plain()
        if text not in words:
            return self.wrong(f"this must be one of: {', '.join(words)}")
        return words[text]

    def whole_number(self, *, least: int, most: int) -> int | None:
        """A whole number in its bounds."""
        text = self._plain()
        if not text.isascii() or not text.isdecimal() or len(text) > 18 or not least <= int(text) <= most:
            return self.wrong(f"this must be a whole number from {least} to {most}")
        return int(text)

    def seconds(self, *, most: float) -> float | None:
        """A time of at least a millisecond."""
        seconds = parse_seconds(self._plain())
        if seconds is None or not 0.001 <= seconds <= most:
            return self.wrong(f"this must be a time with its unit, such as 120s or 2m, and at most {say_seconds(most)}")
        return seconds

    def size(self, *, most: int) -> int | None:
        """A size of at least one byte."""
        size = parse_bytes(self._plain())
        if size is None or not 1 <= size <= most:
            return self.wrong(f"this must be a size, such as 50000 or 50KB, and at most {say_bytes(most)}")
        return size

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is written here."""
        return self._raw.id == "scalar" and self._is("null")

    @property
    def is_empty_list(self) -> bool:
        """Whether it is a list without items."""
        return self._raw.id == "sequence" and not self._raw.value

    def _is(self, kind: str) -> bool:
        return str(self._raw.tag) == f"{_TAG}{kind}"

    def _plain(self) -> str:
        """What is written, whatever YAML takes it for; "" when it is no single value, or one with a tag."""
        is_plain = self._raw.id == "scalar" and any(self._is(kind) for kind in ("str", "int", "float", "bool"))
        return str(self._raw.value) if is_plain else ""


def _short(text: str | None) -> str:
    return (text or "")[:_MAX_SHOWN]
