"""Keeping what the model reads within bounds."""

from dataclasses import replace

from holdfast.vocabulary.outcome import Answer

MAX_TEXT_BYTES = 2 * 1024 * 1024


def bound(answer: Answer, max_bytes: int = MAX_TEXT_BYTES) -> Answer:
    """The answer with its text cut when it is longer than any model could want; the body stays whole."""
    encoded = answer.text.encode(errors="replace")
    if len(encoded) <= max_bytes:
        return answer
    shown = encoded[:max_bytes].decode(errors="ignore")
    return replace(answer, text=f"{shown}\n[cut: {len(encoded)} bytes in all, {max_bytes} shown]")
