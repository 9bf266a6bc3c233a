"""Which provider is used, and what models there are."""

from dataclasses import replace

import pytest

from holdfast.providers.choose import Choice, Providers, provider_for
from holdfast.providers.protocol import Model
from holdfast.providers.settings import ProviderSettings
from holdfast.vocabulary.errors import InvalidSetting
from tests.promises import carries
from tests.providers.conversation import answer, asking
from tests.providers.server import Play, Server, serving, unused_port
from tests.providers.speakers import ANTHROPIC, COPILOT, KEY, OLLAMA, OPENAI, QUICK, Told

NOBODY = f"http://127.0.0.1:{unused_port()}"
BARE = ProviderSettings(ollama_host=NOBODY, patience=QUICK.patience, retries=QUICK.retries)


def installed(server: Server, **models: list[str]) -> None:
    """An Ollama with these models, each with what it can do; the names' underscores are colons."""
    server.fixed["/api/tags"] = Play.json({"models": [{"model": name.replace("_", ":"), "name": name} for name in models]})
    last = list(models.values())[-1]
    server.fixed["/api/show"] = Play.json({"model_info": {"llama.context_length": 8192}, "capabilities": last})


@carries("PICK-1")
@pytest.mark.parametrize(
    ("ref", "provider", "id"),
    [
        ("anthropic/claude-sonnet-5-5", "anthropic", "claude-sonnet-5-5"),
        ("openai/meta-llama/Llama-3", "openai", "meta-llama/Llama-3"),
        ("ollama/qwen3:8b", "ollama", "qwen3:8b"),
        ("github-copilot/gpt-5.5", "github-copilot", "gpt-5.5"),
        ("scripted/demo", "scripted", "demo"),
        ("claude-opus-5", "anthropic", "claude-opus-5"),
        ("gpt-5.5", "openai", "gpt-5.5"),
    ],
)
def test_a_models_name_says_whose_it_is(ref: str, provider: str, id: str) -> None:
    chosen, model = provider_for(ref, BARE)

    assert (chosen.name, model) == (provider, id)


@carries("PICK-1")
@pytest.mark.parametrize("ref", ["", "anthropic/", "nobody/x", "llama3.1"])
def test_a_model_that_nobody_has_is_told_with_those_who_have_some(ref: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        provider_for(ref, BARE)

    assert "github-copilot" in caught.value.hint


@pytest.mark.parametrize("name", ["anthropic_base_url", "openai_base_url", "copilot_url", "ollama_host"])
def test_an_address_that_is_none_is_told_by_the_settings_name_and_not_by_its_value(name: str) -> None:
    provider = {"anthropic_base_url": "anthropic", "openai_base_url": "openai", "copilot_url": "github-copilot", "ollama_host": "ollama"}
    settings = replace(BARE, **{name: "ftp://user:hunter22@host:x"})

    with pytest.raises(InvalidSetting) as caught:
        Providers(settings).named(provider[name])

    assert "hunter22" not in str(caught.value)
    assert name.removesuffix("_url").upper() in str(caught.value).upper()


@pytest.mark.parametrize(
    ("host", "url"),
    [
        (None, "http://127.0.0.1:11434"),
        ("0.0.0.0:5000", "http://127.0.0.1:5000"),
        (":5001", "http://127.0.0.1:5001"),
        ("box", "http://box:11434"),
        ("http://box", "http://box:80"),
        ("https://box/ollama/", "https://box:443/ollama"),
        ("[::1]:7", "http://[::1]:7"),
    ],
)
def test_ollamas_host_is_taken_as_ollama_takes_it(host: str | None, url: str) -> None:
    from holdfast.providers.ollama.client import _url  # pyright: ignore[reportPrivateUsage] - no server can be on each of these hosts

    assert _url(host) == url


@carries("PICK-2")
async def test_without_a_setting_the_first_that_can_be_used_is_and_the_reason_is_told() -> None:
    with serving(OLLAMA.play(Told("hi"))) as server:
        installed(server, llama3_8b=["completion", "tools"])
        here = replace(BARE, ollama_host=server.url)
        chosen: list[Choice] = []
        for settings in (
            replace(here, model="openai/x", anthropic_api_key=KEY),
            replace(here, anthropic_api_key=KEY, openai_api_key=KEY),
            replace(here, openai_api_key=KEY),
            here,
            BARE,
        ):
            providers = Providers(settings)
            chosen.append(await providers.default())
            await providers.close()

    assert [each.ref.partition("/")[0] for each in chosen] == ["openai", "anthropic", "openai", "ollama", "scripted"]
    assert chosen[3].ref == "ollama/llama3:8b"
    assert ["ANTHROPIC_API_KEY" in chosen[1].reason, "OPENAI_API_KEY" in chosen[2].reason, "Ollama" in chosen[3].reason] == [True] * 3


@carries("PICK-3")
async def test_the_models_of_all_that_are_configured_are_listed() -> None:
    listing = Play.json({"data": [{"id": "claude-sonnet-5-5", "type": "model", "display_name": "x", "created_at": "2026-01-01T00:00:00Z"}]})
    copilot = {"capabilities": {"type": "chat", "limits": {"max_context_window_tokens": 64000}, "supports": {"streaming": True}}}
    local = Play.json({"data": [{"id": "qwen", "context_length": 4096}, {"no": "id"}, {"id": "gpt-5.5"}]})
    with serving(listing) as claude, serving(local) as compatible, serving(Play.json({"data": [{"id": "c", **copilot}]})) as pilot:
        settings = replace(
            ANTHROPIC.settings(OPENAI.settings(COPILOT.settings(QUICK, pilot.url), compatible.url), claude.url), ollama_host=NOBODY
        )
        providers = Providers(settings)
        models = await providers.models()
        await providers.close()

    assert models == [
        Model("anthropic", "claude-sonnet-5-5", 1_000_000),
        Model("openai", "qwen", 4096),
        Model("openai", "gpt-5.5", 1_000_000),
        Model("github-copilot", "c", 64_000, supports_tools=False),
        Model("scripted", "demo", 100_000),
    ]


@carries("PICK-3")
async def test_a_provider_that_cannot_be_asked_has_its_default_model_marked_as_not_reachable() -> None:
    for speaker in (ANTHROPIC, OPENAI, COPILOT):
        provider = speaker.at(NOBODY)
        [model] = await provider.models()
        await provider.close()

        assert (model.provider, model.reachable, bool(model.context_window)) == (speaker.name, False, True)


@carries("PICK-4")
async def test_an_ollama_model_without_tools_is_said_to_have_none_and_is_sent_none() -> None:
    with serving(OLLAMA.play(Told("hi"))) as server:
        installed(server, gemma_2b=["completion"])
        provider = OLLAMA.at(server.url)
        [model] = await provider.models()
        _, reply = await answer(provider, asking())

        assert (model.id, model.supports_tools, model.context_window) == ("gemma:2b", False, 8192)
        assert "tools" not in server.chats[-1].body
        assert reply.message.text == "hi"
