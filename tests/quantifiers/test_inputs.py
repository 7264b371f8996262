"""Items in every form that people hold them in, and what is no items at all."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from quantshift import (
    CC,
    MLPE,
    PACC,
    SLD,
    GuardedSLD,
    PriorShift,
    SubclassSLD,
    evaluate,
    shift_test,
)
from quantshift.errors import DataError
from quantshift.items.items import Items
from quantshift.quantifiers import DMx, EDx, FusedSLD, HDx, MMDx, wrap
from quantshift.quantifiers.base import catalogue

FORMATS = [
    f"{name}_{kind}"
    for name in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    for kind in ("array", "matrix")
]
METHODS = {"SLD": SLD, "CC": CC, "HDx": HDx, "SubclassSLD": SubclassSLD, "MLPE": MLPE}
SAMPLES = [np.arange(30), np.arange(100, 160)]


@pytest.fixture(scope="module")
def items():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 80)
    return rng.poisson(1 + y[:, None] * [1.0, 0.0, 0.5], (160, 3)).astype(float), y


def as_sparse(X, form):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few matrices are made for dia
        return getattr(sparse, form)(X)


def estimates(method, rows, y):
    """Those of two samples, and of all items with weights, by a method fitted to the same rows."""
    weights = np.arange(160) % 3 if method != "wrapped" else None
    quantifier = wrap(CC) if method == "wrapped" else METHODS[method]()
    plain = quantifier.fit(rows, y).predict(rows, SAMPLES)
    weighted = quantifier.fit(rows, y, weights).predict(rows, sample_weight=weights)
    return np.vstack([plain, weighted])


@pytest.fixture(scope="module")
def expected(items):
    """The estimates of each method from compressed rows, and from a dense array."""
    X, y = items
    return {
        method: (estimates(method, sparse.csr_array(X), y), estimates(method, X, y))
        for method in [*METHODS, "wrapped"]
    }


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("method", [*METHODS, "wrapped"])
def test_a_sparse_matrix_of_any_format_gives_what_the_same_rows_give(method, form, items, expected):
    X, y = items
    found = estimates(method, as_sparse(X, form), y)
    compressed, dense = expected[method]
    assert np.allclose(found, compressed, atol=1e-12)
    assert np.allclose(found, dense, atol=1e-3)


@pytest.mark.parametrize("form", ["bsr_array", "coo_array", "coo_matrix", "dia_matrix"])
def test_so_do_intervals_evaluations_and_tests_of_shift(form, items):
    X, y = items
    rows, fitted = as_sparse(X, form), SLD().fit(X, y)
    interval = fitted.predict_interval(rows, n_bootstrap=100)
    assert np.allclose(interval.low, fitted.predict_interval(X, n_bootstrap=100).low)
    shift = PriorShift(test_size=20, test_repeats=2, test_prevalences=[0.2, 0.8])
    assert evaluate(fitted, shift, rows, y).equals(evaluate(fitted, shift, X, y))
    subclasses = SubclassSLD().fit(X, y)
    tests = [shift_test(subclasses, X_, n_bootstrap=100) for X_ in (rows, X)]
    assert tests[0].p_value == tests[1].p_value
    known = Items(features=rows).take(np.arange(5))
    assert (known.features.toarray() == X[:5]).all()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("EDx", "HDx", "SLD") else pytest.mark.slow)
        for name in catalogue.quantifiers()
    ],
)
def test_plain_lists_are_as_good_as_arrays(name, items):
    X, y = items
    method = catalogue.quantifiers()[name]
    expected = method().fit(X, y).predict(X[:50])
    found = method().fit(X.tolist(), y.tolist()).predict(list(map(tuple, X[:50])))
    assert_array_equal(found, expected)


def test_lists_of_words_stay_lists_for_a_pipeline_that_takes_them():
    words = [["late", "again"], ["great"]] * 20
    vectors = CountVectorizer(analyzer=lambda words: words)
    fitted = SLD(make_pipeline(vectors, LogisticRegression())).fit(words, [1, 0] * 20)
    assert fitted.predict(words[:20])[1] == pytest.approx(0.5, abs=0.1)


NO_ITEMS = {
    "None": (None, "X is of type NoneType: give a matrix"),
    "a number": (3.0, "X is of type float"),
    "an array of one number": (np.array(3.0), "X is of type ndarray"),
    "a generator": (iter([[1.0, 2.0, 3.0]]), "X is of type list_iterator"),
    "a text": ("all of it", "X is a single text: give a list"),
    "a sparse vector": (sparse.coo_array([1.0, 2.0]), r"a row per item, got .* shape \(2,\)"),
    "masked": (np.ma.array(np.ones((3, 3)), mask=np.eye(3)[::-1] > 0), "X: a missing .* 0 "),
}


@pytest.mark.parametrize("what", NO_ITEMS)
@pytest.mark.parametrize("method", METHODS)
def test_what_is_no_items_is_refused_in_one_line(method, what, items):
    X, message = NO_ITEMS[what]
    fitted = METHODS[method]().fit(*items)
    for call in (fitted.predict, fitted.estimate, lambda X: fitted.fit(X, items[1])):
        with pytest.raises(DataError, match=message) as caught:
            call(X)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", ["coo_matrix", "csr_array"])
def test_posteriors_may_be_sparse(form):
    posteriors = np.array([[0.0, 1.0], [0.75, 0.25]] * 10)
    fitted = SLD().fit_posteriors(posteriors, [1, 0] * 10)
    assert (fitted.aggregate(as_sparse(posteriors, form)) == fitted.aggregate(posteriors)).all()
    with pytest.raises(DataError, match="posteriors must be numbers"):
        fitted.aggregate([[0.5, 0.5], [1.0]])
    with pytest.raises(DataError, match="posteriors need a row per item"):
        fitted.aggregate(None)


@pytest.mark.parametrize(
    ("change", "held"),
    [
        (lambda values: values * (1 + 0j), "complex numbers"),
        (lambda values: values.astype("datetime64[D]"), "dates"),
    ],
    ids=["complex", "dates"],
)
def test_posteriors_and_weights_are_real_numbers(change, held, items):
    """Imaginary parts were dropped, and dates were counted as days since 1970."""
    X, y = items
    fitted = SLD().fit(X, y)
    halves, ones = np.full((len(y), 2), 0.5), np.ones(len(y))
    for name, call in (
        ("posteriors", lambda: fitted.aggregate(change(halves))),
        ("weights", lambda: fitted.aggregate(halves, sample_weight=change(ones))),
        ("weights", lambda: fitted.predict(X, sample_weight=change(ones))),
        ("weights", lambda: fitted.fit(X, y, sample_weight=change(ones))),
    ):
        with pytest.raises(DataError, match=f"{name} must be real numbers, not {held}"):
            call()


def test_masked_arrays_count_only_if_nothing_is_masked(items):
    X, y = items
    fitted = SLD().fit(X, y)
    assert (fitted.predict(np.ma.array(X)) == fitted.predict(X)).all()
    hidden = np.zeros(len(y), dtype=bool)
    hidden[7] = True
    for call in (
        lambda: fitted.fit(X, np.ma.array(y, mask=hidden)),
        lambda: fitted.predict(X, sample_weight=np.ma.array(y + 1.0, mask=hidden)),
        # The mask was dropped.
        lambda: fitted.aggregate(
            np.full((len(y), 2), 0.5), sample_weight=np.ma.array(y + 1.0, mask=hidden)
        ),
        lambda: fitted.aggregate(
            np.ma.array(np.full((len(y), 2), 0.5), mask=np.column_stack([hidden, hidden]))
        ),
    ):
        with pytest.raises(DataError, match=r"missing value at position 7 \(it is masked\)"):
            call()


def test_posteriors_with_a_column_for_a_class_without_labels_name_the_classes_found():
    P = np.full((20, 3), 1 / 3)
    line = r"3 columns but the labels have 2 classes \('ham', 'spam'\): .* that of `classes`, an"
    with pytest.raises(DataError, match=line):
        PACC().fit_posteriors(P, ["ham", "spam"] * 10)


def test_posteriors_that_do_not_sum_to_one_show_their_sum():
    P = np.full((20, 2), 0.75)
    with pytest.raises(
        DataError, match=r"sum to 1, and their sum is 1\.5; divide every row by its"
    ):
        PACC().fit_posteriors(P, ["ham", "spam"] * 10)
    with pytest.raises(DataError, match="must be non-negative"):
        PACC().fit_posteriors(P - [0, 1.25], ["ham", "spam"] * 10)


def damaged(form):
    """A sparse matrix with an index outside of its shape, as its constructor accepts it."""
    matrix = getattr(sparse, form)(np.eye(4))
    if matrix.format == "coo":
        matrix.coords[1][2] = 99
    else:
        matrix.indices[2] = 99
    return matrix


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "bsr_array", "coo_array"])
@pytest.mark.parametrize("call", ["fit", "predict", "interval", "aggregate"])
def test_sparse_matrices_with_indices_out_of_range_are_refused(form, call, items):
    """They were read beyond their memory."""
    fitted = PACC(cv=2).fit(np.eye(4)[[0, 1, 2, 3] * 10], [0, 1, 1, 0] * 10)
    calls = {
        "fit": lambda: PACC(cv=2).fit(damaged(form), [0, 1, 1, 0]),
        "predict": lambda: fitted.predict(damaged(form)),
        "interval": lambda: fitted.predict_interval(damaged(form), n_bootstrap=20),
        "aggregate": lambda: fitted.aggregate(damaged(form)),
    }
    with pytest.raises(DataError, match=r"a damaged sparse matrix of shape \(4, 4\)"):
        calls[call]()


LABELS = np.array(["no", "yes"])[np.arange(40) % 2]
TRUE = np.column_stack([0.8 - 0.5 * (np.arange(40) % 2), 0.2 + 0.5 * (np.arange(40) % 2)])
SAMPLE = np.repeat([[0.75, 0.25], [0.2, 0.8]], [30, 10], axis=0)


def pandas_frame(posteriors, names):
    return pd.DataFrame(posteriors, columns=names)


def polars_frame(posteriors, names):
    return pl.DataFrame(posteriors, schema=names, orient="row")


@pytest.mark.parametrize("frame", [pandas_frame, polars_frame])
def test_columns_of_posteriors_that_are_named_after_classes_may_be_in_any_order(frame):
    """They were taken by position, which exchanged the classes without a word."""
    names, turned = ["no", "yes"], ["yes", "no"]
    for method in (SLD(), PACC()):
        right = method.fit_posteriors(TRUE, LABELS).aggregate(SAMPLE)
        given = frame(SAMPLE[:, ::-1], turned)
        assert_array_equal(method.aggregate(given), right)
        assert_array_equal(method.aggregate(frame(SAMPLE, names)), right)
        assert_array_equal(method.estimate_posteriors(given).prevalence, right)
        interval = method.aggregate_interval(given, n_bootstrap=20)
        assert_array_equal(interval.prevalence, right)
        fitted = clone(method).fit_posteriors(frame(TRUE[:, ::-1], turned), LABELS)
        assert_array_equal(fitted.aggregate(given), right)


@pytest.mark.parametrize("frame", [pandas_frame, polars_frame])
def test_columns_of_posteriors_with_other_names_are_refused(frame):
    method = SLD().fit_posteriors(TRUE, LABELS)
    with pytest.raises(DataError, match="are p_no, p_yes, and the classes no, yes: name them"):
        method.aggregate(frame(SAMPLE, ["p_no", "p_yes"]))
    with pytest.raises(DataError, match="are a, b, and the classes no, yes: name them"):
        SLD().fit_posteriors(frame(TRUE, ["a", "b"]), LABELS)


def test_columns_of_posteriors_without_names_are_in_the_order_of_the_classes():
    method = SLD().fit_posteriors(TRUE, LABELS)
    right = method.aggregate(SAMPLE)
    assert_array_equal(method.aggregate(pd.DataFrame(SAMPLE)), right)
    assert_array_equal(method.aggregate(pl.DataFrame(SAMPLE)), right)
    turned = SLD().fit_posteriors(TRUE[:, ::-1], (LABELS == "yes").astype(int), classes=[1, 0])
    with pytest.raises(DataError, match="are they names or positions"):
        turned.aggregate(pd.DataFrame(SAMPLE))


def test_columns_of_posteriors_are_matched_with_classes_that_are_numbers():
    codes = (LABELS == "yes").astype(float)
    method = SLD().fit_posteriors(TRUE, codes)
    right = method.aggregate(SAMPLE)
    for names in ([1, 0], ["1", "0"], [1.0, 0.0]):
        assert_array_equal(method.aggregate(pd.DataFrame(SAMPLE[:, ::-1], columns=names)), right)
    assert_array_equal(method.aggregate(polars_frame(SAMPLE[:, ::-1], ["1", "0"])), right)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("method", [HDx, DMx, EDx, MMDx, GuardedSLD, SubclassSLD, SLD, FusedSLD])
def test_columns_of_features_are_those_of_the_fit(method, frame, items):
    """Methods that look at features took them by position: HDx said 99.9% where it was 74.1%."""
    X, y = np.asarray(items[0]), items[1]
    named = frame({"a": X[:, 0], "b": X[:, 1]})
    fitted = method().fit(named, y)
    assert fitted.feature_names_in_.tolist() == ["a", "b"]
    right = fitted.predict(named[:60])
    assert_array_equal(fitted.predict(named[["a", "b"]][:60]), right)
    others = frame({"a": X[:, 0], "c": X[:, 1]})
    for wrong in (named[["b", "a"]], others, named[["a"]]):
        with pytest.raises(ValueError, match="feature names should match those that were passed"):
            fitted.predict(wrong[:60])
    fitted.fit(X, y)
    assert not hasattr(fitted, "feature_names_in_")


def test_a_pipeline_finds_its_columns_itself(items):
    X, y = np.asarray(items[0]), items[1]
    named = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    chosen = ColumnTransformer([("used", "passthrough", ["a", "b"])])
    fitted = SubclassSLD(make_pipeline(chosen, LogisticRegression())).fit(named, y)
    assert_array_equal(fitted.predict(named[["b", "a"]][:60]), fitted.predict(named[:60]))


@pytest.mark.parametrize("method", [HDx, DMx, EDx, MMDx])
def test_features_without_a_column_and_no_items_are_refused(method, items):
    """HDx was fitted on no column at all, and MMDx divided by zero."""
    X, y = items
    with pytest.raises(
        DataError, match=r"^0 feature\(s\) \(shape=\(160, 0\)\) while a minimum of 1"
    ):
        method().fit(X[:, :0], y)
    with pytest.raises(DataError, match="give at least one item"):
        method().fit(X[:0], y[:0])
    with pytest.raises(DataError, match="the sample is empty"):
        method().fit(X, y).predict(X[:0])


class Lone(CC):
    def _solve(self, representation, index, weights=None):
        return super()._solve(representation, index, weights)[0]


def test_prevalences_without_diagnostics_are_no_solution(items):
    """It was a ValueError about too many values to unpack."""
    X, y = items
    fitted = Lone().fit(X, y)
    for estimate in (lambda: fitted.predict(X), lambda: fitted.aggregate(np.full((5, 2), 0.5))):
        with pytest.raises(DataError, match=r"_solve of Lone returned ndarray: .* \(p_hat, \{\}\)"):
            estimate()
