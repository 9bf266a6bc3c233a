"""A model's answer, put together from its chunks."""

from .chunks import Chunk, End, EndReason, Fault, Start, Text, Thinking, ToolCallEnd, Usage
from .errors import ProviderError
from .messages import AssistantMessage, Block, CallBlock, TextBlock, ThinkingBlock


class Reply:
    """What has come of one answer so far.

    Blocks keep the order in which they began; calls stand where they
    ended, and only those that did are here.
    """

    def __init__(self) -> None:
        self.model = ""
        self.usage: Usage | None = None
        self.reason: EndReason | None = None
        self.error: ProviderError | None = None
        self._blocks: list[Block] = []
        self._pieces: list[str] = []
        self._kind: type[TextBlock] | type[ThinkingBlock] | None = None

    def add(self, chunk: Chunk) -> None:
        """Take one chunk more."""
        match chunk:
            case Text():
                self._piece(TextBlock, chunk.text)
            case Thinking():
                self._thinking(chunk)
            case ToolCallEnd():
                self._close()
                self._blocks.append(CallBlock(chunk.id, chunk.name, chunk.arguments, chunk.invalid))
            case Start():
                self.model = chunk.model
            case Usage():
                self.usage = chunk
            case End():
                self.reason = chunk.reason
            case Fault():
                self.error = chunk.error
            case _:
                pass

    @property
    def index(self) -> int:
        """Which block the last piece of text or thinking was of."""
        return len(self._blocks) - (not self._pieces)

    @property
    def message(self) -> AssistantMessage:
        """All of it as a message. Of an answer that broke off, what was said is worth keeping, and what was to be done is not."""
        self._close()
        return AssistantMessage(tuple(block for block in self._blocks if self.error is None or not isinstance(block, CallBlock)))

    @property
    def runnable(self) -> tuple[CallBlock, ...]:
        """The calls that may be run: none, when the answer is not whole."""
        if self.reason is None:
            return ()
        return tuple(call for call in self.message.calls if not call.invalid)

    def _thinking(self, chunk: Thinking) -> None:
        if chunk.is_redacted:
            self._close()
            self._blocks.append(ThinkingBlock("", chunk.signature, is_redacted=True))
            return
        self._piece(ThinkingBlock, chunk.text)
        if chunk.signature:
            self._close(chunk.signature)

    def _piece(self, kind: type[TextBlock] | type[ThinkingBlock], text: str) -> None:
        if self._kind is not kind:
            self._close()
            self._kind = kind
        self._pieces.append(text)

    def _close(self, signature: str = "") -> None:
        text, kind = "".join(self._pieces), self._kind
        self._pieces.clear()
        self._kind = None
        if kind is TextBlock and text:
            self._blocks.append(TextBlock(text))
        elif kind is ThinkingBlock and (text or signature):
            self._blocks.append(ThinkingBlock(text, signature))
