"""Bringing two changes of one text together: nothing is lost, and what cannot be told is not guessed."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.workspace.merge import merge3

_lines = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n", b"\n"]), max_size=12)


def _split(text: str) -> list[bytes]:
    return [f"{line}\n".encode() for line in text.split()]


def test_changes_of_different_lines_are_both_done() -> None:
    merged = merge3(_split("1 2 3 4 5"), _split("1 2 3 4 five"), _split("1 two 3 4 5"))

    assert merged.lines == tuple(_split("1 two 3 4 five"))
    assert merged.from_theirs == (1,)


def test_changes_of_the_same_line_clash_and_show_both_sides() -> None:
    merged = merge3(_split("1 2 3"), _split("1 zwei 3"), _split("0 1 deux 3"))

    assert merged.lines == ()
    [clash] = merged.clashes
    assert (clash.line, clash.base, clash.ours, clash.theirs) == (2, (b"2\n",), (b"zwei\n",), (b"deux\n",))


def test_the_same_change_on_both_sides_is_done_once() -> None:
    merged = merge3(_split("1 2 3"), _split("1 two 3"), _split("1 two 3"))

    assert merged.lines == tuple(_split("1 two 3"))
    assert merged.from_theirs == ()


def test_neighbouring_lines_clash() -> None:
    assert merge3(_split("1 2 3"), _split("1 two 3"), _split("1 2 three")).clashes


def test_lines_put_in_at_the_same_point_clash() -> None:
    assert merge3(_split("1 2"), _split("1 a 2"), _split("1 b 2")).clashes


def test_a_line_removed_there_and_one_added_here_are_both_done() -> None:
    merged = merge3(_split("1 2 3 4 5 6"), _split("1 2 3 4 5 6 7"), _split("1 3 4 5 6"))

    assert merged.lines == tuple(_split("1 3 4 5 6 7"))


@given(_lines, _lines)
def test_a_side_that_did_nothing_changes_nothing(base: list[bytes], other: list[bytes]) -> None:
    assert merge3(base, other, base).lines == tuple(other)
    theirs = merge3(base, base, other)
    assert theirs.lines == tuple(other)
    assert all(theirs.lines[at] == other[at] for at in theirs.from_theirs)
    assert merge3(base, other, other).lines == tuple(other)


@given(_lines, _lines, _lines)
def test_it_does_not_matter_which_side_is_ours(base: list[bytes], one: list[bytes], other: list[bytes]) -> None:
    here, there = merge3(base, one, other), merge3(base, other, one)

    assert here.lines == there.lines
    assert [(clash.ours, clash.theirs) for clash in here.clashes] == [(clash.theirs, clash.ours) for clash in there.clashes]


@given(st.data())
def test_changes_with_a_line_between_them_are_both_done(data: st.DataObject) -> None:
    base = [b"%d\n" % number for number in range(data.draw(st.integers(5, 30)))]
    first = data.draw(st.integers(0, len(base) - 3))
    second = data.draw(st.integers(first + 2, len(base) - 1))
    ours_new, theirs_new = data.draw(st.lists(st.just(b"ours\n"), max_size=3)), data.draw(st.lists(st.just(b"theirs\n"), max_size=3))
    ours = base[:first] + ours_new + base[first + 1 :]
    theirs = base[:second] + theirs_new + base[second + 1 :]

    merged = merge3(base, ours, theirs)

    assert merged.lines == tuple(base[:first] + ours_new + base[first + 1 : second] + theirs_new + base[second + 1 :])
    assert [merged.lines[at] for at in merged.from_theirs] == theirs_new


def test_a_huge_text_of_equal_lines_is_merged_in_no_time() -> None:
    base = [b"same\n"] * 100_000

    merged = merge3(base, [b"ours\n", *base], [*base, b"theirs\n"])

    assert merged.lines == (b"ours\n", *base, b"theirs\n")
