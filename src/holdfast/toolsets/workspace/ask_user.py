"""ask_user: questions to the person."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from holdfast.tool import Context, Shape, tool
from holdfast.vocabulary.json import Json, JsonObject

from ._questions import QUESTIONS, checked


@tool
async def ask_user(ctx: Context, questions: Annotated[Sequence[Mapping[str, Json]], Shape(QUESTIONS)]) -> Json:
    """Ask the person one to four questions, and wait for the answers. Use it when the request can be read in several ways, when there is
    a choice that matters to them, or before something that cannot be undone.

    For one choice of several: schema {"type": "string", "enum": ["A", "B"]}, and a button for each. For several choices: schema
    {"type": "array", "items": {"type": "string", "enum": ["A", "B"]}}, without buttons. Say in the question whether to choose one or
    all that apply.

    Args:
        questions: Each has a name for its answer, the question itself, and a JSON Schema that the answer must fit.
    """
    asked: list[JsonObject] = checked(questions)
    return await ctx.person.ask(ctx.call, asked)
