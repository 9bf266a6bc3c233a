"""What looks like a secret does not get into the audit log."""

import pytest

from holdfast.dispatch.audit import masked

SECRETS = [
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
    "-----begin private key-----\nMIIEvQIBADANBg",
    *(f"{kind}{dash}live0123456789abcdef" for kind in ("sk", "pk", "RK") for dash in "-_"),
    *(f"gh{kind}_0123456789abcdefghij" for kind in "pousrPR"),
    "AKIA0123456789ABCDEF",
    *(f"xox{kind}-0123456789-abc" for kind in "abprs"),
    "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl",
]
ASSIGNED = ["https://anna:hunter2@example.org", "api_key=hunter2", "Token=hunter2", "PASSWORD=hunter2", "secret=hunter2"]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_among_other_words_is_hidden(secret: str) -> None:
    shown = masked(f"before {secret}")

    assert shown == "before [hidden]"


@pytest.mark.parametrize("text", ASSIGNED)
def test_what_follows_a_telling_name_is_hidden(text: str) -> None:
    shown = masked(text)

    assert "hunter2" not in shown
    assert "[hidden]" in shown


def test_a_text_without_secrets_stays_as_it_is() -> None:
    text = "the task is to make a token of the key, and no secret of the risk-free parts"

    assert masked(text) == text
