"""Times and sizes as people write them: 120s, 1m30s, 50KB."""

import re

_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h)", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
_SIZE = re.compile(r"(\d{1,15})\s?(B|KB|MB|GB|KiB|MiB|GiB)?", re.ASCII)
_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def parse_seconds(text: str) -> float | None:
    """How long that is, or None when it is no time; there is always a unit.

    >>> [parse_seconds(text) for text in ("120s", "1m30s", "0.5h", "250ms", "120", "soon")]
    [120.0, 90.0, 1800.0, 0.25, None, None]
    """
    pieces = _TIME.findall(text)
    if not pieces or "".join(map("".join, pieces)) != text:
        return None
    return sum(float(number) / 1000 if unit == "ms" else float(number) * _SECONDS[unit] for number, unit in pieces)


def say_seconds(seconds: float) -> str:
    """The time as `parse_seconds` takes it.

    >>> [say_seconds(seconds) for seconds in (120, 90, 1800, 0.25, 3600)]
    ['2m', '90s', '30m', '250ms', '1h']
    """
    for unit in ("h", "m", "s"):
        if seconds % _SECONDS[unit] == 0:
            return f"{int(seconds // _SECONDS[unit])}{unit}"
    thousandths = round(seconds * 1000)
    return f"{thousandths}ms" if thousandths / 1000 == seconds else f"{seconds:.9f}".rstrip("0") + "s"


def parse_bytes(text: str) -> int | None:
    """How much that is, or None when it is no size. KB is 1,000 bytes, KiB is 1,024; without a unit it is bytes.

    >>> [parse_bytes(text) for text in ("50KB", "1MiB", "50000", "50 MB", "50K", "-1")]
    [50000, 1048576, 50000, 50000000, None, None]
    """
    found = _SIZE.fullmatch(text)
    return int(found[1]) * _BYTES[found[2] or "B"] if found is not None else None


def say_bytes(size: int) -> str:
    """The size as `parse_bytes` takes it.

    >>> [say_bytes(size) for size in (50_000, 1_048_576, 50_001, 2_000_000)]
    ['50KB', '1MiB', '50001B', '2MB']
    """
    for unit in ("GB", "GiB", "MB", "MiB", "KB", "KiB"):
        if size and size % _BYTES[unit] == 0:
            return f"{size // _BYTES[unit]}{unit}"
    return f"{size}B"
