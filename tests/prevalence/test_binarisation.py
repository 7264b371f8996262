"""Stars become two classes at a cut point."""

import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError, UserError
from quantshift.prevalence.binarisation import binarise, ordinal


@pytest.mark.parametrize(
    ("cut_point", "codes", "kept"),
    [
        (3, [0, 0, 1, 1], [0, 1, 3, 4]),
        (2.5, [0, 0, 1, 1, 1], [0, 1, 2, 3, 4]),
        (0, [1, 1, 1, 1, 1], [0, 1, 2, 3, 4]),
        (5, [0, 0, 0, 0], [0, 1, 2, 3]),
    ],
)
def test_positive_above_negative_below_dropped_at_the_cut(cut_point, codes, kept):
    got_codes, got_kept = binarise(np.arange(1, 6, dtype=np.int8), cut_point)
    assert got_codes.tolist() == codes
    assert got_kept.tolist() == kept
    assert got_codes.dtype == got_kept.dtype == np.int64


@pytest.mark.parametrize(
    "stars", [[5, 1, 3], (5.0, 1.0, 3.0), pl.Series([5, 1, 3]), np.array([5, 1, 3], dtype=object)]
)
def test_any_numeric_column_will_do(stars):
    codes, kept = binarise(stars, 3)
    assert codes.tolist() == [1, 0]
    assert kept.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("stars", "message"),
    [
        ([], "stars are empty"),
        (["1", "5"], "stars must be numbers, got '1'"),
        ([True, False], "stars must be numbers"),
        ([1, None], "missing value at position 1"),
        ([1.0, float("nan")], "missing value at position 1"),
        ([[1, 2]], "one column"),
    ],
)
def test_what_is_not_a_column_of_numbers_is_refused(stars, message):
    with pytest.raises(DataError, match=message):
        binarise(stars, 3)


@pytest.mark.parametrize("cut_point", [float("nan"), float("inf")])
def test_a_cut_point_must_be_finite(cut_point):
    with pytest.raises(UserError, match="not a finite number"):
        binarise([1, 2], cut_point)


def test_half_stars_are_ordinal():
    assert ordinal([0.5, 4.5]).tolist() == [0.5, 4.5]
