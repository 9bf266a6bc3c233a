"""How a tool is described to a model, in the forms that providers take."""

import hashlib
import re
from collections.abc import Iterable

from holdfast.vocabulary.json import Json

from .tool import Tool

_MAX_WIRE_NAME = 64


def neutral(tool: Tool) -> dict[str, Json]:
    """Name, description and schema, under the names of our own documents."""
    return {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}


def openai(tool: Tool, wire_name: str | None = None) -> dict[str, Json]:
    """The form of OpenAI's function calling."""
    function: dict[str, Json] = {"name": wire_name or tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def anthropic(tool: Tool, wire_name: str | None = None) -> dict[str, Json]:
    """The form of Anthropic's messages."""
    return {"name": wire_name or tool.name, "description": tool.description, "input_schema": tool.schema}


class WireNames:
    """Names that every provider takes (letters, digits, `_` and `-`, at most 64), and the way back.

    Made for the tools of one request, so that no two of them meet.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._wire: dict[str, str] = {}
        self._ours: dict[str, str] = {}
        # Names that need no change come first and keep themselves.
        for name in sorted(set(names), key=lambda name: (_safe(name) != name or len(name) > _MAX_WIRE_NAME, name)):
            wire, mark = _safe(name), name
            while wire in self._ours or len(wire) > _MAX_WIRE_NAME:
                mark = hashlib.sha256(mark.encode(errors="surrogatepass")).hexdigest()
                wire = f"{_safe(name)[: _MAX_WIRE_NAME - 9]}_{mark[:8]}"
            self._wire[name] = wire
            self._ours[wire] = name

    def to_wire(self, name: str) -> str:
        """The name that travels."""
        return self._wire[name]

    def from_wire(self, wire: str) -> str:
        """Our own name; what was never sent comes back as it is, and will be an unknown tool."""
        return self._ours.get(wire, wire)


def _safe(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)
