"""Dates are read in the format that all cells of a column have."""

import datetime

import pytest

from quantshift.tables.columns.written_dates import DAY_FIRST, ISO, MONTH_FIRST, dates_in


@pytest.mark.parametrize(
    ("text", "format_", "expected"),
    [
        ("1/02/2026", DAY_FIRST, (2026, 2, 1)),
        (" 1/02/2026 ", MONTH_FIRST, (2026, 1, 2)),
        ("29/02/2024", DAY_FIRST, (2024, 2, 29)),
        ("29/02/2023", DAY_FIRST, None),
        ("13/01/2026", MONTH_FIRST, None),
        ("01/02/99", DAY_FIRST, None),
        ("00/02/2026", DAY_FIRST, None),
        ("31.01.2026", "%d.%m.%Y", (2026, 1, 31)),
        ("2026/1/31", "%Y/%m/%d", (2026, 1, 31)),
        ("2026-01-31 10:00", ISO, (2026, 1, 31)),
        ("31/01/2026", ISO, None),
    ],
)
def test_a_date_in_a_format(text, format_, expected):
    date = None if expected is None else datetime.date(*expected)
    assert dates_in([text, None, text], format_) == {text: date}


def test_dates_with_a_type_have_no_format():
    date, moment = datetime.date(2026, 1, 31), datetime.datetime(2026, 1, 31, 5)
    assert dates_in([date, moment], DAY_FIRST) == {date: date, moment: date}
