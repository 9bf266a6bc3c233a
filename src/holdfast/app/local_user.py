"""The user of this machine, who needs no account."""

from holdfast.store import people
from holdfast.store.database import Database
from holdfast.vocabulary.errors import Exists

LOCAL_USER = "local@localhost"


async def ensure_local_user(database: Database) -> people.User:
    """The user of this machine, made when there is none."""
    found = await people.find_user(database, LOCAL_USER)
    if found is not None:
        return found
    try:
        return await people.add_user(database, LOCAL_USER, full_name="Local user")
    except Exists:
        # Another process was quicker.
        found = await people.find_user(database, LOCAL_USER)
        assert found is not None
        return found
