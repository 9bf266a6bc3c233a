"""The rules that every path's text obeys, whatever the dialect: text in, clean components out."""

from holdfast.vocabulary.errors import InvalidPath, Outside

MAX_BYTES = 4096
MAX_NAME_BYTES = 255


def clean(text: str) -> str:
    """The text without white space around it, checked to be something that the kernel can take.

    Raises:
        InvalidPath: It is empty, too long, has a NUL in it, or is not valid Unicode.
    """
    trimmed = text.strip()
    if not trimmed:
        raise InvalidPath("the path is empty", hint="Name a file or a directory.")
    if "\0" in trimmed:
        raise InvalidPath("the path has a NUL byte in it", hint="Remove it.")
    try:
        size = len(trimmed.encode())
    except UnicodeEncodeError:
        raise InvalidPath("the path is not valid Unicode", hint="Write it in UTF-8.") from None
    if size > MAX_BYTES:
        raise InvalidPath(f"the path is {size} bytes long", hint=f"At most {MAX_BYTES} are possible.")
    return trimmed


def inside(text: str, *, written: str, mount: str = "project", clamp: bool = False) -> str:
    """`text` without `.`, `..` and doubled slashes, counted from a root.

    Raises:
        Outside: There are more `..` than directories to leave, and they are not clamped at the root.
        InvalidPath: A component is longer than a name can be.
    """
    parts: list[str] = []
    for part in text.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if parts:
                parts.pop()
            elif not clamp:
                raise Outside(f"'{written}' leads outside the root", hint="Stay inside: leave out the '..'.", mount=mount, path=written)
            continue
        if len(part.encode()) > MAX_NAME_BYTES:
            raise InvalidPath(f"a name in the path is over {MAX_NAME_BYTES} bytes: {part[:40]}…", hint="Use a shorter name.")
        parts.append(part)
    return "/".join(parts)
