"""Diffs that take no longer than somebody wants to wait."""

from holdfast.vocabulary.difference import MAX_DIFF_BYTES, MAX_DIFF_LINES, quick_difference


def test_a_diff_that_would_take_too_long_is_not_made() -> None:
    one = b"".join(b"%d\n" % number for number in range(MAX_DIFF_LINES + 1))
    other = b"".join(b"-%d\n" % number for number in range(MAX_DIFF_LINES + 1))

    assert quick_difference(one, other, "a") is None
    small_change = quick_difference(one, b"new\n" + one, "a")
    assert small_change is not None
    assert (small_change.added, small_change.removed) == (1, 0)


def test_what_is_not_text_or_is_large_has_no_diff() -> None:
    assert quick_difference(b"a\0b", b"text", "a") is None
    assert quick_difference(b"", b"x" * (MAX_DIFF_BYTES + 1), "a") is None
