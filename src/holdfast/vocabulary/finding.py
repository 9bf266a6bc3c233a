"""What a look at the machine found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that Holdfast uses: whether it is there, and what to do when it is not."""

    name: str
    is_there: bool
    detail: str
    fix: str = ""
    is_needed: bool = True
