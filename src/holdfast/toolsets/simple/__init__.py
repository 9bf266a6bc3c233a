"""simple: reading a project, for an assistant that only looks."""

from ._dialect import DIALECT

__all__ = ["DIALECT"]
