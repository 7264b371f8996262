"""Estimates and distributions of the pre-trained quantifier."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from quantshift import PretrainedQuantifier, predict_interval
from quantshift.errors import DataError, UserError


def normal_items(shares, rng):
    """Items of two normal classes: columns and codes."""
    codes = (rng.random(len(shares)) < shares).astype(int)
    X = rng.standard_normal((len(codes), 4))
    X[:, 0] += 2.0 * codes
    X[:, 1] -= 1.0 * codes
    return X, codes


@pytest.fixture(scope="module")
def fitted():
    X, y = normal_items(np.full(600, 0.4), np.random.default_rng(0))
    return PretrainedQuantifier(LogisticRegression()).fit(X, y)


@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
def test_it_follows_a_changed_prevalence(fitted, share):
    X, y = normal_items(np.full(500, share), np.random.default_rng(7))
    shares = fitted.distribution(X)
    low, high = shares.interval(0.95)
    assert low[1] <= y.mean() <= high[1]
    assert abs(shares.share[1] - y.mean()) < 0.1
    assert_allclose(fitted.predict(X), shares.share)


def test_it_does_not_matter_which_class_comes_first(fitted):
    X, y = normal_items(np.full(600, 0.4), np.random.default_rng(0))
    other = PretrainedQuantifier(LogisticRegression()).fit(X, np.where(y == 1, "a", "b"))
    sample, _ = normal_items(np.full(300, 0.7), np.random.default_rng(1))
    assert_allclose(other.predict(sample), fitted.predict(sample)[::-1], atol=1e-6)


def test_labels_of_the_sample_make_it_narrower_and_move_it(fitted):
    """Class 1 has moved onto class 0, which no unlabelled item shows; labels do."""
    rng = np.random.default_rng(3)
    X, y = normal_items(np.full(400, 0.5), rng)
    X[y == 1] -= [1.2, 0, 0, 0]
    widths, errors = [], []
    for k in (0, 30, 150):
        rows = rng.permutation(400)[:k]
        known = {"labelled": rows, "labels": y[rows]} if k else {}
        shares = fitted.distribution(X, **known)
        low, high = shares.interval(0.9)
        widths.append(high[1] - low[1])
        errors.append(abs(shares.share[1] - y.mean()))
    assert widths[0] > widths[1] > widths[2]
    assert errors[2] < 0.06 < errors[0]


def test_with_all_labels_the_share_is_known(fitted):
    X, y = normal_items(np.full(120, 0.3), np.random.default_rng(4))
    low, high = fitted.distribution(X, labelled=np.arange(120), labels=y).interval(0.99)
    assert low[1] - 0.01 <= y.mean() <= high[1] + 0.01
    assert high[1] - low[1] < 0.02


def test_labels_that_contradict_the_model_bound_the_share(fitted):
    """40 labelled items of class 1 among 100: the share is at least .4, whatever the model says."""
    X, _ = normal_items(np.full(100, 0.0), np.random.default_rng(5))
    shares = fitted.distribution(X, labelled=np.arange(40), labels=np.ones(40, dtype=int))
    assert shares.interval(0.99)[0][1] >= 0.39


def test_intervals_are_those_of_the_distribution(fitted):
    X, _ = normal_items(np.full(300, 0.6), np.random.default_rng(6))
    found = predict_interval(fitted, X, level=0.9, n_bootstrap=2000, of="items")
    low, high = fitted.distribution(X).interval(0.9)
    assert_allclose([found.low[1], found.high[1]], [low[1], high[1]], atol=0.02)
    wider = predict_interval(fitted, X, level=0.9, n_bootstrap=2000, of="population")
    assert wider.high[1] - wider.low[1] > found.high[1] - found.low[1]


def test_tables_with_categories_and_gaps():
    rng = np.random.default_rng(8)
    X, y = normal_items(np.full(500, 0.5), rng)
    table = pd.DataFrame({"x": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "blue")})
    table.loc[::7, "x"] = np.nan
    encoder = make_column_transformer(
        (SimpleImputer(), ["x"]), (OneHotEncoder(sparse_output=False), ["colour"])
    )
    model = make_pipeline(encoder, LogisticRegression())
    quantifier = PretrainedQuantifier(model).fit(table[:300], y[:300])
    assert abs(quantifier.predict(table[300:])[1] - y[300:].mean()) < 0.12


def test_larger_sets_are_drawn_from():
    X, y = normal_items(np.full(9000, 0.5), np.random.default_rng(9))
    quantifier = PretrainedQuantifier(LogisticRegression(), cv=2).fit(X[:4000], y[:4000])
    assert len(quantifier.seen_codes_) == 2000
    assert abs(quantifier.predict(X[4000:])[1] - y[4000:].mean()) < 0.05


@pytest.mark.parametrize(
    ("labelled", "labels", "message"),
    [
        ([0, 1], None, "give both"),
        ([0, 1], [1], "one for each label"),
        ([0, 0], [1, 0], "only once"),
        ([0, 99], [1, 0], "from 0 to 9"),
        ([0.5, 1.5], [1, 0], "positions"),
    ],
)
def test_bad_labels_are_refused(fitted, labelled, labels, message):
    with pytest.raises((DataError, UserError), match=message):
        fitted.distribution(np.zeros((10, 4)), labelled=labelled, labels=labels)


def test_labels_of_several_samples_are_refused(fitted):
    with pytest.raises(UserError, match="one sample"):
        fitted.predict(np.zeros((10, 4)), [[0, 1]], labelled=[0], labels=[1])
