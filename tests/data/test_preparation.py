"""Mixed columns as numbers: scikit-learn's ColumnTransformer is the oracle."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import issparse
from sklearn.compose import make_column_transformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from quantshift.data import TableColumns
from quantshift.data.preparation import RARE
from quantshift.seeding import generator

N, N_TRAIN = 600, 250


def mixed(seed=0):
    rng = generator(seed, purpose="mixed table")
    words = np.array([f"w{k}" for k in range(12)], dtype=object)
    levels = words[np.minimum(rng.geometric(0.25, N) - 1, 11)]
    levels[rng.random(N) < 0.1] = None
    gaps = rng.normal(5, 3, N)
    gaps[rng.random(N) < 0.2] = np.nan
    return pl.DataFrame(
        {
            "a": rng.normal(100, 0.1, N),
            "level": levels.tolist(),
            "b": pl.Series(gaps, nan_to_null=True),
            "truth": rng.random(N) < 0.3,
            "side": np.where(rng.random(N) < 0.5, "left", "right").tolist(),
        }
    )


def dense(matrix):
    return matrix.toarray() if issparse(matrix) else matrix


def reference(frame, train):
    numbers = ["a", "b", "truth"]
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="~", missing_values=None),
        OneHotEncoder(
            min_frequency=RARE, handle_unknown="ignore", sparse_output=False, dtype=np.float64
        ),
    )
    pipeline = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (MissingIndicator(features="missing-only"), numbers),
        (words, ["level", "side"]),
    )
    table = frame.with_columns(pl.col("truth").cast(pl.Float64)).to_pandas()
    table = table.astype({"level": object, "side": object})
    table["level"] = table["level"].where(table["level"].notna(), None)
    return pipeline.fit(table.iloc[train]).transform(table)


def test_the_preparation_is_that_of_scikit_learn():
    frame = mixed()
    train = generator(1, purpose="rows").permutation(N)[:N_TRAIN]
    view = TableColumns.of(frame).view(train)
    ours = dense(view.transform(np.arange(N)))
    theirs = reference(frame, train)
    assert ours.shape == (N, len(view.names)) == theirs.shape
    # Levels that are new in the test rows: ours are ignored, as scikit-learn's are.
    assert_allclose(ours, theirs, atol=1e-12)


def test_names_say_what_the_columns_are():
    view = TableColumns.of(mixed()).view(np.arange(N_TRAIN))
    assert view.names[:5] == ("a", "b", "truth", "b is missing", "level = w0")
    assert {"level = (missing)", "level = (rare)", "side = left"} <= set(view.names)


def test_only_the_training_rows_are_seen():
    frame, train = mixed(), np.arange(N_TRAIN)
    changed = pl.concat([frame[:N_TRAIN], mixed(5)[N_TRAIN:]])
    changed = changed.with_columns(pl.when(pl.arange(N) < N_TRAIN).then("a").otherwise(1e9))
    first, second = TableColumns.of(frame).view(train), TableColumns.of(changed).view(train)
    assert first.names == second.names
    assert_allclose(dense(first.transform(train)), dense(second.transform(train)))


def test_unseen_levels_are_ignored_and_gaps_are_a_level():
    frame = pl.DataFrame({"c": [*["a"] * 20, *["b"] * 20, *[None] * 20, "new", "b"]})
    view = TableColumns.of(frame).view(np.arange(60))
    assert view.names == ("c = a", "c = b", "c = (missing)")
    assert dense(view.transform([0, 59, 60, 61])).tolist() == [
        [1, 0, 0],
        [0, 0, 1],
        [0, 0, 0],
        [0, 1, 0],
    ]


def test_rare_levels_share_a_column():
    frame = pl.DataFrame({"c": [*["a"] * 20, "b", "c", "d"]})
    view = TableColumns.of(frame).view(np.arange(22))
    assert view.names == ("c = a", "c = (rare)")
    # d is not among the training rows.
    assert dense(view.transform([0, 20, 21, 22])).tolist() == [[1, 0], [0, 1], [0, 1], [0, 0]]


@pytest.mark.filterwarnings("error")
def test_columns_that_training_rows_leave_empty_or_constant_are_zero():
    frame = pl.DataFrame({"gone": [None, None, 3.0], "same": [0.1, 0.1, 9.0], "x": [1.0, 2.0, 3.0]})
    view = TableColumns.of(frame).view([0, 1])
    assert view.names == ("gone", "same", "x")
    assert_allclose(dense(view.transform([0, 1])), [[0, 0, -1], [0, 0, 1]], atol=1e-12)
    assert np.isfinite(dense(view.transform([2]))).all()


def test_wide_tables_are_sparse_and_scores_are_products():
    rng = generator(0, purpose="wide table")
    many = [f"l{k}" for k in rng.integers(0, 40, 3000)]
    table = TableColumns.of(pl.DataFrame({"x": rng.normal(size=3000), "level": many}))
    view = table.view(np.arange(2000))
    rows = np.array([5, 2999, 5])
    matrix = view.transform(rows)
    assert issparse(matrix)
    assert matrix.has_sorted_indices
    coef = rng.normal(size=(len(view.names), 3))
    expected = matrix.toarray() @ coef + [1, 2, 3]
    assert_allclose(view.scores(rows, coef, [1, 2, 3]), expected)


def test_blocks_of_rows_do_not_change_scores(monkeypatch):
    view = TableColumns.of(mixed()).view(np.arange(N_TRAIN))
    coef = generator(0, purpose="coef").normal(size=(len(view.names), 2))
    whole = view.scores(np.arange(N), coef, [0, 0])
    monkeypatch.setattr("quantshift.data.preparation.BLOCK_ROWS", 7)
    assert_allclose(view.scores(np.arange(N), coef, [0, 0]), whole)


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(-1e6, 1e6)), st.one_of(st.none(), st.sampled_from("abü"))
        ),
        min_size=2,
        max_size=40,
    ),
    st.integers(1, 39),
)
def test_whatever_the_rows_the_matrix_is_finite(rows, n_train):
    frame = pl.DataFrame(rows, schema={"x": pl.Float64, "c": pl.String}, orient="row")
    train = np.arange(min(n_train, len(rows)))
    view = TableColumns.of(frame).view(train)
    matrix = dense(view.transform(np.arange(len(rows))))
    assert matrix.shape == (len(rows), len(view.names))
    assert np.isfinite(matrix).all()
    assert abs(matrix[train, 0].mean()) < 1e-6
