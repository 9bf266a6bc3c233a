"""How `fs` speaks: `@mount/…` paths; an `{ok, …}` union with `E_…` codes back."""

import json
from collections.abc import Mapping
from typing import cast

from holdfast.tool.dialect import Dialect, Spot, camel_case, spot_of_host_path
from holdfast.vocabulary.errors import HoldfastError, InvalidPath, Outside, UnknownMount
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Answer
from holdfast.workspace.mount import Mount
from holdfast.workspace.paths import clean, inside

# What is not here is E_INTERNAL.
CODES = {
    "not_found": "ENOENT",
    "path_violation": "E_SANDBOX_VIOLATION",
    "invalid_path": "E_SANDBOX_VIOLATION",
    "outside": "E_SANDBOX_VIOLATION",
    "unknown_mount": "E_SANDBOX_VIOLATION",
    "read_only": "E_SANDBOX_VIOLATION",
    "protected": "E_SANDBOX_VIOLATION",
    "not_permitted": "E_SANDBOX_VIOLATION",
    "special_file": "E_SANDBOX_VIOLATION",
    "too_large": "E_READ_LIMIT",
    "line_too_long": "E_READ_LIMIT",
    "content_too_large": "E_WRITE_LIMIT",
    "invalid_front_matter": "E_INVALID_FRONTMATTER",
    "invalid_arguments": "E_SCHEMA_VALIDATION",
    "invalid_state": "E_SCHEMA_VALIDATION",
    "invalid_transition": "E_INVALID_TRANSITION",
    "stale_hash": "E_PRECONDITION_FAILED",
}


def locate(text: str, mounts: Mapping[str, Mount]) -> Spot:
    """`@mount/path`, and nothing else."""
    path = clean(text.replace("\\", "/"))
    if ".." in path.split("/"):
        raise Outside(f"'{path}' has a '..' in it, which could lead outside", hint="Name the file from its mount.", path=path)
    named = inside(path, written=path)
    if not named.startswith("@"):
        meant = spot_of_host_path(path, mounts) or Spot(mounts["project"], named)
        right = f"@{meant.mount.name}/{meant.path}".rstrip("/")
        raise InvalidPath(f"'{path}' does not begin with a mount", hint=f"Write '{right}'.", path=path)
    name, _, rest = named[1:].partition("/")
    if name not in mounts:
        known = ", ".join(f"@{mount}" for mount in mounts)
        raise UnknownMount(f"there is no mount '@{name}'", hint=f"The mounts are: {known}.", mount=name, path=rest)
    return Spot(mounts[name], inside(rest, written=path))


def answer(value: object) -> Answer:
    """The result, marked as good."""
    return _union({"ok": True, **cast("dict[str, Json]", value)}, is_error=False)


def problem(error: HoldfastError) -> Answer:
    """An error, with the code that the workflow's engine knows."""
    told: dict[str, Json] = {"code": CODES.get(error.code, "E_INTERNAL"), "message": str(error)}
    if error.facts:
        told["details"] = error.facts
    return _union({"ok": False, "error": told}, is_error=True)


def _union(body: dict[str, Json], *, is_error: bool) -> Answer:
    return Answer(body, json.dumps(body, ensure_ascii=False), is_error=is_error)


DIALECT = Dialect(locate, answer, problem, prefix="fs.", closed=True, wire_name=camel_case)
