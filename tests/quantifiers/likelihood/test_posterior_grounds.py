"""Grounds of answers where only posteriors are known."""

import numpy as np
import pytest
from scipy.special import expit

from quantshift import SLD
from quantshift.errors import UserError
from quantshift.intervals.guarded import answer_limits
from quantshift.quantifiers.base.guarding import (
    AGREEING,
    AGREEING_SCORES,
    AGREEMENT,
    CONFIDENCE_INTERVAL,
    DECLARED,
    NO_EVIDENCE,
    RANGE,
    REFUTED,
)
from quantshift.quantifiers.likelihood.allowed_range import half_width
from quantshift.quantifiers.likelihood.posterior_grounds import posterior_grounds


def items(n_negative, n_positive, rng):
    y = np.repeat([0, 1], [n_negative, n_positive])
    positive = expit(2 * (rng.normal(size=len(y)) + 2 * y - 1))
    return np.stack([1 - positive, positive], axis=1), y


@pytest.fixture(scope="module")
def fitted():
    return SLD().fit_posteriors(*items(800, 800, np.random.default_rng(0)))


def test_a_change_of_prevalence_is_a_range_and_no_change_an_interval(fitted):
    rng = np.random.default_rng(1)
    (moved, y), (same, _) = items(100, 900, rng), items(500, 500, rng)
    pool, samples = np.concatenate([moved, same]), [np.arange(1000), np.arange(1000, 2000)]
    found = posterior_grounds(fitted, pool, samples)
    assert found.kind.tolist() == [RANGE, CONFIDENCE_INTERVAL]
    assert found.reason.tolist() == [NO_EVIDENCE, AGREEMENT]
    assert found.prior[0] == pytest.approx(fitted.aggregate(moved))
    assert found.covariate[0] == pytest.approx(fitted.calibrator_(moved).mean(axis=0))
    assert found.low[0, 1] <= y.mean() <= found.high[0, 1]
    declared = posterior_grounds(fitted, pool, samples, assume="prior")
    assert declared.kind.tolist() == [CONFIDENCE_INTERVAL] * 2
    assert declared.reason.tolist() == [DECLARED] * 2
    assert declared.estimate == pytest.approx(declared.prior)


def test_scores_that_agree_say_less_than_features(fitted):
    """A change of features goes unnoticed: a smaller difference matters, and limits are wider."""
    rng = np.random.default_rng(1)
    near, _ = items(250, 750, rng)
    same, _ = items(5000, 5000, rng)
    found = posterior_grounds(fitted, near, [np.arange(1000)])
    assert AGREEING_SCORES < abs(found.prior[0, 1] - found.covariate[0, 1]) < AGREEING
    assert found.reason.tolist() == [NO_EVIDENCE]
    told = posterior_grounds(fitted, same, [np.arange(10_000)])
    assert told.reason.tolist() == [AGREEMENT]
    narrow = told.covariate - 0.001, told.covariate + 0.001
    sizes = np.array([10_000.0])
    low, high = answer_limits(told, None, narrow, sizes, of="items", level=0.95)
    h = half_width(told.covariate, np.array([0.5]), sizes)
    assert low == pytest.approx(told.covariate - h)
    assert high == pytest.approx(told.covariate + h)


def test_rows_selected_by_their_score_refute_label_shift(fitted):
    pool, y = items(2000, 2000, np.random.default_rng(2))
    upper = np.flatnonzero(pool[:, 1] > 0.5)
    found = posterior_grounds(fitted, pool, [upper])
    assert found.reason.tolist() == [REFUTED]
    assert found.estimate[0, 1] == pytest.approx(y[upper].mean(), abs=0.03)
    declared = posterior_grounds(fitted, pool, [upper], assume="prior")
    assert (declared.kind[0], declared.reason[0]) == (RANGE, REFUTED)
    assert declared.estimate == pytest.approx(found.prior)


def test_unknown_declarations_are_refused(fitted):
    with pytest.raises(UserError, match="unknown assumption 'concept'"):
        posterior_grounds(fitted, np.array([[0.5, 0.5]]), [np.array([0])], assume="concept")
