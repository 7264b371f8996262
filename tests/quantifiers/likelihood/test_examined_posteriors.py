"""What is known where only posteriors are known."""

import numpy as np
import pytest
from scipy.special import expit

from quantshift import SLD
from quantshift.claims import AGREEING, AGREEING_SCORES, Kind, Reason
from quantshift.errors import UserError
from quantshift.quantifiers.likelihood.allowed_range import half_width
from quantshift.quantifiers.likelihood.examined_posteriors import examined_posteriors
from quantshift.quantifiers.likelihood.guarded_intervals import answer_limits


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
    found = examined_posteriors(fitted, pool, samples)
    assert [g.kind for g in found.grounds] == [Kind.RANGE, Kind.INTERVAL]
    assert [g.reason for g in found.grounds] == [Reason.NO_EVIDENCE, Reason.AGREEMENT]
    assert found.prior[0] == pytest.approx(fitted.aggregate(moved))
    assert found.covariate[0] == pytest.approx(fitted.calibrator_(moved).mean(axis=0))
    assert found.low[0, 1] <= y.mean() <= found.high[0, 1]
    declared = examined_posteriors(fitted, pool, samples, assume="prior")
    assert [g.kind for g in declared.grounds] == [Kind.CONDITIONAL] * 2
    assert [g.reason for g in declared.grounds] == [Reason.DECLARED] * 2
    assert declared.estimate == pytest.approx(declared.prior)


def test_scores_that_agree_say_less_than_features(fitted):
    """A change of features goes unnoticed: a smaller difference matters, and limits are wider."""
    rng = np.random.default_rng(1)
    near, _ = items(250, 750, rng)
    same, _ = items(5000, 5000, rng)
    found = examined_posteriors(fitted, near, [np.arange(1000)])
    assert AGREEING_SCORES < abs(found.prior[0, 1] - found.covariate[0, 1]) < AGREEING
    assert [g.reason for g in found.grounds] == [Reason.NO_EVIDENCE]
    told = examined_posteriors(fitted, same, [np.arange(10_000)])
    assert [g.reason for g in told.grounds] == [Reason.AGREEMENT]
    narrow = told.covariate - 0.001, told.covariate + 0.001
    sizes = np.array([10_000.0])
    low, high = answer_limits(told, None, narrow, sizes, of="items", level=0.95)
    h = half_width(told.covariate, np.array([0.5]), sizes)
    assert low == pytest.approx(told.covariate - h)
    assert high == pytest.approx(told.covariate + h)


def test_rows_selected_by_their_score_refute_label_shift(fitted):
    pool, y = items(2000, 2000, np.random.default_rng(2))
    upper = np.flatnonzero(pool[:, 1] > 0.5)
    found = examined_posteriors(fitted, pool, [upper])
    assert [g.reason for g in found.grounds] == [Reason.REFUTED]
    assert found.estimate[0, 1] == pytest.approx(y[upper].mean(), abs=0.03)
    declared = examined_posteriors(fitted, pool, [upper], assume="prior")
    assert (declared.grounds[0].kind, declared.grounds[0].reason) == (Kind.RANGE, Reason.REFUTED)
    assert declared.estimate == pytest.approx(found.prior)


def test_unknown_declarations_are_refused(fitted):
    with pytest.raises(UserError, match="unknown assumption 'concept'"):
        examined_posteriors(fitted, np.array([[0.5, 0.5]]), [np.array([0])], assume="concept")
