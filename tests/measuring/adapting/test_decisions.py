"""Decisions: costs and thresholds against counting by hand."""

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.measuring.adapting.decisions import (
    Decisions,
    checked_costs,
    checked_target,
    precision_threshold,
    recall_threshold,
)


def test_the_cheapest_class_is_predicted():
    """A missed positive costs 9: predict it from a posterior of 1 / (1 + 9) on."""
    costs = np.array([[0.0, 1.0], [9.0, 0.0]])
    posteriors = np.array([[0.91, 0.09], [0.89, 0.11]])
    assert Decisions(costs)(posteriors).tolist() == [0, 1]


def test_a_threshold_leaves_the_other_classes_to_the_largest_posterior():
    posteriors = np.array([[0.3, 0.4, 0.3], [0.1, 0.2, 0.7], [0.6, 0.05, 0.35]])
    assert Decisions(None, 2, 0.35)(posteriors).tolist() == [1, 2, 2]
    assert Decisions(None, 2, np.inf)(posteriors).tolist() == [1, 1, 0]


def brute_force(posteriors, weights, thresholds):
    """Expected precision and recall at every threshold."""
    for t in thresholds:
        chosen = posteriors >= t
        hits = (posteriors * weights)[chosen].sum()
        yield t, hits / weights[chosen].sum(), hits / (posteriors * weights).sum()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_thresholds_are_those_of_a_search_over_all(seed, weighted):
    rng = np.random.default_rng(seed)
    posteriors = rng.beta(0.7, 1.5, 60).round(2)
    weights = rng.integers(1, 4, 60).astype(float) if weighted else np.ones(60)
    found = list(brute_force(posteriors, weights, np.unique(posteriors)))
    given = weights if weighted else None
    for target in (0.3, 0.6, 0.8):
        smallest = min((t for t, precision, _ in found if precision >= target), default=np.inf)
        assert precision_threshold(posteriors, target, given) == smallest
        largest = max(t for t, _, recall in found if recall >= target - 1e-12)
        assert recall_threshold(posteriors, target, given) == largest


def test_a_precision_that_cannot_be_reached_predicts_no_item():
    assert precision_threshold(np.array([0.5, 0.7]), 0.9) == np.inf


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ([[0, 1]], "do not fit 2 classes"),
        ([[0, np.nan], [1, 0]], "finite"),
        ([["a", 1], [1, 0]], "must be numbers"),
    ],
)
def test_wrong_costs_are_one_line(costs, said):
    with pytest.raises(UserError, match=said):
        checked_costs(costs, 2)


@pytest.mark.parametrize("target", [0, 1.2, True, "0.9"])
def test_wrong_targets_are_one_line(target):
    with pytest.raises(UserError, match="recall must be above 0 and at most 1"):
        checked_target(target, "recall")
