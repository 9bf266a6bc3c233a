"""Times as people and JSON write them."""

from datetime import UTC, datetime
from functools import lru_cache


def moment(microseconds: int) -> datetime:
    """The time that is so many microseconds after 1970."""
    return datetime.fromtimestamp(microseconds / 1_000_000, UTC)


def iso(time: datetime | int) -> str:
    """The time in ISO 8601, in UTC, with a Z; a number is microseconds since 1970."""
    if not isinstance(time, int):
        return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    second, rest = divmod(time // 1000, 1000)
    return _until_second(second) + _THOUSANDTHS[rest]


_THOUSANDTHS = [f".{number:03}Z" for number in range(1000)]


# A listing tells thousands of times, and many of them lie together.
@lru_cache(4096)
def _until_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat()[:19]
