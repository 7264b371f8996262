"""Samples of known prevalence, and what follows from the estimates on them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binomtest

from quantshift.items.simulation import (
    GRID,
    PILOT,
    ClassMembers,
    KnownPrevalences,
    highest_expected,
)


def test_samples_have_the_prevalence_asked_for() -> None:
    codes = np.array([2, 0, 1, 1, 0, 2, 2, 2])
    prevalences = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    rng = np.random.default_rng(0)
    drawn = ClassMembers(codes, 3).draw(prevalences, 500, 40, rng)
    assert drawn.shape == (120, 500)
    shares = [np.bincount(codes[rows].ravel(), minlength=3) / 20_000 for rows in np.split(drawn, 3)]
    assert_allclose(shares, prevalences, atol=0.015)
    # Within a class every item is as likely as another.
    third = np.bincount(drawn[80:].ravel(), minlength=8)[codes == 2]
    assert_allclose(third / 20_000, 0.25, atol=0.015)


def test_samples_of_two_prevalences_differ_by_the_items_that_must() -> None:
    codes = np.repeat([0, 1], 500)
    near = np.array([[0.5, 0.5], [0.45, 0.55]])
    one, other = ClassMembers(codes, 2).draw(near, 1000, 1, np.random.default_rng(1))
    assert 0.03 < np.mean(one != other) < 0.07


def spread(curve: np.ndarray) -> list[np.ndarray]:
    """Estimates whose lowest two in a hundred are on the curve."""
    return [np.concatenate([[own, own], np.full(98, own + 0.1)]) for own in curve]


@given(st.floats(0, 1))
def test_a_straight_curve_gives_the_estimate_back(p: float) -> None:
    assert highest_expected(spread(GRID), np.array([p]), 0.015)[0] == pytest.approx(p, abs=1e-8)


@given(st.floats(0.003, 0.3), st.floats(0, 1), st.floats(0, 1))
def test_where_estimates_are_clipped_the_curve_is_prolonged(
    offset: float, p: float, q: float
) -> None:
    curve = spread(np.maximum(GRID - offset, 0))
    at_zero, at_p, at_q = highest_expected(curve, np.array([0.0, min(p, q), max(p, q)]), 0.015)
    assert at_zero == pytest.approx(offset, abs=1e-7)
    assert at_p <= at_q + 1e-12


def test_a_curve_above_the_estimate_leaves_nothing_and_one_below_everything() -> None:
    assert highest_expected(spread(GRID / 2 + 0.4), np.array([0.1]), 0.015)[0] == 0
    assert highest_expected(spread(GRID / 2), np.array([0.9]), 0.015)[0] == 1


@pytest.mark.parametrize(("k", "off"), [(0, 0.006), (1, 0.006), (12, 1 / 60), (60, 0.006)])
def test_counting_known_labels_gives_the_exact_limits(k: int, off: float) -> None:
    rng = np.random.default_rng(2)
    known = KnownPrevalences(np.array([k / 60]))
    for _ in range(40):
        p = known.prevalences[:, 1:]
        known.add(rng.binomial(60, p, (len(p), 100)) / 60)
    low, high = known.limits(0.95)
    exact = binomtest(k, 60).proportion_ci(0.95, method="exact")
    assert low[0] == pytest.approx(exact.low, abs=off)
    assert high[0] == pytest.approx(exact.high, abs=off)


def test_prevalences_far_from_the_estimate_are_left_out_and_change_nothing() -> None:
    def limits(patient: bool) -> tuple[np.ndarray, int]:
        rng = np.random.default_rng(3)
        known = KnownPrevalences(np.array([0.3]))
        for _ in range(200):
            noise = rng.normal(0, 0.02, len(GRID))
            known.add((GRID + noise)[known.needed, np.newaxis])
            if patient:
                known.needed[:] = True
        return np.concatenate(known.limits(0.95)), int(known.needed.sum())

    (all_limits, all_needed), (some_limits, some_needed) = limits(True), limits(False)
    assert all_needed == len(GRID)
    assert some_needed < len(GRID) / 2
    assert_allclose(some_limits, all_limits, atol=1e-12)
    assert PILOT < 200


def test_an_estimate_far_from_all_is_compared_all_the_same() -> None:
    known = KnownPrevalences(np.array([0.9]))
    for _ in range(PILOT + 5):
        known.add(np.full((int(known.needed.sum()), 1), 0.5))
    low, high = known.limits(0.95)
    assert (low[0], high[0]) == (1, 1)
