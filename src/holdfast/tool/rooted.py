"""How `workspace` and `person` speak: `/x` from the workspace's root; `{success, result, error}` back.

It is here because both have it, and no toolset knows another.
"""

from collections.abc import Mapping
from typing import cast

from holdfast.vocabulary.errors import HoldfastError, InvalidArguments, InvalidPath, Outside
from holdfast.vocabulary.json import Json, dump
from holdfast.vocabulary.outcome import Answer
from holdfast.vocabulary.statuses import status_of
from holdfast.workspace.mount import Mount
from holdfast.workspace.outputs import FOLDER as OUTPUTS
from holdfast.workspace.paths import clean, inside

from .dialect import Dialect, Spot, spot_of_alias

# The caller knows the path, and `fields` names the arguments.
_NOT_TOLD = ("path", "mount", "written", "arguments")


def locate(text: str, mounts: Mapping[str, Mount]) -> Spot:
    """A path from the workspace's root, with or without the slash in front; what would lead above the root stays there."""
    path = clean(text)
    meant = spot_of_alias(path, mounts)
    if meant is not None and meant.mount.name == "project":
        right = inside(meant.path, written=path, clamp=True)
        raise InvalidPath(f"'{path}' is not how paths are written here", hint=f"Write '/{right}'.", path=path)
    if meant is not None and meant.mount.name == "state" and f"{meant.path}/".startswith(f"{OUTPUTS}/"):
        # What commands printed is no file of the workspace, and yet the caller was told to read it there.
        return meant
    if meant is not None:
        raise Outside(f"'{path}' is outside the workspace's root", hint="Use a path such as '/docs/notes.md'.", path=path)
    return Spot(mounts["project"], inside(path, written=path, clamp=True))


def answer(value: object) -> Answer:
    """The result in its envelope."""
    return _enveloped({"success": True, "result": cast("Json", value), "error": None})


def problem(error: HoldfastError) -> Answer:
    """An error, with the code that clients match, and the facts that help to do better."""
    status = status_of(error.code)
    body: dict[str, Json] = {"success": False, "error": sentence(error), "code": status.code}
    if isinstance(error, InvalidArguments):
        body["fields"] = {mistake.argument: mistake.problem for mistake in error.mistakes if mistake.argument}
    details: dict[str, Json] = {name: value for name, value in error.facts.items() if name not in _NOT_TOLD}
    if details and status.number < 500:
        body["details"] = details
    return _enveloped(body, is_error=True)


def sentence(error: HoldfastError) -> str:
    """What an error says, as a sentence."""
    told = f"Validation failed: {error}" if isinstance(error, InvalidArguments) else str(error)
    return told[:1].upper() + told[1:]


def _enveloped(body: dict[str, Json], *, is_error: bool = False) -> Answer:
    return Answer(body, dump(body).decode(), is_error=is_error)


DIALECT = Dialect(locate, answer, problem, reads_protected=True, below_files=True)
