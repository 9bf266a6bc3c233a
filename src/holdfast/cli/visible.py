"""Text as a terminal may be given it: what it holds is shown, and never obeyed.

Besides control characters these are the marks that turn the direction of
writing, with which a line can read as something else than it is.
"""

import json
import re

_ORDERS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_IN_TEXT = re.compile(f"[{_ORDERS}]")
_IN_A_LINE = re.compile(rf"[\t\n{_ORDERS}]")


def visible(text: str) -> str:
    r"""Text whose orders are written out; lines and tabs stay.

    >>> print(visible("a\x1b[2Jb\r\x9b\u202e"))
    a^[[2Jb^M\x9b\u202e
    """
    return _IN_TEXT.sub(_written, _text(text))


def visible_line(text: str) -> str:
    r"""The same for what must stay in one line, such as the name of a file.

    >>> print(visible_line("a\nkept: b"))
    a^Jkept: b
    """
    return _IN_A_LINE.sub(_written, _text(text))


def visible_json(value: object) -> str:
    r"""JSON in one line that says the same, with all orders escaped.

    >>> print(visible_json({"é": "\x1b\x9b\x7f"}))
    {"é": "\u001b\u009b\u007f"}
    """
    return _IN_A_LINE.sub(lambda found: f"\\u{ord(found[0]):04x}", _text(json.dumps(value, ensure_ascii=False)))


def _written(found: re.Match[str]) -> str:
    number = ord(found[0])
    if number < 128:
        return f"^{chr(number ^ 64)}"
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def _text(text: str) -> str:
    """What was no text on the command line or in a name would be none here."""
    return text.encode(errors="replace").decode()
