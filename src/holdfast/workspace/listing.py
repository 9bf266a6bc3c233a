"""What is directly in a directory.

Links are listed as links and never followed.
"""

import os
from contextlib import suppress

from holdfast.vocabulary.errors import NotFound

from .entry import Entry
from .faults import explained
from .kernel import WouldBlock, open_beneath
from .names import sayable
from .place import Place
from .pool import here_or_there
from .sight import Sight

MAX_ENTRIES_ON_LOOP = 1_000


async def list_directory(place: Place, sight: Sight) -> list[Entry]:
    """The entries of a directory, sorted by name.

    Raises:
        NotFound: Nothing is there.
        NotDirectory: Something is there, but not a directory.
    """
    return await here_or_there(place.mount.pool, lambda wait: list_now(place, sight, wait=wait))


def list_now(place: Place, sight: Sight, *, wait: bool = True) -> list[Entry]:
    """`list_directory`, on this thread."""
    descriptor = open_directory(place, wait=wait)
    entries: list[Entry] = []
    try:
        with os.scandir(descriptor) as found:
            for count, entry in enumerate(found):
                if count >= MAX_ENTRIES_ON_LOOP and not wait:
                    raise WouldBlock
                child = place.child(sayable(entry.name))
                # An entry that is gone before it is looked at was not there.
                with suppress(FileNotFoundError):
                    if not sight.hides_place(child):
                        entries.append(Entry.of(child.path, entry.stat(follow_symlinks=False)))
    except OSError as error:
        raise explained(error, place) from error
    finally:
        os.close(descriptor)
    entries.sort(key=lambda entry: entry.path)
    return entries


def open_directory(place: Place, *, wait: bool = True) -> int:
    """A descriptor by which the directory can be listed; who asks for it closes it.

    Raises:
        WouldBlock: Only without `wait`: the answer is not in memory.
        NotFound, NotDirectory, AccessDenied, Outside: As the names say.
    """
    try:
        return open_beneath(place.mount.descriptor, place.path, os.O_RDONLY | os.O_DIRECTORY, follow=False, cached=not wait)
    except FileNotFoundError as error:
        raise NotFound(f"directory not found: {place}", hint="Check the path, or list the directory above it.", path=str(place)) from error
    except OSError as error:
        raise explained(error, place) from error
