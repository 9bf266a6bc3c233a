"""Holdfast: the tool execution layer for language-model agents."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .app import Holdfast
    from .doors.tool_host import ToolHost

__version__ = "0.1.0"
__all__ = ["Holdfast", "ToolHost", "__version__"]


def __getattr__(name: str) -> object:
    # Importing holdfast costs nothing until one of these is wanted.
    if name == "Holdfast":
        from .app import Holdfast

        return Holdfast
    if name == "ToolHost":
        from .doors.tool_host import ToolHost

        return ToolHost
    raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
