"""Which variables reach a command."""

from pathlib import Path

import pytest

from holdfast.sandbox.environment import additions_for, environment_for, looks_secret
from holdfast.sandbox.settings import SandboxSettings
from holdfast.vocabulary.profile import Environment

HERE = Path("/nowhere")


def passed(server: dict[str, str], *, inherit: bool = False, env: tuple[str, ...] = ()) -> dict[str, str]:
    settings = SandboxSettings(HERE, HERE, env=env, env_inherit=inherit)
    return environment_for(settings, server, path="/bin", additions={})


def test_only_the_allowed_names_and_those_that_the_profile_adds_are_passed() -> None:
    server = {"LANG": "de_DE.UTF-8", "LC_ALL": "C", "TZ": "UTC", "EDITOR": "vi", "CI": "true", "HOME": "/root", "LD_PRELOAD": "/bad.so"}

    found = passed(server, env=("CI",))

    assert {name for name in server if found.get(name) == server[name]} == {"LANG", "LC_ALL", "TZ", "CI"}
    assert found["HOME"] == "/home/holdfast"
    assert found["GIT_OPTIONAL_LOCKS"] == "0"


def test_inheriting_passes_everything_but_secrets_and_what_changes_how_programs_start() -> None:
    server = {
        "EDITOR": "vi",
        "GOFLAGS": "-mod=mod",
        "MY_API_KEY": "abc",
        "GITHUB_TOKEN": "abc",
        "DB_PASSWORD": "abc",
        "AWS_CREDENTIALS": "abc",
        "DATABASE_URL": "postgres://me:word@host/db",
        "PROXY": "http://plain.example:8080",
        "SOMETHING": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "HASH": "3f2a9c0d4e5b6a7980112233445566778899aabb",
        "LD_PRELOAD": "/bad.so",
        "HOLDFAST_HOME": "/data",
        "BASH_ENV": "/bad.sh",
        "GIT_CONFIG_COUNT": "7",
    }

    found = passed(server, inherit=True)

    assert {name for name in server if found.get(name) == server[name]} == {"EDITOR", "GOFLAGS", "PROXY"}


def test_a_name_that_the_profile_adds_is_passed_even_if_it_looks_like_a_secret() -> None:
    assert passed({"NPM_TOKEN": "abc"}, env=("NPM_TOKEN",))["NPM_TOKEN"] == "abc"


@pytest.mark.parametrize(
    "value", ["-----BEGIN RSA PRIVATE KEY-----", "eyJhbGciOiJI.eyJzdWIiOiIx.x", "sk-" + "a1" * 12, "Bearer abcdefghijkl123"]
)
def test_a_value_that_looks_like_a_secret_is_one_whatever_its_name(value: str) -> None:
    assert looks_secret("PLAIN", value)


@pytest.mark.parametrize("value", ["vi", "/usr/bin:/bin", "en_US.UTF-8", "https://example.org/path", "xterm-256color", "1"])
def test_an_ordinary_value_is_no_secret(value: str) -> None:
    assert not looks_secret("PLAIN", value)


@pytest.mark.parametrize("inherits", [True, False])
def test_a_profile_adds_what_it_inherits_names_and_sets_and_never_what_the_sandbox_says(inherits: bool) -> None:
    server = {"EDITOR": "vi", "CI": "true", "NPM_TOKEN": "abc", "PATH": "/evil", "HOME": "/root", "LD_PRELOAD": "/bad.so"}
    env = Environment(inherits, ("CI", "PATH", "MISSING"), {"NODE_ENV": "test", "HOME": "/elsewhere"})

    found = additions_for(env, server)

    assert found == {**({"EDITOR": "vi"} if inherits else {}), "CI": "true", "NODE_ENV": "test"}
