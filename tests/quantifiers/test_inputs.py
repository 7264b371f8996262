"""Items in every form that people hold them in, and what is no items at all."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from quantshift import (
    CC,
    MLPE,
    PACC,
    SLD,
    HDx,
    PriorShift,
    SubclassSLD,
    evaluate,
    predict_interval,
    shift_test,
    wrap,
)
from quantshift.errors import DataError
from quantshift.quantifiers.items import Items

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


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("method", [*METHODS, "wrapped"])
def test_a_sparse_matrix_of_any_format_gives_what_the_same_rows_give(method, form, items):
    X, y = items
    weights = np.arange(160) % 3 if method != "wrapped" else None

    def estimates(rows):
        quantifier = wrap(CC) if method == "wrapped" else METHODS[method]()
        plain = quantifier.fit(rows, y).predict(rows, SAMPLES)
        weighted = quantifier.fit(rows, y, weights).predict(rows, weights=weights)
        return np.vstack([plain, weighted])

    sparse_rows = as_sparse(X, form)
    assert np.allclose(estimates(sparse_rows), estimates(sparse.csr_array(X)), atol=1e-12)
    assert np.allclose(estimates(sparse_rows), estimates(X), atol=1e-3)


@pytest.mark.parametrize("form", ["bsr_array", "coo_array", "coo_matrix", "dia_matrix"])
def test_so_do_intervals_evaluations_and_tests_of_shift(form, items):
    X, y = items
    rows, fitted = as_sparse(X, form), SLD().fit(X, y)
    interval = predict_interval(fitted, rows, n_bootstrap=100)
    assert np.allclose(interval.low, predict_interval(fitted, X, n_bootstrap=100).low)
    shift = PriorShift(test_size=20, test_repeats=2, test_prevalences=[0.2, 0.8])
    assert evaluate(fitted, shift, rows, y).equals(evaluate(fitted, shift, X, y))
    subclasses = SubclassSLD().fit(X, y)
    tests = [shift_test(subclasses, X_, n_bootstrap=100) for X_ in (rows, X)]
    assert tests[0].p_value == tests[1].p_value
    known = Items(features=rows).take(np.arange(5))
    assert (known.features.toarray() == X[:5]).all()


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


def test_masked_arrays_count_only_if_nothing_is_masked(items):
    X, y = items
    fitted = SLD().fit(X, y)
    assert (fitted.predict(np.ma.array(X)) == fitted.predict(X)).all()
    hidden = np.zeros(len(y), dtype=bool)
    hidden[7] = True
    for call in (
        lambda: fitted.fit(X, np.ma.array(y, mask=hidden)),
        lambda: fitted.predict(X, weights=np.ma.array(y + 1.0, mask=hidden)),
        lambda: fitted.aggregate(
            np.ma.array(np.full((len(y), 2), 0.5), mask=np.column_stack([hidden, hidden]))
        ),
    ):
        with pytest.raises(DataError, match=r"missing value at position 7 \(it is masked\)"):
            call()


def test_the_weights_of_scikit_learn_are_called_weights_here():
    X, y = np.arange(20.0)[:, np.newaxis], np.arange(20) % 2
    for method in (PACC(), SubclassSLD()):
        with pytest.raises(TypeError, match="'sample_weight'; the weights of the items are `weigh"):
            method.fit(X, y, sample_weight=np.ones(20))
        with pytest.raises(TypeError, match=r"argument 'groupes'$"):
            method.fit(X, y, groupes=y)


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
