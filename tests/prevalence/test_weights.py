"""Weights on input: what they may be, and their quantiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from quantshift.errors import DataError
from quantshift.prevalence.weights import checked_weights, total_of, weighted_quantiles


def test_without_weights_or_with_ones_there_are_none() -> None:
    assert checked_weights(None, 3) is None
    assert checked_weights([1, 1, 1], 3) is None
    assert checked_weights(np.ones(3, dtype=bool), 3) is None


def test_equal_weights_are_none() -> None:
    assert checked_weights([2, 2, 2], 3) is None
    assert checked_weights([0.3, 0.3], 2) is None
    weights = checked_weights([2, 2, 3], 3)
    assert weights is not None
    assert total_of(weights, 3) == 7
    assert total_of(None, 3) == 3


def test_checked_weights_are_a_copy() -> None:
    given_weights = np.array([1.0, 2.0])
    checked = checked_weights(given_weights, 2)
    assert checked is not None
    checked[0] = 5
    assert given_weights[0] == 1


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"weights of shape \(2,\) do not fit 3 items: give one per item"),
        ([[1, 2, 3]], r"weights of shape \(1, 3\) do not fit 3 items"),
        (["a", "b", "c"], "weights must be numbers, one per item"),
        ([1, np.nan, 1], "finite and at least 0: that of item 1 is not"),
        ([1, 2, np.inf], "that of item 2 is not"),
        ([-1, 2, 3], "that of item 0 is not"),
        ([0, 0, 0], "zero for all items"),
        ([1e308, 1e308, 1e308], "positive, finite sum, got inf"),
        ([1e-300, 2e-300, 0], "sum to 3e-300; scale them so that they sum to the number of items"),
        ([1e300, 2e300, 0], "sum to 3e.300; scale them"),
    ],
)
def test_other_weights_are_refused(weights: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        checked_weights(weights, 3)  # type: ignore[arg-type]


def test_a_class_of_no_weight_is_refused_by_name() -> None:
    codes = np.array([0, 1, 1])
    assert checked_weights([2, 0, 1], 3, codes, 2) is not None
    with pytest.raises(DataError, match="class 1 has total weight zero"):
        checked_weights([2, 0, 0], 3, codes, 2)
    with pytest.raises(DataError, match="class 1 has total weight zero"):
        checked_weights([2, 0, 1e-300], 3, codes, 2)
    with pytest.raises(DataError, match="class 2 has total weight zero"):
        checked_weights([2, 1, 1], 3, codes, 3)
    with pytest.raises(DataError, match="group 'pos' has total weight zero"):
        checked_weights([2, 0, 0], 3, codes, 2, classes=["neg", "pos"], kind="group")


VALUES = st.lists(
    st.tuples(st.integers(-5, 5) | st.floats(-1e3, 1e3), st.integers(0, 4)), min_size=1, max_size=30
).filter(lambda pairs: any(weight for _, weight in pairs))


@given(VALUES, st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_quantiles_are_those_of_repeated_values(
    pairs: list[tuple[float, int]], shares: list[float]
) -> None:
    values, counts = (np.array(column) for column in zip(*pairs, strict=True))
    expected = np.quantile(np.repeat(values, counts), shares)
    found = weighted_quantiles(values.astype(float), shares, counts.astype(float))
    assert_allclose(found, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(values).max()))


@given(VALUES, st.floats(0.01, 0.2))
def test_quantiles_of_any_weights_rise_within_the_values(
    pairs: list[tuple[float, int]], factor: float
) -> None:
    values, counts = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    found = weighted_quantiles(values, np.linspace(0, 1, 9), factor * counts)
    present = values[counts > 0]
    slack = 1e-12 * max(1.0, np.abs(values).max())
    assert (np.diff(found) >= -slack).all()
    assert present.min() - slack <= found[0]
    assert found[-1] <= present.max() + slack
