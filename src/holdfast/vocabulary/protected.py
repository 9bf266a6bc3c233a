"""Which paths tools keep their hands off, whatever the caller asks.

Matched on a path's components and regardless of case, so that
`.ENV`, `.Git/Hooks/pre-commit` and `conf/my-Secrets.yml` are all met.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property

NAMES = (
    ".env",
    ".env.*",
    "*credential*",
    "*secret*",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.ppk",
)
TREES = (".git/config", ".git/hooks", ".holdfast")
SPARED = (".env.example",)


@dataclass(frozen=True)
class ProtectedPaths:
    """A set of names that are protected anywhere, and of trees that are protected with all below them.

    `own` are Holdfast's own folders, counted from the root of the mount
    that they lie in, as `mount/path`.
    """

    names: tuple[str, ...] = NAMES
    trees: tuple[str, ...] = TREES
    spared: tuple[str, ...] = SPARED
    own: tuple[str, ...] = ()

    def covers(self, path: str, *, mount: str = "") -> bool:
        """Whether `path`, counted from its mount's root, is protected."""
        folded = path.casefold()
        if self.own and self._is_own(f"{mount}/{folded}"):
            return True
        if self._possible.search(folded) is None:
            return False
        parts = folded.split("/")
        return any(self._is_protected_name(part) for part in parts) or self._is_in_tree(parts)

    def may_cover(self, paths: str) -> bool:
        """A quick look at many paths at once, in any text that holds them; False means that none of them is protected."""
        return bool(self.own) or self._possible.search(paths.casefold()) is not None

    def _is_protected_name(self, name: str) -> bool:
        return self._name.match(name) is not None and name not in map(str.casefold, self.spared)

    def _is_in_tree(self, parts: list[str]) -> bool:
        for tree in self.trees:
            wanted = tree.casefold().split("/")
            if any(parts[start : start + len(wanted)] == wanted for start in range(len(parts))):
                return True
        return False

    def _is_own(self, path: str) -> bool:
        return any(path == own or path.startswith(f"{own}/") for own in self._folded_own)

    @cached_property
    def _folded_own(self) -> tuple[str, ...]:
        return tuple(map(str.casefold, self.own))

    @cached_property
    def _name(self) -> re.Pattern[str]:
        return re.compile("|".join(translate(name.casefold()) for name in self.names) or r"(?!)")

    @cached_property
    def _possible(self) -> re.Pattern[str]:
        """A quick look that lets most paths pass: no pattern can match without one of these pieces."""
        plain = [*self.names, *(tree.split("/")[0] for tree in self.trees)]
        # What stands after a bracket may be a choice of characters, none of which has to be there.
        pieces = [max(re.split(r"[*?]+", name.casefold().partition("[")[0]), key=len) for name in plain]
        # Folded text and no IGNORECASE: that flag makes this search four times as slow, and walks make it for every entry.
        return re.compile("|".join(map(re.escape, _without_longer(pieces))) if pieces else r"(?!)")


def _without_longer(pieces: Iterable[str]) -> list[str]:
    """The pieces of which no other is a part."""
    kept: list[str] = []
    for piece in sorted(set(pieces), key=len):
        if not any(shorter in piece for shorter in kept):
            kept.append(piece)
    return kept
