"""The JSON text of a call's arguments: what is wrong with it, before anybody acts on it."""

import json
from collections.abc import Mapping
from typing import NoReturn, cast

from holdfast.vocabulary.json import dump, flaw_in
from holdfast.vocabulary.messages import CallBlock

_MAX_SHOWN = 2000


class _Ambiguous(ValueError):
    pass


def flaw_of(text: str) -> str:
    """Why the text is not one JSON object that means one thing; empty when it is."""
    try:
        value: object = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except _Ambiguous as error:
        return str(error)
    except json.JSONDecodeError as error:
        return f"the arguments are not valid JSON: {error.msg} at character {error.pos}"
    except (ValueError, RecursionError):
        return "the arguments are not valid JSON"
    if not isinstance(value, Mapping):
        return "the arguments are not a JSON object"
    flaw = flaw_in(cast("Mapping[object, object]", value))
    return f"something in the arguments {flaw}" if flaw else ""


def as_object(call: CallBlock) -> bytes:
    """A call's arguments as JSON that a provider takes, whatever the model wrote: what is no object is told inside one."""
    text = call.arguments if call.arguments.strip() else "{}"
    return text.encode() if not flaw_of(text) else dump({"INVALID_JSON": call.arguments[:_MAX_SHOWN]})


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Ambiguous(f"'{twice[:60]}' is in the arguments more than once")
    return made


def _no_number(text: str) -> NoReturn:
    raise _Ambiguous(f"{text} is not a number in JSON")
