"""How `workspace` speaks: as everything does that counts its paths from the workspace's root."""

from holdfast.tool.rooted import DIALECT

__all__ = ["DIALECT"]
