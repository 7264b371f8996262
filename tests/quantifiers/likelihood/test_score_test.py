"""Label shift against its doubles: likelihoods by oracles, null distributions by simulation."""

import numpy as np
import pytest
from numpy.polynomial.legendre import Legendre
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, softmax
from scipy.stats import kstest
from sklearn.linear_model import LogisticRegression

from quantshift.quantifiers.likelihood.score_cells import Cells, calibrated_cells, cell_ranks
from quantshift.quantifiers.likelihood.score_test import (
    DEGREE,
    LEVEL,
    ScoredTraining,
    mixture_maximum,
    smooth_statistic,
    tilt_maximum,
)

NAMES = ("score", "fit", "column", "columns")


def normal_items(n_negative, n_positive, rng, *, apart=2.0):
    """Two classes of normal features: (features, labels, exact posteriors at equal shares)."""
    y = np.repeat([0, 1], [n_negative, n_positive])
    X = rng.normal(size=(len(y), 3))
    X[:, 0] += apart * y
    positive = expit(apart * (X[:, 0] - apart / 2))
    return X, y, np.stack([1 - positive, positive], axis=1)


def trained(rng, n=1000):
    X, y, posteriors = normal_items(n // 2, n // 2, rng)
    return ScoredTraining.of(posteriors, y, X)


def evidence_of(training, X, posteriors, weights=None):
    counts = training.counts_of(training.place(posteriors[np.newaxis]), weights)
    ones = np.ones(len(X)) if weights is None else weights
    return training.test(counts, ones @ X / ones.sum())


def refuting(found):
    """The smallest p-value of the tests that can refute label shift."""
    return min(found.score, found.fit, found.column, found.columns)


def tilted(n, b, rng):
    """A sample of items that were selected by e^(b rank) of their score."""
    X, y, posteriors = normal_items(5000, 5000, rng)
    rank = posteriors[:, 1].argsort().argsort() / len(y)
    odds = np.exp(b * rank)
    rows = rng.choice(len(y), n, p=odds / odds.sum(), replace=False)
    return X[rows], y[rows], posteriors[rows]


@pytest.fixture(scope="module")
def training():
    return trained(np.random.default_rng(0), 2000)


def random_cells(seed, n_samples=4, n_cells=12, n_classes=2):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(n_cells), n_samples)
    counts = rng.poisson(15, (n_samples, n_cells)).astype(float)
    posteriors = rng.dirichlet(np.ones(n_classes), (n_samples, n_cells))
    return counts, shares, posteriors


def test_the_mixture_has_the_maximum_that_scipy_finds():
    counts, _, posteriors = random_cells(0)
    prior = np.array([0.7, 0.3])
    ratios = posteriors / prior
    found = mixture_maximum(counts, ratios, prior)
    for n, ratio, p_hat in zip(counts, ratios, found, strict=True):
        best = minimize_scalar(
            lambda p, n=n, ratio=ratio: -n @ np.log(ratio @ [1 - p, p]),
            bounds=(0, 1),
            method="bounded",
            options={"xatol": 1e-9},
        )
        assert p_hat[1] == pytest.approx(best.x, abs=1e-5)


@pytest.mark.parametrize("n_ranked", [1, 3])
def test_the_tilt_has_the_maximum_that_scipy_finds(n_ranked):
    counts, shares, _ = random_cells(1)
    ranks = np.random.default_rng(2).random((*counts.shape, n_ranked))
    found, likelihoods = tilt_maximum(counts, ranks, shares)
    for n, share, rank, b, likelihood in zip(
        counts, shares, ranks, found, likelihoods, strict=True
    ):

        def lost(b, n=n, share=share, rank=rank):
            return n.sum() * np.log(share @ np.exp(rank @ b)) - n @ (rank @ b)

        best = minimize(lost, np.zeros(n_ranked), tol=1e-12)
        assert b == pytest.approx(best.x, abs=2e-3)
        assert likelihood == pytest.approx(-best.fun, abs=1e-4)


def test_a_sample_at_the_end_of_the_ranks_has_a_finite_tilt():
    shares = np.full((1, 10), 0.1)
    ranks = (np.arange(10)[np.newaxis, :, np.newaxis] + 0.5) / 10
    b, likelihood = tilt_maximum(np.eye(10)[[9]] * 50, ranks, shares)
    assert np.isfinite(b).all()
    assert likelihood[0] == pytest.approx(50 * np.log(10), rel=0.01)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_cells_are_calibrated_as_by_logistic_regression(n_classes):
    rng = np.random.default_rng(3)
    logs = np.log(rng.dirichlet(np.ones(n_classes), 30))
    joint = rng.dirichlet(np.ones(30 * n_classes), 2).reshape(2, n_classes, 30)
    q = calibrated_cells(logs, joint)
    assert q.mean(axis=2) == pytest.approx(np.full((2, 30), 1 / n_classes))
    assert np.einsum("rc,rck->rk", joint.sum(axis=1), q) == pytest.approx(joint.sum(axis=2))
    if n_classes == 2:
        y, X = np.repeat([0, 1], 30), np.tile(logs[:, 1] - logs[:, 0], 2)[:, np.newaxis]
        for weights, ours in zip(joint, q, strict=True):
            oracle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
            oracle.fit(X, y, sample_weight=weights.ravel() * 1000)
            assert ours[:, 1] == pytest.approx(oracle.predict_proba(X[:30])[:, 1], abs=1e-4)


def test_ranks_are_shares_of_items_below():
    logs = np.log(np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]))
    ranks = cell_ranks(logs, np.array([0.2, 0.3, 0.5]))
    assert ranks[:, 0] == pytest.approx([0.1, 0.85, 0.45])


def test_the_smooth_statistic_is_the_sum_of_squared_legendre_components():
    counts, expected, _ = random_cells(4, n_samples=1)
    order = np.random.default_rng(5).permutation(12)
    total, n = 0.0, counts.sum()
    place = 2 * (np.cumsum(expected[0, order]) - expected[0, order] / 2) - 1
    for degree in range(1, DEGREE + 1):
        values = np.sqrt(2 * degree + 1) * Legendre.basis(degree)(place)
        total += (values @ counts[0, order] - n * values @ expected[0, order]) ** 2 / n
    assert smooth_statistic(counts, expected, [order])[0] == pytest.approx(total)


def test_bins_hold_the_same_weight_of_each_class_and_groups_hold_similar_items():
    rng = np.random.default_rng(6)
    _, y, posteriors = normal_items(1800, 200, rng)
    weights = np.where(y == 1, 1 / 200, 1 / 1800)
    cells = Cells.of(posteriors, weights, seed=0)
    held = np.bincount(cells.place(posteriors), weights)
    assert len(held) == len(cells) == 60
    assert held.max() < 2 * held.min()
    many = rng.dirichlet(np.ones(4), 900)
    groups = Cells.of(many, np.full(900, 1 / 900), seed=0)
    within = np.log(many) - groups.log_posteriors[groups.place(many)]
    assert np.square(within).mean() < 0.3 * np.log(many).var()


def test_label_shift_has_evidence_and_a_tilt_has_none(training):
    rng = np.random.default_rng(7)
    X, y, posteriors = normal_items(300, 1700, rng)
    found = evidence_of(training, X, posteriors)
    assert found.prevalence[1] == pytest.approx(y.mean(), abs=0.03)
    assert refuting(found) > LEVEL
    assert found.doubles < 0.01
    assert found.support > 5
    X, _, posteriors = tilted(2000, 2.5, rng)
    found = evidence_of(training, X, posteriors)
    assert found.score < LEVEL
    assert found.power > 0.5
    assert found.support < 0


def test_a_sample_cut_by_its_score_has_no_evidence_even_if_it_is_small(training):
    rng = np.random.default_rng(8)
    for _ in range(10):
        X, _, posteriors = normal_items(500, 500, rng)
        upper = rng.permutation(np.flatnonzero(posteriors[:, 1] > 0.5))[:60]
        found = evidence_of(training, X[upper], posteriors[upper])
        assert found.doubles > 0.01 or refuting(found) < LEVEL
        assert found.support < 0


@pytest.mark.parametrize("n", [100, 1000])
def test_items_picked_in_proportion_to_their_score_have_no_evidence(training, n):
    """They look like items that are all of one class, although 85% of them are."""
    rng = np.random.default_rng(17)
    for toward in (0, 1):
        X, y, posteriors = normal_items(5000, 5000, rng)
        chances = posteriors[:, toward] / posteriors[:, toward].sum()
        rows = rng.choice(len(y), n, p=chances, replace=False)
        found = evidence_of(training, X[rows], posteriors[rows])
        assert found.prevalence[toward] > 0.9
        assert (y[rows] == toward).mean() < 0.9
        assert found.doubles > 0.01
        assert found.support < 5


def test_features_that_label_shift_does_not_explain_refute_it(training):
    X, _, posteriors = normal_items(300, 300, np.random.default_rng(9))
    moved = X + np.array([0.0, 0.0, 0.3])
    assert evidence_of(training, X, posteriors).column > LEVEL
    assert evidence_of(training, moved, posteriors).column < LEVEL
    assert evidence_of(training, moved, posteriors).columns < LEVEL


def test_without_features_their_tests_say_nothing():
    _, y, posteriors = normal_items(300, 300, np.random.default_rng(10))
    training = ScoredTraining.of(posteriors, y, np.empty((600, 0)))
    found = evidence_of(training, np.empty((600, 0)), posteriors)
    assert (found.column, found.columns) == (1.0, 1.0)


def test_the_order_of_items_and_equal_weights_change_nothing(training):
    rng = np.random.default_rng(11)
    X, _, posteriors = normal_items(100, 300, rng)
    order = rng.permutation(400)
    found = evidence_of(training, X, posteriors)
    for other in (
        evidence_of(training, X[order], posteriors[order]),
        evidence_of(training, X, posteriors, np.full(400, 2.0)),
    ):
        assert other.prevalence == pytest.approx(found.prevalence)
        for name in (*NAMES, "doubles", "power"):
            assert getattr(other, name) == pytest.approx(getattr(found, name), abs=0.01)


def test_an_item_of_weight_two_counts_twice_and_zero_not_at_all(training):
    X, _, posteriors = normal_items(100, 300, np.random.default_rng(12))
    weights = np.where(np.arange(400) < 50, 0.0, np.where(np.arange(400) < 100, 2.0, 1.0))
    rows = np.repeat(np.arange(400), weights.astype(int))
    weighted = evidence_of(training, X, posteriors, weights)
    repeated = evidence_of(training, X[rows], posteriors[rows])
    assert weighted.prevalence == pytest.approx(repeated.prevalence, abs=1e-5)


def test_large_samples_are_drawn_as_counts(training):
    X, _, posteriors = normal_items(4000, 2000, np.random.default_rng(13))
    found = evidence_of(training, X, posteriors)
    assert found.prevalence[1] == pytest.approx(1 / 3, abs=0.03)
    assert refuting(found) > LEVEL


def test_more_classes_than_two(training):
    rng = np.random.default_rng(14)
    centres = rng.normal(size=(3, 4)) * 1.5

    def drawn(shares, n):
        y = rng.choice(3, n, p=shares)
        X = rng.normal(size=(n, 4)) + centres[y]
        return X, y, softmax(-np.square(X[:, None] - centres).sum(axis=2) / 2, axis=1)

    X, y, posteriors = drawn(np.full(3, 1 / 3), 1500)
    training = ScoredTraining.of(posteriors, y, X)
    X, y, posteriors = drawn([0.8, 0.15, 0.05], 1500)
    found = evidence_of(training, X, posteriors)
    assert found.prevalence == pytest.approx(np.bincount(y) / 1500, abs=0.03)
    assert refuting(found) > LEVEL
    assert found.doubles < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.3, 0.9])
def test_p_values_of_label_shift_are_uniform(p):
    """A new training set for every sample: the null distribution includes the training side."""
    p_values = {name: [] for name in NAMES}
    for number in range(150):
        rng = np.random.default_rng([15, number])
        n_positive = rng.binomial(300, p)
        X, _, posteriors = normal_items(300 - n_positive, n_positive, rng)
        found = evidence_of(trained(rng, 600), X, posteriors)
        for name, values in p_values.items():
            values.append(getattr(found, name))
    for name, values in p_values.items():
        assert kstest(values, "uniform", alternative="greater").pvalue > 0.01, name
    refuted = np.min(list(p_values.values()), axis=0) < LEVEL
    # Together at most 0.05, within two Monte Carlo errors of 150 samples (8 of them when written).
    assert refuted.mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 150)


@pytest.mark.slow
def test_tilts_seldom_have_evidence_for_label_shift():
    n_evident = 0
    for number in range(150):
        rng = np.random.default_rng([16, number])
        b = rng.choice([-1, 1]) * rng.uniform(1, 3.5)
        X, _, posteriors = tilted(300, b, rng)
        found = evidence_of(trained(rng, 600), X, posteriors)
        n_evident += refuting(found) >= LEVEL and found.doubles <= 0.01
    assert n_evident <= 5
