"""What was said in a session, as text that a person can read: each message under its event's number, its time and who said it.

A message's text never changes, and the text of a chat is that of its
messages, one after the other: it only ever grows at its end.
"""

from collections.abc import Iterable, Mapping
from typing import cast

from holdfast.store.events import Event
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.messages import AssistantMessage, CallBlock, Message, TextBlock, ThinkingBlock, ToolMessage, UserMessage, from_json
from holdfast.vocabulary.moments import iso

MAX_ARGUMENTS = 500
MAX_RESULT = 2_000


def rendered(events: Iterable[Event]) -> bytes:
    """The messages as whole lines."""
    return "".join(map(_message, events)).replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace")


def _message(event: Event) -> str:
    message = from_json(cast("Mapping[str, Json]", event.payload))
    said = "".join(part.rstrip() + "\n" for part in _parts(message))
    return f"[{event.seq}] {iso(event.created_at)} {_who(message)}\n{said}\n"


def _who(message: Message) -> str:
    if isinstance(message, ToolMessage):
        return f"{message.role} {_on_one_line(message.name)}{', which failed' if message.is_error else ''}"
    return "note" if isinstance(message, UserMessage) and message.is_note else message.role


def _parts(message: Message) -> list[str]:
    """What was said and what was called. What the model thought, it did not say."""
    match message:
        case AssistantMessage():
            return [_block(block) for block in message.blocks if not isinstance(block, ThinkingBlock)]
        case ToolMessage():
            return [_in_short(message.text, MAX_RESULT)]
        case _:
            return [message.text]


def _block(block: TextBlock | CallBlock) -> str:
    if isinstance(block, TextBlock):
        return block.text
    said = f"calls {_on_one_line(block.name)} {_in_short(_on_one_line(block.arguments), MAX_ARGUMENTS)}"
    return f"{said} (not run: {_on_one_line(block.invalid)})" if block.invalid else said


def _in_short(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} … [{len(text)} characters in all]"


def _on_one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")
