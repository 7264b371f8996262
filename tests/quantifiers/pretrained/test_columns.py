"""Which columns the network sees."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from quantshift.errors import DataError, UserError
from quantshift.quantifiers.pretrained.columns import N_COLUMNS, RelevantColumns


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 300)
    X = rng.standard_normal((300, 60))
    X[:, [7, 41]] += 3 * codes[:, np.newaxis]
    return X, codes


def test_columns_that_differ_between_the_classes_are_chosen(table):
    X, codes = table
    columns = RelevantColumns.learnt(X, codes, None)
    assert len(columns.chosen) == N_COLUMNS
    assert {7, 41} <= set(columns.chosen.tolist())
    assert_allclose(columns.training.mean(axis=0), 0, atol=0.02)


def test_sparse_columns_are_the_same_as_dense_ones(table):
    X, codes = table
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X))
    dense = RelevantColumns.learnt(X, codes, weights)
    sparse = RelevantColumns.learnt(csr_array(X), codes, weights)
    assert_array_equal(dense.chosen, sparse.chosen)
    assert_allclose(dense(X), sparse(csr_array(X)), atol=1e-12)


def test_empty_cells_are_at_the_mean(table):
    X, codes = table
    X[:40, 7] = np.nan
    columns = RelevantColumns.learnt(X, codes, None)
    assert (columns.training[:40, list(columns.chosen).index(7)] == 0).all()


def test_other_columns_are_refused(table):
    X, codes = table
    columns = RelevantColumns.learnt(X, codes, None)
    with pytest.raises(DataError, match="59 features, but 60 in training"):
        columns(X[:, 1:])
    with pytest.raises(UserError, match="numeric features"):
        columns(np.full((2, 60), "a", dtype=object))
