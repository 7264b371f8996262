"""Posteriors of sets of labels: recovered from simulated labels, weights as counts."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from quantshift.multilabel import set_posteriors
from quantshift.multilabel.set_posteriors import (
    INTERCEPT_STRENGTH,
    SLOPE,
    SLOPE_STRENGTH,
    STRENGTHS,
    SetPosteriors,
    distinct_sets,
    log_odds,
)


def simulated(n_items):
    """Items whose sets of labels follow the model with slopes of 0.4 and 0.8."""
    rng = np.random.default_rng(0)
    sets = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    shares = np.array([0.4, 0.1, 0.2, 0.3])
    evidence = rng.normal(size=(n_items, 2)) * 2
    logs = np.log(shares) + (evidence * [0.4, 0.8]) @ sets.T
    chances = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    drawn = (chances.cumsum(axis=1) > rng.random((n_items, 1))).argmax(axis=1)
    return expit(evidence), sets[drawn] == 1, chances


def test_posteriors_come_close_to_those_that_made_the_labels():
    posteriors, has, chances = simulated(6000)
    model = SetPosteriors.fit(posteriors, has)
    fitted = model.posteriors(model.scores(posteriors))
    assert np.abs(fitted - chances).mean() < 0.02
    assert np.allclose(np.diag(model.slopes), [0.4, 0.8], atol=0.08)
    assert model.strength == STRENGTHS[0], "nothing is to be gained outside of the diagonal"


def test_what_classifiers_say_about_other_labels_is_taken_out():
    # Each label has a feature of its own, and the posteriors of both labels use both features.
    rng = np.random.default_rng(1)
    first = rng.random(4000) < 0.5
    has = np.column_stack([first, rng.random(4000) < np.where(first, 0.8, 0.2)])
    ratios = 2 * (rng.normal(size=has.shape) + has - 0.5)
    model = SetPosteriors.fit(expit(ratios @ [[1.0, 0.5], [0.5, 1.0]]), has)
    assert model.strength < STRENGTHS[0]
    scores = model.scores(expit(ratios @ [[1.0, 0.5], [0.5, 1.0]]))
    for j in range(2):
        slopes = np.linalg.lstsq(np.c_[ratios, np.ones(4000)], scores[:, j], rcond=None)[0]
        assert abs(slopes[1 - j]) < 0.25 * slopes[j]


@pytest.mark.parametrize("strength", [3.0, 1e4])
def test_the_fit_is_the_minimum_of_the_penalised_loss(monkeypatch, strength):
    posteriors, has, _ = simulated(150)
    model = SetPosteriors.fit(posteriors, has, strength=strength)
    sets, place, _ = distinct_sets(has)
    evidence = log_odds(posteriors) - model.centres
    spread = evidence.var(axis=0)
    penalties = np.array([[SLOPE_STRENGTH, strength * spread[1]], [0, SLOPE_STRENGTH]])
    penalties[1, 0] = strength * spread[0]

    def loss(theta):
        slopes, intercepts = theta[:4].reshape(2, 2), theta[4:]
        logs = np.log(model.shares) + (evidence @ slopes.T + intercepts) @ sets.T
        logs -= logsumexp(logs, axis=1, keepdims=True)
        penalty = (penalties * (slopes - SLOPE * np.eye(2)) ** 2).sum()
        penalty += INTERCEPT_STRENGTH * (intercepts**2).sum()
        return -logs[np.arange(len(place)), place].sum() + 0.5 * penalty

    theta = np.concatenate([model.slopes.ravel(), model.intercepts])
    found = minimize(loss, theta, method="BFGS", options={"gtol": 1e-10})
    assert np.allclose(found.x, theta, atol=1e-4)
    assert loss(theta) <= found.fun + 1e-8
    monkeypatch.setattr(set_posteriors, "CHUNK", 50)
    chunked = SetPosteriors.fit(posteriors, has, strength=strength)
    assert np.allclose(chunked.slopes, model.slopes, atol=1e-9)


def test_weights_are_counts():
    posteriors, has, _ = simulated(120)
    counts = np.random.default_rng(1).integers(1, 4, size=120)
    weighted = SetPosteriors.fit(posteriors, has, counts.astype(float), strength=10.0)
    repeated = SetPosteriors.fit(
        np.repeat(posteriors, counts, axis=0), np.repeat(has, counts, axis=0), strength=10.0
    )
    for name in ("shares", "slopes", "intercepts", "centres"):
        assert np.allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-8)


def test_certain_posteriors_stay_finite():
    posteriors = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [1.0, 1.0]])
    assert np.isfinite(log_odds(posteriors)).all()


def test_of_many_items_some_choose_the_penalty_and_all_are_fitted_to():
    rng = np.random.default_rng(5)
    has = rng.random((2 * set_posteriors.COMPARED, 2)) < 0.4
    has[:, 1] |= has[:, 0] & (rng.random(len(has)) < 0.5)
    posteriors = expit(2.0 * has - 1.0 + rng.normal(size=has.shape))
    many = SetPosteriors.fit(posteriors, has)
    assert many.strength in set_posteriors.STRENGTHS
    exact = SetPosteriors.fit(posteriors, has, strength=many.strength)
    assert np.allclose(many.slopes, exact.slopes, atol=1e-7)
    assert np.allclose(many.intercepts, exact.intercepts, atol=1e-7)
