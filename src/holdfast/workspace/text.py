"""Whether bytes are text, in which encoding, and how they are shown without losing the file."""

import codecs
from dataclasses import dataclass

LOOKED_AT_BYTES = 8192

# The longer marks first: UTF-32's begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Encoding:
    """How a file's bytes are to be read. `mark` is its byte order mark, which writing keeps."""

    name: str
    mark: bytes = b""
    is_binary: bool = False

    @property
    def is_wide(self) -> bool:
        """Whether a newline is more than one byte, so that lines cannot be found by looking for it."""
        return not self.name.startswith("utf-8")

    def decode(self, data: bytes) -> str:
        """The text of some whole lines; what is not valid is shown as U+FFFD."""
        return data.decode(self.name, errors="replace")


UTF8 = Encoding("utf-8")


def detect(head: bytes) -> Encoding:
    """The encoding of a file that begins with `head`."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(name, mark)
    if b"\0" in head[:LOOKED_AT_BYTES]:
        return Encoding("utf-8", is_binary=True)
    return UTF8


def whole_characters(data: bytes) -> bytes:
    """`data` without the beginning of a UTF-8 character that was cut at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data[:-back] if needed > back else data
    return data
