"""A conversation with everything in it, and the tools that it is about."""

import asyncio
from collections.abc import Mapping

from holdfast.providers.protocol import Provider, Request
from holdfast.vocabulary.chunks import Chunk
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.messages import (
    AssistantMessage,
    CallBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolMessage,
    UserMessage,
)
from holdfast.vocabulary.reply import Reply

_MOST_SECONDS = 30  # a wait that should not be is a failure, not a test without end
SCHEMA: Mapping[str, Json] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS: tuple[Mapping[str, Json], ...] = (
    {"name": "fs.read", "description": "Reads a file.", "inputSchema": SCHEMA},
    {"name": "ls", "description": "Lists a folder.", "inputSchema": {"type": "object"}},
)


def conversation() -> list[Message]:
    """A question, an answer with thoughts, words and two calls, their results, and a new question."""
    calls = (CallBlock("a1", "fs.read", '{"path": "é.txt"}'), CallBlock("a2", "ls", ""))
    return [
        UserMessage("what is in é.txt?"),
        AssistantMessage((ThinkingBlock("I should look.", "sig=="), TextBlock("Looking."), *calls)),
        ToolMessage("a1", "fs.read", "café 😀"),
        ToolMessage("a2", "ls", "no such folder", is_error=True),
        UserMessage("and now?"),
    ]


def asking(*messages: Message, tools: tuple[Mapping[str, Json], ...] = TOOLS) -> Request:
    """A request with these messages, or with a short one."""
    return Request("some-model", list(messages) or [UserMessage("hello")], system="Be brief.", tools=tools)


async def answer(provider: Provider, request: Request | None = None) -> tuple[list[Chunk], Reply]:
    """All chunks of an answer, and what they make together; the provider is closed then."""
    reply = Reply()
    chunks: list[Chunk] = []
    try:
        async with asyncio.timeout(_MOST_SECONDS):
            async for chunk in provider.stream(request or asking()):
                chunks.append(chunk)
                reply.add(chunk)
    finally:
        await provider.close()
    return chunks, reply
