"""Scripted: a model that says what a YAML file tells it to, for demos and tests. It needs no network and no key."""

from .client import Scripted
from .script import Script, parse

__all__ = ["Script", "Scripted", "parse"]
