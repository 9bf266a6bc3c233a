"""core: files, commands and web search for an agent in a project."""

from ._dialect import DIALECT

__all__ = ["DIALECT"]
