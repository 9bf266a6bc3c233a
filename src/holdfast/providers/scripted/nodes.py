"""YAML with the line of everything, so that a mistake can be pointed at."""

import math
from collections.abc import Iterator
from typing import Any

from holdfast.vocabulary.errors import InvalidSetting
from holdfast.vocabulary.json import MAX_DEPTH, Json

_TAG = "tag:yaml.org,2002:"


class Node:
    """One value, and where it stands."""

    def __init__(self, raw: Any, name: str) -> None:
        self._raw = raw
        self.name = name
        self.line: int = raw.start_mark.line + 1

    def wrong(self, problem: str) -> InvalidSetting:
        """The error of a value that does not fit."""
        return InvalidSetting(f"{self.name}, line {self.line}: {problem}", hint="docs/providers.md says how a script is written.")

    def entries(self, *allowed: str) -> dict[str, "Node"]:
        """A mapping with these keys and no others."""
        found: dict[str, Node] = {}
        for key, value in self._pairs():
            if allowed and key not in allowed:
                raise value.wrong(f"there is no '{key}' here; there is: {', '.join(allowed)}")
            found[key] = value
        return found

    def items(self) -> list["Node"]:
        """A list that has something in it."""
        if self._raw.id != "sequence" or not self._raw.value:
            raise self.wrong("a list with something in it is needed")
        return [Node(each, self.name) for each in self._raw.value]

    def text(self) -> str:
        """A text; what YAML takes for something else is one when it is quoted."""
        value = self.json()
        if not isinstance(value, str):
            raise self.wrong("a text is needed (put it in quotes)")
        return value

    def number(self, *, least: float = 0, most: float = 1e9) -> float:
        """A number in its bounds."""
        value = self.json()
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self.wrong(f"a number from {least:g} to {most:g} is needed")
        return value

    def whole_number(self, *, least: int = 0, most: int = 10**9) -> int:
        """A whole number in its bounds."""
        value = self.number(least=least, most=most)
        if not isinstance(value, int):
            raise self.wrong("a whole number is needed")
        return value

    def yes_or_no(self) -> bool:
        """True or false."""
        value = self.json()
        if not isinstance(value, bool):
            raise self.wrong("true or false is needed")
        return value

    def one_of(self, *choices: str) -> str:
        """One of these words."""
        value = self.text()
        if value not in choices:
            raise self.wrong(f"one of these is needed: {', '.join(choices)}")
        return value

    def json(self, depth: int = 0) -> Json:
        """The value as JSON says it."""
        if depth > MAX_DEPTH:
            raise self.wrong(f"this is nested deeper than {MAX_DEPTH} levels")
        match self._raw.id:
            case "mapping":
                return {key: value.json(depth + 1) for key, value in self._pairs()}
            case "sequence":
                return [Node(each, self.name).json(depth + 1) for each in self._raw.value]
            case _:
                return self._scalar(str(self._raw.value))

    def _scalar(self, text: str) -> Json:
        try:
            match str(self._raw.tag).removeprefix(_TAG):
                case "str":
                    return text
                case "null":
                    return None
                case "bool":
                    return text.casefold() in ("true", "yes", "on")
                case "int":
                    return int(text.replace("_", ""), 0)
                case "float" if math.isfinite(value := float(text.replace("_", ""))):
                    return value
                case _:
                    raise ValueError
        except ValueError:
            raise self.wrong(f"'{text[:40]}' has no meaning here (put it in quotes if it is a text)") from None

    def _pairs(self) -> Iterator[tuple[str, "Node"]]:
        if self._raw.id != "mapping":
            raise self.wrong("a mapping is needed, with a line 'name: value' for each")
        seen: set[str] = set()
        for key, value in self._raw.value:
            name = Node(key, self.name).text()
            if name in seen:
                raise Node(key, self.name).wrong(f"'{name}' is here twice")
            seen.add(name)
            yield name, Node(value, self.name)


def compose(text: str, name: str) -> Node:
    """The whole of a YAML text.

    Raises:
        InvalidSetting: It is not YAML, or has nothing in it.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    yaml: Any = YAML()
    try:
        raw: Any = yaml.compose(text)
    except MarkedYAMLError as error:
        told: Any = error
        where = f", line {told.problem_mark.line + 1}" if told.problem_mark is not None else ""
        raise InvalidSetting(f"{name}{where}: {told.problem or 'this is not YAML'}", hint="It must be YAML.") from None
    except YAMLError:
        raise InvalidSetting(f"{name}: this is not YAML", hint="It must be YAML.") from None
    if raw is None:
        raise InvalidSetting(f"{name}, line 1: there is nothing in it", hint="docs/providers.md says how a script is written.")
    return Node(raw, name)
