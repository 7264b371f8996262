"""Labels that decide between two shares, against Wald's test and by simulation."""

import math

import numpy as np
import pytest

from quantshift.errors import DataError, UserError
from quantshift.labelling.deciding import (
    ERROR,
    FIRST,
    NEITHER,
    ON_ANYTHING_ELSE,
    OPEN,
    SECOND,
    TOLERANCE,
    TRUST,
    Decided,
    _bet_on,
    decide,
    expected_labels,
)
from quantshift.labelling.sequence import Scores


def likelihood_ratio(y, other, share):
    """Wald's statistic after every label."""
    return np.cumprod(np.where(y, other / share, (1 - other) / (1 - share)))


def until_decided(y, first, second, **options) -> Decided:
    """The decision of people who look after every label and stop as soon as something is."""
    found = decide(y, first, second, **options)
    crossed = np.flatnonzero(np.maximum(found.against_first, found.against_second) >= 1 / ERROR)
    if not len(crossed):
        return found
    n = int(crossed[0]) + 1
    scores = options.get("scores")
    if scores is not None:
        cut = {k: getattr(scores, k)[:n] for k in ("weight", "labelled", "remaining", "mean")}
        same = {k: getattr(scores, k) for k in ("least", "most", "all_mean", "variance")}
        options = {**options, "scores": Scores(**cut, **same)}
    return decide(y[:n], first, second, **options)


def test_without_scores_the_bet_on_the_other_share_is_walds_likelihood_ratio():
    y = (np.random.default_rng(0).random(40) < 0.4).astype(float)
    found = _bet_on(0.35, 0.59, y, None, Scores.none(40))
    np.testing.assert_allclose(found, likelihood_ratio(y, 0.35, 0.59), rtol=1e-12)
    # A stake of everything is never made, so that no single label ends the test.
    assert _bet_on(1.0, 0.5, np.zeros(1), None, Scores.none(1))[0] == pytest.approx(0.05)


@pytest.mark.parametrize(("label", "other", "extreme"), [(0.0, 1.0, 0.3), (1.0, 0.0, -0.4)])
def test_the_item_that_costs_most_costs_what_was_staked(label, other, extreme):
    """Scores move the bet: the item with the highest score or the lowest is the worst case."""
    scores = Scores(
        weight=np.array([0.5]),
        labelled=np.array([extreme]),
        remaining=np.array([0.1]),
        mean=np.array([0.0]),
        least=-0.4,
        most=0.3,
        all_mean=0.0,
        variance=0.04,
    )
    assert _bet_on(other, 0.5, np.array([label]), None, scores)[0] == pytest.approx(0.05)


def test_the_boundary_is_walds_less_what_is_bet_on_anything_else():
    y = np.zeros(60)
    found = decide(y, 0.5, 0.2)
    ratio = likelihood_ratio(y, 0.2, 0.5 - TOLERANCE * 0.3)
    wald = int(np.flatnonzero(ratio >= (1 - ERROR) / ERROR)[0]) + 1
    assert found.against_first[wald - 1] >= (1 - ON_ANYTHING_ELSE) * ratio[wald - 1]
    assert int(np.flatnonzero(found.against_first >= 1 / ERROR)[0]) + 1 in (wald, wald + 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "right", "wrong"), [(0.59, FIRST, SECOND), (0.35, SECOND, FIRST)]
)
def test_at_most_one_decision_in_twenty_is_wrong_and_few_labels_are_needed(truth, right, wrong):
    rng = np.random.default_rng(1)
    found = [until_decided((rng.random(200) < truth).astype(float), 0.59, 0.35) for _ in range(200)]
    outcomes = [one.outcome for one in found]
    # Three standard errors above the promise; Ville's inequality is not tight.
    assert 1 - outcomes.count(right) / 200 <= ERROR + 3 * math.sqrt(ERROR * (1 - ERROR) / 200)
    assert outcomes.count(wrong) > 0
    mean = np.mean([one.n_labels for one in found])
    assert mean == pytest.approx(expected_labels(0.59, 0.35, 0.0), rel=0.3)


def test_a_share_that_is_neither_is_found_to_be():
    rng = np.random.default_rng(2)
    found = [decide((rng.random(150) < 0.9).astype(float), 0.5, 0.2).outcome for _ in range(50)]
    assert found.count(NEITHER) >= 48
    y = np.array([1.0, 0.0])
    assert decide(y, 0.6, 0.4).outcome == OPEN
    assert decide(y, 0.6, 0.4).n_labels == 2


def sample(rng, n=1000, tilt=0.0):
    """Calibrated posteriors of items, and their labels; tilt: what makes the posteriors wrong."""
    logit = rng.normal(0, 2.5, n)
    f = 1 / (1 + np.exp(-logit))
    y = (rng.random(n) < 1 / (1 + np.exp(-(logit + tilt)))).astype(float)
    return f, y


@pytest.mark.slow
def test_scores_save_labels_and_wrong_ones_do_no_harm():
    rng = np.random.default_rng(3)
    with_scores, alone, wrong = [], [], 0
    for _ in range(100):
        f, y = sample(rng)
        first, second = float(y.mean()), float(y.mean()) - 0.12
        rows = rng.permutation(1000)[:400]
        scores = Scores.of(f, rows, y[rows], trust=TRUST)
        by_scores = until_decided(y[rows], first, second, n_items=1000, scores=scores)
        with_scores.append(by_scores.n_labels)
        alone.append(until_decided(y[rows], first, second, n_items=1000).n_labels)
        # Posteriors that are far too high.
        f, y = sample(rng, tilt=-1.5)
        first, second = float(y.mean()), float(f.mean())
        scores = Scores.of(f, rows, y[rows], trust=TRUST)
        found = until_decided(y[rows], first, second, n_items=1000, scores=scores)
        wrong += found.outcome != FIRST
    assert np.mean(with_scores) < 0.7 * np.mean(alone)
    assert wrong <= 10


def test_when_all_items_are_labelled_the_other_share_is_impossible():
    y = np.array([1.0, 0.0] * 5)
    found = decide(y, 0.5, 0.9, n_items=10)
    assert found.outcome == FIRST
    assert math.isinf(found.against_second[-1])


def test_odd_input_is_refused():
    with pytest.raises(DataError, match="0 and 1"):
        decide([0, 2], 0.1, 0.2)
    with pytest.raises(UserError, match="two different shares"):
        decide([0, 1], 0.2, 0.2)


def test_what_has_grown_beyond_all_numbers_stays_finite():
    found = _bet_on(0.9, 0.1, np.ones(1000), None, Scores.none(1000))
    assert np.log(found[[99, 999]]) == pytest.approx([_log_growth(100), 600])


def _log_growth(n):
    return n * math.log(0.9 / 0.1)
