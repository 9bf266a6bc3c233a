"""What a session is about: planning, where only plans change, or building."""

from enum import Enum


class Mode(Enum):
    """`plan` or `build`."""

    PLAN = "plan"
    BUILD = "build"
