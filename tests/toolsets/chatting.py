"""A session at a desk with something said in it, as the agent puts it on record."""

from collections.abc import Sequence

from holdfast.store import events, sessions
from holdfast.store.events import NewEvent
from holdfast.vocabulary.messages import AssistantMessage, CallBlock, Message, TextBlock, ThinkingBlock, ToolMessage, UserMessage, as_json
from tests.desk import Desk

TALK = (
    UserMessage("Fix the needle in main.py, please.\nIt is broken."),
    AssistantMessage(
        (ThinkingBlock("hidden thought"), TextBlock("I look at it.\n"), CallBlock("c1", "read", '{"path":\n"/main.py"}')),
    ),
    ToolMessage("c1", "read", "the needle's code " + "x" * 5_000),
    AssistantMessage((CallBlock("c2", "rm", "{", invalid="the JSON is cut"),)),
    ToolMessage("c2", "rm", "It was not run.", is_error=True),
    AssistantMessage((TextBlock("Done.\0"),)),
)


async def talked(desk: Desk, session_id: str, said: Sequence[Message] = TALK, *, title: str = "") -> str:
    """A session in which that was said; returns the path of its chat."""
    held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
    database = desk.holdfast.platform.database
    await sessions.open_session(database, held.lease, session_id=session_id, title=title, trust="guided", profile="coder")
    await say(desk, session_id, said)
    return f"/chats/{session_id}.chat"


async def say(desk: Desk, session_id: str, said: Sequence[Message]) -> None:
    """Say more in a session; beside each message there is something that is none."""
    held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
    for message in said:
        new = [NewEvent("message", as_json(message)), NewEvent("chat:context", {"usedTokens": 1})]
        await events.append(desk.holdfast.platform.database, held.lease, session_id, new)
