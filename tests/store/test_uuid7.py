"""Ids sort by the time they were made."""

import threading
import time
import uuid

from holdfast.store.uuid7 import uuid7


def test_an_id_is_a_uuid_of_version_7_with_the_time_in_it() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(uuid7())
    after = time.time_ns() // 1_000_000

    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert before <= made.int >> 80 <= after


def test_later_ids_are_greater_however_fast_they_are_made() -> None:
    made = [uuid7() for _ in range(20_000)]

    assert made == sorted(set(made))


def test_threads_never_make_the_same_id() -> None:
    made: list[list[str]] = []
    threads = [threading.Thread(target=lambda: made.append([uuid7() for _ in range(5_000)])) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({name for names in made for name in names}) == 20_000
