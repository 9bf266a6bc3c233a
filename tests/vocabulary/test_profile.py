"""The profiles that are shipped."""

import pytest

from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.profile import SHIPPED, Origin
from holdfast.vocabulary.trust import When
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


@carries("PROFILE-3")
def test_coder_asks_about_effects_the_others_before_and_planner_plans() -> None:
    assert {name: profile.ask for name, profile in SHIPPED.items()} == {
        "coder": When.EFFECTS,
        "core": When.BEFORE,
        "fs": When.BEFORE,
        "simple": When.BEFORE,
        "planner": When.BEFORE,
    }
    assert [name for name, profile in SHIPPED.items() if profile.mode is Mode.PLAN] == ["planner"]


def test_the_shipped_profiles_are_known_as_such_and_leave_model_and_trust_to_the_person() -> None:
    for profile in SHIPPED.values():
        assert (profile.origin, profile.model, profile.trust) == (Origin.SHIPPED, None, None)
        assert profile.description
