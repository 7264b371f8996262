"""What several batches of one call are to each other."""

from types import SimpleNamespace

import pytest

from quantshift.answers.batch_names import batches_in_order, in_sequence, newest_batch


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["2026-03-02", "2026-03-03"], True),
        (["2026-W09", "2026-W10"], True),
        (["9", "10"], True),
        (["week-9.csv", "week-10.csv"], True),
        (["only.csv"], True),
        (["north", "south"], False),
        (["a.csv", "b.csv"], False),
        (["a.csv: 2026-01", "b.csv: 2026-01"], False),
        (["28-01-2026.csv", "01-02-2026.csv"], True),
        (["01-02-2026.csv", "28-01-2026.csv"], False),
        (["01.02.26", "28.01.26"], False),
        (["28/01/2026 06:00", "01/02/2026 06:00"], True),
        (["1.2.0", "1.10.3"], True),
    ],
)
def test_batches_follow_one_another_if_only_numbers_differ(names, expected):
    assert in_sequence(names) == expected


def test_names_of_batches_are_ordered_by_their_numbers():
    names = ["(missing)", "week-10", "week-9", "nan", "10", "9.5", "-1", "2026-03-02", "1" * 5000]
    assert batches_in_order(names) == [
        *("-1", "9.5", "10", "2026-03-02", "1" * 5000, "nan", "week-9", "week-10", "(missing)"),
    ]


def test_names_that_are_dates_are_in_the_order_of_time():
    """Groups of `judge` and batches of sketches used to be in alphabetical order."""
    names = ["01/02/2026", "(missing)", "28/01/2026", "02/02/2026"]
    assert batches_in_order(names) == ["28/01/2026", "01/02/2026", "02/02/2026", "(missing)"]


def test_the_newest_batch_is_the_last_one_with_a_name():
    first, second, nameless = (SimpleNamespace(name=name) for name in ("1", "2", "(missing)"))
    assert newest_batch([first, second, nameless]) is second
    assert newest_batch([nameless]) is nameless
