"""Batches by day, week or month, however the dates are written."""

import datetime

import polars as pl
import pytest

from quantshift.errors import DataError
from quantshift.quantifying import quantify
from quantshift.tables.periods import Periods
from quantshift.tables.reading import open_table


def periods(cells, every="month", path=None):
    """The periods of all cells; of a file, in which cells are strings, if there is a path."""
    frame = pl.DataFrame({"day": cells, "other": ["x"] * len(cells)}, strict=False)
    if path is not None:
        frame.write_csv(path)
    table = open_table(frame if path is None else path)
    found = Periods(table, "day", every)
    return [
        period
        for chunk in table.chunks(["day"])
        for period in found.of(chunk.columns["day"], chunk.first)
    ]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["2026-03-02", None, "2026-04-30"], ["2026-03", None, "2026-04"]),
        (["2026-03-02T10:00", "20260430"], ["2026-03", "2026-04"]),
        (["03/04/2026", "30/04/2026"], ["2026-04", "2026-04"]),
        (["03/04/2026", "04/30/2026"], ["2026-03", "2026-04"]),
        (["05/05/2026", "06/06/2026"], ["2026-05", "2026-06"]),
        (["3.4.2026", "30.04.2026"], ["2026-04", "2026-04"]),
        (["2026/03/02", "2026/04/30"], ["2026-03", "2026-04"]),
        ([datetime.date(2026, 3, 2), None], ["2026-03", None]),
    ],
)
def test_formats_are_found_in_the_whole_column(cells, found):
    """Dates of other formats than ISO used to be refused, though they were read as features."""
    assert periods(cells) == found


def test_a_late_row_decides_for_the_first(tmp_path):
    cells = ["03/04/2026"] * 5000 + ["30/04/2026"]
    assert set(periods(cells, "day", tmp_path / "t.csv")) == {"2026-04-03", "2026-04-30"}


def test_dates_that_may_be_two_things_are_refused_with_the_first_such_row():
    line = r"row 2, column 'day': '03/04/2026' may be DD/MM/YYYY or MM/DD/YYYY, and no row decides"
    with pytest.raises(DataError, match=line):
        periods(["05/05/2026", "03/04/2026", "01/02/2026"])


@pytest.mark.parametrize(
    ("cells", "row", "cell"),
    [
        (["2026-03-02", "soon", "later", "soon"], 2, "soon"),
        (["30/04/2026"] * 3 + ["2026-04-01", "04/30/2026"], 4, "2026-04-01"),
        (["2026-03-02"] * 3 + ["30/04/2026"] * 2, 4, "30/04/2026"),
        (["30/04/26", "29/04/26"], 1, "30/04/26"),
        (["2026-03-02"] * 5000 + ["x", "y"], 5001, "x"),
    ],
)
def test_the_first_cell_that_is_no_date_is_named(cells, row, cell):
    """The row used to be that of any of them."""
    with pytest.raises(DataError, match=rf"row {row}, column 'day': '{cell}' is not a date; write"):
        periods(cells)


def test_batches_of_such_dates():
    table = pl.DataFrame({"p": [0.2, 0.4, 0.6], "day": ["28/02/2026", "01/03/2026", "02/03/2026"]})
    found = quantify(table, posteriors=["p"], by="day", every="month", replicates=100)
    assert [(batch.name, batch.n_items) for batch in found.batches] == [
        ("2026-02", 1),
        ("2026-03", 2),
    ]


@pytest.mark.parametrize(
    "days",
    [
        ["28/01/2026", "29/01/2026", "01/02/2026", "02/02/2026"],
        ["1/28/2026", "1/29/2026", "2/1/2026", "02/02/2026"],
        ["28.01.2026", "29.01.2026", "01.02.2026", "02.02.2026"],
        ["2026/01/28", "2026/01/29", "2026/02/01", "2026/02/02"],
    ],
)
def test_batches_by_date_without_a_period_are_in_the_order_of_time(days, tmp_path):
    """Without `every`, 29/01/2026 used to be the last batch, after 02/02/2026."""
    path = tmp_path / "sample.csv"
    pl.DataFrame({"p": [0.2, 0.4, 0.6, 0.7, None], "day": [*days, None]}).write_csv(path)
    found = quantify(path, posteriors=["p"], by="day", replicates=100)
    assert [batch.name for batch in found.batches] == [
        *("2026-01-28", "2026-01-29", "2026-02-01", "2026-02-02", "(missing)"),
    ]
    assert found.in_sequence


def test_dates_that_may_be_two_things_are_batches_as_they_are_and_no_sequence():
    """They used to be compared in alphabetical order, as if that were the order of time."""
    days = ["03/04/2026", "02/05/2026", "01/06/2026"]
    table = pl.DataFrame({"p": [0.2, 0.4, 0.6], "day": days})
    found = quantify(table, posteriors=["p"], by="day", replicates=100)
    assert [batch.name for batch in found.batches] == sorted(days)
    assert not found.in_sequence


def test_words_among_dates_leave_all_as_they_are():
    table = pl.DataFrame({"p": [0.2, 0.4], "day": ["28/01/2026", "later"]})
    found = quantify(table, posteriors=["p"], by="day", replicates=100)
    assert [batch.name for batch in found.batches] == ["28/01/2026", "later"]
