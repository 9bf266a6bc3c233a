"""fs: files of named mounts, for the agents of a workflow."""

from ._dialect import DIALECT

__all__ = ["DIALECT"]
