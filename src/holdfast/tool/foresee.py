"""What a call would change if it ran now, for whoever is asked about it."""

import asyncio

from holdfast.vocabulary.access import Want
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.json import Json
from holdfast.workspace.foresight import ForeseenError

from .bind import Bound
from .context import Context
from .tool import Category, Tool

_SECONDS = 5.0


def can_foresee(tool: Tool, arguments: Bound) -> bool:
    """Whether it is a tool that changes files, and does nothing else."""
    return tool.category is Category.FILE and any(access.want is Want.WRITE for access in arguments.accesses)


async def foresee(tool: Tool, context: Context, arguments: Bound) -> Json:
    """The call's effects; None when it would fail, or nobody can tell. The context must be one that foresees."""
    try:
        async with asyncio.timeout(_SECONDS):
            await tool.declaration.function(context, **arguments.arguments)
    except ForeseenError as foreseen:
        return [{"n": 1, **foreseen.effect}]
    except (HoldfastError, TimeoutError):
        # What is wrong is told when it runs.
        return None
    return None
