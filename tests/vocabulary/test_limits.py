"""Every limit has the value that the documents promise."""

from dataclasses import FrozenInstanceError

import pytest

from holdfast.vocabulary.limits import KIB, MIB, CoreLimits, FsLimits, Limits, SimpleLimits
from tests.promises import carries


@carries("CORE-READ-3", "SIMPLE-6", "FS-READ-7", "FS-WRITE-2", "FS-LIST-4", "ROAD-3", "AUDIT-3")
def test_without_being_told_otherwise_the_limits_are_those_of_the_documents() -> None:
    limits = Limits()

    assert (KIB, MIB) == (1024, 1_048_576)
    assert limits.core == CoreLimits(max_read_bytes=1_048_576)
    assert limits.simple == SimpleLimits(max_read_bytes=1_048_576)
    assert limits.fs == FsLimits(max_read_bytes=50_000, max_write_bytes=100_000, max_entries=200)
    assert limits.tool_seconds == 60
    assert limits.audit_preview_bytes == 1024


def test_limits_do_not_change_once_they_are_set() -> None:
    with pytest.raises(FrozenInstanceError):
        Limits().tool_seconds = 1  # pyright: ignore[reportAttributeAccessIssue] - that is what is tried
