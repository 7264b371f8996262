"""What a classifier cannot learn from is refused before it is fitted."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csr_array

from quantshift import PACC, SLD
from quantshift.classify.classifier import LARGEST_FEATURE, item_rows
from quantshift.errors import DataError

MADE_OF = {
    "matrix": np.asarray,
    "single": lambda X: X.astype(np.float32),
    "list": np.ndarray.tolist,
    "csr": csr_array,
    "coo": coo_array,
    "pandas": lambda X: pd.DataFrame(X, columns=["a", "b"]),
    "polars": lambda X: pl.DataFrame(X, schema=["a", "b"]),
}


@pytest.mark.parametrize("kind", MADE_OF)
@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_that_are_too_large_are_refused(kind, sign):
    X = np.ones((4, 2))
    X[2, 1] = sign * LARGEST_FEATURE * (1 - 1e-7)
    item_rows(MADE_OF[kind](X))
    X[2, 1] = sign * LARGEST_FEATURE * (1 + 1e-6)
    with pytest.raises(DataError, match=r"1e\+20"):
        item_rows(MADE_OF[kind](X))


def test_gaps_and_infinite_numbers_are_the_business_of_the_classifier():
    X = np.array([[np.nan, 1.0], [np.inf, -np.inf], [2.0, 3.0]])
    assert item_rows(X) is X
    X[2, 0] = -1e21
    with pytest.raises(DataError, match=r"1e\+21"):
        item_rows(X)


@pytest.mark.parametrize("method", [PACC, SLD])
def test_a_method_learns_from_large_numbers_or_refuses_them(method):
    """Of features of 1e308 it learnt nothing: it answered [.5, .5], whatever the sample was."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = rng.normal(size=(400, 2)) + 3 * y[:, np.newaxis]
    X /= np.abs(X).max()
    sample = X[200:][:100]
    fitted = method().fit(X * LARGEST_FEATURE, y)
    assert fitted.predict(sample * LARGEST_FEATURE)[1] > 0.95
    with pytest.raises(DataError):
        method().fit(X * 1e308, y)
    with pytest.raises(DataError):
        fitted.predict(sample * 1e308)
