"""Whether labels may be estimated together: shifts that are known, and those that are not."""

import numpy as np
import pytest

from quantshift.base.types import Flags, Reals
from quantshift.classify.separation import Reference
from quantshift.multilabel.joint.joint_shift import JointFinding, JointSample, JointShift
from quantshift.multilabel.joint.selections import RIDGE, Selections

N_MEMBERS = 2


def _items(n: int, share: float, seed: int) -> tuple[Reals, Flags]:
    """Two labels, the second more frequent with the first; two features for each."""
    rng = np.random.default_rng(seed)
    first = rng.random(n) < share
    second = rng.random(n) < np.where(first, 0.6, 0.2)
    has = np.column_stack([first, second])
    return rng.normal(size=(n, 4)) + 1.5 * np.repeat(has, 2, axis=1), has


def _posteriors(X: Reals, share: float = 0.3) -> Reals:
    """The exact posteriors of both labels in training."""
    chances = np.array([(1 - share) * 0.8, (1 - share) * 0.2, share * 0.4, share * 0.6])
    sets = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    centres = 1.5 * np.repeat(sets, 2, axis=1)
    logs = np.log(chances) - np.square(X[:, np.newaxis] - centres).sum(axis=2) / 2
    joint = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(joint / joint.sum(axis=1, keepdims=True) @ sets)


def _fitted(n: int) -> JointShift:
    X, has = _items(n, 0.3, seed=0)
    return JointShift.fit(_posteriors(X), has, Reference.of(X))


@pytest.fixture(scope="module")
def shift() -> JointShift:
    return _fitted(300)


def _examined(shift: JointShift, X: Reals) -> JointFinding:
    committee = np.repeat(_posteriors(X)[np.newaxis], N_MEMBERS, axis=0)
    return shift.examine(JointSample(committee, shift.reference.place(X), np.ones(len(X))))


@pytest.mark.slow
def test_a_shift_of_one_label_is_found_in_both_and_is_no_selection() -> None:
    X, has = _items(1000, 0.9, seed=1)
    found = _examined(_fitted(2000), X)
    assert not found.refuted
    assert found.doubles <= 0.005
    low, high = found.limits(0.99, of_items=True)
    assert (low <= has.mean(axis=0)).all()
    assert (has.mean(axis=0) <= high).all()
    assert (high - low < 0.3).all()


@pytest.mark.slow
def test_a_selection_by_a_score_is_refuted_or_not_told_apart(shift: JointShift) -> None:
    X, _ = _items(4000, 0.3, seed=2)
    rank = _posteriors(X)[:, 0].argsort().argsort() / len(X)
    rng = np.random.default_rng(3)
    for slope in (-4, 3):
        chances = np.exp(slope * rank)
        rows = rng.choice(len(X), 500, replace=False, p=chances / chances.sum())
        found = _examined(shift, X[rows])
        assert found.refuted or found.doubles > 0.005


def test_features_that_moved_refute_it(shift: JointShift) -> None:
    X, _ = _items(400, 0.3, seed=4)
    found = _examined(shift, X + np.array([0.0, 0.0, 0.5, -0.5]))
    assert found.refuted
    assert found.p_value < 0.05


def test_limits_of_the_population_are_wider_and_grow_with_the_level(shift: JointShift) -> None:
    X, _ = _items(200, 0.5, seed=5)
    found = _examined(shift, X)
    widths = [
        np.diff(found.limits(level, of_items=of_items), axis=0)
        for level, of_items in ((0.9, True), (0.95, True), (0.95, False))
    ]
    assert (widths[0] < widths[1]).all()
    assert (widths[1] < widths[2]).all()


def test_a_tilt_gives_the_mean_ranks_of_the_sample() -> None:
    rng = np.random.default_rng(6)
    known = Selections(rng.random((300, 2)), np.full(300, 1 / 300))
    ranks = known.ranks(rng.beta(2, 1, size=(80, 2)))
    means, steps = known.described(ranks, np.ones(80))
    found = known.fits(means[np.newaxis], steps[np.newaxis], 80)
    weights = known.tilted(found.tilts[0])
    expected = weights @ known.own_ranks / weights.sum()
    # The maximum of the penalised likelihood: n (mean - expected) = ridge * tilt.
    assert 80 * (means - expected) == pytest.approx(RIDGE * found.tilts[0], abs=1e-3)


def test_ranks_of_weighted_items_are_those_of_repeated_ones() -> None:
    rng = np.random.default_rng(7)
    posteriors, counts = rng.random((50, 2)).round(1), rng.integers(1, 4, 50)
    weighted = Selections(posteriors, counts / counts.sum())
    repeated = np.repeat(posteriors, counts, axis=0)
    copies = Selections(repeated, np.full(len(repeated), 1 / len(repeated)))
    new = rng.random((20, 2))
    assert weighted.ranks(new) == pytest.approx(copies.ranks(new))
