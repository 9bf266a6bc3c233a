"""/ws/prompt: one prompt, and what a model that reads the project says to it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import orjson
from pydantic import Field

from holdfast.accounts.tokens import Identity
from holdfast.agent.conversation import Conversation
from holdfast.vocabulary.chat import CANCELLED, ERROR, ChatEvent
from holdfast.vocabulary.errors import Busy, HoldfastError, NotFound
from holdfast.vocabulary.json import Json, dump
from holdfast.vocabulary.messages import AssistantMessage, CallBlock

from .talks import Frame, Outbox, Talk, read_frame

if TYPE_CHECKING:
    from holdfast.app.agents import Agents

PROFILE = "simple"
_TITLE_CHARACTERS = 80


class PromptFrame(Frame):
    """What the person wants."""

    type: Literal["prompt"]
    text: str = Field(min_length=1)
    session_id: str | None = Field(None, min_length=1, max_length=200)


class Prompt(Talk):
    """One client of /ws/prompt. It hears of the turns that it began."""

    RESYNC: ClassVar[Mapping[str, object]] = {
        "type": "error",
        "message": "You read too slowly. Come back, and read the session's messages.",
    }

    def __init__(self, agents: "Agents", identity: Identity, outbox: Outbox) -> None:
        super().__init__(agents, identity, outbox)
        self._watched: dict[str, Callable[[], None]] = {}

    async def hear(self, frame: Mapping[str, Any]) -> None:
        """Do what a frame says."""
        sent = read_frame(PromptFrame, frame)
        conversation = await self._found_or_made(sent)
        if self.agents.is_running(conversation.id):
            raise Busy("a prompt of this session is running", hint="Wait for its end.")
        turn = _Turn(conversation, self.outbox, lambda: self._forget(conversation.id))
        self._watched[conversation.id] = conversation.watch(turn.hear)
        try:
            await self.agents.start(
                conversation.id, sent.text, await self.agents.profile(PROFILE), bounds=self.agents.bounds(is_prompt=True)
            )
        except HoldfastError:
            self._forget(conversation.id)
            raise

    def told_error(self, error: HoldfastError, frame: Mapping[str, Any]) -> object:
        """An error frame."""
        return _error(str(error))

    def leave(self) -> None:
        """Watch nothing any longer."""
        for conversation_id in list(self._watched):
            self._forget(conversation_id)

    async def _found_or_made(self, sent: PromptFrame) -> Conversation:
        if sent.session_id is None:
            return await self.agents.create(await self.agents.profile(PROFILE), title=sent.text[:_TITLE_CHARACTERS])
        if not sent.session_id.isprintable():
            raise NotFound("Session not found", hint="Leave sessionId out for a new one.")
        return await self.agents.conversation(sent.session_id)

    def _forget(self, conversation_id: str) -> None:
        if (end := self._watched.pop(conversation_id, None)) is not None:
            end()


class _Turn:
    """One turn in the words of this address."""

    def __init__(self, conversation: Conversation, outbox: Outbox, over: Callable[[], None]) -> None:
        self._conversation = conversation
        self._outbox = outbox
        self._over = over
        self._called: set[str] = set()
        self._results: dict[str, Mapping[str, Any]] = {}
        self._problem = ""

    def hear(self, event: ChatEvent) -> None:
        told = cast("Mapping[str, Any]", event.payload)
        match event.type:
            case "chat:text-delta":
                self._tell({"type": "token", "text": told["content"]})
            case "chat:tool-start":
                self._call(told["toolId"])
            case "chat:tool-result":
                self._results[told["toolId"]] = told
                # A call that was not let run has had no start.
                self._call(told["toolId"])
                self._tell_results(told["toolId"])
            case "chat:error":
                self._problem = told["message"]
            case "chat:stream-end":
                self._over()
                # Only now there may be another prompt, so only now the error is told.
                if told["reason"] == ERROR:
                    self._tell(_error(self._problem or "this is a fault of the server"))
                elif told["reason"] == CANCELLED:
                    self._tell(_error("the prompt was cancelled"))
                else:
                    self._tell({"type": "done", "sessionId": self._conversation.id})
            case _:
                pass

    def _call(self, call_id: str) -> None:
        """Tell of the call and those before it, in the model's order whichever began first."""
        calls = self._calls_beside(call_id)
        for call in calls[: [call.id for call in calls].index(call_id) + 1]:
            if call.id not in self._called:
                self._called.add(call.id)
                self._tell({"type": "tool_call", "id": call.id, "name": call.name, "arguments": _arguments(call)})

    def _tell_results(self, call_id: str) -> None:
        """Tell the results that have come, in the model's order whichever came first."""
        for call in self._calls_beside(call_id):
            if call.id not in self._results:
                return
            told = self._results[call.id]
            if told:
                is_error = {"isError": True} if told["status"] == "error" else {}
                self._tell({"type": "tool_result", "id": call.id, "name": call.name, "output": told["result"], **is_error})
                self._results[call.id] = {}

    def _calls_beside(self, call_id: str) -> Sequence[CallBlock]:
        """The calls of the answer that the call is of."""
        answers = (message for message in reversed(self._conversation.messages) if isinstance(message, AssistantMessage))
        return next(answer.calls for answer in answers if call_id in [call.id for call in answer.calls])

    def _tell(self, frame: object) -> None:
        self._outbox.put(dump(frame))


def _arguments(call: CallBlock) -> Json:
    """The arguments as an object; of those that are none, nothing can be told in this form."""
    try:
        given: Any = orjson.loads(call.arguments)
    except ValueError:
        return {}
    return cast("Json", given) if isinstance(given, dict) else {}


def _error(message: str) -> Mapping[str, object]:
    return {"type": "error", "message": message}
