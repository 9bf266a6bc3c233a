"""What a command may know of the environment that the server runs in."""

import re
from collections.abc import Mapping

from .settings import SandboxSettings

HOME = "/home/holdfast"
USER = "holdfast"
UID = 1000

_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# For the programs that confine commands: what a person has on their PATH does not count.
CLEAN = {"PATH": _DEFAULT_PATH, "LC_ALL": "C"}
_ALLOWED = ("LANG", "TERM", "TZ")
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
# How programs inside are to be found, and where they keep their things, is for the sandbox to say.
_OURS = frozenset({"HOME", "USER", "LOGNAME", "SHELL", "PATH", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_", "GIT_OPTIONAL_LOCKS"})
# What changes how programs start; somebody who wants it inside can write it into the command.
_LOADING = re.compile(r"^(LD_|BASH_FUNC_|BASH_ENV$|ENV$|PYTHONHOME$|HOLDFAST_|XDG_|DBUS_|SSH_|GPG_|DISPLAY$|WAYLAND_|XAUTHORITY$)")


def environment_for(
    settings: SandboxSettings, server: Mapping[str, str], *, path: str, additions: Mapping[str, str], home: str = HOME
) -> dict[str, str]:
    """The whole environment of a command; `additions` come from the caller and are passed as they are."""
    passed = {name: server[name] for name in server if name not in _OURS and _may_pass(settings, server, name)}
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
        "GIT_OPTIONAL_LOCKS": "0",
        **additions,
    }


def _may_pass(settings: SandboxSettings, server: Mapping[str, str], name: str) -> bool:
    if name in _ALLOWED or name.startswith("LC_") or name in settings.env:
        return True
    return settings.env_inherit and not _LOADING.match(name) and not looks_secret(name, server[name])


def looks_secret(name: str, value: str) -> bool:
    """Whether a variable had better stay outside.

    >>> looks_secret("AWS_ACCESS_KEY_ID", "x"), looks_secret("DATABASE", "postgres://me:word@host/x"), looks_secret("EDITOR", "vi")
    (True, True, False)
    """
    return bool(_SECRET_NAME.search(name) or _SECRET_VALUE.search(value) or _RANDOM_VALUE.match(value))
