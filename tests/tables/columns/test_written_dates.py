"""Dates are read as polars reads whole columns of them."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quantshift.tables.columns.dates import moments
from quantshift.tables.columns.written_dates import FIRST_YEAR, OTHER_FORMATS, dates_in

PARTS = st.sampled_from(["1", "01", "12", "13", "29", "31", "32", "00", " 5", "2024", "2023", "99"])


@pytest.mark.parametrize("format_", OTHER_FORMATS)
@given(cells=st.lists(st.tuples(PARTS, PARTS, PARTS), min_size=1, unique=True))
def test_dates_in_other_formats(format_, cells):
    texts = [format_[2].join(parts) for parts in cells]
    dates = moments(pl.Series(texts), format_)
    expected = dates.set((dates.dt.year() < FIRST_YEAR).fill_null(True), None).to_list()
    assert list(dates_in(texts, format_).values()) == expected
