"""The range of shares that remain possible where no assumption can be relied on."""

import numpy as np
import pytest

from quantshift.quantifiers.likelihood.allowed_range import (
    LEAST_SPREAD,
    half_width,
    joint_limits,
    on_the_way,
    range_limits,
)

PCC = np.array([[0.6, 0.4], [0.5, 0.5]])
SIZE = np.array([400.0, 1e9])


def test_the_half_width_has_three_parts():
    h = half_width(PCC, np.array([0.7, 0.4]), SIZE)
    expected = np.sqrt(0.24 * (LEAST_SPREAD**2 + 0.2**2 + 1.96**2 / 400))
    assert h[0] == pytest.approx([expected] * 2)
    assert h[1] == pytest.approx([LEAST_SPREAD / 2] * 2)


def test_three_quarters_of_the_way_to_wider_limits():
    auc = np.array([0.7, 0.5])
    h = half_width(PCC, np.array([0.65, 0.5]), SIZE)
    far = PCC - h - 0.08, PCC + h + 0.04
    low, high = on_the_way(PCC, auc, SIZE, far)
    assert low == pytest.approx(PCC - h - 0.06)
    assert high == pytest.approx(PCC + h + 0.03)
    # Nearer limits leave PCC +- h, and shares end at 0 and 1.
    low, high = on_the_way(PCC, auc, SIZE, (PCC, PCC))
    assert low == pytest.approx(PCC - h)
    assert high == pytest.approx(PCC + h)
    low, high = on_the_way(PCC, auc, SIZE, (PCC - 2, PCC + 2))
    assert low.min() == 0
    assert high.max() == 1


def test_limits_of_a_joint_change_hold_the_mean_posterior_and_all_that_is_possible():
    jointly = np.array([[0.2, 0.5], [0.45, 0.45]]), np.array([[0.5, 0.8], [0.55, 0.55]])
    low, high = joint_limits(PCC, jointly, SIZE)
    h = half_width(PCC, np.full(2, 0.5), SIZE)
    assert (low <= np.minimum(jointly[0], PCC - h)).all()
    assert (high >= np.maximum(jointly[1], PCC + h)).all()
    # The sample fits a mixture of shares that is known well: only the spread remains.
    assert high[1] - low[1] == pytest.approx([2 * np.hypot(0.05, LEAST_SPREAD / 2)] * 2)


def test_scores_alone_reach_less_far_than_features():
    h, never = np.full((1, 2), 0.01), np.array([False])
    mixed, prior = np.array([[0.1, 0.9]]), (np.array([[0.2, 0.8]]), np.full((1, 2), 0.02))
    pcc, refuted = np.array([[0.6, 0.4]]), np.array([True])
    limits = {
        by: range_limits(pcc, mixed, prior, h, refuted=refuted, by_features=np.array([by]))
        for by in (False, True)
    }
    assert limits[True][1][0, 1] == pytest.approx(0.91)
    assert limits[False][1][0, 1] == pytest.approx(0.4 + 0.45 * 0.5 + 0.01)
    _, high = range_limits(pcc, mixed, prior, h, refuted=never, by_features=never)
    assert high[0, 1] == pytest.approx(0.8 + 1.96 * 0.02)
