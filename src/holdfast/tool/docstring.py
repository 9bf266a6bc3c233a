"""What a tool's docstring says to the model: the description, and a line for each argument."""

import inspect
import re

_ARGUMENT = re.compile(r"^    (\w+):(.*)$")


def parse_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The description without its `Args:` part, and the descriptions of the arguments."""
    description, _, arguments = inspect.cleandoc(text).partition("\nArgs:\n")
    described: dict[str, str] = {}
    last = ""
    for line in arguments.splitlines():
        if found := _ARGUMENT.match(line):
            last = found[1]
            described[last] = found[2].strip()
        elif last and line.startswith("     "):
            described[last] += f" {line.strip()}"
        elif line.strip():
            break
    return " ".join(description.split()) if "\n\n" not in description else _paragraphs(description), described


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))
