"""Tokens, their secret, and passwords."""

import os
import stat
import threading
from pathlib import Path

import pytest

from holdfast.accounts.passwords import hash_password, is_right
from holdfast.accounts.tokens import Tokens, kept_secret
from holdfast.vocabulary.errors import InvalidArguments, InvalidSetting, InvalidToken
from tests.promises import carries

SECRET = "0123456789abcdef0123456789abcdef"


@carries("AUTH-8")
def test_a_secret_has_at_least_32_bytes() -> None:
    Tokens(SECRET)
    Tokens("ü" * 16)

    with pytest.raises(InvalidSetting):
        Tokens(SECRET[:-1])


@carries("AUTH-2")
def test_a_token_tells_whose_it_is_and_what_they_may_do() -> None:
    tokens = Tokens(SECRET)

    everything = tokens.verify(tokens.issue("anna", "anna@example.org", seconds=60))
    little = tokens.verify(tokens.issue("anna", "anna@example.org", seconds=60, scopes=["b", "a"]))

    assert (everything.user_id, everything.email) == ("anna", "anna@example.org")
    assert everything.has_scope("anything")
    assert (little.has_scope("a"), little.has_scope("c")) == (True, False)


@carries("AUTH-2", "AUTH-3")
def test_a_token_is_good_only_with_its_secret_in_its_time_and_on_its_server() -> None:
    here, there, elsewhere = Tokens(SECRET, server="here"), Tokens(SECRET, server="there"), Tokens(SECRET[::-1], server="here")
    everywhere, only_here = (here.issue("a", "a", seconds=60, only_here=only) for only in (False, True))

    assert here.verify(only_here).server == "here"
    assert there.verify(everywhere).user_id == "a"
    for tokens, token in (
        (there, only_here),
        (elsewhere, everywhere),
        (here, here.issue("a", "a", seconds=0)),
        (here, ""),
        (here, "a.b.c"),
    ):
        with pytest.raises(InvalidToken):
            tokens.verify(token)


def test_remembered_tokens_do_not_grow_without_end() -> None:
    tokens = Tokens(SECRET)

    for number in range(50):
        tokens.verify(tokens.issue(str(number), "a", seconds=60))
        tokens.forget()

    assert tokens.verify(tokens.issue("a", "a", seconds=60)).user_id == "a"


@carries("AUTH-8")
def test_the_kept_secret_is_long_only_ours_and_stays(tmp_path: Path) -> None:
    first, second = kept_secret(tmp_path / "home"), kept_secret(tmp_path / "home")

    assert first == second
    assert len(first) == 64
    assert stat.S_IMODE((tmp_path / "home" / "secret").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700
    assert kept_secret(tmp_path / "other") != first


def test_processes_that_start_at_once_keep_one_secret(tmp_path: Path) -> None:
    kept: list[str] = []
    starters = [threading.Thread(target=lambda: kept.append(kept_secret(tmp_path))) for _ in range(8)]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()

    assert len(set(kept)) == 1
    assert os.listdir(tmp_path) == ["secret"]


async def test_a_password_is_kept_as_a_slow_hash_and_known_again() -> None:
    kept = await hash_password("correct horse")

    assert kept.startswith("$argon2id$")
    assert "correct" not in kept
    assert await is_right("correct horse", kept)
    assert not await is_right("wrong horse", kept)
    assert not await is_right("correct horse", None)
    assert not await is_right("correct horse", "no hash")


@pytest.mark.parametrize("password", ["", "short", "x" * 1025])
async def test_a_password_that_will_not_do_is_told(password: str) -> None:
    with pytest.raises(InvalidArguments):
        await hash_password(password)
