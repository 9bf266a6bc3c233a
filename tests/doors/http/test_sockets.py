"""Who may open a socket, and for how long."""

from typing import Any
from uuid import uuid4

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.doors.http.talking import line
from tests.promises import carries
from tests.served import Served


@carries("CHAT-15")
def test_the_token_may_be_in_a_cookie_or_in_the_address(talking: Served) -> None:
    token = talking.told["token"]
    ways: list[dict[str, Any]] = [
        {"headers": {"Cookie": f"access_token={token}"}, "origin": talking.base},
        {"in_address": f"&token={token}"},
        {"in_address": f"&token={token}", "origin": talking.base},
    ]
    for options in ways:
        with line(talking, token=None, **options) as it:
            assert it.send("hello")["payload"]["reason"] == "done"
    assert token not in talking.log.read_text()


@carries("CHAT-15")
@pytest.mark.parametrize(
    ("status", "options"),
    [
        (401, {"token": None}),
        (401, {"token": "nonsense"}),
        (401, {"token": None, "in_address": "&token=nonsense"}),
        (403, {"workspace": "elsewhere"}),
        (403, {"origin": "http://evil.example"}),
        (403, {"token": None, "cookie": True}),
        (403, {"token": None, "cookie": True, "origin": "http://evil.example"}),
        (403, {"headers": {"Host": "evil.example"}}),
        (404, {"address": "/ws/other"}),
    ],
)
def test_a_stranger_gets_no_socket(talking: Served, status: int, options: dict[str, Any]) -> None:
    if options.get("cookie"):
        options = {**options, "headers": {"Cookie": f"access_token={talking.told['token']}"}}
    options = {name: value for name, value in options.items() if name != "cookie"}

    with pytest.raises(InvalidStatus) as refused, line(talking, **options):
        pass

    assert refused.value.response.status_code == status


@carries("CHAT-15")
async def test_whoever_is_no_member_gets_no_socket(talking: Served) -> None:
    user = await talking.user(f"{uuid4()}@example.org", member=False)

    with pytest.raises(InvalidStatus) as refused, line(talking, token=talking.token(user)):
        pass

    assert refused.value.response.status_code == 403


async def test_a_socket_ends_with_its_token(talking: Served) -> None:
    user = await talking.user(f"{uuid4()}@example.org")
    with line(talking, token=talking.token(user, seconds=2)) as it:
        told = it.until("chat:error")["payload"]
        with pytest.raises(ConnectionClosed) as closed:
            it.next()

    assert (told["code"], closed.value.rcvd and closed.value.rcvd.code) == ("invalid_token", 4401)


async def test_whoever_is_no_longer_a_member_is_shut_out_at_the_next_word(talking: Served) -> None:
    user = await talking.user(f"{uuid4()}@example.org")
    with line(talking, token=talking.token(user)) as it:
        it.send("hello")
        await talking.remove(user)
        it.say("chat:send", content="hello")
        told = it.until("chat:error")["payload"]
        with pytest.raises(ConnectionClosed) as closed:
            it.next()

    assert (told["code"], closed.value.rcvd and closed.value.rcvd.code) == ("forbidden", 4403)
