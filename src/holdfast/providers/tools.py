"""The tools of a request, written once for as long as they stay the same."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from holdfast.vocabulary.json import Json, dump
from holdfast.vocabulary.messages import AssistantMessage, Message
from holdfast.vocabulary.wire_names import WireNames

Definition = Mapping[str, Json]


class WrittenTools:
    """The names of some tools, and their definitions as JSON in one provider's form."""

    def __init__(self, tools: tuple[Definition, ...], form: Callable[[Definition, str], Json], *, names: Iterable[str] = ()) -> None:
        self.tools = tools
        self.names = WireNames([*(str(tool["name"]) for tool in tools), *names])
        self.json = [dump(form(tool, self.names.to_wire(str(tool["name"])))) for tool in tools]


class ToolWriter:
    """Writes the tools of requests; the last ones are remembered, because a session asks with the same again and again."""

    def __init__(self, form: Callable[[Definition, str], Json]) -> None:
        self._form = form
        self._known: list[WrittenTools] = []

    def written(self, tools: tuple[Definition, ...]) -> WrittenTools:
        """The tools in the provider's form."""
        for known in self._known:
            if known.tools is tools:
                return known
        made = WrittenTools(tools, self._form)
        self._known = [made, *self._known[:7]]
        return made


def called_in(messages: Sequence[Message]) -> list[str]:
    """The names of all tools that were called."""
    calls = (call for message in messages if isinstance(message, AssistantMessage) for call in message.calls)
    return list(dict.fromkeys(call.name for call in calls))
