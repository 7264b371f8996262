"""The joint posterior beside a grid, a Gibbs sampler and the formula of Lang and Reiczigel."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from quantshift.errors import DataError
from quantshift.labelling.transfer import (
    BORDER,
    CONTRADICTED,
    _draws,
    _projected,
    _Rates,
    dirichlet,
    gain_of_known_items,
    power_of,
    prevalences,
    square,
)

TWO = np.array([[40, 10], [3, 47]])
THREE = np.array([[20, 3, 2], [4, 18, 3], [1, 5, 19]])


def power(F):
    """Of the determinant in the posterior: one from the change of variables, and the weights'."""
    draws = dirichlet(F + 0.5, 20_000, np.random.default_rng(1))
    return 1 + power_of(np.abs(np.linalg.det(draws)))


def by_grid(F, N, at):
    """Quantiles of the prevalence of class 1, all three parameters on a grid."""
    p = (np.arange(400) + 0.5) / 400
    rate = (np.arange(150) + 0.5) / 150
    se, sp = np.meshgrid(rate, rate, indexing="ij")
    log_rates = (
        stats.beta.logpdf(se, F[1, 1] + 0.5, F[1, 0] + 0.5)
        + stats.beta.logpdf(sp, F[0, 0] + 0.5, F[0, 1] + 0.5)
        + power(F) * np.log(np.abs(se + sp - 1) + 1e-300)
    )
    mass = np.empty(len(p))
    logs = []
    for x in p:
        q = x * se + (1 - x) * (1 - sp)
        logs.append(log_rates + N[1] * np.log(q) + N[0] * np.log1p(-q) - 0.5 * np.log(x * (1 - x)))
    most = max(log.max() for log in logs)
    mass = np.array([np.exp(log - most).sum() for log in logs])
    heights = np.cumsum(mass) / mass.sum()
    return np.interp(at, heights, p)


def by_gibbs(F, N, at, sweeps=400, chains=300):
    """Quantiles of every class: conjugate sweeps, reweighted by the determinant of the rates."""
    rng = np.random.default_rng(0)
    K = len(F)
    p = np.full((chains, K), 1 / K)
    R = np.broadcast_to((F + 1) / (F + 1).sum(axis=1, keepdims=True), (chains, K, K))
    draws, weights, steep = [], [], power(F)
    for sweep in range(sweeps):
        share = p[:, :, None] * R
        share = share / share.sum(axis=1, keepdims=True)
        A = np.stack([rng.multinomial(N[c], share[:, :, c]) for c in range(K)], axis=2)
        R = rng.standard_gamma(F + 0.5 + A)
        R /= R.sum(axis=2, keepdims=True)
        p = rng.standard_gamma(0.5 + A.sum(axis=2))
        p /= p.sum(axis=1, keepdims=True)
        if sweep >= sweeps // 2:
            draws.append(p)
            weights.append(np.abs(np.linalg.det(R)) ** steep)
    p, w = np.concatenate(draws), np.concatenate(weights)
    found = []
    for c in range(K):
        order = np.argsort(p[:, c])
        heights = np.cumsum(w[order]) / w.sum()
        found.append(np.interp(at, heights, p[order, c]))
    return np.array(found).T


@pytest.mark.parametrize("N", [[30, 70], [150, 850], [90, 10]])
def test_two_classes_as_on_a_grid(N):
    found = prevalences(TWO, [N])
    low, high = by_grid(TWO, N, [0.025, 0.975])
    assert found.low[0, 1] == pytest.approx(low, abs=0.02)
    assert found.high[0, 1] == pytest.approx(high, abs=0.02)


@pytest.mark.parametrize(("F", "N"), [(TWO, [20, 40]), (THREE, [30, 20, 25]), (THREE, [8, 30, 30])])
def test_as_by_a_gibbs_sampler(F, N):
    found = prevalences(F, [N])
    low, high = by_gibbs(F, N, [0.025, 0.975])
    assert found.low[0] == pytest.approx(low, abs=0.03)
    assert found.high[0] == pytest.approx(high, abs=0.03)


def test_the_determinant_has_a_higher_power_the_clearer_the_judge_separates():
    weak, fair, good = (
        dirichlet(np.array(F) + 0.5, 4000, np.random.default_rng(0))
        for F in ([[15, 10], [10, 15]], [[20, 5], [5, 20]], [[95, 5], [5, 95]])
    )
    found = [power_of(np.abs(np.linalg.det(R))) for R in (weak, fair, good)]
    assert found[0] == 1
    assert 1 < found[1] < 3
    assert found[2] == 3


def test_the_formula_of_lang_and_reiczigel_for_many_labels():
    F, N = np.array([[450, 150], [30, 570]]), np.array([700, 1300])
    z = stats.norm.ppf(0.975)
    se, sp = 571 / 602, 451 / 602
    q = (N[1] + z * z / 2) / (N.sum() + z * z)
    p = (q + sp - 1) / (se + sp - 1)
    error = np.sqrt(
        q * (1 - q) / (N.sum() + z * z)
        + p**2 * se * (1 - se) / 602
        + (1 - p) ** 2 * sp * (1 - sp) / 602
    ) / (se + sp - 1)
    move = 2 * z * z * (p * se * (1 - se) / 602 - (1 - p) * sp * (1 - sp) / 602)
    found = prevalences(F, [N])
    assert found.low[0, 1] == pytest.approx(p + move - z * error, abs=0.012)
    assert found.high[0, 1] == pytest.approx(p + move + z * error, abs=0.012)


def test_a_batch_does_not_depend_on_the_others():
    many = prevalences(THREE, [[10, 20, 30], [50, 10, 5], [10, 20, 30]])
    alone = prevalences(THREE, [[50, 10, 5]])
    assert np.array_equal(many.low[1], alone.low[0])
    assert np.array_equal(many.high[0], many.high[2])


def test_verdicts_that_no_prevalence_explains_are_marked():
    found = prevalences([[95, 5], [50, 50]], [[100, 900]])
    assert found.possible[0] <= CONTRADICTED
    assert not found.fits[0]
    assert found.prevalence[0].sum() == pytest.approx(1)


def test_more_verdicts_than_classes_are_worth_more_than_two():
    S = np.array([[30, 12, 5, 3], [2, 6, 14, 28]])
    fine = prevalences(S, [[300, 200, 200, 300]])
    coarse = prevalences(S.reshape(2, 2, 2).sum(axis=2), [[500, 500]])
    assert fine.low[0, 1] < 0.5 < fine.high[0, 1]
    assert (fine.high - fine.low)[0, 1] < (coarse.high - coarse.low)[0, 1]


def test_fewer_verdicts_than_classes_and_no_labels_of_a_class_are_wide():
    few = prevalences([[20, 5], [5, 20], [10, 10]], [[100, 100]])
    assert (few.high - few.low)[0, 2] > 0.5
    none = prevalences([[45, 5], [0, 0]], [[60, 40]])
    assert none.low[0, 1] < 0.5 < none.high[0, 1]


@pytest.mark.parametrize(
    ("F", "N"),
    [([[1, 2]], [[1, 2]]), ([[1, 2], [3, 4]], [[1, 2, 3]]), ([[1, -2], [3, 4]], [[1, 2]])],
)
def test_counts_that_are_none(F, N):
    with pytest.raises(DataError, match="counts"):
        prevalences(F, N)


@pytest.mark.slow
def test_a_thousand_batches_in_one_call():
    rng = np.random.default_rng(0)
    p = np.array([0.5, 0.3, 0.2]) @ (THREE / THREE.sum(axis=1, keepdims=True))
    start = time.process_time()
    found = prevalences(THREE, rng.multinomial(1000, p, size=1000))
    assert found.prevalence.shape == (1000, 3)
    assert time.process_time() - start < 5


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 3).flatmap(
        lambda K: st.tuples(
            st.lists(st.lists(st.integers(0, 40), min_size=K, max_size=K), min_size=K, max_size=K),
            st.lists(st.integers(0, 2000), min_size=K, max_size=K),
        )
    )
)
def test_limits_are_around_a_prevalence(counts):
    F, N = counts
    found = prevalences(F, [N])
    assert found.prevalence[0].sum() == pytest.approx(1)
    assert (found.low >= 0).all()
    assert (found.high <= 1).all()
    assert (found.low <= found.high).all()


def test_as_many_verdicts_as_classes_have_half_a_label_added_and_more_have_less():
    for F, added in ((np.array(TWO), 0.5), (np.array([[4, 0, 1, 0], [0, 3, 0, 2]]), 0.25)):
        alpha, _, _ = square(F, np.ones((1, F.shape[1])), None)
        assert alpha == pytest.approx(F + added)


def test_two_verdicts_that_stand_for_one_class_gain_as_the_one_they_are():
    split = np.array([[10.0, 30, 10], [4, 1, 45]])
    one = np.column_stack([split[:, :2].sum(axis=1), split[:, 2]])
    directions, p = np.array([[1.0, 0], [1, 0], [0, 1]]), np.array([0.7, 0.3])
    expected = gain_of_known_items(one, None, p)
    assert gain_of_known_items(split, directions, p) == pytest.approx(expected)
    # p (1 - p) over the variance by errors, by hand: verdicts less false ones, over J.
    a, b = 0.8, 0.1
    by_errors = (0.7 * a * (1 - a) + 0.3 * b * (1 - b)) / (a - b) ** 2
    assert expected == pytest.approx(1 + 0.21 / by_errors)


def test_draws_near_the_border_count_as_those_on_it():
    rates, N = _Rates(5 * TWO + 0.5, None, 0, 1.0), np.array([75.0, 25.0])
    p, w, n_blocks = _draws(rates, N, 0)
    assert n_blocks == 1
    border = BORDER * np.quantile(np.clip(p, 0, 1), 0.975, axis=0)
    inside = (p >= 0).all(axis=1)
    assert (p[inside] < border).any()
    assert (w > 0).tolist() == inside.tolist()
    prior = np.maximum(p[inside], border).prod(axis=1) ** -0.5
    determinants = np.abs(np.linalg.det(rates.draw(0)))[inside]
    assert w[inside] == pytest.approx(determinants * prior)


def test_two_blocks_without_a_prevalence_are_enough_to_end():
    rates = _Rates(TWO * 100 + 0.5, None, 0, 1.0)
    assert _draws(rates, np.array([0.0, 1e5]), 0)[2] == 2


def test_draws_that_are_no_prevalence_have_limits_at_twice_their_distance():
    draws = np.array([[0.4, 0.6], [0.5, 0.5], [0.7, 0.3]])
    estimate, low, high = _projected(draws, [0.0, 1.0])
    assert estimate == pytest.approx([0.5, 0.5])
    assert low == pytest.approx([0.3, 0.1])
    assert high == pytest.approx([0.9, 0.7])
