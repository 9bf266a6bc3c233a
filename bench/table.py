"""The rows as one Markdown table, or as JSON."""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from os import cpu_count

from .row import Row

_HEAD = ("what", "ours", "floor", "peers", "ratio", "goal", "met")


def table(rows: Sequence[Row]) -> str:
    """All rows, the columns beneath each other."""
    lines = [_HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    shown = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines]
    return "\n".join([shown[0], "| " + " | ".join("-" * width for width in widths) + " |", *shown[1:]])


def as_json(rows: Sequence[Row], *, quick: bool) -> str:
    """All rows with their figures, and the machine."""
    listed = [{**asdict(row), "ratio": row.ratio, "met": row.met} for row in rows]
    return json.dumps(
        {"at": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine(), "quick": quick, "rows": listed}, indent=2
    )


def machine() -> str:
    """What kind of machine this is, in a few words."""
    return f"{cpu_count()} cores {platform.machine()}, Python {platform.python_version()}, Linux {platform.release().partition('-')[0]}"


def spelled(amount: float, unit: str = "s") -> str:
    """A time with three digits and its unit, or kilobytes."""
    return f"{amount / 1024:.3g} KB" if unit == "B" else _time(amount)


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def _cells(row: Row) -> tuple[str, ...]:
    ours = spelled(row.ours, row.unit) + (f" ({_listed(row.parts, unit=row.unit)})" if row.parts else "")
    floor = f"{row.floor_name} {spelled(row.floor, row.unit)}" if row.floor else f"{row.floor_name}: none"
    peers = "; ".join(text for text in (_listed(row.peers, row.floor, unit=row.unit), row.note) if text)
    ratio = "" if row.ratio is None else _ratio(row.ratio)
    goal = "" if row.goal is None else f"≤ {row.goal:g}"
    return row.what, ours, floor, peers, ratio, goal, {None: "", True: "yes", False: "NO"}[row.met]


def _listed(figures: Mapping[str, float], floor: float | None = None, *, unit: str) -> str:
    times = {name: f" ({_ratio(amount / floor)})" if floor else "" for name, amount in figures.items()}
    return ", ".join(f"{name} {spelled(amount, unit)}{times[name]}" for name, amount in figures.items())


def _ratio(ratio: float) -> str:
    # Enough digits to see on which side of its goal a figure is.
    return f"{ratio:.2g}" if ratio < 0.1 else f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"
