"""How a tool is described to a model, in the forms that providers take."""

from holdfast.vocabulary.json import Json
from holdfast.vocabulary.wire_names import WireNames

from .tool import Tool

__all__ = ["WireNames", "anthropic", "neutral", "openai"]


def neutral(tool: Tool) -> dict[str, Json]:
    """Name, description and schema, under the names of our own documents."""
    return {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}


def openai(tool: Tool, wire_name: str | None = None) -> dict[str, Json]:
    """The form of OpenAI's function calling."""
    function: dict[str, Json] = {"name": wire_name or tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def anthropic(tool: Tool, wire_name: str | None = None) -> dict[str, Json]:
    """The form of Anthropic's messages."""
    return {"name": wire_name or tool.name, "description": tool.description, "input_schema": tool.schema}
