"""How `core` speaks: paths relative to the project or absolute inside a mount; text, `is_error` and metadata back."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.tool.dialect import Dialect, Spot, spot_of_alias, spot_of_host_path
from holdfast.vocabulary.errors import CommandFailed, HoldfastError, InvalidPath, Outside
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
        spot = spot_of_host_path("/" + inside(path, written=path, clamp=True), mounts)
        if spot is None:
            raise Outside(f"'{path}' is outside the project", hint="Use a path relative to the project.", path=path)
        return spot
    meant = spot_of_alias(path, mounts)
    if meant is not None:
        right = meant.path or "." if meant.mount.name == "project" else str(meant.mount.root / meant.path)
        raise InvalidPath(f"'{path}' is not how paths are written here", hint=f"Write '{right}'.", path=path)
    return Spot(mounts["project"], inside(path, written=path))


def answer(value: object) -> Answer:
    """What the tool said."""
    said = value if isinstance(value, Text) else Text(str(value))
    return Answer({"output": said.output, "is_error": False, "metadata": said.metadata}, said.output, metadata=said.metadata)


def problem(error: HoldfastError) -> Answer:
    """An error, as text that the model can act on."""
    if isinstance(error, CommandFailed):
        metadata: dict[str, Json] = {"code": error.code, **error.metadata}
        return Answer({"output": error.output, "is_error": True, "metadata": metadata}, error.output, is_error=True, metadata=metadata)
    metadata = {"code": error.code}
    return Answer({"output": str(error), "is_error": True, "metadata": metadata}, str(error), is_error=True, metadata=metadata)


DIALECT = Dialect(locate, answer, problem)
