"""Profiles by their names."""

from holdfast.vocabulary.errors import InvalidArguments
from holdfast.vocabulary.profile import SHIPPED, Profile

EVERYTHING = Profile("everything", ())
SAFE_ONLY = Profile("safe-only", (), dangerous=False)


def named_profile(profile: str | Profile | None) -> Profile:
    """The profile of that name; None is every tool of every toolset.

    Raises:
        InvalidArguments: There is none.
    """
    if profile is None or profile == EVERYTHING.name:
        return EVERYTHING
    if profile == SAFE_ONLY.name:
        return SAFE_ONLY
    if isinstance(profile, Profile):
        return profile
    if profile not in SHIPPED:
        raise InvalidArguments.of("profile", f"there is none called '{profile}'", hint=f"The profiles are: {', '.join(SHIPPED)}.")
    return SHIPPED[profile]
