"""Names of entries as the disk has them, and as they can be said."""

import os


def sayable(name: str) -> str:
    """`name` as it can be written in an answer.

    A name that is not UTF-8 is shown with replacement characters: one sees
    that something is there, though it cannot be named in a call.
    """
    if name.isascii():
        return name
    return os.fsencode(name).decode(errors="replace")
