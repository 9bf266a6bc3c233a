"""What a conversation tells those who watch it."""

from dataclasses import dataclass
from typing import TypeAlias

from .json import JsonObject


@dataclass(frozen=True, slots=True)
class ChatEvent:
    """One fact of a conversation, under the name and with the fields that clients know. What is on record has a number."""

    type: str
    payload: JsonObject
    seq: int | None = None


EndOfTurn: TypeAlias = str
DONE, CANCELLED, LIMIT, BUDGET, ERROR = "done", "cancelled", "limit", "budget", "error"
