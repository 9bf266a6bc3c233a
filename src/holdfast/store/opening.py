"""Opening a database by its address."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from holdfast.vocabulary.errors import InvalidArguments

from .database import DEADLINE_SECONDS, Database

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


async def open_database(address: str | Path, *, deadline: float = DEADLINE_SECONDS) -> Database:
    """The database at a path, or at a URL: `sqlite:///relative`, `sqlite:////absolute`, `postgresql://…`.

    It is made when it does not exist (SQLite), and brought up to date.

    Raises:
        Busy: It is locked, or cannot be reached, until the deadline.
        AccessDenied, NoSpace: As the names say.
        Broken: It was made by a newer Holdfast, or its disk will not do.
        InvalidArguments: The URL is of neither kind.
    """
    return await asyncio.to_thread(_opener(address), deadline)


def _opener(address: str | Path) -> Callable[[float], Database]:
    if isinstance(address, str) and address.startswith(_POSTGRES):
        from .postgres import open_postgres

        return lambda deadline: open_postgres(address, deadline=deadline)

    from .sqlite import open_sqlite

    path = Path(address.removeprefix(_SQLITE)) if isinstance(address, str) else address
    if path == Path() or "://" in str(address).removeprefix(_SQLITE):
        raise InvalidArguments.of("database", "is neither sqlite:///… nor postgresql://…", hint="Give the path of a file, or a URL.")
    return lambda deadline: open_sqlite(path, deadline=deadline)
