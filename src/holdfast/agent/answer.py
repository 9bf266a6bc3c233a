"""One answer of a model, passed on while it comes."""

from contextlib import aclosing

from holdfast.providers.protocol import Provider, Request
from holdfast.vocabulary.chunks import Retrying, Text, Thinking
from holdfast.vocabulary.messages import AssistantMessage, CallBlock, TextBlock, ThinkingBlock
from holdfast.vocabulary.reply import Reply

from .conversation import Conversation


async def answered(provider: Provider, request: Request, conversation: Conversation, reply: Reply) -> None:
    """Ask the model, tell what it says as it comes, and put it all into `reply`."""
    async with aclosing(provider.stream(request)) as chunks:
        async for chunk in chunks:
            reply.add(chunk)
            match chunk:
                case Text(text):
                    conversation.tell_piece("chat:text-delta", text, reply.index)
                case Thinking(text) if text:
                    conversation.tell_piece("chat:thinking-delta", text, reply.index)
                case Retrying(reason, seconds):
                    conversation.tell("chat:retry", {"reason": reason, "seconds": seconds})
                case _:
                    pass


def without_loose_ends(cut: AssistantMessage) -> AssistantMessage:
    """What is worth keeping of an answer that was cut off: its words. No call of it is run, and thinking that nobody signed is no use."""
    kept = (block for block in cut.blocks if not isinstance(block, CallBlock))
    return AssistantMessage(tuple(block for block in kept if isinstance(block, TextBlock) or _is_signed(block)))


def _is_signed(block: ThinkingBlock) -> bool:
    return bool(block.signature)
