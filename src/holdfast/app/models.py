"""Models: which there are, what they cost, which one is used when nobody says, and why."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from holdfast.config.settings import Settings
from holdfast.providers import prices
from holdfast.providers.choose import Choice, Providers
from holdfast.providers.protocol import Model
from holdfast.providers.settings import ProviderSettings
from holdfast.vocabulary.errors import InvalidSetting

_SAME = (
    "model",
    "anthropic_api_key",
    "anthropic_base_url",
    "openai_api_key",
    "openai_base_url",
    "ollama_host",
    "ollama_api_key",
    "ollama_context_tokens",
    "copilot_token",
    "copilot_url",
)


def provider_settings(settings: Settings) -> ProviderSettings:
    """The settings in the words of the providers.

    Raises:
        InvalidSetting: The headers are none.
    """
    scripts = Path(settings["scripts"]).expanduser() if settings["scripts"] else settings.home / "scripts"
    given = {name: settings[name] for name in _SAME}
    return ProviderSettings(**given, copilot_headers=_headers(settings["copilot_headers"]), scripts=scripts)


async def list_models(settings: Settings) -> dict[str, Any]:
    """Every provider with its models, and the model that is used when nobody says."""
    providers = Providers(provider_settings(settings))
    try:
        offers, chosen = await providers.offers(), await choose_model(providers, settings)
        return {
            "default": {"model": chosen.ref, "reason": chosen.reason},
            "providers": [
                {
                    "name": offer.provider,
                    "configured": offer.is_configured,
                    "problem": offer.problem or None,
                    "models": [await _told(model) for model in offer.models],
                }
                for offer in offers
            ],
        }
    finally:
        await providers.close()


def script_of(model: str) -> tuple[str, str] | None:
    """The path and the text of the script that is meant when a model is named by a file; None when it is not.

    Raises:
        InvalidSetting: It cannot be read.
    """
    file = Path(model.removeprefix("scripted/")).expanduser()
    if file.suffix not in (".yaml", ".yml") or not file.is_file():
        return None
    try:
        return str(file.resolve()), file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidSetting(f"{file} cannot be read", hint="It must be UTF-8, and readable.") from None


def check_model(settings: Settings) -> None:
    """See whether there can be the model that is set, without asking anybody.

    Raises:
        InvalidSetting: There is none, or its script has mistakes.
    """
    if not settings["model"]:
        return
    providers = Providers(provider_settings(settings))
    if (script := script_of(settings["model"])) is not None:
        providers.play(*script)
        return
    from holdfast.providers.scripted import Scripted

    provider, name = providers.provider_for(settings["model"])
    if isinstance(provider, Scripted):
        provider.script(name)


async def choose_model(providers: Providers, settings: Settings) -> Choice:
    """The model that is used when nobody says, and why."""
    chosen = await providers.default()
    return replace(chosen, reason=f"set by {settings.values['model'].source}") if settings["model"] else chosen


async def _told(model: Model) -> dict[str, Any]:
    price = await prices.per_million(model.provider, model.id)
    return {
        "id": model.ref,
        "reachable": model.reachable,
        "problem": model.problem or None,
        "context_window": model.context_window,
        "supports_tools": model.supports_tools,
        "price_per_million": None if price is None else {"input": price[0], "output": price[1]},
    }


def _headers(text: str | None) -> dict[str, str]:
    try:
        said: object = json.loads(text or "{}")
    except ValueError:
        said = None
    if not isinstance(said, dict) or not all(isinstance(value, str) for value in cast("dict[str, Any]", said).values()):
        hint = 'Write it as a JSON object of texts: {"Editor-Version": "mine/1"}.'
        raise InvalidSetting("copilot_headers does not fit", hint=hint, setting="copilot_headers")
    return cast("dict[str, str]", said)
