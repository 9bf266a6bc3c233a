"""What a tool is: `@tool`, the schema from its signature, binding, context, toolsets and the registry."""

from .context import Context
from .dialect import Dialect, Spot, camel_case
from .schema import AtLeast, AtMost, Content, Otherwise, Shape
from .tool import Audience, Category, Danger, Tool, tool

__all__ = [
    "AtLeast",
    "AtMost",
    "Audience",
    "Category",
    "Content",
    "Context",
    "Danger",
    "Dialect",
    "Otherwise",
    "Shape",
    "Spot",
    "Tool",
    "camel_case",
    "tool",
]
