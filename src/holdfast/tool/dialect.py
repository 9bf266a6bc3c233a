"""How a toolset spells paths, results and errors."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.outcome import Answer
from holdfast.workspace.mount import Mount


@dataclass(frozen=True)
class Spot:
    """Where a path's text points: a mount, and a clean path in it that nobody has looked at yet."""

    mount: Mount
    path: str


@dataclass(frozen=True)
class Dialect:
    """A path grammar, a result envelope and error codes, as data and a few small functions.

    With `below_files` a path that goes through a file is one where
    nothing is, and the tools say what that means for them.
    """

    locate: Callable[[str, Mapping[str, Mount]], Spot]
    answer: Callable[[object], Answer]
    problem: Callable[[HoldfastError], Answer]
    prefix: str = ""
    closed: bool = False
    wire_name: Callable[[str], str] = str
    reads_protected: bool = False
    below_files: bool = False


def spot_of_host_path(absolute: str, mounts: Mapping[str, Mount]) -> Spot | None:
    """Where an absolute path of this machine lies in the mounts, if it does."""
    # The longest root first: a mount may lie within another.
    for mount in sorted(mounts.values(), key=lambda mount: len(str(mount.root)), reverse=True):
        path = mount.path_of(absolute)
        if path is not None:
            return Spot(mount, path)
    return None


def spot_of_alias(text: str, mounts: Mapping[str, Mount]) -> Spot | None:
    """What `@mount/path` would mean, if that is what the text is."""
    name, _, path = text.removeprefix("@").partition("/")
    return Spot(mounts[name], path) if text.startswith("@") and name in mounts else None


def camel_case(name: str) -> str:
    """`start_line` as `startLine`."""
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)
