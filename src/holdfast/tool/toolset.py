"""Families of tools, found by looking in a folder: one file per tool, and nothing to register."""

import importlib
import pkgutil
from dataclasses import dataclass

from .dialect import Dialect
from .tool import Declaration, Tool


@dataclass(frozen=True)
class Toolset:
    """A package whose public modules hold one tool each, named like the module."""

    name: str
    package: str
    dialect: Dialect
    modules: frozenset[str]

    def names(self) -> list[str]:
        """The names of its tools, in order."""
        return sorted(f"{self.dialect.prefix}{module}" for module in self.modules)

    def load(self, name: str) -> Tool | None:
        """The tool of that name; only its own file is imported."""
        module = name.removeprefix(self.dialect.prefix)
        if module not in self.modules or not name.startswith(self.dialect.prefix):
            return None
        return Tool(name, self.name, self.dialect, _declaration(f"{self.package}.{module}", module))


def find_toolsets(package: str) -> list[Toolset]:
    """The toolsets that are folders of a package, by name."""
    parent = importlib.import_module(package)
    found = [info.name for info in pkgutil.iter_modules(parent.__path__) if info.ispkg and not info.name.startswith("_")]
    return [load_toolset(f"{package}.{name}") for name in sorted(found)]


def load_toolset(package: str) -> Toolset:
    """The toolset that a package is. It says its dialect as `DIALECT`.

    Raises:
        TypeError: The package does not say its dialect.
    """
    module = importlib.import_module(package)
    dialect: object = getattr(module, "DIALECT", None)
    if not isinstance(dialect, Dialect):
        raise TypeError(f"{package} is not a toolset: its __init__.py must say DIALECT")
    names = frozenset(info.name for info in pkgutil.iter_modules(module.__path__) if not info.name.startswith("_"))
    return Toolset(package.rpartition(".")[2], package, dialect, names)


def _declaration(module: str, name: str) -> Declaration:
    declared: object = getattr(importlib.import_module(module), name, None)
    if not isinstance(declared, Declaration):
        raise TypeError(f"{module} must hold a function {name} that is declared with @tool")
    return declared
