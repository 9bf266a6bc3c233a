"""What a command may know of the environment that the server runs in."""

import re
from collections.abc import Mapping

from holdfast.vocabulary.profile import RESERVED_VARIABLES, Environment

from .settings import SandboxSettings

HOME = "/home/holdfast"
USER = "holdfast"
UID = 1000

_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# For the programs that confine commands: what a person has on their PATH does not count.
CLEAN = {"PATH": _DEFAULT_PATH, "LC_ALL": "C"}
_ALLOWED = ("LANG", "TERM", "TZ")
# Looking is no effect. Inside, files belong to somebody else, so that git would take each of them for changed, read it and write that
# down in its index; it is told to go by size and time alone.
_GIT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.checkStat", "GIT_CONFIG_VALUE_0": "minimal"}
_SECRET_NAME = re.compile(r"key|token|secret|passw|pwd$|credential|cookie|auth|private|session|signature|dsn$|^pg|_pat$", re.IGNORECASE)
_SECRET_VALUE = re.compile(
    r"""-----BEGIN\ [A-Z ]*PRIVATE\ KEY
    | ://[^/\s:@]*:[^/\s@]+@               # a password in a URL
    | \bsk-[A-Za-z0-9_-]{16,}              # OpenAI, Anthropic
    | \bgh[opsur]_[A-Za-z0-9]{20,} | \bgithub_pat_ | \bglpat-
    | \bxox[abprs]-
    | \bA(?:KIA|SIA)[A-Z0-9]{16}\b         # AWS
    | \bAIza[A-Za-z0-9_-]{30,}             # Google
    | \bnpm_[A-Za-z0-9]{30,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.  # a JWT
    | (?i:\bbearer\ [A-Za-z0-9._~+/-]{12,})
    """,
    re.VERBOSE,
)
# A long run of letters and digits without meaning: a key of a kind that we do not know.
_RANDOM_VALUE = re.compile(r"^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9+/_=-]{32,}$")
# What changes how programs start; somebody who wants it inside can write it into the command.
_LOADING = re.compile(
    r"^(LD_|BASH_FUNC_|BASH_ENV$|ENV$|GIT_CONFIG|PYTHONHOME$|HOLDFAST_|XDG_|DBUS_|SSH_|GPG_|DISPLAY$|WAYLAND_|XAUTHORITY$)"
)


def environment_for(
    settings: SandboxSettings, server: Mapping[str, str], *, path: str, additions: Mapping[str, str], home: str = HOME
) -> dict[str, str]:
    """The whole environment of a command; `additions` come from the caller and are passed as they are."""
    passed = {name: server[name] for name in server if name not in RESERVED_VARIABLES and _may_pass(settings, server, name)}
    return {
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        **passed,
        "PATH": path or _DEFAULT_PATH,
        "HOME": home,
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": "/bin/sh",
        "TMPDIR": "/tmp",
        **_GIT,
        **additions,
    }


def additions_for(env: Environment, server: Mapping[str, str]) -> dict[str, str]:
    """What a profile's commands are given besides the usual: what it inherits, what it names, what it sets."""
    inherited = {name: value for name, value in server.items() if env.inherits and _may_inherit(name, value)}
    named = {name: server[name] for name in env.passed if name in server}
    return {name: value for name, value in {**inherited, **named, **env.given}.items() if name not in RESERVED_VARIABLES}


def _may_pass(settings: SandboxSettings, server: Mapping[str, str], name: str) -> bool:
    if name in _ALLOWED or name.startswith("LC_") or name in settings.env:
        return True
    return settings.env_inherit and _may_inherit(name, server[name])


def _may_inherit(name: str, value: str) -> bool:
    return not _LOADING.match(name) and not looks_secret(name, value)


def looks_secret(name: str, value: str) -> bool:
    """Whether a variable had better stay outside.

    >>> looks_secret("AWS_ACCESS_KEY_ID", "x"), looks_secret("DATABASE", "postgres://me:word@host/x"), looks_secret("EDITOR", "vi")
    (True, True, False)
    """
    return bool(_SECRET_NAME.search(name) or _SECRET_VALUE.search(value) or _RANDOM_VALUE.match(value))
