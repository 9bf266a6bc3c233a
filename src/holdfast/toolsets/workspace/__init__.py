"""workspace: the files of a workspace with their versions, plans, and questions to the person."""

from ._dialect import DIALECT

__all__ = ["DIALECT"]
