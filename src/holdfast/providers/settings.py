"""What can be set about providers. Whoever composes the application gives the values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Patience:
    """How long a provider may take, in seconds: to be reached, to begin, and between two pieces of an answer."""

    connect_seconds: float = 10.0
    first_seconds: float = 120.0
    between_seconds: float = 60.0
    look_seconds: float = 5.0


@dataclass(frozen=True)
class Retries:
    """How often one asks again, and how long one waits: twice as long each time, or as long as the provider says, up to a limit."""

    most: int = 3
    first_seconds: float = 0.5
    longest_seconds: float = 60.0


@dataclass(frozen=True)
class ProviderSettings:
    """Keys, addresses and patience. A key is never shown, stored or told."""

    model: str | None = None
    anthropic_api_key: str | None = field(default=None, repr=False)
    anthropic_base_url: str | None = None
    openai_api_key: str | None = field(default=None, repr=False)
    openai_base_url: str | None = None
    ollama_host: str | None = None
    ollama_api_key: str | None = field(default=None, repr=False)
    ollama_context_tokens: int = 32_768
    copilot_token: str | None = field(default=None, repr=False)
    copilot_url: str | None = None
    copilot_headers: Mapping[str, str] = field(default_factory=dict[str, str])
    scripts: Path | None = None
    patience: Patience = field(default_factory=Patience)
    retries: Retries = field(default_factory=Retries)

    @property
    def secrets(self) -> tuple[str, ...]:
        """All that may never be in a message."""
        every = (self.anthropic_api_key, self.openai_api_key, self.ollama_api_key, self.copilot_token, *self.copilot_headers.values())
        return tuple(each for each in every if each and len(each) >= 8)
