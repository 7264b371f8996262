"""Limits for the answers of guarded methods: intervals where they are earned, ranges elsewhere."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from quantshift import GuardedSLD
from quantshift.claims import Reason
from quantshift.intervals.prediction import item_interval
from quantshift.quantifiers.likelihood.guarded_intervals import guarded_intervals

FAST = {"n_bootstrap": 60}


def causing(n_negative, n_positive, seed):
    """Features of given numbers of labels: P(X|Y) is always the same."""
    y = np.repeat([0, 1], [n_negative, n_positive])
    return np.random.default_rng(seed).normal(size=(len(y), 2)) + 1.5 * y[:, None], y


@pytest.fixture(scope="module")
def fitted():
    classifiers = [LogisticRegression()]
    return GuardedSLD(mode="columns", classifiers=classifiers).fit(*causing(800, 700, 0))


@pytest.fixture(scope="module")
def answers(fitted):
    """Three samples: with evidence, in agreement, and too small for either."""
    X, y = causing(100, 1400, 1)
    same, few = causing(270, 230, 2), causing(2, 58, 3)
    X, y = np.concatenate([X, same[0], few[0]]), np.concatenate([y, same[1], few[1]])
    samples = [np.arange(1500), np.arange(1500, 2000), np.arange(2000, 2060)]
    items = fitted.items(X)
    return items, samples, y, guarded_intervals(fitted, items, samples, **FAST)


@pytest.mark.slow
def test_each_answer_has_the_limits_of_its_kind(fitted, answers):
    items, samples, _, found = answers
    assert found.grounds.reason.tolist() == [Reason.EVIDENCE, Reason.AGREEMENT, Reason.NO_EVIDENCE]
    inside = fitted.unguarded_items(items)
    interval = item_interval(fitted.unguarded_, inside, samples[:2], of="items", **FAST)
    assert found.low[0] == pytest.approx(interval.low[0])
    assert found.high[0] == pytest.approx(interval.high[0])
    least, most = found.grounds[1].if_covariate(500.0, of_items=True)
    assert found.low[1] == pytest.approx(np.minimum(interval.low[1], least))
    assert found.high[1] == pytest.approx(np.maximum(interval.high[1], most))
    low, high = found.grounds[2].low, found.grounds[2].high
    assert found.low[2] == pytest.approx(low, abs=1e-4)
    assert found.high[2] == pytest.approx(high, abs=1e-4)


def test_the_truth_is_within_the_limits(answers):
    _, samples, y, found = answers
    for rows, low, high in zip(samples, found.low, found.high, strict=True):
        assert low[1] <= y[rows].mean() <= high[1]


@pytest.mark.slow
def test_declarations_have_their_own_limits(fitted, answers):
    items, samples, _, _ = answers
    by_prior = guarded_intervals(fitted.assuming("prior"), items, samples, **FAST)
    by_covariate = guarded_intervals(fitted.assuming("covariate"), items, samples, **FAST)
    inside = fitted.unguarded_items(items)
    interval = item_interval(fitted.unguarded_, inside, samples, of="items", **FAST)
    assert by_prior.low == pytest.approx(interval.low)
    sizes = np.array([1500.0, 500.0, 60.0])
    least, most = by_covariate.grounds.if_covariate(sizes, of_items=True)
    assert by_covariate.low == pytest.approx(least, abs=1e-4)
    assert by_covariate.high == pytest.approx(most, abs=1e-4)


def test_a_higher_level_and_the_population_are_wider(fitted, answers):
    items, samples, _, found = answers
    sure = guarded_intervals(fitted, items, samples, level=0.99, **FAST)
    assert (sure.high - sure.low >= found.high - found.low - 1e-9).all()
    population = guarded_intervals(fitted, items, samples, of="population", **FAST)
    width, of_items = (answer.high - answer.low for answer in (population, found))
    assert (width[:2] > of_items[:2]).all()
