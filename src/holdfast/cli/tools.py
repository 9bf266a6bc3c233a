"""holdfast tools: which tools there are."""

import json

from holdfast.app import list_tools
from holdfast.tool.definition import neutral

from .parser import Parser


def main(words: list[str]) -> int:
    """List the tools, of one profile or of all."""
    parser = Parser(prog="holdfast tools", description="List the tools that there are.")
    parser.add_argument("--profile", metavar="NAME", help="only those of this profile: coder, core, fs, simple, planner")
    parser.add_argument("--json", action="store_true", help="print definitions with their schemas")
    given = parser.parse_args(words)
    tools = list_tools(given.profile)
    if given.json:
        listed = [
            {**neutral(tool), "toolset": tool.toolset, "category": tool.category.value, "danger": tool.danger.value} for tool in tools
        ]
        print(json.dumps(listed, indent=2, ensure_ascii=False))
        return 0
    for tool in tools:
        takes = " ".join(each.wire_name if each.required else f"[{each.wire_name}]" for each in tool.parameters)
        print(f"{tool.name:<16} {tool.danger.value:<10} {takes}\n    {tool.description.splitlines()[0]}")
    return 0
