"""A desk for tests: a real project in a temporary folder, and a Holdfast that is open on it."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from holdfast.app import Holdfast
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done, Outcome
from holdfast.vocabulary.profile import Profile


class Desk:
    """What a test does with a project, and what it last heard."""

    def __init__(self, holdfast: Holdfast, root: Path) -> None:
        self.holdfast = holdfast
        self.root = root
        self.last: Outcome | None = None

    async def call(self, name: str, /, **arguments: Json) -> Any:
        """Call a tool and give its answer's body."""
        self.last = await self.holdfast.call(name, **arguments)
        return self.last.answer.body

    async def take(self, name: str, arguments: dict[str, Json] | str, profile: Profile | None = None, *, agent: str = "") -> Any:
        """Call a tool as a certain agent, with arguments that need not be keywords or even JSON."""
        self.last = await self.holdfast.take(ToolCall("test", name, arguments, Caller(agent=agent, run=self.holdfast.run)), profile)
        return self.last.answer.body

    @property
    def last_code(self) -> str | None:
        """The code of the last outcome's error."""
        assert self.last is not None, "nothing was called yet"
        return None if isinstance(self.last, Done) else self.last.error.code

    @property
    def last_text(self) -> str:
        """What a model would read of the last outcome."""
        assert self.last is not None, "nothing was called yet"
        return self.last.answer.text

    def write(self, path: str, content: str | bytes) -> Path:
        """Put a file into the project, behind Holdfast's back."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def text(self, path: str) -> str:
        """What a file of the project holds."""
        return (self.root / path).read_text(encoding="utf-8")

    @property
    def state(self) -> Path:
        """The folder that is mounted as @state."""
        return self.holdfast.road.surroundings.state_of(self.holdfast.run or "default").root

    def audit(self) -> list[dict[str, Any]]:
        """All lines of the audit log."""
        log = self.state / "logs" / "execution.jsonl"
        return [cast("dict[str, Any]", json.loads(line)) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


@asynccontextmanager
async def open_desk(
    folder: Path, *, profile: str | Profile | None = None, mounts: dict[str, str] | None = None, run: str = "default"
) -> AsyncGenerator[Desk]:
    """A desk in `folder`, with the project and Holdfast's own files beside each other."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    async with Holdfast.open(project, profile=profile, mounts=mounts, run=run, home=folder / "home") as holdfast:
        yield Desk(holdfast, project)
