"""Scripted models: each is a file, and one comes with Holdfast."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from importlib.resources import files
from pathlib import Path

from holdfast.providers.protocol import Model, Request
from holdfast.providers.retry import retried
from holdfast.providers.settings import ProviderSettings
from holdfast.vocabulary.chunks import Chunk, Fault
from holdfast.vocabulary.errors import HoldfastError, InvalidSetting, ProviderError

from .script import Script, parse
from .stream import Scene, play

DEMO = "demo"
_ENDINGS = ("", ".yaml", ".yml")


class Scripted:
    """Models that say what their scripts tell them to. `scripts` are ready ones, by name; the rest is looked for as files."""

    name = "scripted"

    def __init__(self, settings: ProviderSettings, scripts: Mapping[str, Script] | None = None) -> None:
        self._settings = settings
        self._scripts = dict(scripts or {})
        self._read: dict[str, tuple[int, Script]] = {}

    async def models(self) -> list[Model]:
        """The ready ones, the demo, and every script in the folder that can be read."""
        folder = self._settings.scripts
        found = sorted(path.stem for path in folder.glob("*.y*ml")) if folder is not None and folder.is_dir() else []
        models: list[Model] = []
        for name in dict.fromkeys([*self._scripts, *found, DEMO]):
            try:
                models.append(await self.model(name))
            except HoldfastError as error:
                models.append(Model(self.name, name, reachable=False, problem=error.message))
        return models

    async def model(self, id: str) -> Model:
        """What the script says of itself.

        Raises:
            InvalidSetting: There is no such script, or something in it does not fit.
        """
        script = self.script(id)
        return Model(self.name, id, script.context_window, script.supports_tools)

    def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        """The answer, as it comes."""
        scene = Scene.of(request.messages)

        async def attempt(number: int) -> AsyncGenerator[Chunk]:
            try:
                script = self.script(request.model)
            except HoldfastError as error:
                yield Fault(ProviderError.of(str(error), provider=self.name, kind="script"))
                return
            async with aclosing(play(script, scene, attempt=number)) as chunks:
                async for chunk in chunks:
                    yield chunk

        return retried(attempt, self._settings.retries)

    async def close(self) -> None:
        """There is nothing to let go of."""

    def script(self, name: str) -> Script:
        """The script of that name; a file is read again when it has changed.

        Raises:
            InvalidSetting: There is none, or something in it does not fit.
        """
        if name in self._scripts:
            return self._scripts[name]
        path = self._file(name)
        changed = path.stat().st_mtime_ns if path is not None else 0
        if self._read.get(name, (None, None))[0] != changed:
            text = _text(path) if path is not None else self._shipped(name)
            self._read[name] = changed, parse(text, Path(name).name)
        return self._read[name][1]

    def play(self, name: str, text: str) -> None:
        """Have a script of that name from now on.

        Raises:
            InvalidSetting: Something in it does not fit.
        """
        self._scripts[name] = parse(text, Path(name).name)

    def _file(self, name: str) -> Path | None:
        if ".." in Path(name).parts or Path(name).is_absolute() or self._settings.scripts is None:
            return None
        paths = (self._settings.scripts / f"{name}{ending}" for ending in _ENDINGS)
        return next((path for path in paths if path.is_file()), None)

    def _shipped(self, name: str) -> str:
        if name == DEMO:
            return files(__package__ or "").joinpath("demo.yaml").read_text("utf-8")
        where = f"in {self._settings.scripts}" if self._settings.scripts is not None else "since no folder for scripts is set"
        raise InvalidSetting(f"there is no script '{name}' {where}", hint=f"'{DEMO}' is always there.")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidSetting(f"{path.name} cannot be read", hint="It must be UTF-8, and readable.") from None
