"""Names of tools as they travel: what every provider takes, and the way back."""

import hashlib
import re
from collections.abc import Iterable

_MAX_WIRE_NAME = 64


class WireNames:
    """Names that every provider takes (letters, digits, `_` and `-`, at most 64), and the way back.

    Made for the tools of one request, so that no two of them meet. `mark`
    is equal for two requests that send every name alike.
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
        unlike = sorted(f"{name}\0{wire}" for name, wire in self._wire.items() if wire != _plainly(name))
        self.mark = hashlib.sha256("\n".join(unlike).encode(errors="surrogatepass")).hexdigest()[:16] if unlike else ""

    def to_wire(self, name: str) -> str:
        """The name that travels."""
        return self._wire[name]

    def told(self, name: str) -> str:
        """The name that travels, also of a tool that was called once and is no longer offered."""
        return self._wire.get(name) or _plainly(name)

    def from_wire(self, wire: str) -> str:
        """Our own name; what was never sent comes back as it is, and will be an unknown tool."""
        return self._ours.get(wire, wire)


def _plainly(name: str) -> str:
    return _safe(name)[:_MAX_WIRE_NAME]


def _safe(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)
