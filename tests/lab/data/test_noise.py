"""Noisy copies of rows: of the right strength, the same whatever is asked for with them."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from quantshift.errors import DataError
from quantshift.lab.data.noise import NoisyView, check_noise_possible
from quantshift.lab.data.sets.dataset import Dataset
from quantshift.lab.data.sources import SyntheticSource
from quantshift.tables.preparation import TableColumns
from quantshift.texts.view import MatrixView

RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(400, 3)) * [1.0, 10.0, 0.0]
ROWS = np.arange(400)


def matrix_view():
    return NoisyView.fit(MatrixView(MATRIX), np.arange(100), 400, seed=0)


def test_the_noise_has_the_spread_of_the_training_rows():
    view = matrix_view()
    noise = view.transform(view.copies(ROWS, 0.5)) - MATRIX
    expected = 0.5 * MATRIX[:100].std(axis=0)
    # The spread of 400 numbers is known to about 3.5%, one standard error.
    assert noise.std(axis=0) == pytest.approx(expected, rel=0.15)
    assert np.abs(noise.mean(axis=0)) == pytest.approx(np.zeros(3), abs=4 * expected.max() / 20)
    assert abs(np.corrcoef(noise[:, :2].T)[0, 1]) < 0.2


def test_rows_themselves_have_none():
    view = matrix_view()
    assert view.transform(ROWS).tolist() == MATRIX.tolist()
    assert view.copies(ROWS, 0.0).tolist() == ROWS.tolist()


def test_a_copy_is_the_same_alone_and_in_company():
    view, other = matrix_view(), matrix_view()
    other.copies(ROWS, 2.0)  # so that its copies have other numbers
    alone = view.transform(view.copies(np.array([7]), 0.5))[0]
    together = other.transform(other.copies(ROWS, 0.5))[7]
    assert alone.tolist() == together.tolist()


def test_scores_are_those_of_the_features():
    view = matrix_view()
    copies = np.concatenate([ROWS[:5], view.copies(ROWS[5:9], 1.0)])
    coef, intercept = RNG.normal(size=(3, 2)), [0.1, -0.2]
    expected = view.transform(copies) @ coef + intercept
    assert view.scores(copies, coef, intercept) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("levels", [2, 60])
def test_of_a_table_the_numbers_get_noise_and_nothing_else(levels):
    # With 60 levels the prepared matrix is sparse.
    frame = pl.DataFrame(
        {
            "number": [None if k % 10 == 0 else float(k % 37) for k in range(1200)],
            "word": [f"level {k % levels}" for k in range(1200)],
        }
    )
    table = TableColumns.of(frame)
    rows = np.arange(1200)
    plain = table.view(rows)
    view = NoisyView.fit(plain, rows, 1200, seed=0)
    noisy = view.transform(view.copies(rows, 0.5))
    difference = noisy - plain.transform(rows)
    difference = difference.toarray() if levels == 60 else np.asarray(difference)
    assert isinstance(noisy, csr_array) == (levels == 60)
    assert (difference[:, 1:] == 0).all()
    assert (difference[::10, 0] == 0).all()  # gaps stay what they are
    there = difference[rows % 10 != 0, 0]
    assert there.std() == pytest.approx(0.5, rel=0.1)  # 1,080 numbers: 2%, one standard error


def dataset(**parts):
    return Dataset(name="d", title="my data", labels=np.array([0, 1]), hash="", **parts)


def test_features_that_are_no_numbers_are_refused():
    words = pl.DataFrame({"word": ["a", "b"]})
    with pytest.raises(DataError, match=r"synthetic reviews .* has only texts"):
        check_noise_possible(SyntheticSource(500).open())
    with pytest.raises(DataError, match="my data has posteriors but no features"):
        check_noise_possible(dataset(posteriors=np.eye(2)))
    with pytest.raises(DataError, match="no column of numbers"):
        check_noise_possible(dataset(features=TableColumns.of(words)))
    with pytest.raises(DataError, match="a sparse matrix"):
        check_noise_possible(dataset(features=MatrixView(csr_array(np.eye(2)))))
    check_noise_possible(dataset(features=MatrixView(np.eye(2))))
