"""Settings: one table says each one's name, type, default, and who may set it.

A value comes from the first of these that has it: the command line, the
environment, the project's `.holdfast/config.toml`, the user's
`config.toml`, the default. A project's file comes with the project, from
whoever wrote that, so it may set only what cannot be used against the
person: no addresses that keys are sent to, no secrets, no trust.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.vocabulary.errors import InvalidSetting

from .home import home_folder

USER_FILE = "config.toml"
PROJECT_FILE = ".holdfast/config.toml"


@dataclass(frozen=True)
class Setting:
    """One thing that can be set. `variable` is its name in the environment; a number is a whole one, from `least` to `most`."""

    name: str
    default: str | int | bool | None
    variable: str
    is_secret: bool = False
    by_project: bool = False
    least: int = 0
    most: int = 2**53
    one_of: tuple[str, ...] = ()

    @property
    def takes(self) -> str:
        """What it takes, in words."""
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, int):
            return f"a whole number of at least {self.least}" + (f" and at most {self.most}" if self.most < 2**53 else "")
        return f"one of {', '.join(self.one_of)}" if self.one_of else "text"


def _own(name: str, default: str | int | bool | None, **more: Any) -> Setting:
    return Setting(name, default, f"HOLDFAST_{name.upper()}", **more)


TABLE = (
    _own("database_url", None, is_secret=True),
    _own("jwt_secret", None, is_secret=True),
    _own("access_token_minutes", 15, least=1),
    _own("profile", "coder", by_project=True),
    _own("model", None, by_project=True),
    _own("trust", "guided", one_of=("supervised", "guided", "autonomous")),
    _own("approval_timeout", 30),
    _own("question_minutes", 30, least=1),
    _own("resume", "auto", one_of=("auto", "ask")),
    _own("chat_turns", 200, least=1),
    _own("prompt_turns", 20, least=1),
    _own("path_violations", 3, least=1),
    _own("open_sessions", 200, least=1),
    _own("idle_session_minutes", 10, least=1),
    _own("host", "127.0.0.1"),
    _own("port", 3000, most=65535),
    _own("allowed_hosts", ""),
    _own("max_request_bytes", 10 * 1024 * 1024, least=1),
    _own("writes_protected", False),
    _own("command_memory_mib", 4096, least=1),
    _own("command_processes", 512, least=1),
    _own("command_free_disk_mib", 1024),
    _own("command_layer_mib", 8192, least=1),
    _own("command_env", ""),
    _own("undecided_effects", 8, least=1),
    _own("trash_mib", 4096),
    _own("unconfined_commands", ""),
    _own("searxng_url", "http://localhost:8080"),
    _own("searxng_engines", "bing,duckduckgo,brave"),
    _own("brave_key", None, is_secret=True),
    _own("brave_url", None),
    _own("copilot_token", None, is_secret=True),
    _own("copilot_url", None),
    _own("copilot_headers", None, is_secret=True),
    _own("scripts", None),
    Setting("anthropic_api_key", None, "ANTHROPIC_API_KEY", is_secret=True),
    Setting("anthropic_base_url", None, "ANTHROPIC_BASE_URL"),
    Setting("openai_api_key", None, "OPENAI_API_KEY", is_secret=True),
    Setting("openai_base_url", None, "OPENAI_BASE_URL"),
    Setting("ollama_host", None, "OLLAMA_HOST"),
    Setting("ollama_api_key", None, "OLLAMA_API_KEY", is_secret=True),
    _own("ollama_context_tokens", 32_768, least=1),
)


@dataclass(frozen=True)
class Value:
    """What a setting is, and who says so."""

    value: Any
    source: str


@dataclass(frozen=True)
class Settings:
    """All settings of one start."""

    home: Path
    values: Mapping[str, Value] = field(default_factory=dict[str, Value])

    def __getitem__(self, name: str) -> Any:
        return self.values[name].value


def load_settings(
    project: Path | None = None,
    environ: Mapping[str, str] | None = None,
    given: Mapping[str, object] | None = None,
    home: Path | None = None,
) -> Settings:
    """Every setting with its value and where that came from; `given` are those of the command line.

    Raises:
        InvalidSetting: A file cannot be read, names a setting that there is not, or a value does not fit.
    """
    environ = os.environ if environ is None else environ
    home = home or home_folder(environ)
    users = _file(home / USER_FILE)
    projects = _file(project / PROJECT_FILE) if project is not None else {}
    _check_projects(projects)
    return Settings(home, {each.name: _value(each, given or {}, environ, projects, users, home) for each in TABLE})


def _value(
    setting: Setting,
    given: Mapping[str, object],
    environ: Mapping[str, str],
    projects: Mapping[str, object],
    users: Mapping[str, object],
    home: Path,
) -> Value:
    if given.get(setting.name) is not None:
        return Value(_fitting(setting, given[setting.name], "the command line"), "the command line")
    # An empty variable means "none" for an address or a list, so it counts; for the rest it is as if it were not there.
    if setting.variable in environ and (environ[setting.variable] or isinstance(setting.default, str)):
        return Value(_fitting(setting, environ[setting.variable], setting.variable), setting.variable)
    for values, source in ((projects, PROJECT_FILE), (users, str(home / USER_FILE))):
        if setting.name in values:
            return Value(_fitting(setting, values[setting.name], source), source)
    return Value(setting.default, "default")


def _fitting(setting: Setting, value: object, source: str) -> object:
    """The value in the default's type."""
    try:
        if isinstance(setting.default, bool):
            return _yes_or_no(value)
        if isinstance(setting.default, int):
            return _whole_number(value, setting.least, setting.most)
    except ValueError:
        raise _unfitting(setting, source) from None
    if not isinstance(value, str) or (setting.one_of and value not in setting.one_of):
        raise _unfitting(setting, source)
    return value


def _unfitting(setting: Setting, source: str) -> InvalidSetting:
    return InvalidSetting(f"{setting.name} in {source} does not fit", hint=f"It takes {setting.takes}.", setting=setting.name)


def _whole_number(value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not least <= (number := int(str(value))) <= most:
        raise ValueError
    return number


def _yes_or_no(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).casefold() in ("1", "true", "yes", "on"):
        return True
    if str(value).casefold() in ("0", "false", "no", "off"):
        return False
    raise ValueError


def _file(path: Path) -> dict[str, object]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"{path} cannot be read: {error}", hint="Check its permissions and its encoding.") from error
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSetting(f"{path}: {error}", hint="It must be TOML, one 'name = value' per line.") from error
    known = {setting.name for setting in TABLE}
    for name in values:
        if name not in known:
            raise InvalidSetting(f"{path}: there is no setting '{name}'", hint=f"The settings are: {', '.join(sorted(known))}.")
    return values


def _check_projects(values: Mapping[str, object]) -> None:
    allowed = {setting.name for setting in TABLE if setting.by_project}
    for name in values:
        if name not in allowed:
            hint = f"Put it in your own {USER_FILE}. A project may set: {', '.join(sorted(allowed))}."
            raise InvalidSetting(f"{PROJECT_FILE} may not set '{name}'", hint=hint, setting=name)
