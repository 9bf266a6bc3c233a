"""Passwords: kept as slow hashes, checked on another thread."""

import asyncio

from holdfast.vocabulary.errors import InvalidArguments

MIN_CHARACTERS = 8
MAX_CHARACTERS = 1024


async def hash_password(password: str) -> str:
    """What is kept of a password.

    Raises:
        InvalidArguments: It is too short, or too long.
    """
    if not MIN_CHARACTERS <= len(password) <= MAX_CHARACTERS:
        problem = f"must have {MIN_CHARACTERS} to {MAX_CHARACTERS} characters"
        raise InvalidArguments.of("password", problem, hint="Choose another password.")
    return await asyncio.to_thread(_hash, password)


async def is_right(password: str, kept: str | None) -> bool:
    """Whether this is the password; it takes as long when there is none to compare with."""
    return await asyncio.to_thread(_is_right, password, kept)


def _hash(password: str) -> str:
    from argon2 import PasswordHasher

    return PasswordHasher().hash(password)


def _is_right(password: str, kept: str | None) -> bool:
    from argon2 import PasswordHasher
    from argon2.exceptions import InvalidHashError, VerificationError

    if kept is None:
        _hash(password)
        return False
    try:
        return PasswordHasher().verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False
