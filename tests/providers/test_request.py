"""What is sent: each provider's own form, written once per message."""

import json
from dataclasses import replace
from typing import Any

import pytest

from holdfast.providers.anthropic.request import RequestWriter as AnthropicWriter
from holdfast.providers.protocol import Effort, Request
from holdfast.vocabulary.messages import AssistantMessage, CallBlock, SystemMessage, TextBlock, ThinkingBlock, ToolMessage, UserMessage
from holdfast.vocabulary.reply import Reply
from tests.promises import carries
from tests.providers.conversation import SCHEMA, TOOLS, answer, asking, conversation
from tests.providers.server import serving
from tests.providers.speakers import ANTHROPIC, COPILOT, KEY, OLLAMA, OPENAI, QUICK, SPEAKERS, Speaker, Told

HINT = {"type": "ephemeral"}
every_speaker = pytest.mark.parametrize("speaker", SPEAKERS, ids=lambda each: each.name)


async def sent(speaker: Speaker, request: Request) -> Any:
    """The body that a provider sends for a request."""
    with serving(speaker.play(Told("ok"))) as server:
        await answer(speaker.to(server), request)
        asked = server.chats[-1]
    assert (asked.method, asked.path.partition("?")[0]) == ("POST", speaker.path)
    return asked.body


@carries("PROV-7", "AC-28", "PROV-5")
async def test_anthropic_gets_blocks_results_in_one_message_signatures_and_hints_for_its_cache() -> None:
    body = await sent(ANTHROPIC, asking(*conversation()))

    assert body == {
        "model": "some-model",
        "max_tokens": 16384,
        "stream": True,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": HINT}],
        "tools": [
            {"name": "fs_read", "description": "Reads a file.", "input_schema": SCHEMA},
            {"name": "ls", "description": "Lists a folder.", "input_schema": {"type": "object"}, "cache_control": HINT},
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "what is in é.txt?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "I should look.", "signature": "sig=="},
                    {"type": "text", "text": "Looking."},
                    {"type": "tool_use", "id": "a1", "name": "fs_read", "input": {"path": "é.txt"}},
                    {"type": "tool_use", "id": "a2", "name": "ls", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a1", "content": "café 😀"},
                    {"type": "tool_result", "tool_use_id": "a2", "content": "no such folder", "is_error": True},
                    {"type": "text", "text": "and now?", "cache_control": HINT},
                ],
            },
        ],
    }


@carries("PROV-7", "AC-28")
@pytest.mark.parametrize("speaker", [OPENAI, COPILOT], ids=lambda each: each.name)
async def test_openai_and_copilot_get_functions_and_a_message_for_each_result(speaker: Speaker) -> None:
    body = await sent(speaker, asking(*conversation()))

    assert body == {
        "model": "some-model",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {"type": "function", "function": {"name": "fs_read", "description": "Reads a file.", "parameters": SCHEMA}},
            {"type": "function", "function": {"name": "ls", "description": "Lists a folder.", "parameters": {"type": "object"}}},
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "what is in é.txt?"},
            {
                "role": "assistant",
                "content": "Looking.",
                "tool_calls": [
                    {"id": "a1", "type": "function", "function": {"name": "fs_read", "arguments": '{"path": "é.txt"}'}},
                    {"id": "a2", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "a1", "content": "café 😀"},
            {"role": "tool", "tool_call_id": "a2", "content": "no such folder"},
            {"role": "user", "content": "and now?"},
        ],
    }


@carries("PROV-7", "AC-28")
async def test_ollama_gets_arguments_as_objects_and_the_window_that_it_is_to_use() -> None:
    body = await sent(OLLAMA, asking(*conversation()))

    assert body["options"] == {"num_ctx": 32768}
    assert [each["function"]["name"] for each in body["tools"]] == ["fs_read", "ls"]
    assert body["messages"][2] == {
        "role": "assistant",
        "content": "Looking.",
        "thinking": "I should look.",
        "tool_calls": [
            {"id": "a1", "function": {"name": "fs_read", "arguments": {"path": "é.txt"}}},
            {"id": "a2", "function": {"name": "ls", "arguments": {}}},
        ],
    }
    assert body["messages"][3] == {"role": "tool", "tool_name": "fs_read", "tool_call_id": "a1", "content": "café 😀"}


@carries("PROV-5", "PROV-7")
@every_speaker
async def test_an_answer_that_is_sent_back_says_what_it_said(speaker: Speaker) -> None:
    told = Told("Ja, 😀.", "hm", "sig==", (("c1", "fs_read", '{"path": "a"}'),))
    with serving(speaker.play(told)) as server:
        _, reply = await answer(speaker.to(server))
        [call] = reply.runnable
        await answer(speaker.to(server), asking(UserMessage("x"), reply.message, ToolMessage(call.id, call.name, "done")))
        body = server.chats[-1].body

    back = next(message for message in body["messages"] if message["role"] == "assistant")
    if speaker is ANTHROPIC:
        assert back["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "sig=="}
        assert back["content"][2] == {"type": "tool_use", "id": "c1", "name": "fs_read", "input": {"path": "a"}}
    else:
        arguments = back["tool_calls"][0]["function"]["arguments"]
        assert back["content"] == "Ja, 😀."
        assert (json.loads(arguments) if isinstance(arguments, str) else arguments) == {"path": "a"}


@carries("PROV-15")
@every_speaker
async def test_a_message_is_written_once_however_often_it_is_sent(speaker: Speaker) -> None:
    messages = conversation()
    with serving(speaker.play(Told("ok"))) as server:
        provider = speaker.to(server)
        first = [each async for each in provider.stream(asking(*messages))]
        for message in messages:
            [(form, written)] = message.wire.items()
            message.wire[form] = written.replace(b"e", b"E").replace("é".encode(), "É".encode())
        again, _ = await answer(provider, asking(*messages))
        bodies = [each.raw.decode() for each in server.chats]

    assert first
    assert again
    assert "LooKing" not in bodies[1]
    assert "cafÉ" in bodies[1]
    assert "café" in bodies[0]


@carries("PROV-13")
@every_speaker
async def test_a_call_that_was_no_json_goes_back_as_json_that_tells_of_it(speaker: Speaker) -> None:
    broken = AssistantMessage((CallBlock("b1", "ls", '{"path": ', "not valid"),))

    body = await sent(speaker, asking(UserMessage("x"), broken, ToolMessage("b1", "ls", "not run", is_error=True)))

    told = json.dumps(body).replace("\\", "")
    assert "INVALID_JSON" in told
    assert '{"path": ' in told


@carries("AC-28")
@every_speaker
async def test_without_tools_none_are_sent(speaker: Speaker) -> None:
    body = await sent(speaker, asking(tools=()))

    assert "tools" not in body


async def test_anthropic_is_told_of_tools_that_were_called_and_that_none_may_be_when_none_is_offered_any_more() -> None:
    body = await sent(ANTHROPIC, asking(*conversation(), tools=()))

    assert [each["name"] for each in body["tools"]] == ["fs_read", "ls"]
    assert body["tool_choice"] == {"type": "none"}


async def test_anthropic_gets_no_empty_text_no_unsigned_thought_and_no_system_message() -> None:
    said = AssistantMessage((ThinkingBlock("another model's"), TextBlock("  "), TextBlock("ok")))
    redacted = AssistantMessage((ThinkingBlock("", "ENC", is_redacted=True),))

    body = await sent(ANTHROPIC, asking(SystemMessage("And kind."), UserMessage(""), said, AssistantMessage(), UserMessage("b"), redacted))

    assert body["system"][0]["text"] == "Be brief.\n\nAnd kind."
    assert [(each["role"], [block["type"] for block in each["content"]]) for each in body["messages"]] == [
        ("user", ["text"]),
        ("assistant", ["text"]),
        ("user", ["text"]),
        ("assistant", ["redacted_thinking"]),
    ]
    assert body["messages"][0]["content"][0]["text"].strip()


@pytest.mark.parametrize(
    ("model", "effort", "said"),
    [
        ("claude-sonnet-4-5", "low", {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        ("claude-3-7-sonnet-latest", "high", {"thinking": {"type": "enabled", "budget_tokens": 3072}}),
        ("claude-sonnet-5-5", "high", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}),
        ("claude-opus-4-6", "medium", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}}),
        ("claude-sonnet-5-5", "none", {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-5-5", None, {}),
    ],
)
def test_claude_is_told_how_much_to_think_in_the_words_of_its_generation(
    model: str, effort: Effort | None, said: dict[str, object]
) -> None:
    body, _ = AnthropicWriter().write(Request(model, [UserMessage("x")], thinking=effort))

    assert {name: value for name, value in json.loads(body).items() if name in ("thinking", "output_config")} == said


@every_speaker
async def test_half_a_character_does_not_stop_a_request(speaker: Speaker) -> None:
    body = await sent(speaker, asking(UserMessage("broken \ud83d here")))

    assert "here" in json.dumps(body["messages"][-1])


async def test_anthropic_is_asked_with_the_key_as_its_sdk_sends_it() -> None:
    with serving(ANTHROPIC.play(Told("ok"))) as server:
        await answer(ANTHROPIC.to(server))

        assert server.chats[0].headers["authorization"] == f"Bearer {KEY}"
        assert server.chats[0].headers["anthropic-version"]


@carries("COPILOT-1", "COPILOT-2")
async def test_copilot_gets_its_headers_and_configured_ones_win_over_ours_but_not_over_the_key() -> None:
    configured = {"editor-version": "vim/9.1", "X-Extra": "1", "Authorization": "Bearer stolen", "x-initiator": "user"}
    provider_settings = replace(QUICK, copilot_headers=configured)
    with serving(COPILOT.play(Told("ok"))) as server:
        await answer(COPILOT.to(server))
        await answer(COPILOT.to(server, provider_settings), asking(*conversation()[:4]))
        plain, own = (each.headers for each in server.chats)

    assert plain["user-agent"].startswith("holdfast/")
    assert (plain["openai-intent"], plain["copilot-integration-id"]) == ("conversation-edits", "vscode-chat")
    assert plain["editor-version"].startswith("holdfast/")
    assert (plain["authorization"], plain["x-initiator"]) == (f"Bearer {KEY}", "user")
    assert (own["editor-version"], own["x-extra"], own["authorization"]) == ("vim/9.1", "1", f"Bearer {KEY}")
    assert own["x-initiator"] == "agent"


@carries("COPILOT-2")
def test_a_configured_header_replaces_a_default_whatever_its_case() -> None:
    from holdfast.providers.copilot.client import merged

    assert merged({"Editor-Version": "ours", "B": "2"}, {"editor-version": "theirs"}) == {"B": "2", "editor-version": "theirs"}


@carries("COPILOT-1")
def test_copilot_is_called_github_copilot_and_lives_without_v1() -> None:
    from holdfast.providers.copilot.client import URL, Copilot

    assert (Copilot.name, URL) == ("github-copilot", "https://api.githubcopilot.com")


def test_the_same_tools_are_written_once_and_others_anew() -> None:
    writer, tools = AnthropicWriter(), (dict(TOOLS[0]),)
    before, _ = writer.write(Request("m", [UserMessage("x")], tools=tools))
    tools[0]["description"] = "changed behind its back"

    same, _ = writer.write(Request("m", [UserMessage("x")], tools=tools))
    other, _ = writer.write(Request("m", [UserMessage("x")], tools=(tools[0],)))

    assert same == before
    assert b"changed" in other


def test_a_reply_gives_nothing_to_run_before_its_end() -> None:
    assert Reply().runnable == ()
