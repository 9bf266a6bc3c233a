"""How a process that is ours collects its garbage."""

import gc


def collect_less_often() -> None:
    """Leave out of every collection what was there from the start, and collect after more has been made.

    Python counts objects that are made and not those that are thrown
    away, so an answer with thousands of entries sets off collections of
    everything, several times, and finds nothing. A program that only
    uses Holdfast keeps the settings that it has.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
