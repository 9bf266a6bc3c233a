"""How `person` speaks: as `workspace` does."""

from holdfast.tool.rooted import DIALECT

__all__ = ["DIALECT"]
