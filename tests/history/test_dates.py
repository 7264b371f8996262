"""Dates in the names of batches."""

from datetime import UTC, date, datetime

import pytest

from quantshift.errors import UserError
from quantshift.history.kept.dates import dated, moment_of


@pytest.mark.parametrize(
    ("name", "series", "when"),
    [
        ("2026-03-02", "*", (2026, 3, 2)),
        ("2026-W10", "*", (2026, 3, 2)),
        ("2026-03", "*", (2026, 3, 1)),
        ("2026", "*", (2026, 1, 1)),
        ("posts-20260302.parquet", "posts-*.parquet", (2026, 3, 2)),
        ("posts-2026-03-02T06.csv", "posts-*.csv", (2026, 3, 2, 6)),
        ("posts_2026-03-02_0630.csv", "posts_*.csv", (2026, 3, 2, 6, 30)),
        ("north 2026-03-02 00:00:00", "north *", (2026, 3, 2)),
        ("2026-03-02 00:00:00+01:00", "*", (2026, 3, 2)),
        ("v12-2026W10.csv", "v12-*.csv", (2026, 3, 2)),
    ],
)
def test_names_with_a_date(name, series, when):
    assert dated(name) == (series, datetime(*when, tzinfo=UTC))


@pytest.mark.parametrize(
    "name", ["north", "week-07.csv", "2026-13-45", "20261301", "1234567890", "part 2026.csv", ""]
)
def test_names_without_one(name):
    assert dated(name) == (name, None)


def test_times_are_of_utc():
    assert moment_of("2026-03-02T06:00+02:00") == datetime(2026, 3, 2, 4, tzinfo=UTC)
    assert moment_of(datetime(2026, 3, 2)) == datetime(2026, 3, 2, tzinfo=UTC)
    assert moment_of(date(2026, 3, 2)) == datetime(2026, 3, 2, tzinfo=UTC)
    # A date and a number were an AttributeError.
    for none in ("yesterday", 5, float("nan"), None):
        with pytest.raises(UserError, match=f"{none!r} is not a time; write 2026-03-02"):
            moment_of(none)
