"""Tokens that say who somebody is: JSON Web Tokens, signed with HS256.

Checking a signature costs more than the smallest call, so what was once
found good is remembered until it expires or everything is forgotten.
"""

import contextlib
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.store.uuid7 import uuid7
from holdfast.vocabulary.errors import InvalidSetting, InvalidToken

MIN_SECRET_BYTES = 32
_REMEMBERED = 10_000
_ALGORITHM = "HS256"


@dataclass(frozen=True)
class Identity:
    """Whom a good token belongs to.

    `scopes` None means all that the user has; `server` is the one server
    that takes it, if only one does.
    """

    user_id: str
    email: str
    scopes: frozenset[str] | None
    expires_at: float
    token_id: str
    server: str = ""

    def has_scope(self, scope: str) -> bool:
        """Whether the token lets its user do this."""
        return self.scopes is None or scope in self.scopes


class Tokens:
    """Makes tokens, and knows the good ones."""

    def __init__(self, secret: str, *, server: str = "") -> None:
        if len(secret.encode()) < MIN_SECRET_BYTES:
            hint = f"Use at least {MIN_SECRET_BYTES} bytes, such as the output of: openssl rand -hex 32"
            raise InvalidSetting("the secret that signs tokens is too short", hint=hint)
        self._secret = secret
        self._server = server
        self._good: dict[str, Identity] = {}

    def issue(self, user_id: str, email: str, *, seconds: float, scopes: Sequence[str] | None = None, only_here: bool = False) -> str:
        """A token for a user; `only_here` ties it to this server."""
        issued = int(time.time())
        claims: dict[str, Any] = {"sub": user_id, "email": email, "iat": issued, "exp": issued + int(seconds), "jti": uuid7()}
        if scopes is not None:
            claims["scopes"] = sorted(scopes)
        if only_here:
            claims["server"] = self._server
        return _jwt().encode(claims, self._secret, algorithm=_ALGORITHM)

    def verify(self, token: str) -> Identity:
        """Whom the token belongs to.

        Raises:
            InvalidToken: It is not one of ours, has expired, or was made for another server.
        """
        identity = self._good.get(token)
        if identity is None:
            identity = self._decoded(token)
            if len(self._good) >= _REMEMBERED:
                self._good.clear()
            self._good[token] = identity
        if identity.expires_at <= time.time():
            self._good.pop(token, None)
            raise _invalid()
        return identity

    def forget(self) -> None:
        """Check every token anew, as after a change of who may do what."""
        self._good.clear()

    def _decoded(self, token: str) -> Identity:
        from jwt import PyJWTError

        try:
            claims = _jwt().decode(token, self._secret, algorithms=[_ALGORITHM], options={"require": ["exp", "sub"]})
            scopes = claims.get("scopes")
            identity = Identity(
                user_id=str(claims["sub"]),
                email=str(claims.get("email", "")),
                scopes=None if scopes is None else frozenset(map(str, scopes)),
                expires_at=float(claims["exp"]),
                token_id=str(claims.get("jti", "")),
                server=str(claims.get("server", "")),
            )
        # A token is a stranger's text: whatever is wrong with it, it is not good.
        except (PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            raise _invalid() from None
        if (identity.server and identity.server != self._server) or not identity.user_id.isprintable():
            raise _invalid()
        return identity


def _jwt() -> Any:
    """The library, imported late and without its half-known types."""
    from jwt import PyJWT

    return PyJWT()


def _invalid() -> InvalidToken:
    return InvalidToken("No valid token found in Authorization header or cookie", hint="Sign in, or make a token: holdfast token create")


def kept_secret(home: Path) -> str:
    """The secret of this data folder, made when there is none, for those who did not set one."""
    path = home / "secret"
    if not path.exists():
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = home / f"secret-{secrets.token_hex(8)}"
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(32))
        # Of two processes that start at once, both go on with the one that was first.
        with contextlib.suppress(FileExistsError):
            os.link(new, path)
        new.unlink()
    return path.read_text(encoding="ascii").strip()
