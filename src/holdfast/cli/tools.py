"""holdfast tools: which tools there are."""

import json
from pathlib import Path

from holdfast.app import describe_tools

from .parser import Parser


def main(words: list[str]) -> int:
    """List the tools, of one profile or of all."""
    parser = Parser(prog="holdfast tools", description="List the tools that there are.")
    parser.add_argument("--profile", metavar="NAME", help="only those of this profile (`holdfast profile list`)")
    parser.add_argument("--project", default=".", metavar="DIR", help="the folder whose profiles there are too (default: the current one)")
    parser.add_argument("--json", action="store_true", help="print definitions with their schemas")
    given = parser.parse_args(words)
    tools = describe_tools(given.profile, project=Path(given.project))
    if given.json:
        print(json.dumps(tools, indent=2, ensure_ascii=False))
        return 0
    for tool in tools:
        schema = tool["inputSchema"]
        takes = " ".join(name if name in schema["required"] else f"[{name}]" for name in schema["properties"])
        print(f"{tool['name']:<16} {tool['danger']:<10} {takes}\n    {tool['description'].splitlines()[0]}")
    return 0
