"""Intervals of label shares: coverage on simulated items, simultaneous ones are wider."""

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.multilabel import TiltedLabelSets, predict_label_intervals
from quantshift.multilabel.label_intervals import SimulatedWorlds, simulated_worlds
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
    weighted = predict_label_intervals(fitted, new, weights=np.r_[np.full(79, 0.01), 100.0])
    assert (weighted.high - weighted.low).mean() > (each.high - each.low).mean()
    with pytest.raises(UserError, match="level must be between 0 and 1"):
        predict_label_intervals(fitted, new, level=95)


def test_too_few_worlds_for_a_level_give_no_limits():
    worlds = SimulatedWorlds(np.zeros((10, 1)), np.linspace(0, 1, 10)[:, None])
    assert worlds.limits(0, 0.5, 0.01) == (0.0, 1.0)
