"""What a plan's file says: a title, a status and a date in its front matter, and the plan itself below that."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

from holdfast.vocabulary.errors import InvalidFrontMatter
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.moments import iso

from .front_matter import parse, split
from .yaml_text import as_entry

EXTENSION: Final = ".plan"


@dataclass(frozen=True)
class PlanMetadata:
    """What the front matter says; None is what it does not say."""

    title: str | None
    status: str | None
    created_at: str | None

    def as_json(self) -> dict[str, Json]:
        """The same, as callers see it."""
        return {"title": self.title, "status": self.status, "created_at": self.created_at}


def metadata_of(data: bytes) -> PlanMetadata | None:
    """What a plan says of itself; None for one without front matter that can be read, as older ones are."""
    try:
        said = parse(data)
    except InvalidFrontMatter:
        return None
    return PlanMetadata(*(_as_text(said.get(key)) for key in ("title", "status", "created_at")))


def body_begins(data: bytes) -> int:
    """Where the plan begins below its front matter, which is at once when it has none."""
    if metadata_of(data) is None:
        return 0
    rest = split(data).rest
    return len(data) - len(rest) + (rest.find(b"\n") + 1 or len(rest))


def compose(metadata: PlanMetadata, body: str) -> str:
    """The whole file of a plan."""
    front = [line for key, value in metadata.as_json().items() for line in as_entry(key, value, indent=0)]
    return "\n".join(["---", *front, "---", body])


def _as_text(value: object) -> str | None:
    """A value of the front matter as a string; YAML takes an unquoted date for one."""
    if isinstance(value, datetime):
        return iso(value if value.tzinfo else value.replace(tzinfo=UTC))
    if isinstance(value, date):
        return value.isoformat()
    return None if value is None else str(value)
