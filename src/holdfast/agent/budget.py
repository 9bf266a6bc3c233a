"""How much of a model's window is used, and what is left out of it when it is nearly full."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.vocabulary.chunks import Usage
from holdfast.vocabulary.json import dump
from holdfast.vocabulary.messages import Message, ToolMessage, as_json

_BYTES_PER_TOKEN = 3.5
# From here on older results are left out, and below this much room no tools are offered.
_NEARLY_FULL = 0.8
_ROOM_FOR_TOOLS = 0.05
_LEFT_WHOLE = 6
_SHORT_BYTES = 400


@dataclass
class Budget:
    """What the provider counted last, and an estimate of what has come since."""

    window_tokens: int | None
    counted: int = 0
    counted_messages: int = 0

    def count(self, usage: Usage, messages: int) -> None:
        """Take what the provider counted: all up to and with its answer."""
        self.counted = usage.input_tokens + usage.output_tokens
        self.counted_messages = messages

    def used(self, messages: Sequence[Message]) -> int:
        """How many tokens the conversation has, as far as can be told."""
        return self.counted + sum(map(_estimate, messages[self.counted_messages :]))

    def has_room_for_tools(self, messages: Sequence[Message]) -> bool:
        """Whether a call and its result would still fit."""
        return self.window_tokens is None or self.used(messages) < self.window_tokens * (1 - _ROOM_FOR_TOOLS)

    def fitting(self, messages: Sequence[Message]) -> Sequence[Message]:
        """What is sent: all of it, or when the window is nearly full, short stand-ins for older results."""
        if self.window_tokens is None or self.used(messages) < self.window_tokens * _NEARLY_FULL:
            return messages
        older = len(messages) - _LEFT_WHOLE
        return [_stand_in(message) if at < older else message for at, message in enumerate(messages)]


def _stand_in(message: Message) -> Message:
    if not isinstance(message, ToolMessage) or len(message.text) <= _SHORT_BYTES:
        return message
    left_out = f"{len(message.text)} characters; the rest was left out to save room: call {message.name} again to see it"
    return replace(message, text=f"{message.text[:_SHORT_BYTES]}\n[{left_out}]")


def _estimate(message: Message) -> int:
    return int(len(dump(as_json(message))) / _BYTES_PER_TOKEN)
