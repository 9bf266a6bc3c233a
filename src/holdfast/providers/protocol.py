"""What a provider is, for whoever speaks with a model and need not know whose it is."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from holdfast.vocabulary.chunks import Chunk
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.messages import Message

Effort: TypeAlias = Literal["none", "low", "medium", "high"]


@dataclass(frozen=True)
class Model:
    """One model. `context_window` is in tokens, None when nobody says; `reachable` is whether its provider answered just now.

    `problem` is why it did not.
    """

    provider: str
    id: str
    context_window: int | None = None
    supports_tools: bool = True
    reachable: bool = True
    problem: str = ""

    @property
    def ref(self) -> str:
        """How a person names it: `provider/id`."""
        return f"{self.provider}/{self.id}"


@dataclass(frozen=True)
class Request:
    """What is asked of a model.

    `tools` are neutral definitions (name, description, inputSchema) under
    our own names; hand over the same tuple while they stay the same, and
    they are written once. `cache_key` is one word per session, for
    providers that keep what they have read by it.
    """

    model: str
    messages: Sequence[Message]
    system: str = ""
    tools: tuple[Mapping[str, Json], ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    thinking: Effort | None = None
    cache_key: str = ""


class Provider(Protocol):
    """Whoever has models."""

    @property
    def name(self) -> str:
        """What it is called in `name/model`."""
        ...

    async def models(self) -> list[Model]:
        """The models that it has. When it cannot be asked: those that would be used, marked as not reachable."""
        ...

    async def model(self, id: str) -> Model:
        """What is known of one model."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        """The answer, as it comes.

        Never raises for what the provider does: that is a `Fault` at the end.
        Whoever stops early closes the generator, and with it the connection.
        """
        ...

    async def close(self) -> None:
        """Let go of its connections."""
        ...
