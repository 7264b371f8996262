"""Shares of strata times their rates, beside closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from quantshift.labelling.strata import UNSEEN, _margin, joined, label_counts, stratified


def test_the_estimate_is_the_closed_form():
    found = stratified(np.array([0.3, 0.7]), np.array([[8.0, 2.0], [5.0, 45.0]]), 1000, level=0.95)
    assert found.prevalence[1] == pytest.approx(0.3 * 0.2 + 0.7 * 0.9)
    assert found.prevalence.sum() == pytest.approx(1)


def test_many_labels_have_the_interval_of_the_normal_distribution():
    shares, rates, n = np.array([0.3, 0.7]), np.array([0.2, 0.9]), np.array([2000, 3000])
    counts = np.column_stack([n * (1 - rates), n * rates])
    found = stratified(shares, counts, 1_000_000, level=0.95)
    error = np.sqrt((shares**2 * rates * (1 - rates) / n).sum())
    width = 2 * stats.norm.ppf(0.975) * error
    assert (found.high - found.low)[1] == pytest.approx(width, rel=0.01)


@pytest.mark.parametrize("n", [30, 100])
def test_one_stratum_covers_a_binomial_share_as_jeffreys_interval_does(n):
    seen = np.arange(n + 1.0)
    found = [stratified(np.array([1.0]), np.array([[n - x, x]]), 1e12, level=0.95) for x in seen]
    ours = [np.array([getattr(one, end)[1] for one in found]) for end in ("low", "high")]
    his = [stats.beta.ppf(tail, seen + 0.5, n - seen + 0.5) for tail in (0.025, 0.975)]
    his = [np.where(seen > 0, his[0], 0), np.where(seen < n, his[1], 1)]
    truth = np.linspace(0.01, 0.5, 99)[:, None]
    chance = stats.binom.pmf(seen, n, truth)
    held, his_held = (
        (chance * ((low <= truth) & (truth <= high))).sum(axis=1) for low, high in (ours, his)
    )
    # Exact probabilities. Any interval of one binomial share steps below its level somewhere.
    assert held.min() > max(0.88, his_held.min() - 0.01)
    assert 0.945 <= held.mean() < 0.96
    assert (chance @ (ours[1] - ours[0])).mean() < 1.005 * (chance @ (his[1] - his[0])).mean()


def test_of_a_class_that_nobody_saw_part_of_an_item_is_added_where_labels_are_heaviest():
    shares, n = np.array([0.9, 0.1]), np.array([300.0, 200.0])
    counts = np.column_stack([n, np.zeros(2)])
    found = stratified(shares, counts, 1e12, level=0.95)
    # Pearson's type III stands for the beta distribution: a difference of 1%.
    assert found.high[1] == pytest.approx(0.9 * stats.beta.ppf(0.975, 0.45, 300.5), rel=0.01)
    assert found.low[1] == 0


def test_the_shares_of_few_items_add_their_part_of_the_variance():
    shares, rates, n = np.array([0.3, 0.7]), np.array([0.2, 0.9]), np.array([2000, 3000])
    counts = np.column_stack([n * (1 - rates), n * rates])
    few, many = (stratified(shares, counts, size, level=0.95) for size in (400, 1e12))
    p = shares @ rates
    assert few.by_shares[1] == pytest.approx(shares @ (rates - p) ** 2 / 400)
    added = (few.high - few.low)[1] ** 2 - (many.high - many.low)[1] ** 2
    z = stats.norm.ppf(0.975)
    assert added == pytest.approx((2 * z) ** 2 * few.by_shares[1], rel=0.01)
    known = stratified(shares, counts, 400, level=0.95, covered=np.zeros(2))
    assert known.by_shares[1] == 0
    assert known.high == pytest.approx(many.high)


def test_a_stratum_without_labels_may_be_anything():
    found = stratified(np.array([0.4, 0.6]), np.array([[0.0, 0.0], [30.0, 30.0]]), 1e9, level=0.95)
    assert found.high[1] - found.low[1] > 0.4


def test_a_stratum_with_hardly_a_label_is_joined_with_the_largest():
    codes = np.repeat([0, 1, 2], [10, 50, 40])
    known = np.isin(np.arange(100), [0, 20, 21, 22, 70, 71])
    assert joined(codes, known, 3).tolist() == np.repeat([0, 1], [60, 40]).tolist()
    assert joined(codes, np.arange(100) < 3, 3).tolist() == [0] * 100
    assert joined(codes, np.arange(100) < 1, 3).tolist() == [0] * 100


def test_weights_count_as_an_effective_number():
    codes, y = np.zeros(4, dtype=int), np.array([0, 1, 1, 1])
    even = label_counts(codes, y, 1, 2, np.full(4, 7.0))
    assert even == pytest.approx(np.array([[1, 3]]))
    uneven = label_counts(codes, y, 1, 2, np.array([3.0, 1.0, 1.0, 1.0]))
    assert uneven.sum() == pytest.approx(36 / 12)
    assert uneven[0, 1] / uneven.sum() == pytest.approx(0.5)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 100), st.integers(0, 30), st.integers(0, 30)),
        min_size=1,
        max_size=6,
    )
)
def test_limits_contain_the_estimate_and_mirror(strata):
    shares = np.array([s[0] for s in strata]) / sum(s[0] for s in strata)
    counts = np.array([s[1:] for s in strata], dtype=float)
    found = stratified(shares, counts, 500, level=0.9)
    assert (found.low >= 0).all()
    assert (found.low <= found.prevalence + 1e-12).all()
    assert (found.prevalence <= found.high + 1e-12).all()
    assert found.low[0] == pytest.approx(1 - found.high[1], abs=1e-9)


@pytest.mark.parametrize("n", [2, 4, 20])
def test_the_limit_of_one_stratum_is_that_of_a_beta_distribution_of_a_larger_variance(n):
    """Pearson's third type with the moments of Beta(a, b), the variance times 1 + 8 / n^2."""
    x, level = n / 2, 0.95
    found = _margin(np.ones(1), np.full((1, 2), x), np.full((1, 1), n), np.zeros(2), level, UNSEEN)
    a = x + max(0.5 * (n / 4) / (n / 4 + 3), 0.45 / (1 + n / 4 / 5))
    b = x + 0.5 * max(x / (x + 2), 0.5)
    mean, variance, skewness = stats.beta.stats(a, b, moments="mvs")
    reach = stats.pearson3.ppf((1 + level) / 2, skewness) * np.sqrt(variance * (1 + 8 / n**2))
    assert found == pytest.approx(np.full(2, mean - 0.5 + reach), rel=1e-6)
