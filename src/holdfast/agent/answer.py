"""One answer of a model, put together from its pieces while they are passed on."""

from contextlib import aclosing
from dataclasses import dataclass, field

from holdfast.providers.protocol import Provider, Request
from holdfast.vocabulary.chunks import End, EndReason, Fault, Retrying, Start, Text, Thinking, ToolCallEnd, Usage
from holdfast.vocabulary.errors import ProviderError
from holdfast.vocabulary.messages import AssistantMessage, Block, CallBlock, TextBlock, ThinkingBlock

from .conversation import Conversation


@dataclass
class Answer:
    """What has come so far. With a `fault` it is not whole, and none of its calls is run."""

    blocks: list[Block] = field(default_factory=list[Block])
    usage: Usage | None = None
    reason: EndReason = EndReason.OTHER
    fault: ProviderError | None = None

    @property
    def message(self) -> AssistantMessage:
        """The answer as a message."""
        return AssistantMessage(tuple(self.blocks))

    def add_text(self, text: str) -> int:
        """Add a piece of text, and tell in which block it is."""
        if self.blocks and isinstance(last := self.blocks[-1], TextBlock):
            self.blocks[-1] = TextBlock(last.text + text)
        else:
            self.blocks.append(TextBlock(text))
        return len(self.blocks) - 1

    def add_thinking(self, piece: Thinking) -> int:
        """Add a piece of thinking; a signature ends the block."""
        last = self.blocks[-1] if self.blocks else None
        if isinstance(last, ThinkingBlock) and not last.signature and not piece.is_redacted:
            self.blocks[-1] = ThinkingBlock(last.text + piece.text, piece.signature)
        else:
            self.blocks.append(ThinkingBlock(piece.text, piece.signature, piece.is_redacted))
        return len(self.blocks) - 1


async def answered(provider: Provider, request: Request, conversation: Conversation, message_id: str) -> Answer:
    """Ask the model, pass on what it says as it comes, and give the whole."""
    answer = Answer()
    async with aclosing(provider.stream(request)) as chunks:
        async for chunk in chunks:
            match chunk:
                case Text(text):
                    told = {"messageId": message_id, "content": text, "index": answer.add_text(text)}
                    conversation.tell("chat:text-delta", told)
                case Thinking():
                    index = answer.add_thinking(chunk)
                    if chunk.text:
                        conversation.tell("chat:thinking-delta", {"messageId": message_id, "content": chunk.text, "index": index})
                case ToolCallEnd(id, name, arguments, invalid):
                    answer.blocks.append(CallBlock(id, name, arguments, invalid))
                case Usage():
                    answer.usage = chunk
                case Retrying(reason, seconds):
                    conversation.tell("chat:retry", {"reason": reason, "seconds": seconds})
                case End(reason):
                    answer.reason = reason
                case Fault(error):
                    answer.fault = error
                    # What was said is worth keeping; what was to be done is not.
                    answer.blocks = [block for block in answer.blocks if not isinstance(block, CallBlock)]
                case Start() | _:
                    pass
    return answer
