"""The profiles that are shipped."""

import pytest

from holdfast.vocabulary.profile import SHIPPED
from tests.promises import carries


@carries("SCOPE-5")
@pytest.mark.parametrize(
    ("name", "toolsets"),
    [("coder", {"workspace", "core"}), ("core", {"core"}), ("fs", {"fs"}), ("simple", {"simple"}), ("planner", {"workspace"})],
)
def test_a_shipped_profile_permits_the_whole_of_its_toolsets(name: str, toolsets: set[str]) -> None:
    profile = SHIPPED[name]

    assert profile.name == name
    assert toolsets <= set(profile.toolsets)
    assert profile.scope is None
