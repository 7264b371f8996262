"""BayesianCC and PQ: posteriors against integrals, draws, samples much larger than training."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln, logsumexp

from quantshift import BayesianCC
from quantshift.checks.every_quantifier import yield_checks
from quantshift.errors import UserError
from quantshift.intervals.limits import limits
from quantshift.quantifiers import PQ, BayesianKDEy
from quantshift.quantifiers.bayesian.gibbs import TwoByTwo, gibbs


def exact_two_by_two(known: np.ndarray, counts: np.ndarray, alpha: float) -> np.ndarray:
    """Mean and standard deviation of p by a plain product grid of p and both rates."""
    nodes = (np.arange(100) + 0.5) / 100
    low, high, p = np.meshgrid(nodes, nodes, nodes, indexing="ij")
    log = known[0, 1] * np.log(low) + known[0, 0] * np.log(1 - low)
    log += known[1, 1] * np.log(high) + known[1, 0] * np.log(1 - high)
    q = (1 - p) * low + p * high
    log += counts[1] * np.log(q) + counts[0] * np.log(1 - q)
    log += (alpha - 1) * (np.log(p) + np.log(1 - p))
    mass = np.exp(log - log.max())
    mean = (mass * p).sum() / mass.sum()
    return np.array([mean, np.sqrt((mass * (p - mean) ** 2).sum() / mass.sum())])


TWO = [
    ([[50, 10], [8, 42]], [60, 40], 1.0),
    ([[5, 1], [2, 4]], [90, 10], 1.0),
    ([[30, 10], [15, 25]], [0, 50], 2.0),
    ([[20, 20], [20, 20]], [70, 30], 1.0),
]


@pytest.mark.parametrize(("known", "counts", "alpha"), TWO)
def test_the_grid_is_the_integral(known, counts, alpha):
    """1e-3 is a hundredth of the posterior's width."""
    known, counts = np.array(known, dtype=float), np.array(counts, dtype=float)
    grid = TwoByTwo.of(known, alpha)
    masses = grid.masses(counts[np.newaxis])[0]
    mean = masses @ grid.p
    found = [mean, np.sqrt(masses @ grid.p**2 - mean**2)]
    assert_allclose(found, exact_two_by_two(known, counts, alpha), atol=1e-3)


def test_a_hundred_draws_from_the_grid_give_its_quantiles():
    grid = TwoByTwo.of(np.array([[60.0, 25.0], [15.0, 40.0]]), 1.0)
    masses = grid.masses(np.array([[170.0, 130.0]]))
    few, many = (grid.draws(masses, n, seed=0)[0, :, 1] for n in (100, 100_000))
    levels = [0.025, 0.5, 0.975]
    # Interpolating between neighbours of a hundred quantiles is off by less than 0.001 here.
    assert np.quantile(few, levels, method="hazen") == pytest.approx(
        np.quantile(many, levels), abs=1e-3
    )


@pytest.mark.parametrize(("known", "counts", "alpha"), TWO[:2])
def test_gibbs_agrees_with_the_grid(known, counts, alpha):
    """20,000 draws, about a fifth of them independent: a standard error of .02 deviations."""
    known, counts = np.array(known, dtype=float), np.array([counts], dtype=float)
    grid = TwoByTwo.of(known, alpha)
    mean, spread = grid.masses(counts)[0] @ grid.p, exact_two_by_two(known, counts[0], alpha)[1]
    drawn = gibbs(known, counts, alpha=alpha, n_draws=20_000, seed=0)
    assert drawn.p_mean[0, 1] == pytest.approx(mean, abs=0.1 * spread)
    assert drawn.p[0, :, 1].std() == pytest.approx(spread, rel=0.1)
    assert_allclose(drawn.p[0].mean(axis=0), drawn.p_mean[0], atol=0.1 * spread)


def test_three_classes_by_summing_over_all_divisions():
    """Few items: every division of them among the classes has a closed form."""
    known = np.array([[3.0, 1, 0], [1, 4, 1], [0, 1, 2]])
    counts = np.array([3.0, 2, 1])
    weight, total, own = 0.0, np.zeros(3), np.zeros(3)
    for parts in product(*(_compositions(int(n), 3) for n in counts)):
        division = np.array(parts).T
        filled = 1 + known + division
        log = (gammaln(counts + 1) - gammaln(division + 1).sum(axis=0)).sum()
        log += (gammaln(filled).sum(axis=1) - gammaln(filled.sum(axis=1))).sum()
        log += gammaln(1 + division.sum(axis=1)).sum()
        weight += np.exp(log)
        total += np.exp(log) * (1 + division.sum(axis=1)) / (3 + counts.sum())
        own += np.exp(log) * division.sum(axis=1) / counts.sum()
    drawn = gibbs(known, counts[np.newaxis], alpha=1.0, n_draws=20_000, seed=0)
    assert_allclose(drawn.p_mean[0], total / weight, atol=0.005)
    assert_allclose(drawn.own_mean[0], own / weight, atol=0.01)
    assert_allclose(drawn.own[0].mean(axis=0), drawn.own_mean[0], atol=0.01)


def _compositions(n: int, k: int) -> list[tuple[int, ...]]:
    if k == 1:
        return [(n,)]
    return [(i, *rest) for i in range(n + 1) for rest in _compositions(n - i, k - 1)]


def test_a_sample_much_larger_than_training_is_no_trap():
    """Without the exchange of rates the chain had three independent draws in a thousand here."""
    rng = np.random.default_rng(0)
    known = np.array([rng.multinomial(50, 0.7 * np.eye(3)[k] + 0.1) for k in range(3)], dtype=float)
    counts = np.array([[1200.0, 1500, 2300]])
    means = [
        gibbs(known, counts, alpha=1.0, n_draws=1000, seed=seed).p_mean[0] for seed in range(6)
    ]
    spread = gibbs(known, counts, alpha=1.0, n_draws=1000, seed=9).p[0].std(axis=0)
    assert (np.std(means, axis=0) < 0.2 * spread).all()


def exact_for_known_shares(known: np.ndarray, shares: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of p in an endless sample, whose shares of the cells are known.

    Rates of the second class are drawn given its labelled items. Those of the first follow from
    them, p and the shares; the determinant of that map is (1 - p)^(n_cells - 1).
    """
    second = np.random.default_rng(0).dirichlet(known[1] + 1, 4000)
    p = np.linspace(0.0005, 0.9995, 1000)
    log = np.full(len(p), -np.inf)
    for i, share in enumerate(p):
        first = (shares - share * second) / (1 - share)
        first = first[(first > 0).all(axis=1)]
        if len(first):
            jacobian = (len(shares) - 1) * np.log(1 - share)
            log[i] = logsumexp((known[0] * np.log(first)).sum(axis=1)) - jacobian
    mass = np.exp(log - log.max())
    mean = (mass * p).sum() / mass.sum()
    return mean, np.sqrt((mass * (p - mean) ** 2).sum() / mass.sum())


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7])
@pytest.mark.parametrize("n_items", [10**7, 10**10])
def test_a_huge_sample_in_more_cells_than_classes_is_no_trap(share, n_items):
    """Without trades the chain stayed near its start: 0.31 +- 0.0002 and not 0.025 +- 0.01."""
    rates = np.array([[0.5, 0.3, 0.15, 0.05], [0.05, 0.15, 0.3, 0.5]])
    rng = np.random.default_rng(1)
    known = np.array([rng.multinomial(2000, row) for row in rates], dtype=float)
    shares = np.array([1 - share, share]) @ rates
    drawn = gibbs(known, (shares * n_items).round()[np.newaxis], alpha=1.0, n_draws=4000, seed=0)
    mean, deviation = exact_for_known_shares(known, shares)
    # Monte Carlo errors: the 4,000 draws are worth about 200 independent ones.
    assert abs(drawn.p_mean[0, 1] - mean) < 0.3 * deviation
    assert abs(drawn.p[0, :, 1].std() / deviation - 1) < 0.2


def classified(n: int, p: np.ndarray, rng: np.random.Generator, sharp: float = 2.0):
    y = rng.choice(len(p), n, p=p)
    logits = sharp * (rng.normal(size=(n, len(p))) + 1.5 * np.eye(len(p))[y])
    posteriors = np.exp(logits)
    return posteriors / posteriors.sum(axis=1, keepdims=True), y


@pytest.mark.parametrize("cls", [BayesianCC, PQ])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_a_large_sample_of_the_training_classes_has_its_prevalence(cls, n_classes):
    rng = np.random.default_rng(0)
    quantifier = cls(n_draws=300).fit_posteriors(
        *classified(20_000, np.full(n_classes, 1 / n_classes), rng)
    )
    p = rng.dirichlet(np.ones(n_classes))
    sample, y = classified(20_000, p, rng)
    estimate = quantifier.estimate_posteriors(sample)
    assert_allclose(estimate.prevalence, np.bincount(y) / len(y), atol=0.025)
    assert 0 < estimate.diagnostics["uncertainty"] < 0.03


@pytest.mark.parametrize("cls", [BayesianCC, PQ])
def test_draws_are_of_the_posterior_whose_mean_is_the_estimate(cls):
    rng = np.random.default_rng(1)
    for n_classes in (2, 3):
        quantifier = cls().fit_posteriors(*classified(300, np.full(n_classes, 1 / n_classes), rng))
        pool, _ = classified(200, np.full(n_classes, 1 / n_classes), rng)
        rows = [np.arange(100), np.arange(200)]
        drawn = quantifier.aggregate_posterior(pool, rows, n_draws=2000, random_state=3)
        assert drawn.shape == (2, 2000, n_classes)
        assert_allclose(drawn.sum(axis=2), 1)
        spread = drawn.std(axis=1).max()
        assert_allclose(drawn.mean(axis=1), quantifier.aggregate(pool, rows), atol=0.25 * spread)
        alone = quantifier.aggregate_posterior(pool[:100], n_draws=2000, random_state=3)
        assert_allclose(alone, drawn[0], atol=1e-9)
        found = quantifier.aggregate_interval(pool, rows, n_bootstrap=2000, random_state=3)
        assert_array_equal(found.replicates, drawn)
        lowest = np.quantile(drawn, 0.025, axis=1, method="weibull")
        assert_allclose(found.low, np.minimum(lowest, found.prevalence))


def test_draws_under_resampled_training_items_are_put_around_the_estimate():
    """Their percentiles would have the bias of the estimate twice."""
    rng = np.random.default_rng(4)
    quantifier = BayesianKDEy().fit_posteriors(*classified(90, np.full(3, 1 / 3), rng))
    pool, _ = classified(200, np.array([0.05, 0.15, 0.8]), rng)
    found = quantifier.aggregate_interval(pool, n_bootstrap=200, random_state=1)
    low, high = limits(
        found.prevalence[np.newaxis],
        found.replicates[np.newaxis],
        [200],
        0.95,
        centre=found.prevalence[np.newaxis],
        training_sizes=np.bincount(quantifier.held_out_codes_),
    )
    assert_allclose([found.low, found.high], [low[0], high[0]])
    assert_allclose(found.bias, found.replicates.mean(axis=0) - found.prevalence)


def test_the_interval_of_pq_is_for_the_items_at_hand():
    """With a nearly perfect classifier the sample's own share is known, the population's is not."""
    rng = np.random.default_rng(2)
    known, sample = (classified(2000, np.array([0.5, 0.5]), rng, sharp=9.0) for _ in range(2))
    perfect = [np.where(np.eye(2)[y] == 1, 0.99, 0.01) for _, y in (known, sample)]
    widths = {}
    for cls in (BayesianCC, PQ):
        quantifier = cls().fit_posteriors(perfect[0], known[1])
        found = quantifier.aggregate_interval(perfect[1][:200], n_bootstrap=500)
        widths[cls] = found.high[1] - found.low[1]
    assert widths[PQ] < 0.03 < 0.1 < widths[BayesianCC]


@pytest.mark.parametrize("cls", [BayesianCC, PQ])
def test_where_nothing_is_told_the_posterior_is_the_prior(cls):
    known, y = np.full((200, 3), 1 / 3), np.arange(200) % 3
    drawn = cls(alpha=2.0).fit_posteriors(known, y).aggregate_posterior(known[:30], n_draws=4000)
    assert_allclose(drawn.mean(axis=(0)), 1 / 3, atol=0.06)
    assert drawn.std(axis=0).min() > 0.12  # of Dirichlet(2, 2, 2): .178


@pytest.mark.parametrize("cls", [BayesianCC, PQ])
def test_fractional_weights_and_single_items(cls):
    rng = np.random.default_rng(3)
    posteriors, y = classified(150, np.full(3, 1 / 3), rng)
    quantifier = cls(n_draws=400).fit_posteriors(posteriors, y, sample_weight=rng.random(150) + 0.5)
    p_hat = quantifier.aggregate(posteriors, sample_weight=rng.random(150))
    assert_allclose(p_hat.sum(), 1)
    assert quantifier.aggregate(posteriors[:1]).max() < 0.9


def test_options_are_checked():
    posteriors, y = np.eye(2)[[0, 1] * 10] * 0.8 + 0.1, [0, 1] * 10
    with pytest.raises(UserError, match="alpha of BayesianCC must be a number above 0"):
        BayesianCC(alpha=0).fit_posteriors(posteriors, y)
    with pytest.raises(UserError, match="n_draws of PQ must be a whole number of at least 2"):
        PQ(n_draws=1).fit_posteriors(posteriors, y)
    with pytest.raises(UserError, match="n_bins of PQ must be a whole number of at least 2"):
        PQ(n_bins=1).fit_posteriors(posteriors, y)


def test_features_too():
    rng = np.random.default_rng(4)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 2)) + 2 * y[:, np.newaxis]
    quantifier = BayesianCC().fit(X, y)
    assert quantifier.posterior(X, n_draws=50).shape == (50, 2)
    assert quantifier.predict_interval(X, n_bootstrap=50).replicates.shape == (50, 2)
    assert {name for name, _ in yield_checks(quantifier)}.isdisjoint({"duplicated_sample"})


@pytest.mark.parametrize("rare", [0, 1])
def test_pq_learns_from_posteriors_that_are_mostly_zero_or_one(rare):
    """All quartiles are then the same score, and a border there may leave a bin empty."""
    y = np.where(np.arange(400) % 10 == 0, rare, 1 - rare)
    wrong = np.arange(400) % 37 == 0
    known = np.eye(2)[np.where(wrong, 1 - y, y)]
    sample = np.eye(2)[np.repeat([rare, 1 - rare], [160, 240])]
    estimate = PQ().fit_posteriors(known, y).aggregate(sample)
    # ACC gives .40 here; the rates, of 40 and 360 items, are uncertain by about .03.
    assert estimate[rare] == pytest.approx(0.4, abs=0.05)
