"""make new-tool TOOLSET=… NAME=…: one file with a tool that already works, and one with its test."""

import keyword
import re
import sys
from pathlib import Path

TOOL = '''"""{name}: say in one line what it gives."""

from holdfast.tool import Context, tool
from holdfast.workspace.place import Readable


@tool
async def {function}(ctx: Context, path: Readable) -> {returns}:
    """Say here what the model should know; this one tells how many bytes a file has.

    Args:
        path: The file to look at.
    """
    part = await ctx.files.read(path, max_bytes=0)
    return {result}
'''

TEST = '''"""{name}"""

from tests.desk import Desk


async def test_it_tells_how_many_bytes_a_file_has(desk: Desk) -> None:
    desk.write("notes.md", "hello")

    said = await desk.call("{name}", path="{path}")

    assert "5" in str(said)
'''

RESULTS = {
    "fs": ("dict[str, Json]", '{"path": path.alias, "bytes": part.size}', "@project/notes.md"),
    "workspace": ("dict[str, Json]", '{"path": path.written, "bytes": part.size}', "/notes.md"),
}
TEXT = ("str", 'f"{part.size} bytes"', "notes.md")


def main(words: list[str]) -> int:
    """Write the two files, and say what to do next."""
    root = Path(__file__).resolve().parent.parent
    toolsets = root / "src" / "holdfast" / "toolsets"
    known = sorted(folder.name for folder in toolsets.iterdir() if (folder / "__init__.py").exists())
    toolset, name = [*words, "", ""][:2]
    if toolset not in known or not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        print(
            f"usage: make new-tool TOOLSET=… NAME=…   (toolsets: {', '.join(known)}; a name is lower case, digits and _)", file=sys.stderr
        )
        return 64
    full_name = f"fs.{name}" if toolset == "fs" else name
    returns, result, path = RESULTS.get(toolset, TEXT)
    tool = TOOL.format(name=full_name, function=name, returns=returns, result=result)
    if "Json" in returns:
        tool = tool.replace("from holdfast.workspace", "from holdfast.vocabulary.json import Json\nfrom holdfast.workspace")
    files = {
        toolsets / toolset / f"{name}.py": tool,
        root / "tests" / "toolsets" / toolset / f"test_{name}.py": TEST.format(name=full_name, path=path),
    }
    # A tool's name is its own in all toolsets; only those of fs have a prefix to tell them apart.
    others = [toolset] if toolset == "fs" else [other for other in known if other != "fs"]
    for file in (*files, *(toolsets / other / f"{name}.py" for other in others)):
        if file.exists():
            print(f"{file.relative_to(root)} exists already; choose another name", file=sys.stderr)
            return 1
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        print(f"wrote {file.relative_to(root)}")
    print(f"try it: .venv/bin/holdfast call {full_name} path={path.replace('notes.md', 'README.md')}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
