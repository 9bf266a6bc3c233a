"""Times as people and JSON write them."""

from datetime import UTC, datetime


def moment(microseconds: int) -> datetime:
    """The time that is so many microseconds after 1970."""
    return datetime.fromtimestamp(microseconds / 1_000_000, UTC)


def iso(time: datetime | int) -> str:
    """The time in ISO 8601, in UTC, with a Z."""
    when = moment(time) if isinstance(time, int) else time.astimezone(UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
