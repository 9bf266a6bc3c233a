"""The ladder of docs/architecture.md as data, and what one source file does against it.

Every import counts: at the top, inside a function, under TYPE_CHECKING, relative, or by name through `import_module`.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent
SOURCE = CHECKOUT / "src" / "holdfast"


@dataclass(frozen=True)
class Rung:
    may: tuple[str, ...]  # packages of holdfast, besides itself
    lazily: tuple[str, ...] = ()  # of those, the ones that may be imported only where they are used
    must_not: tuple[str, ...] = ()  # modules from elsewhere
    parts_apart: bool = False  # its own sub-packages do not know one another


_WORLD = ("os", "pathlib", "subprocess", "socket", "httpx", "sqlite3")
_LEAF = ("tool", "workspace", "sandbox", "internet", "vocabulary")

RUNGS = {
    "__main__": Rung(may=("cli",)),
    "__init__": Rung(may=("app", "doors", "vocabulary"), lazily=("app", "doors")),
    "cli": Rung(may=("app", "doors", "config", "accounts", "client", "vocabulary"), lazily=("doors",)),
    "doors": Rung(may=("app", "agent", "dispatch", "accounts", "tool", "vocabulary"), parts_apart=True),
    "app": Rung(may=("agent", "dispatch", "toolsets", "mcp_client", "policy", "providers", "accounts", "store", "config", *_LEAF)),
    "agent": Rung(may=("dispatch", "providers", "store", "vocabulary")),
    "dispatch": Rung(may=("tool", "policy", "store", "vocabulary")),
    "toolsets": Rung(may=_LEAF, must_not=_WORLD, parts_apart=True),
    "mcp_client": Rung(may=_LEAF, must_not=_WORLD),
    "tool": Rung(may=("workspace", "sandbox", "internet", "vocabulary")),
    "workspace": Rung(may=("store", "vocabulary")),
    "accounts": Rung(may=("store", "vocabulary")),
    "sandbox": Rung(may=("vocabulary",)),
    "internet": Rung(may=("vocabulary",)),
    "policy": Rung(may=("vocabulary",), must_not=("os", "time", "subprocess", "socket", "httpx", "sqlite3", "asyncio")),
    "providers": Rung(may=("vocabulary",)),
    "store": Rung(may=("vocabulary",)),
    "config": Rung(may=("vocabulary",)),
    "vocabulary": Rung(may=()),
    "client": Rung(may=("vocabulary",)),
}

# The agent speaks to a provider through the protocol, and knows none of them by name.
ONLY_MODULES = {("agent", "providers"): ("holdfast.providers", "holdfast.providers.protocol")}

# Imported by the name of what they come with.
COMES_WITH = {"starlette": "fastapi", "uvloop": "uvicorn"}


@dataclass(frozen=True)
class Import:
    module: str  # absolute: "holdfast.tool.bind", "os.path"
    lazy: bool  # inside a function, or for the type checker alone


def offences(path: Path, text: str) -> Iterator[str]:
    """One sentence for each import in the file at `path` (counted from src/holdfast) that the ladder does not allow."""
    rung_name = path.parts[0].removesuffix(".py")
    rung = RUNGS.get(rung_name)
    if rung is None:
        yield f"{path} is in {rung_name}, which is no rung of the ladder; add it to tests/ladder.py and docs/architecture.md first."
        return
    for found in imports(path, text):
        top, *rest = found.module.split(".")
        said = f"{path} imports {found.module}"
        if top != "holdfast":
            yield from _offences_outward(said, found.module, rung_name, rung)
        elif rest and not (rest[0].startswith("__") and rest[0].endswith("__")):
            yield from _offences_inward(said, found, path, rung_name, rung)


def _offences_outward(said: str, module: str, rung_name: str, rung: Rung) -> Iterator[str]:
    top = module.partition(".")[0]
    if any(module == banned or module.startswith(f"{banned}.") for banned in rung.must_not):
        yield f"{said}; {rung_name} must not import {', '.join(rung.must_not)} (docs/architecture.md, The ladder)"
    elif top not in sys.stdlib_module_names and not _distributions_of(top) & _declared():
        yield f"{said}; {top} is neither in the standard library nor a declared dependency (pyproject.toml)"


def _offences_inward(said: str, found: Import, path: Path, rung_name: str, rung: Rung) -> Iterator[str]:
    _, target, *parts = found.module.split(".")
    if target not in RUNGS:
        yield f"{said}; {target} is no rung of the ladder (docs/architecture.md, The ladder)"
    elif target == rung_name:
        own = path.parts[-1] if len(path.parts) == 1 else path.parts[1].removesuffix(".py")
        if rung.parts_apart and parts and own not in ("__init__", parts[0]):
            yield f"{said}; the parts of {target} must not import one another (docs/architecture.md, The ladder)"
    elif target not in rung.may:
        yield f"{said}; {rung_name} may import only {', '.join(rung.may) or 'nothing of holdfast'} (docs/architecture.md, The ladder)"
    elif target in rung.lazily and not found.lazy:
        yield f"{said} at its top; {rung_name} imports {target} only where it is used, so that a start costs little"
    elif (only := ONLY_MODULES.get((rung_name, target))) and not _is_of(only, found.module):
        yield f"{said}; {rung_name} may import only {', '.join(only)} of {target} (docs/architecture.md, The ladder)"


def _is_of(modules: tuple[str, ...], module: str) -> bool:
    """A capital at the front of the last part is a class of the module before it."""
    before, _, last = module.rpartition(".")
    return module in modules or (last[:1].isupper() and before in modules)


def imports(path: Path, text: str) -> Iterator[Import]:
    yield from _imports_below(ast.parse(text), path, lazy=False)


def _imports_below(node: ast.AST, path: Path, *, lazy: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        inside = lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or _is_for_types_alone(child)
        match child:
            case ast.Import(names):
                yield from (Import(alias.name, lazy) for alias in names)
            case ast.ImportFrom():
                yield from (Import(module, lazy) for module in _modules_of(child, path))
            case ast.Call(
                func=ast.Name("import_module" | "__import__") | ast.Attribute(attr="import_module"), args=[ast.Constant(str(name)), *_]
            ):
                yield Import(name, lazy)
            case _:
                pass
        yield from _imports_below(child, path, lazy=inside)


def _is_for_types_alone(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _modules_of(node: ast.ImportFrom, path: Path) -> list[str]:
    """`from holdfast import tool` and `from .. import tool` name a package in their last part; others name it before."""
    package = ("holdfast", *path.parent.parts)
    above = package[: len(package) - node.level + 1] if node.level else ()
    module = ".".join([*above, *(node.module.split(".") if node.module else [])])
    names_packages = node.module is None or module in ("holdfast", "holdfast.toolsets", "holdfast.doors", "holdfast.providers")
    return [f"{module}.{alias.name}" for alias in node.names] if names_packages else [module]


@cache
def _declared() -> frozenset[str]:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(one for extra in project.get("optional-dependencies", {}).values() for one in extra)]
    return frozenset(_plain(requirement) for requirement in wanted)


def _distributions_of(top: str) -> frozenset[str]:
    return frozenset({_plain(name) for name in _installed().get(top, ())} | {COMES_WITH.get(top, top)})


@cache
def _installed() -> dict[str, list[str]]:
    return dict(packages_distributions())


def _plain(requirement: str) -> str:
    name = requirement
    for sign in "[<>=~!; ":
        name = name.partition(sign)[0]
    return name.lower().replace("_", "-").replace(".", "-")
