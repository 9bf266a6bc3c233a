"""Which provider: the one that a model's name says, and the first that can be used when nothing is said."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from holdfast.vocabulary.errors import InvalidSetting

from .protocol import Model, Provider
from .settings import ProviderSettings

# Name, module, class. Imported when wanted, and none of them imports an SDK by that.
_PROVIDERS = {
    "anthropic": ("holdfast.providers.anthropic.client", "Anthropic"),
    "openai": ("holdfast.providers.openai.client", "OpenAI"),
    "ollama": ("holdfast.providers.ollama.client", "Ollama"),
    "github-copilot": ("holdfast.providers.copilot.client", "Copilot"),
    "scripted": ("holdfast.providers.scripted.client", "Scripted"),
}
_BY_MODEL = (("claude", "anthropic"), ("gpt-", "openai"), ("chatgpt", "openai"), ("o1", "openai"), ("o3", "openai"), ("o4", "openai"))
_NEEDS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "github-copilot": "HOLDFAST_COPILOT_TOKEN"}
DEMO = "scripted/demo"


@dataclass(frozen=True)
class Offer:
    """A provider and its models. `problem` is why none of them can be used: it is not configured, or cannot be reached."""

    provider: str
    is_configured: bool
    models: tuple[Model, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Choice:
    """A model, and why it is this one."""

    ref: str
    reason: str


class Providers:
    """The providers of one application: each is made when it is first asked for, and there is one of each."""

    def __init__(self, settings: ProviderSettings) -> None:
        self.settings = settings
        self._made: dict[str, Provider] = {}

    def provider_for(self, ref: str) -> tuple[Provider, str]:
        """The provider of a model that is named `provider/id`, or by an id that says whose it is, and the id.

        Raises:
            InvalidSetting: Nobody has such a model, or what is set about the provider does not fit.
        """
        name, slash, id = ref.partition("/")
        if slash and name in _PROVIDERS and id:
            return self.named(name), id
        owner = next((owner for start, owner in _BY_MODEL if ref.startswith(start)), None)
        if owner is None:
            hint = f"Write it as provider/model; the providers are: {', '.join(_PROVIDERS)}."
            raise InvalidSetting(f"nobody is known to have a model '{ref}'", hint=hint, model=ref)
        return self.named(owner), ref

    def named(self, name: str) -> Provider:
        """The provider of that name."""
        if name not in self._made:
            module, kind = _PROVIDERS[name]
            make: Callable[[ProviderSettings], Provider] = getattr(import_module(module), kind)
            self._made[name] = make(self.settings)
        return self._made[name]

    def play(self, path: str, text: str) -> None:
        """Have a script play the model `scripted/PATH`; only who may read files here gives such.

        Raises:
            InvalidSetting: Something in it does not fit.
        """
        from .scripted import Scripted

        scripted = self.named("scripted")
        assert isinstance(scripted, Scripted)
        scripted.play(path, text)

    def configured(self) -> list[str]:
        """The names of those that can be tried: with a key, or with an address of their own; Ollama needs neither."""
        has = self.settings
        asked = {
            "anthropic": bool(has.anthropic_api_key or has.anthropic_base_url),
            "openai": bool(has.openai_api_key or has.openai_base_url),
            "ollama": True,
            "github-copilot": bool(has.copilot_token),
            "scripted": True,
        }
        return [name for name, is_configured in asked.items() if is_configured]

    async def models(self) -> list[Model]:
        """The models of all that are configured, asked side by side."""
        return [model for offer in await self.offers() for model in offer.models]

    async def offers(self) -> list[Offer]:
        """What every provider has, asked side by side."""
        configured = self.configured()
        return await asyncio.gather(*(self._offer(name, is_configured=name in configured) for name in _PROVIDERS))

    async def _offer(self, name: str, *, is_configured: bool) -> Offer:
        if not is_configured:
            return Offer(name, is_configured=False, problem=f"{_NEEDS[name]} is not set")
        try:
            models = await self.named(name).models()
        except InvalidSetting as error:
            return Offer(name, is_configured=True, problem=str(error))
        if name == "ollama" and not models:
            from .ollama.client import Ollama

            ollama = self.named(name)
            assert isinstance(ollama, Ollama)
            return Offer(name, is_configured=True, problem=await ollama.problem())
        problem = "" if any(model.reachable for model in models) else next((model.problem for model in models), "it has no models")
        return Offer(name, True, tuple(models), problem)

    async def default(self) -> Choice:
        """What to use when nobody says: the setting, a key, a running Ollama, the demo."""
        has = self.settings
        if has.model:
            self.provider_for(has.model)
            return Choice(has.model, "it is set")
        if has.anthropic_api_key:
            from .anthropic.client import DEFAULT_MODEL as CLAUDE

            return Choice(f"anthropic/{CLAUDE}", "ANTHROPIC_API_KEY is set")
        if has.openai_api_key:
            from .openai.client import DEFAULT_MODEL as GPT

            return Choice(f"openai/{GPT}", "OPENAI_API_KEY is set")
        if (installed := await self._of_ollama()) is not None:
            return Choice(installed.ref, "Ollama is running")
        return Choice(DEMO, "there is no key and no Ollama, so a script plays the model")

    async def close(self) -> None:
        """Let go of all connections."""
        await asyncio.gather(*(provider.close() for provider in self._made.values()))

    async def _of_ollama(self) -> Model | None:
        """The first installed model that takes tools, or else the first."""
        models = await self.named("ollama").models()
        return next((model for model in models if model.supports_tools), models[0] if models else None)


def provider_for(ref: str, settings: ProviderSettings) -> tuple[Provider, str]:
    """One provider by itself, for whoever needs no other: see `Providers.provider_for`."""
    return Providers(settings).provider_for(ref)
