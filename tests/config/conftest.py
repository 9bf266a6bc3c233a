"""What a profile can name, and a way to read one."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from holdfast.app.profiles import known_tools
from holdfast.config.profile_file import KnownTools, read_profile
from holdfast.vocabulary.errors import InvalidSetting
from holdfast.vocabulary.profile import Origin, Profile

Read: TypeAlias = Callable[..., Profile]
Mistakes: TypeAlias = Callable[..., list[str]]


@pytest.fixture(scope="session")
def known() -> KnownTools:
    """The toolsets and tools that there are."""
    return known_tools()


@pytest.fixture(scope="session")
def read(known: KnownTools) -> Read:
    """Reads a profile as the person's own, unless told otherwise."""

    def reading(text: str, origin: Origin = Origin.PERSON) -> Profile:
        return read_profile(text, name="mine", origin=origin, file="mine.yaml", known=known)

    return reading


@pytest.fixture(scope="session")
def mistakes(read: Read) -> Mistakes:
    """The mistakes that are found in a profile, each with its line."""

    def looking(text: str, origin: Origin = Origin.PERSON) -> list[str]:
        with pytest.raises(InvalidSetting) as caught:
            read(text, origin)
        found = caught.value.facts["mistakes"]
        assert isinstance(found, list)
        return [str(each) for each in found]

    return looking
