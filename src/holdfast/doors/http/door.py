"""What the routes of the door share: the platform, the tokens, and the question who is asking."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any, cast
from urllib.parse import parse_qs
from uuid import uuid4

from holdfast.accounts.members import DANGEROUS, Membership, membership
from holdfast.accounts.tokens import Identity, Tokens
from holdfast.accounts.workspaces import Person, Workspaces
from holdfast.app import EVERYTHING, SAFE_ONLY, Platform
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import Forbidden, InvalidToken
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done

from .replies import Scope
from .settings import HttpSettings

COOKIE = "access_token"


@dataclass(frozen=True)
class Door:
    """Everything that a request may need."""

    platform: Platform
    tokens: Tokens
    settings: HttpSettings
    one_time: dict[str, str] = field(default_factory=dict[str, str])

    def identity(self, scope: Scope) -> Identity:
        """Whose token the request carries: in the header, otherwise in the cookie; a socket's may be in its address.

        Raises:
            InvalidToken: There is none, or it is not good; a bad one in the header is not made good by a cookie.
        """
        headers: dict[bytes, bytes] = dict(scope["headers"])
        header = headers.get(b"authorization")
        if header is not None:
            kind, _, token = header.decode("latin-1").partition(" ")
            if kind.casefold() != "bearer":
                raise InvalidToken("The Authorization header is not a bearer token", hint="Send: Authorization: Bearer <token>")
            return self.tokens.verify(token.strip())
        if scope["type"] == "websocket" and (in_address := parse_qs(scope["query_string"].decode("latin-1")).get("token")):
            return self.tokens.verify(in_address[0])
        return self.tokens.verify(_cookie(headers.get(b"cookie", b"").decode("latin-1")))

    @property
    def workspaces(self) -> Workspaces:
        """The workspaces and users that there are."""
        return Workspaces(self.platform.database, self.platform.settings.home)

    async def user(self, scope: Scope) -> Person:
        """Who is asking, where no workspace is concerned.

        Raises:
            InvalidToken: Nobody that we know, or who has been shut out.
        """
        return await self.workspaces.user(self.identity(scope).user_id)

    async def member(self, scope: Scope, workspace_id: str) -> tuple[Identity, Membership]:
        """Who is asking, as a member of a workspace.

        Raises:
            InvalidToken: Nobody that we know, or who has been shut out.
            Forbidden: No member; it is the same whether or not there is such a workspace.
        """
        identity = self.identity(scope)
        return identity, await self._membership(identity, workspace_id)

    async def caller(self, scope: Scope, workspace_id: str) -> tuple[Identity, bool]:
        """Who is asking, and whether they may use tools that change things there.

        Raises:
            InvalidToken, Forbidden: As in `member`.
        """
        identity = self.identity(scope)
        return identity, await self.may_endanger(identity, workspace_id)

    async def may_endanger(self, identity: Identity, workspace_id: str) -> bool:
        """Whether a member may use tools that change things there.

        Raises:
            InvalidToken, Forbidden: As in `member`: who has left since, or was shut out.
        """
        member = await self._membership(identity, workspace_id)
        return identity.has_scope(DANGEROUS) and member.has_scope(DANGEROUS)

    async def call(self, scope: Scope, workspace_id: str, tool: str, **arguments: Json) -> Any:
        """What a tool gives to whoever is asking; arguments that are None are left out.

        Raises:
            HoldfastError: What the tool says, or as in `member`.
        """
        identity, may_endanger = await self.caller(scope, workspace_id)
        given = {name: value for name, value in arguments.items() if value is not None}
        asked = ToolCall(str(uuid4()), tool, given, Caller(user=identity.user_id))
        outcome = await self.platform.take(workspace_id, asked, EVERYTHING if may_endanger else SAFE_ONLY)
        if not isinstance(outcome, Done):
            raise outcome.error
        return cast("Mapping[str, Any]", outcome.answer.body)["result"]

    async def owner(self, scope: Scope, workspace_id: str) -> Identity:
        """Who is asking, as an owner of a workspace.

        Raises:
            InvalidToken, Forbidden: As in `member`, or a member who does not own it.
        """
        identity, member = await self.member(scope, workspace_id)
        if not member.is_owner:
            raise Forbidden("only an owner may do this")
        return identity

    async def _membership(self, identity: Identity, workspace_id: str) -> Membership:
        found = await membership(self.platform.database, workspace_id, identity.user_id)
        if found is None:
            await self.workspaces.user(identity.user_id)
            raise Forbidden("Access forbidden: User is not a member of this workspace")
        return found


def _cookie(header: str) -> str:
    try:
        morsel = SimpleCookie(header).get(COOKIE)
    except CookieError:
        morsel = None
    return morsel.value if morsel is not None else ""
