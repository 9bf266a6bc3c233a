"""holdfast models: which models there are, and which one is used."""

import asyncio
import json
from pathlib import Path
from typing import Any

from holdfast.app.models import list_models
from holdfast.config.settings import load_settings

from .parser import Parser
from .visible import visible_line


def main(words: list[str]) -> int:
    """List the models of every provider."""
    about = "List the models of every provider: whether it can be reached, how much a model reads, whether it takes tools, what it costs."
    parser = Parser(prog="holdfast models", description=about)
    parser.add_argument("--project", default=".", metavar="DIR", help="the folder whose settings count too (default: the current one)")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    given = parser.parse_args(words)
    told = asyncio.run(list_models(load_settings(Path(given.project))))
    if given.json:
        print(json.dumps(told, indent=2, ensure_ascii=False))
        return 0
    chosen = told["default"]
    print(visible_line(f"{chosen['model']} is used when nothing else is said: {chosen['reason']}."))
    for provider in told["providers"]:
        _show(provider, chosen["model"])
    print("\nChoose: holdfast run --model PROVIDER/NAME, or HOLDFAST_MODEL.")
    return 0


def _show(provider: dict[str, Any], chosen: str) -> None:
    name = provider["name"] + ("" if provider["configured"] else " (not configured)")
    print(f"\n{visible_line(name)}")
    if provider["problem"]:
        print(visible_line(f"  – {provider['problem']}"))
    for model in provider["models"]:
        facts = [_window(model["context_window"]), "" if model["supports_tools"] else "no tools", _price(model["price_per_million"])]
        if not model["reachable"]:
            facts.append("not reachable" if provider["problem"] else f"not usable: {model['problem']}")
        mark = "*" if model["id"] == chosen else " "
        print(visible_line(f"{mark} {model['id']:<40} {', '.join(fact for fact in facts if fact)}"))


def _window(tokens: int | None) -> str:
    return "window not known" if tokens is None else f"{tokens:,} tokens"


def _price(price: dict[str, float] | None) -> str:
    return "" if price is None else f"${price['input']:g} in, ${price['output']:g} out per million"
