"""How `core` speaks: paths relative to the project or absolute inside a mount; text, `is_error` and metadata back."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.tool.dialect import Dialect, Spot
from holdfast.vocabulary.errors import HoldfastError, InvalidPath, Outside
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Answer
from holdfast.workspace.mount import Mount
from holdfast.workspace.paths import clean, inside


@dataclass(frozen=True)
class Text:
    """What a tool says, and facts beside it for a person's window."""

    output: str
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])


def locate(text: str, mounts: Mapping[str, Mount]) -> Spot:
    """A path relative to the project, or an absolute one of this machine that lies in a mount."""
    path = clean(text)
    if path.startswith("/"):
        return _in_a_mount(path, mounts)
    if path.startswith("@"):
        mount, _, rest = path[1:].partition("/")
        if mount in mounts:
            right = rest or "." if mount == "project" else str(mounts[mount].root / rest)
            raise InvalidPath(f"'{path}' is not how paths are written here", hint=f"Write '{right}'.", path=path)
    return Spot(mounts["project"], inside(path, written=path))


def _in_a_mount(path: str, mounts: Mapping[str, Mount]) -> Spot:
    absolute = "/" + inside(path, written=path, clamp=True)
    # The longest root first: a mount may lie within another.
    for mount in sorted(mounts.values(), key=lambda mount: len(str(mount.root)), reverse=True):
        for root in (str(mount.root), str(mount.given_root)):
            if absolute == root or absolute.startswith(root.rstrip("/") + "/"):
                return Spot(mount, absolute[len(root) :].strip("/"))
    raise Outside(f"'{path}' is outside the project", hint="Use a path relative to the project.", path=path)


def answer(value: object) -> Answer:
    """What the tool said."""
    said = value if isinstance(value, Text) else Text(str(value))
    return Answer({"output": said.output, "is_error": False, "metadata": said.metadata}, said.output, metadata=said.metadata)


def problem(error: HoldfastError) -> Answer:
    """An error, as text that the model can act on."""
    metadata: dict[str, Json] = {"code": error.code}
    return Answer({"output": str(error), "is_error": True, "metadata": metadata}, str(error), is_error=True, metadata=metadata)


DIALECT = Dialect(locate, answer, problem)
