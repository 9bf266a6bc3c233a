"""What a person, a model and its tools say to each other, in a form that no provider owns.

A message never changes, so each provider writes its form of it once
and keeps that in `wire`: a long session costs a turn no more than the
bytes that are sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from .json import Json


@dataclass(frozen=True)
class TextBlock:
    """Words for the reader."""

    text: str


@dataclass(frozen=True)
class ThinkingBlock:
    """What the model thought. `signature` goes back to whoever made it, unread; of a redacted one it is all there is."""

    text: str
    signature: str = ""
    is_redacted: bool = False


@dataclass(frozen=True)
class CallBlock:
    """A call as the model wrote it. `arguments` is its JSON text; `invalid` says why it cannot be run."""

    id: str
    name: str
    arguments: str
    invalid: str = ""


Block: TypeAlias = TextBlock | ThinkingBlock | CallBlock


@dataclass(frozen=True)
class _Message:
    wire: dict[str, bytes] = field(default_factory=dict[str, bytes], init=False, repr=False, compare=False)


@dataclass(frozen=True)
class SystemMessage(_Message):
    """What the model is told before anything else."""

    role: ClassVar[str] = "system"

    text: str


@dataclass(frozen=True)
class UserMessage(_Message):
    """What the person says. A note is what we say in their place, about the answer before it, which was cut off."""

    role: ClassVar[str] = "user"

    text: str
    is_note: bool = False


@dataclass(frozen=True)
class AssistantMessage(_Message):
    """One answer of the model, in its order."""

    role: ClassVar[str] = "assistant"

    blocks: tuple[Block, ...] = ()

    @property
    def text(self) -> str:
        """Its words alone."""
        return "".join(block.text for block in self.blocks if isinstance(block, TextBlock))

    @property
    def thinking(self) -> str:
        """Its thoughts alone."""
        return "".join(block.text for block in self.blocks if isinstance(block, ThinkingBlock))

    @property
    def calls(self) -> tuple[CallBlock, ...]:
        """Its calls alone, those that cannot be run among them."""
        return tuple(block for block in self.blocks if isinstance(block, CallBlock))


@dataclass(frozen=True)
class ToolMessage(_Message):
    """What came of one call, as the model reads it."""

    role: ClassVar[str] = "tool"

    call_id: str
    name: str
    text: str
    is_error: bool = False


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage


def as_json(message: Message) -> dict[str, Json]:
    """The message as it can be stored, whole."""
    match message:
        case AssistantMessage():
            return {"role": message.role, "blocks": [_block_as_json(block) for block in message.blocks]}
        case ToolMessage():
            told: dict[str, Json] = {"role": message.role, "call_id": message.call_id, "name": message.name, "text": message.text}
            return {**told, "is_error": True} if message.is_error else told
        case UserMessage(is_note=True):
            return {"role": message.role, "text": message.text, "is_note": True}
        case _:
            return {"role": message.role, "text": message.text}


def from_json(stored: Mapping[str, Json]) -> Message:
    """The message that `as_json` told of.

    Raises:
        ValueError: It is none.
    """
    try:
        match stored["role"]:
            case "system":
                return SystemMessage(_text(stored, "text"))
            case "user":
                return UserMessage(_text(stored, "text"), is_note=bool(stored.get("is_note")))
            case "tool":
                told = [_text(stored, name) for name in ("call_id", "name", "text")]
                return ToolMessage(*told, is_error=bool(stored.get("is_error")))
            case "assistant":
                return AssistantMessage(tuple(_block_from_json(block) for block in _every(stored["blocks"])))
            case other:
                raise ValueError(f"a message has no role '{other}'")
    except KeyError as missing:
        raise ValueError(f"a message lacks {missing}") from None


def _block_as_json(block: Block) -> dict[str, Json]:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ThinkingBlock():
            told: dict[str, Json] = {"type": "thinking", "text": block.text, "signature": block.signature}
            return {**told, "is_redacted": True} if block.is_redacted else told
        case CallBlock():
            told = {"type": "call", "id": block.id, "name": block.name, "arguments": block.arguments}
            return {**told, "invalid": block.invalid} if block.invalid else told


def _block_from_json(stored: Mapping[str, Json]) -> Block:
    match stored["type"]:
        case "text":
            return TextBlock(_text(stored, "text"))
        case "thinking":
            return ThinkingBlock(_text(stored, "text"), _text(stored, "signature"), bool(stored.get("is_redacted")))
        case "call":
            told = [_text(stored, name) for name in ("id", "name", "arguments")]
            return CallBlock(*told, invalid=_text(stored, "invalid") if "invalid" in stored else "")
        case other:
            raise ValueError(f"a message has no block of type '{other}'")


def _every(value: Json) -> Sequence[Mapping[str, Json]]:
    if isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(each, Mapping) for each in value):
        return [each for each in value if isinstance(each, Mapping)]
    raise ValueError("a message's blocks are a list of objects")


def _text(stored: Mapping[str, Json], name: str) -> str:
    value = stored[name]
    if not isinstance(value, str):
        raise ValueError(f"'{name}' of a message is text")
    return value
