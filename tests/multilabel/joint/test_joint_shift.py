"""Whether labels may be estimated together: shifts that are known, and those that are not."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from quantshift.base.types import Flags, Reals
from quantshift.classify.separation import Reference
from quantshift.multilabel.joint import joint_shift
from quantshift.multilabel.joint.joint_shift import (
    JointFinding,
    JointSample,
    JointShift,
    _column_p_values,
    _item_sets,
)
from quantshift.multilabel.joint.selections import Selections
from quantshift.multilabel.tilting import tilted_shares
from quantshift.quantifiers.likelihood.goodness_of_fit import LEAST_AUC, LEAST_Z
from quantshift.quantifiers.likelihood.score_test import LEVEL

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


def test_the_score_tells_a_selection_from_a_change_of_the_labels(shift: JointShift) -> None:
    X, _ = _items(4000, 0.3, seed=2)
    rank = _posteriors(X)[:, 0].argsort().argsort() / len(X)
    chances = np.exp(3 * rank)
    rows = np.random.default_rng(3).choice(len(X), 400, replace=False, p=chances / chances.sum())
    selected, moved = _examined(shift, X[rows]), _examined(shift, _items(400, 0.6, seed=9)[0])
    assert moved.over_tilt > 0 > selected.over_tilt
    # The p-value is the share of simulated joint shifts no better than a selection either.
    X, _ = _items(400, 0.6, seed=9)
    model, pooled = shift._whole.model, np.tile(_posteriors(X), (N_MEMBERS, 1))
    index, weights = np.arange(len(pooled))[np.newaxis], np.full(len(pooled), 1 / N_MEMBERS)
    shares, _ = shift._solved(model, model.scores(pooled), index, weights)
    null = shift.simulated(shift._whole.weights_under(shares)[0], 400, "joint shift").over_tilt
    expected = (null <= moved.over_tilt).mean()
    assert expected != pytest.approx((null >= -moved.over_tilt).mean(), abs=0.1)
    assert moved.p_values["score"] == pytest.approx(expected, abs=0.01)
    assert 0 <= moved.doubles < selected.doubles <= 1


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


def test_a_sample_counts_for_as_many_items_as_its_weights_say() -> None:
    """Kish's number, (sum w)^2 / sum w^2, and never fewer than one."""
    for weights, size in (([1.0], 1), ([3.0, 1.0], 2), ([5.0, 1e-3], 1), ([2.0] * 7, 7)):
        sample = JointSample(np.empty((1, 0, 2)), np.empty((0, 2)), np.array(weights))
        assert sample.size == size


def test_differences_of_columns_are_in_standard_errors_of_simulated_ones() -> None:
    """Three errors in a column of a small spread, which in one of a large spread are nothing."""
    rng = np.random.default_rng(8)
    null = 5 + rng.normal(size=(999, 2)) * [0.1, 10.0]
    far = _column_p_values(null, np.array([5.4, 5.0]))
    near = _column_p_values(null, np.array([5.0, 5.4]))
    assert far["column"] < 0.01
    assert far["columns"] < 0.01
    assert near["column"] > 0.5
    assert near["columns"] > 0.5


def test_likelihoods_are_compared_at_the_posteriors_as_they_are(shift: JointShift) -> None:
    X, _ = _items(120, 0.6, seed=10)
    model, index = shift._whole.model, np.arange(120)[np.newaxis]
    scores, weights = model.scores(_posteriors(X)), np.ones(120)
    (exact,) = tilted_shares(model, scores, index, weights, [1.0])
    shares, likeliest = shift._solved(model, scores, index, weights)
    assert likeliest.tilts == pytest.approx(exact.tilts)
    (as_estimated,) = tilted_shares(model, scores, index, weights, [shift.power])
    assert shares.labels == pytest.approx(as_estimated.labels)


def test_a_tilt_gives_the_mean_ranks_of_the_sample() -> None:
    rng = np.random.default_rng(6)
    known = Selections(rng.random((300, 2)), np.full(300, 1 / 300))
    ranks = known.ranks(rng.beta(2, 1, size=(80, 2)))
    means, steps = known.described(ranks, np.ones(80))
    found = known.fits(means[np.newaxis], steps[np.newaxis], 80)
    weights = known.tilted(found.tilts[0])
    expected = weights @ known.own_ranks / weights.sum()
    # The maximum of the penalised likelihood: n (mean - expected) = ridge * tilt.
    assert 80 * (means - expected) == pytest.approx(0.05 * found.tilts[0], abs=1e-3)


def test_ranks_of_weighted_items_are_those_of_repeated_ones() -> None:
    rng = np.random.default_rng(7)
    posteriors, counts = rng.random((50, 2)).round(1), rng.integers(1, 4, 50)
    weighted = Selections(posteriors, counts / counts.sum())
    repeated = np.repeat(posteriors, counts, axis=0)
    copies = Selections(repeated, np.full(len(repeated), 1 / len(repeated)))
    new = rng.random((20, 2))
    assert weighted.ranks(new) == pytest.approx(copies.ranks(new))


def test_of_many_items_as_many_different_ones_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_shift, "MOST_TRAINED", 200)
    found = _fitted(300)
    assert 200 <= len(found.has) <= 202
    assert len(np.unique(found.position, axis=0)) == len(found.has)
    assert len(found.all_has) == 300


def test_items_have_the_sets_that_the_model_knows() -> None:
    model = SimpleNamespace(sets=np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    has = np.array([[True, True], [False, True], [True, False], [False, False]])
    assert _item_sets(cast(Any, model), has).tolist() == [2, 1, -1, 0]


@pytest.mark.parametrize(
    ("auc", "z", "p_value", "refuted"),
    [
        (LEAST_AUC + 0.01, LEAST_Z + 0.1, 1.0, True),
        (LEAST_AUC + 0.01, LEAST_Z - 0.1, 1.0, False),
        (LEAST_AUC - 0.01, LEAST_Z + 0.1, 1.0, False),
        (0.5, 0.0, LEVEL / 2, True),
    ],
)
def test_a_sample_refutes_it_by_separation_or_by_a_test(
    shift: JointShift, auc: float, z: float, p_value: float, refuted: bool
) -> None:
    found = _examined(shift, _items(60, 0.3, seed=11)[0])
    assert replace(found, auc=auc, z=z, p_values={"column": p_value}).refuted == refuted


def test_limits_by_hand():
    """Of the population: the variance of the draw of the items besides."""
    fields = dict.fromkeys(JointFinding.__dataclass_fields__)
    finding = JointFinding(
        **fields
        | {
            "size": 100,
            "estimate": np.array([0.2, 0.5]),
            "members": np.array([[0.2, 0.5], [0.2, 0.5]]),
            "errors": np.array([[0.01, -0.02], [-0.01, -0.02]]),
        }
    )
    low, high = finding.limits(0.95, of_items=True)
    margin = np.array([1.96 * 0.01, 0.0])
    stretch = joint_shift.STRETCHED
    assert low == pytest.approx([0.2 - stretch * margin[0], 0.5 - stretch * 0.02], abs=1e-4)
    assert high == pytest.approx([0.2 + stretch * margin[0], 0.5], abs=1e-4)
    low, high = finding.limits(0.95, of_items=False)
    margin = 1.96 * np.sqrt(np.array([0.01**2 + 0.2 * 0.8 / 100, 0.25 / 100]))
    assert high == pytest.approx(np.array([0.2, 0.5]) + stretch * margin, abs=1e-4)
    assert low[0] == pytest.approx(max(0.2 - stretch * margin[0], 0.0), abs=1e-4)
