"""Intervals of label shares: coverage on simulated items, simultaneous ones are wider."""

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.multilabel import TiltedLabelSets, label_intervals, predict_label_intervals
from quantshift.multilabel.label_intervals import NO_LABEL, SimulatedWorlds, simulated_worlds
from quantshift.multilabel.label_samples import samples_of_each_label
from quantshift.multilabel.label_tables import label_table
from tests.multilabel.test_tilted_label_sets import problem


@pytest.mark.slow
def test_intervals_contain_the_shares_of_new_samples():
    X, Y = problem(500)
    X_new, Y_new = problem(3000, seed=1)
    fitted = TiltedLabelSets().fit(X, Y)
    worlds = simulated_worlds(fitted, 100)
    index = samples_of_each_label(label_table(Y_new), 100, 11, 2)
    estimates, truth = fitted.predict(X_new, index), Y_new[index].mean(axis=1)
    covered = [
        [low <= share <= high for j, share in enumerate(shares) for low, high in [limits(j)]]
        for shares, row in zip(truth, estimates, strict=True)
        for limits in [lambda j, row=row: worlds.limits(j, row[j], 0.1)]
    ]
    assert 0.85 < np.mean(covered) < 0.96


@pytest.mark.slow
def test_limits_are_around_the_estimate_and_simultaneous_ones_are_wider():
    X, Y = problem(300)
    new = problem(80, seed=2)[0]
    fitted = TiltedLabelSets().fit(X, Y)
    each = predict_label_intervals(fitted, new)
    together = predict_label_intervals(fitted, new, simultaneous=True)
    assert (each.low <= each.estimates).all()
    assert (each.estimates <= each.high).all()
    assert (together.low <= each.low).all()
    assert (together.high >= each.high).all()
    assert (together.high - together.low > each.high - each.low).any()
    assert (each.estimates == fitted.predict(new)).all()
    # Eight items count almost alone, and limits are those of eight items.
    few = np.r_[np.full(72, 0.01), np.full(8, 10.0)]
    weighted = predict_label_intervals(fitted, new, sample_weight=few)
    assert (weighted.high - weighted.low).mean() > (each.high - each.low).mean()
    with pytest.raises(UserError, match="level must be between 0 and 1"):
        predict_label_intervals(fitted, new, level=95)


def test_too_few_worlds_for_a_level_give_no_limits():
    shares = np.linspace(0, 1, 10)[:, None]
    worlds = SimulatedWorlds(np.zeros((10, 1)), shares, np.full(10, NO_LABEL))
    assert worlds.limits(0, 0.5, 0.01) == (0.0, 1.0)


def test_samples_of_the_label_itself_count_a_third():
    # Ten samples where another label moved, without errors; two where this one did, with large
    # ones. They count 2 each, and the others 0.8. So at 40% they are too many to be left out.
    shares = np.r_[np.full(10, 0.5), 0.2, 0.8]
    worlds = SimulatedWorlds(np.full((12, 1), 0.5), shares[:, None], np.r_[np.full(10, 1), 0, 0])
    same = SimulatedWorlds(worlds.estimates, worlds.shares, np.full(12, NO_LABEL))
    assert worlds.limits(0, 0.5, 0.43) == pytest.approx((0.2, 0.8))
    assert worlds.limits(0, 0.5, 0.44) == (0.5, 0.5)
    assert same.limits(0, 0.5, 0.30) == pytest.approx((0.2, 0.8))
    assert same.limits(0, 0.5, 0.32) == (0.5, 0.5)


def test_a_few_samples_of_the_label_itself_do_not_outweigh_all_others():
    is_own = np.zeros(10_000, dtype=bool)
    is_own[:3] = True
    counts = label_intervals._counts(is_own)
    assert counts.mean() == pytest.approx(1)
    assert counts[0] / counts[-1] == label_intervals.MOST_COUNT
    assert (label_intervals._counts(is_own & False) == 1).all()
    is_own[:5000] = True
    assert (label_intervals._counts(is_own) == 1).all()


def grouped():
    """A method for four labels in two groups, and posteriors of items to estimate."""
    Y = problem(300)[1]
    rng = np.random.default_rng(5)
    posteriors = np.clip(Y * 0.6 + rng.random(Y.shape) * 0.4, 0.01, 0.99)
    return TiltedLabelSets(largest_group=3).fit_posteriors(posteriors, Y), posteriors[:80]


def test_a_part_estimates_what_the_whole_does():
    fitted, new = grouped()
    together = fitted.aggregate(new)
    assert [len(group) for group in fitted.groups_] == [3, 1]
    seen = []
    for labels, part in fitted.parts():
        np.testing.assert_array_equal(part.aggregate(new[:, labels]), together[labels])
        assert part.labels_.tolist() == fitted.labels_[labels].tolist()
        seen += labels.tolist()
    assert sorted(seen) == list(range(len(fitted.labels_)))


def test_groups_are_simulated_one_at_a_time(monkeypatch):
    fitted, new = grouped()
    monkeypatch.setattr(label_intervals, "BOOTSTRAPS", 2)
    sizes = []
    simulate = label_intervals.simulated_worlds

    def recorded(*args, **options):
        worlds = simulate(*args, **options)
        sizes.append(worlds.estimates.shape)
        # One label of the other group is set, too: there is one, or as many as in the group.
        assert (worlds.moved == NO_LABEL).sum() == 2 * (label_intervals.NATURAL + 11)
        return worlds

    monkeypatch.setattr(label_intervals, "simulated_worlds", recorded)
    found = label_intervals.aggregate_label_intervals(fitted, new, level=0.8)
    assert sizes == [(2 * (60 + 11 * len(group) + 11), len(group)) for group in fitted.groups_]
    assert (found.low <= found.estimates).all()
    assert (found.estimates <= found.high).all()
    assert (found.high - found.low < 0.9).all()


def test_of_many_labels_only_some_are_set(monkeypatch):
    X, Y = problem(200)
    monkeypatch.setattr(label_intervals, "BOOTSTRAPS", 2)
    monkeypatch.setattr(label_intervals, "MOST_SET", 1)
    worlds = simulated_worlds(TiltedLabelSets().fit(X, Y), 50)
    assert len(worlds.moved) == 2 * (60 + 11)
    assert (worlds.moved != NO_LABEL).sum() == 2 * 11


def test_unseen_items_without_a_varying_label_are_simulated_as_they_are(monkeypatch):
    monkeypatch.setattr(label_intervals, "BOOTSTRAPS", 3)
    has = np.zeros((60, 2), dtype=bool)
    has[:2, 0] = has[1:3, 1] = True
    posteriors = np.where(has, 0.7, 0.1)
    with pytest.warns(UserWarning, match="know too little"):
        fitted = TiltedLabelSets().fit_posteriors(posteriors, has)
    for seed in range(4):
        assert np.isfinite(simulated_worlds(fitted, 20, seed=seed).estimates).all()
