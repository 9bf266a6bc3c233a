"""A profile as its file would say it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from holdfast.vocabulary.json import Json
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.profile import Environment, Profile
from holdfast.vocabulary.scope import Permission, Scope
from holdfast.vocabulary.trust import When

from .amounts import say_seconds
from .profile_file import INHERIT, KnownTools
from .profile_limits import tell_limits

# What neither YAML 1.1 nor 1.2 could take for anything but a text.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*|[0-9]+(ms|s|m|h|[KMG]?i?B)", re.ASCII)
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def as_document(profile: Profile, known: KnownTools) -> dict[str, Json]:
    """What `read_profile` takes for this profile. What one permits as a whole is told tool by tool."""
    told: dict[str, Json] = {
        "description": profile.description,
        "model": profile.model,
        "system_prompt": profile.system_prompt,
        "toolsets": list(profile.toolsets),
        "tool_permissions": {tool: _permission(each) for tool, each in _scope(profile, known).permissions.items()},
        "trust": profile.trust.value if profile.trust is not None else None,
        "ask": profile.ask.value if profile.ask is not When.BEFORE else None,
        "mode": profile.mode.value if profile.mode is not Mode.BUILD else None,
        "mounts": dict(profile.mounts),
        "env": _environment(profile.env),
        "limits": tell_limits(profile.limits),
        "workflow": {"edges": {node: list(nodes) for node, nodes in profile.workflow.edges.items()}} if profile.workflow else None,
    }
    return {key: value for key, value in told.items() if value or key == "tool_permissions"}


def as_yaml(profile: Profile, known: KnownTools) -> str:
    """The text of a file that says this profile."""
    return "".join(_lines(as_document(profile, known), ""))


def _lines(mapping: Mapping[str, Json], indent: str) -> Iterator[str]:
    for key, value in mapping.items():
        if isinstance(value, Mapping) and value and not indent:
            yield f"{_inline(key)}:\n"
            yield from _lines(value, "  ")
        elif isinstance(value, str) and _is_prose(value):
            sign = "|" if value.endswith("\n") else "|-"
            yield f"{indent}{_inline(key)}: {sign}\n"
            yield from (f"{indent}  {line}".rstrip() + "\n" for line in value.removesuffix("\n").split("\n"))
        else:
            yield f"{indent}{_inline(key)}: {_inline(value)}\n"


def _inline(value: Json) -> str:
    match value:
        case str():
            is_plain = _PLAIN.fullmatch(value) is not None and value.casefold() not in _WORDS
            return value if is_plain else "".join(map(_escaped, json.dumps(value, ensure_ascii=False)))
        case Mapping():
            return "{" + ", ".join(f"{_inline(key)}: {_inline(below)}" for key, below in value.items()) + "}"
        case Sequence():
            return "[" + ", ".join(map(_inline, value)) + "]"
        case _:
            return json.dumps(value)


def _is_prose(text: str) -> bool:
    """Whether a text can be written as it is, below its key."""
    lines = text.removesuffix("\n").split("\n")
    return len(lines) > 1 and all(line.isprintable() and line == line.strip() for line in lines) and bool(lines[0] and lines[-1])


def _escaped(letter: str) -> str:
    if letter.isprintable():
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) <= 0xFFFF else f"\\U{ord(letter):08x}"


def _scope(profile: Profile, known: KnownTools) -> Scope:
    if profile.scope is not None:
        return profile.scope
    toolsets = profile.toolsets or tuple(known.toolsets)
    return Scope.of(*(tool for toolset in toolsets for tool in known.toolsets.get(toolset, ())))


def _permission(permission: Permission) -> dict[str, Json]:
    told: dict[str, Json] = {"allowed": permission.allowed}
    if permission.paths:
        told["paths"] = list(permission.paths)
    if permission.timeout_seconds is not None:
        told["timeout"] = say_seconds(permission.timeout_seconds)
    return told


def _environment(env: Environment) -> list[Json]:
    return [*([INHERIT] if env.inherits else []), *env.passed, *(f"{name}={value}" for name, value in env.given.items())]
