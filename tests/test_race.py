"""A short run of the long race of scripts/race.py, which is run whole before a release."""

import pytest

from scripts.race import main, run
from tests.promises import carries


@carries("PATH-5")
def test_in_a_short_race_nothing_escapes_while_every_kind_of_try_meets_files_and_links() -> None:
    tallies = run(6_000)

    assert {kind: (tally.escapes, tally.faults) for kind, tally in tallies.items()} == {kind: (0, []) for kind in tallies}
    assert sum(tally.tries for tally in tallies.values()) == 6_000
    assert all(tally.done and tally.refused["outside"] for kind, tally in tallies.items() if kind != "ripgrep")


def test_a_program_that_looks_before_it_opens_is_caught_by_the_same_race() -> None:
    escapes = 0
    for _ in range(60):
        escapes += run(1_000, careless=True)["read"].escapes
        if escapes:
            break

    assert escapes > 0


def test_the_script_tells_what_came_of_it_and_leaves_with_0_when_nothing_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tries", "1000", "--processes", "1"]) == 0

    assert "1,000 tries, 0 escapes, 0 faults" in capsys.readouterr().out
