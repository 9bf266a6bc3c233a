"""What a machine lacks, and what a person can do about it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Lack:
    """What is not there or refused, and the command or setting that helps."""

    what: str
    fix: str
