"""One answer of a model, passed on while it comes."""

from contextlib import aclosing

from holdfast.providers.protocol import Provider, Request
from holdfast.vocabulary.chunks import Retrying, Text, Thinking
from holdfast.vocabulary.reply import Reply

from .conversation import Conversation


async def answered(provider: Provider, request: Request, conversation: Conversation, message_id: str) -> Reply:
    """Ask the model, tell what it says as it comes, and give the whole."""
    reply = Reply()
    async with aclosing(provider.stream(request)) as chunks:
        async for chunk in chunks:
            reply.add(chunk)
            match chunk:
                case Text(text):
                    conversation.tell("chat:text-delta", {"messageId": message_id, "content": text, "index": reply.index})
                case Thinking(text) if text:
                    conversation.tell("chat:thinking-delta", {"messageId": message_id, "content": text, "index": reply.index})
                case Retrying(reason, seconds):
                    conversation.tell("chat:retry", {"reason": reason, "seconds": seconds})
                case _:
                    pass
    return reply
