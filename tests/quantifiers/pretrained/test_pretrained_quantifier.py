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
from quantshift.quantifiers.pretrained import pretrained_quantifier
from quantshift.quantifiers.pretrained.distribution import HEDGE, ShareDistribution


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


def with_labels(fitted, X, y, k, rng):
    """The error and the width of an interval of 90 % with labels of k random items."""
    rows = rng.permutation(len(y))[:k]
    known = {"labelled": rows, "labels": y[rows]} if k else {}
    shares = fitted.distribution(X, **known)
    low, high = shares.interval(0.9)
    return abs(shares.share[1] - y.mean()), high[1] - low[1]


def test_labels_of_the_sample_make_it_narrower(fitted):
    rng = np.random.default_rng(2)
    X, y = normal_items(np.full(400, 0.7), rng)
    widths = [with_labels(fitted, X, y, k, rng)[1] for k in (0, 30, 150)]
    assert widths[0] > widths[1] > widths[2]


def test_labels_of_the_sample_move_it(fitted):
    """Class 1 has moved onto class 0, which no unlabelled item shows; labels do."""
    rng = np.random.default_rng(3)
    X, y = normal_items(np.full(400, 0.5), rng)
    X[y == 1] -= [1.2, 0, 0, 0]
    errors, widths = zip(*(with_labels(fitted, X, y, k, rng) for k in (0, 30, 150)), strict=True)
    assert errors[2] < 0.06 < errors[0]
    assert widths[1] > widths[2]


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


def test_a_hedge_keeps_the_median_and_makes_levels_honest():
    """What had the level 1 - a has the level 1 - a ** exponent: here 90 % where it was 95 %."""
    angles = (np.arange(256) + 0.5) * np.pi / 512
    bell = np.exp(-0.5 * ((angles - 0.7) / 0.1) ** 2)[np.newaxis]
    given = ShareDistribution(np.array(["a"]), bell / bell.sum())
    exponent = np.log(0.1) / np.log(0.05)
    hedged = given.hedged(exponent)
    assert_allclose(hedged.probabilities.sum(), 1)
    assert hedged.probabilities.min() >= 0
    assert_allclose(hedged.quantile(0.5), given.quantile(0.5), atol=1e-3)
    assert_allclose(hedged.interval(0.9), given.interval(0.95), atol=2e-3)
    assert_allclose(hedged.hedged(1 / exponent).probabilities, given.probabilities, atol=1e-12)


def test_only_what_labels_say_is_hedged(fitted, monkeypatch):
    X, y = normal_items(np.full(300, 0.5), np.random.default_rng(9))
    known = {"labelled": np.arange(30), "labels": y[:30]}
    widths = {}
    for exponent in (HEDGE, 1.0):
        monkeypatch.setattr(pretrained_quantifier, "HEDGE", exponent)
        for name, given in (("none", {}), ("some", known)):
            low, high = fitted.distribution(X, **given).interval(0.9)
            widths[name, exponent] = high[1] - low[1]
    assert widths["none", HEDGE] == widths["none", 1.0]
    assert 1.1 < widths["some", HEDGE] / widths["some", 1.0] < 1.4
