"""Who belongs to a workspace, and what they may do there."""

from dataclasses import dataclass

from holdfast.store import people
from holdfast.store.database import Database

DANGEROUS = "tools:dangerous"
MEMBER_SCOPES = (DANGEROUS,)


@dataclass(frozen=True)
class Membership:
    """One user in one workspace. An owner may do everything; a member what the owner has left to them."""

    workspace_id: str
    user_id: str
    is_owner: bool
    scopes: frozenset[str]

    def has_scope(self, scope: str) -> bool:
        """Whether this member may do that here."""
        return self.is_owner or scope in self.scopes


async def membership(database: Database, workspace_id: str, user_id: str) -> Membership | None:
    """The membership of a user, None when there is none."""
    # Ids have only letters, digits and dashes; some of what a stranger may write instead no database takes.
    if not workspace_id.isprintable():
        return None
    found = await people.get_member(database, workspace_id, user_id)
    return Membership(workspace_id, user_id, found.role == "owner", frozenset(found.scopes)) if found is not None else None
