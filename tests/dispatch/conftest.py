"""A road for tests."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.dispatch.way import Way, opened_way


@pytest.fixture
def way(tmp_path: Path) -> Generator[Way]:
    with opened_way(tmp_path) as way:
        yield way
