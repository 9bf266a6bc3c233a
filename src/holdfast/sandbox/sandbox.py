"""Where the commands of one workspace run: confined, or not at all, unless the person has written that they understand."""

import asyncio
from collections.abc import Callable, Collection, Sequence

from holdfast.vocabulary.errors import AccessDenied, InvalidArguments, Outside, TooLarge

from . import discard, unconfined
from .command import Command, Finished, SandboxMount, Tier
from .confined import Confined
from .hub import Hub
from .job import run_job
from .lack import Lack
from .layer import Layer
from .layers import sweep
from .probe import probe
from .settings import SandboxSettings

# The kernel takes no longer word.
_SCRIPT_BYTES = 128 * 1024 - 1


class Sandbox:
    """The commands of one workspace. Made by `open`, ended by `close`.

    `lacks` says what keeps commands from being confined, and is empty
    when nothing does.
    """

    def __init__(
        self, mounts: Sequence[SandboxMount], settings: SandboxSettings, confined: Confined | None, lacks: tuple[Lack, ...]
    ) -> None:
        self._mounts = tuple(mounts)
        self._settings = settings
        self._confined = confined
        self._hub: Hub | None = None
        self.lacks = lacks

    @classmethod
    async def open(cls, mounts: Sequence[SandboxMount], settings: SandboxSettings, *, workspace_id: str) -> "Sandbox":
        """Find out by trying what can be had here, and have it."""
        lacks = await probe(mounts, settings, workspace_id=workspace_id)
        confined = None if lacks else await Confined.prepare(mounts, settings, workspace_id)
        return cls(mounts, settings, confined, lacks)

    @property
    def tier(self) -> Tier:
        """What keeps commands inside."""
        return Tier.LAYERED if self._confined else Tier.UNCONFINED

    @property
    def offers_commands(self) -> bool:
        """Whether commands can be run at all."""
        return self._confined is not None or self._settings.unconfined

    def new_layer(self) -> Layer:
        """A layer that shows the workspace as it is now.

        Raises:
            AccessDenied: There are no layers here.
        """
        if self._confined is None:
            raise self._refusal()
        return self._confined.new_layer()

    async def discard(self, layer: Layer) -> None:
        """Remove a layer and all that is in it. No command may be running in it."""
        await asyncio.to_thread(discard.remove, layer.folder)

    async def leftovers(self, known_ids: Collection[str]) -> list[str]:
        """Remove the layers that no record knows of, and name them."""
        return await asyncio.to_thread(sweep, self._settings.layers, known_ids)

    async def run(self, command: Command, layer: Layer | None, show: Callable[[bytes], None]) -> Finished:
        """Run a command to its end; `show` gets its output as it comes, standard output and errors in one.

        When this returns or raises, also by cancellation, no process of
        the command is left. Where the tier is 0 there is no layer.

        Raises:
            AccessDenied: Commands cannot be confined here.
            NotFound: There is no such folder to run in.
            NoSpace: The disk is too full to begin.
            Outside: The folder to run in is not in the mount.
            InvalidArguments: Something has a character that no command line or environment can hold.
            TooLarge: The script is too long for a command line.
            Broken: The command could not be confined, though it could be before.
        """
        _check(command)
        if self._confined is not None and layer is not None:
            return await self._confined.run(command, layer, show)
        if self._confined is not None or not self._settings.unconfined:
            raise self._refusal()
        self._hub = self._hub or Hub("unconfined")
        job = await asyncio.to_thread(unconfined.job, self._hub, command, self._mounts, self._settings)
        return await run_job(self._hub, job, show)

    def close(self) -> None:
        """Let the thread end that starts commands."""
        if self._confined is not None:
            self._confined.close()
        if self._hub is not None:
            self._hub.close()

    def _refusal(self) -> AccessDenied:
        lacks = "; ".join(lack.what for lack in self.lacks) or "no layer was given"
        return AccessDenied(f"Commands cannot be confined here: {lacks}", hint="; ".join(lack.fix for lack in self.lacks))


def _check(command: Command) -> None:
    """Refuse what the kernel would refuse, or what would be read as something else on the way."""
    if len(command.script.encode(errors="surrogateescape")) > _SCRIPT_BYTES:
        raise TooLarge("The command is too long for a command line", hint="Write it to a file, and run that.")
    if "\0" in command.script:
        raise InvalidArguments.of("command", "has a character in it that no command line can hold")
    name, path = command.cwd
    if path.startswith("/") or ".." in path.split("/") or "\0" in path:
        raise Outside(f"{path} is outside of {name}", hint="Give a path that is counted from the mount's root.")
    for variable, value in command.environment.items():
        if not variable or "=" in variable or "\0" in variable + value:
            raise InvalidArguments.of("environment", f"{variable!r} cannot be the name of a variable, or its value cannot be one")
