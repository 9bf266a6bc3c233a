"""person: what somebody does with the memory of a workspace's files; never shown to a model."""

from ._dialect import DIALECT

__all__ = ["DIALECT"]
