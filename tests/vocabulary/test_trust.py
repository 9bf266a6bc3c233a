"""Trust: which of two levels asks more."""

from itertools import product

import pytest

from holdfast.vocabulary.trust import Trust

SUPERVISED, GUIDED, AUTONOMOUS = Trust.SUPERVISED, Trust.GUIDED, Trust.AUTONOMOUS


@pytest.mark.parametrize(("one", "other"), list(product(Trust, Trust)))
def test_of_two_levels_the_one_that_asks_more_is_taken(one: Trust, other: Trust) -> None:
    expected = SUPERVISED if SUPERVISED in (one, other) else GUIDED if GUIDED in (one, other) else AUTONOMOUS

    assert one.at_most(other) is expected
    assert other.at_most(one) is expected


def test_the_words_are_those_of_the_document() -> None:
    assert [each.value for each in Trust] == ["supervised", "guided", "autonomous"]
