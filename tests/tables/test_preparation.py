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

from quantshift.base.seeding import generator
from quantshift.tables.columns.kinds import choose, odd_cells, text_column
from quantshift.tables.preparation import (
    RARE,
    TEXT_BESIDE,
    WIDEST,
    Bounds,
    NoWordsError,
    TableColumns,
    TablePreparation,
)

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
            min_frequency=RARE,
            handle_unknown="infrequent_if_exist",
            sparse_output=False,
            dtype=np.float64,
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
    # Levels that are new in the test rows are among the rare ones in both.
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
    # d is not among the training rows: it joins the rare ones.
    assert dense(view.transform([0, 20, 21, 22])).tolist() == [[1, 0], [0, 1], [0, 1], [0, 1]]


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
    monkeypatch.setattr("quantshift.texts.view.BLOCK_ROWS", 7)
    assert_allclose(view.scores(np.arange(N), coef, [0, 0]), whole)


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
            st.one_of(st.none(), st.sampled_from("abü")),
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


def test_far_numbers_are_clipped():
    rng = generator(0, purpose="far numbers")
    numbers = rng.normal(50, 2, 500)
    numbers[7] = 1e308
    scaled = Bounds().fit(numbers[:, None]).transform(numbers[:, None]).ravel()
    assert scaled[7] == WIDEST
    others = np.delete(scaled, 7)
    assert others.std() == pytest.approx(1, abs=0.15)
    assert np.median(others) == pytest.approx(0, abs=0.05)
    view = TableColumns.of(pl.DataFrame({"x": numbers})).view(np.arange(500))
    # The others have not been swallowed: without the cell they would have a spread of 1.
    assert np.delete(dense(view.transform(np.arange(500))), 7).std() > 0.5


@pytest.mark.parametrize("factor", [1e200, 1e-200, 1e307, -1e300])
def test_the_unit_of_a_number_does_not_matter(factor):
    rng = generator(0, purpose="units")
    numbers = rng.normal(0, 1, 300)
    plain, other = (
        dense(
            TableColumns.of(pl.DataFrame({"x": x})).view(np.arange(300)).transform(np.arange(300))
        )
        for x in (numbers, numbers * factor)
    )
    assert_allclose(other, plain * np.sign(factor), rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("error")
def test_numbers_between_the_largest_floats_are_finite():
    extremes = [1.7e308, -1.7e308, 0.0, 5e-324, 1.0, 2.0] * 5
    view = TableColumns.of(pl.DataFrame({"x": extremes})).view(np.arange(30))
    assert np.isfinite(view.transform(np.arange(30))).all()


def test_numbers_that_are_mostly_equal_keep_the_others_apart():
    gains = np.zeros(400)
    gains[:20] = np.linspace(1000, 9000, 20)
    scaled = Bounds().fit(gains[:, None]).transform(gains[:, None]).ravel()
    assert (np.diff(scaled[:20]) > 0).all()


TEXTS = ["good red house", "bad old house", "good tree", "bad tree near the house"] * 30


def everything(n=120):
    rng = generator(3, purpose="everything")
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, n)
    gaps = rng.normal(size=n)
    gaps[::9] = np.nan
    return pl.DataFrame(
        {
            "review": TEXTS[:n],
            "a": pl.Series(gaps, nan_to_null=True),
            "level": [("x", "y", None)[i % 3] for i in range(n)],
            "title": [f"{t} again" for t in TEXTS[:n]],
            "when": days,
            "yes": rng.random(n) < 0.5,
        }
    )


def prepared_everything():
    frame = everything()
    texts = {name: text_column(frame[name]) for name in ("review", "title")}
    others = {c.name: c for c in choose(frame.drop(texts))[0]}
    columns = [(texts | others)[name] for name in frame.columns]
    return frame, TablePreparation.fit(frame, columns)


def test_all_kinds_of_columns_beside_each_other():
    frame, preparation = prepared_everything()
    matrix = preparation.transform(frame)
    assert issparse(matrix)
    assert matrix.shape == (120, len(preparation.names)) == (120, len(preparation.sources))
    assert "a is missing" in preparation.names
    assert "level = (missing)" in preparation.names
    assert "review: house" in preparation.names
    assert "title: again" in preparation.names
    for name, source in zip(preparation.names, preparation.sources.tolist(), strict=True):
        assert name.startswith(preparation.columns[source].name)
    # Texts are as long as a penalty that is ten times weaker for them asks.
    words = [name.startswith("review: ") for name in preparation.names]
    assert_allclose((matrix[:, words].toarray() ** 2).sum(axis=1), TEXT_BESIDE**2)


def test_a_frame_of_strings_is_prepared_as_one_with_types():
    frame, preparation = prepared_everything()
    strings = frame.with_columns(pl.all().cast(pl.String))
    for rows in (slice(0, 120), slice(5, 6)):
        expected = preparation.transform(frame[rows]).toarray()
        assert_allclose(preparation.transform(strings[rows]).toarray(), expected, atol=1e-12)


def test_pairs_of_numbers_and_indicators():
    _, preparation = prepared_everything()
    ((number, indicator),) = preparation.gap_pairs
    assert preparation.names[number] == "a"
    assert preparation.names[indicator] == "a is missing"


def test_texts_alone_have_unit_length():
    frame = pl.DataFrame({"t": TEXTS})
    preparation = TablePreparation.fit(frame, [text_column(frame["t"])])
    assert preparation.is_text
    assert_allclose((preparation.transform(frame).toarray() ** 2).sum(axis=1), 1)


def test_texts_without_words_are_an_error_with_the_column():
    frame = pl.DataFrame({"t": ["?", "!"] * 10})
    with pytest.raises(NoWordsError, match="column 't' have no words in common") as caught:
        TablePreparation.fit(frame, [text_column(frame["t"])])
    assert caught.value.column == "t"


def test_levels_that_are_new_to_a_frame_join_the_rare_ones():
    frame = pl.DataFrame({"c": [*["a"] * 20, *["b"] * 20, "c", "d"]})
    preparation = TablePreparation.fit(frame, choose(frame)[0])
    assert preparation.names == ("c = a", "c = b", "c = (rare)")
    assert preparation.rare_levels == {"c": 2}
    rows = preparation.transform(pl.DataFrame({"c": ["a", "d", "never seen"]}))
    assert dense(rows).tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1]]


CELLS = st.one_of(
    st.none(),
    st.sampled_from(
        ["", "NA", "inf", "-1e308", "1e999", "nan", "7", "007", "1.0", "true", "False"]
    ),
    st.sampled_from(["2024-02-29", "2023-02-29", "31.12.1999", "0001-01-01", "9999-12-31"]),
    st.text(max_size=12),
    st.floats().map(str),
    st.integers().map(str),
)


@pytest.mark.slow
@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=60),
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=20),
)
def test_whatever_the_cells_of_two_tables_the_matrix_is_finite(train, sample):
    schema = {"a": pl.String, "b": pl.String}
    first, second = (pl.DataFrame(rows, schema=schema, orient="row") for rows in (train, sample))
    for named in ((), ("a", "b")):
        columns, left_out = choose(first, named=named)
        assert {c.name for c in columns} | {c.name for c in left_out} == {"a", "b"}
        if not columns:
            continue
        try:
            preparation = TablePreparation.fit(first, columns)
        except NoWordsError:
            continue
        for frame in (first, second):
            matrix = dense(preparation.transform(frame))
            assert matrix.shape == (len(frame), len(preparation.names))
            assert np.isfinite(matrix).all()
            assert all(found.any() for found in odd_cells(frame, columns).values())


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float32, pl.Boolean, pl.Date, pl.Datetime("ms")])
@pytest.mark.parametrize("other", [pl.Int8, pl.Float64, pl.Boolean, pl.Date, pl.String, pl.Time])
def test_a_column_of_another_type_is_gaps_or_values(dtype, other):
    ones = pl.Series("x", [0, 1, 1, 0, None] * 10, dtype=pl.Int64)
    frame = ones.cast(dtype).to_frame()
    preparation = TablePreparation.fit(frame, choose(frame, named=["x"])[0])
    matrix = dense(preparation.transform(ones.cast(other).to_frame()))
    assert np.isfinite(matrix).all()
