"""Item weights: whole ones are repeated items, zero is no item, and a common factor what it may be.

What is solved by iteration agrees as well as its end is known; closed forms to rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from quantshift.classify.calibration.calibration import CALIBRATIONS, _simplest_of_the_best
from quantshift.classify.calibration.curves import Spline, mean_of, spread_of
from quantshift.classify.clusters.calibration import fit_cluster_calibration
from quantshift.classify.clusters.fitting import fit_clusters, fit_groups
from quantshift.classify.scores import platt_targets
from quantshift.intervals.information import rank_sum_z, told_apart, weighted_rank_sum_z
from quantshift.items.simulation import ClassMembers
from quantshift.optimise.mixture_likelihood import (
    log_likelihood,
    maximise_factors,
    maximise_mixtures,
    room_for_classes,
)
from quantshift.optimise.total_weights import array_of_weights
from quantshift.prevalence import simplex
from quantshift.quantifiers.likelihood.shift_likelihood import maximise_subclasses

EXACT = 1e-12
SOLVED = 1e-9


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labelled items with posteriors, in clusters, and a whole weight each."""

    posteriors: np.ndarray
    codes: np.ndarray
    clusters: np.ndarray
    weights: np.ndarray

    @property
    def n_classes(self) -> int:
        return self.posteriors.shape[1]

    @property
    def repeated(self) -> np.ndarray:
        """Every item as often as it weighs."""
        return np.repeat(np.arange(len(self.codes)), self.weights.astype(int))


@st.composite
def labelled(
    draw: st.DrawFn, *, least: int = 4, most: int = 120, classes: tuple[int, ...] = (2, 3, 4)
) -> Labelled:
    """Items of every class, each with at least two that have weight."""
    n_classes = draw(st.sampled_from(classes))
    n = draw(st.integers(max(least, 3 * n_classes), most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = np.concatenate([np.tile(np.arange(n_classes), 2), rng.integers(n_classes, size=n)])
    logits = draw(st.floats(0.3, 2)) * np.eye(n_classes)[codes] + rng.normal(
        0, 1, (len(codes), n_classes)
    )
    if draw(st.booleans()):
        logits = logits.round(1)  # ties
    odds = np.exp(logits)
    weights = rng.integers(0, draw(st.integers(2, 5)), size=len(codes))
    weights[: 2 * n_classes] += 1
    order = rng.permutation(len(codes))
    return Labelled(
        (odds / odds.sum(axis=1, keepdims=True))[order],
        codes[order],
        rng.integers(3, size=len(codes))[order],
        weights[order].astype(np.float64),
    )


FACTORS = st.floats(1e-3, 1e3)


# Shares and means ---------------------------------------------------------------------------------


@given(labelled(), FACTORS)
def test_shares_of_classes(items: Labelled, factor: float) -> None:
    k, rows = items.n_classes, items.repeated
    found = simplex.from_codes(items.codes, k, items.weights)
    assert_allclose(found, simplex.from_codes(items.codes[rows], k), atol=EXACT)
    assert_allclose(simplex.from_codes(items.codes, k, factor * items.weights), found, atol=EXACT)
    ones = np.ones(len(items.codes))
    assert_array_equal(simplex.from_codes(items.codes, k, ones), simplex.from_codes(items.codes, k))


@given(labelled())
def test_targets_moments_and_splines(items: Labelled) -> None:
    k, rows = items.n_classes, items.repeated
    assert_allclose(
        platt_targets(items.codes, k, items.weights)[rows],
        platt_targets(items.codes[rows], k),
        atol=EXACT,
    )
    values = np.log(items.posteriors[:, 0])
    assert_allclose(mean_of(values, items.weights), mean_of(values[rows]), atol=EXACT)
    assert_allclose(spread_of(values, items.weights), spread_of(values[rows]), atol=EXACT)
    some = items.weights > 0
    ours, theirs = Spline.of(values[some], items.weights[some]), Spline.of(values[rows])
    assert (ours is None) == (theirs is None)
    if ours is not None and theirs is not None:
        assert_allclose(ours.knots, theirs.knots, atol=1e-11)
        # The same space of curves: columns may be turned against each other.
        assert_allclose(ours(values) @ ours(values).T, theirs(values) @ theirs(values).T, atol=1e-7)


# Mixtures -----------------------------------------------------------------------------------------


@st.composite
def mixtures(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Likelihoods of the items of a pool, whole weights, and a start."""
    n_classes = draw(st.sampled_from([2, 2, 3, 5]))
    n = draw(st.integers(1, draw(st.sampled_from([4, 40, 400]))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = np.exp(rng.normal(0, draw(st.floats(0.2, 4)), (n, n_classes)))
    if draw(st.booleans()):
        rows[rng.random(rows.shape) < 0.3] = 0
    weights = rng.integers(0, 4, size=n).astype(np.float64)
    weights[0] += 1
    return rows, weights, rng.dirichlet(np.full(n_classes, 5))


def of_maximum_likelihood(
    rows: np.ndarray, start: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """One sample of all the items."""
    index = np.arange(len(rows))[np.newaxis]
    p, _, converged = maximise_mixtures(
        rows.T, index, start, tol=1e-10, max_iter=1000, weights=weights
    )
    assert converged.all()
    return p[0]


@settings(max_examples=200)
@given(mixtures(), FACTORS)
def test_prevalences_of_maximum_likelihood(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray], factor: float
) -> None:
    rows, weights, start = problem
    p = of_maximum_likelihood(rows, start, weights)
    repeated = np.repeat(rows, weights.astype(int), axis=0)
    one = of_maximum_likelihood(repeated, start)
    assert_array_equal(of_maximum_likelihood(rows[weights > 0], start, weights[weights > 0]), p)
    scaled = of_maximum_likelihood(rows, start, factor * weights)
    # Mixtures, for where several prevalences are as likely the start's pull is 1e-10 strong.
    for other in (one, scaled):
        assert_allclose(repeated @ other, repeated @ p, rtol=1e-7)
        unique = np.linalg.matrix_rank(repeated, tol=1e-3) == len(start)
        if unique:
            assert_allclose(other, p, atol=SOLVED)


@settings(max_examples=200)
@given(mixtures(), st.integers(0, 2**32))
def test_survey_weights_meet_karush_kuhn_and_tucker(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray], seed: int
) -> None:
    rows, _, start = problem
    rng = np.random.default_rng(seed)
    weights = np.exp(rng.normal(0, 3, len(rows)))
    index = np.arange(len(rows))[np.newaxis]
    p, _, converged = maximise_mixtures(
        rows.T, index, start, tol=1e-6, max_iter=1000, weights=weights
    )
    assert converged.all()
    some = rows.any(axis=1)
    assume(some.any())
    gain = np.average(
        rows[some] / (rows[some] @ p[0])[:, np.newaxis], axis=0, weights=weights[some]
    )
    assert gain.max() <= 1 + 1e-7
    assert np.abs(gain[p[0] > 0] - 1).max() <= 1e-7


def test_weights_of_a_sample_are_those_of_its_items() -> None:
    rng = np.random.default_rng(0)
    for n_classes in (2, 4):
        rows, weights = rng.dirichlet(np.ones(n_classes), 60), rng.random(60) + 0.1
        index, start = rng.integers(60, size=(5, 40)), np.full(n_classes, 1 / n_classes)
        together, _, _ = maximise_mixtures(
            rows.T, index, start, tol=1e-10, max_iter=1000, weights=weights
        )
        for own, p in zip(index, together, strict=True):
            assert_allclose(of_maximum_likelihood(rows[own], start, weights[own]), p, atol=SOLVED)


@given(mixtures())
def test_the_log_likelihood(problem: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    rows, weights, p = problem
    rows, weights = rows[rows.any(axis=1)], weights[rows.any(axis=1)]
    repeated = np.repeat(rows, weights.astype(int), axis=0)
    of_weights = log_likelihood(rows, p, weights)
    assert_allclose(of_weights, log_likelihood(repeated, p, array_of_weights(None)), atol=1e-10)


@pytest.mark.slow
@given(labelled(), FACTORS)
def test_factors_in_groups(items: Labelled, factor: float) -> None:
    rows, weights = items.posteriors, items.weights
    some, repeated = weights > 0, items.repeated
    groups = np.stack([rows.mean(axis=0), rows[0], np.ones(items.n_classes)])
    ratios = rows / groups[0]
    counts = np.bincount(items.clusters, weights, minlength=3)
    start = np.full(items.n_classes, 1 / items.n_classes)
    found = []
    for own, heft, of_groups in (
        (ratios[repeated], None, counts),
        (ratios[some], weights[some], counts),
        (ratios[some], factor * weights[some], factor * counts),
    ):
        p = start.copy()
        heft, space = array_of_weights(heft), room_for_classes(len(p))
        assert maximise_factors(own, groups, of_groups, p, 1e-10, 1000, heft, space)[1]
        found.append(p)
    assert_allclose(found[1], found[0], atol=1e-8)
    assert_allclose(found[2], found[0], atol=1e-8)


@pytest.mark.slow
@settings(max_examples=50)
@given(labelled(), FACTORS)
def test_subclasses(items: Labelled, factor: float) -> None:
    q, clusters, weights = items.posteriors, items.clusters, items.weights
    rng = np.random.default_rng(len(clusters))
    within = rng.dirichlet(np.full(items.n_classes, 5), (1, 3))
    shares = rng.dirichlet(np.full(3, 5), 1)

    def solved(rows: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        index = rows[np.newaxis]
        found = maximise_subclasses(q, clusters, index, within, shares, 1e-10, 1000, weights)
        return found[0], found[1]

    everyone = np.arange(len(clusters))
    f, fit = solved(everyone, weights)
    f_repeated, fit_repeated = solved(items.repeated, None)
    assert_allclose(f, f_repeated, atol=1e-8)
    assert_allclose(fit, fit_repeated, atol=1e-8)
    f_present, fit_present = solved(np.flatnonzero(weights), weights)
    assert_array_equal(f_present, f)
    assert_array_equal(fit_present, fit)
    # A factor of the weights is one of the log-likelihood, and of nothing else.
    f_scaled, fit_scaled = solved(everyone, factor * weights)
    assert_allclose(f_scaled, f, atol=1e-8)
    assert_allclose(fit_scaled / factor, fit, atol=1e-8)


# Calibration --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "atol"),
    [
        ("sigmoid", 1e-8),
        ("beta", 1e-7),
        ("smooth", 1e-6),
        ("isotonic", 1e-9),
        ("temperature", 1e-6),
        ("none", 0.0),
    ],
)
@settings(max_examples=40)
@given(items=labelled(least=20))
def test_calibrations(name: str, atol: float, items: Labelled) -> None:
    fit, weights, rows = CALIBRATIONS[name], items.weights, items.repeated
    found = fit(items.posteriors, items.codes, weights)(items.posteriors)
    repeated = fit(items.posteriors[rows], items.codes[rows])(items.posteriors)
    assert_allclose(found, repeated, atol=atol)
    some = weights > 0
    present = fit(items.posteriors[some], items.codes[some], weights[some])(items.posteriors)
    assert_allclose(present, found, atol=EXACT)
    ones = fit(items.posteriors, items.codes, np.ones(len(weights)))(items.posteriors)
    assert_allclose(ones, fit(items.posteriors, items.codes)(items.posteriors), atol=atol)


@pytest.mark.parametrize("name", sorted(CALIBRATIONS))
@settings(max_examples=10)
@given(items=labelled(least=60))
def test_calibrations_refitted_from_weights(name: str, items: Labelled) -> None:
    calibration = CALIBRATIONS[name](items.posteriors, items.codes, items.weights)
    refit = calibration.refitter(items.posteriors, items.codes, items.weights)
    again = refit(items.weights)
    # A refit ends at a small part of a standard error, and from the fit itself at once.
    assert_allclose(again(items.posteriors), calibration(items.posteriors), atol=1e-6)


@pytest.mark.slow
@settings(max_examples=15)
@given(labelled(least=100, most=300, classes=(2, 3)), FACTORS)
def test_the_choice_of_a_calibration(items: Labelled, factor: float) -> None:
    fit = CALIBRATIONS["auto"]
    chosen = fit(items.posteriors, items.codes, items.weights)
    some = items.weights > 0
    present = fit(items.posteriors[some], items.codes[some], items.weights[some])
    assert type(present) is type(chosen)
    assert_allclose(present(items.posteriors), chosen(items.posteriors), atol=EXACT)
    # Where folds are of the same items, so is the choice: all weights 1.
    ones = fit(items.posteriors, items.codes, np.ones(len(some)))
    assert_allclose(
        ones(items.posteriors), fit(items.posteriors, items.codes)(items.posteriors), atol=1e-6
    )


@given(st.integers(0, 2**32), st.integers(20, 200))
def test_the_choice_of_a_calibration_is_that_by_repeated_losses(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    common, weights = rng.exponential(size=n), rng.integers(0, 4, size=n)
    losses = {
        name: common + rng.normal(bias, 0.3, n)
        for name, bias in zip("abc", (0.05, 0.02, 0), strict=True)
    }
    repeated = {name: np.repeat(loss, weights) for name, loss in losses.items()}
    assert _simplest_of_the_best(losses, weights.astype(float)) == _simplest_of_the_best(
        repeated, None
    )


def test_the_choice_of_a_calibration_follows_the_weight() -> None:
    # Two populations in one: a straight one, and one bent; the choice is that of the heavier.
    rng = np.random.default_rng(0)
    n = 3000
    scores = rng.normal(0, 2.5, 2 * n)
    bent = np.repeat([False, True], n)
    true = np.where(bent, np.where(scores < 0, 0.2, 3) * scores, scores)
    codes = (rng.random(2 * n) < 1 / (1 + np.exp(-true))).astype(np.int64)
    q = 1 / (1 + np.exp(-scores))
    posteriors = np.column_stack([1 - q, q])

    def chosen(weight_of_bent: float) -> np.ndarray:
        weights = np.where(bent, weight_of_bent, 1 - weight_of_bent)
        return CALIBRATIONS["auto"](posteriors, codes, weights)(posteriors)[:, 1]

    straight, other = (
        1 / (1 + np.exp(-(np.where(scores < 0, a, b) * scores))) for a, b in ((1, 1), (0.2, 3))
    )
    for found, own, foreign in ((chosen(0.001), straight, other), (chosen(0.999), other, straight)):
        assert 3 * np.abs(found - own).mean() < np.abs(found - foreign).mean()


@settings(max_examples=30)
@given(labelled(least=30, classes=(2, 3)))
def test_calibration_in_clusters(items: Labelled) -> None:
    def fit(rows: np.ndarray, sample_weight: np.ndarray | None) -> np.ndarray:
        found = fit_cluster_calibration(
            items.posteriors[rows], items.codes[rows], items.clusters[rows], 3, sample_weight
        )
        return found(items.posteriors, items.clusters)

    everyone, some = np.arange(len(items.codes)), np.flatnonzero(items.weights)
    found = fit(everyone, items.weights)
    assert_allclose(found, fit(items.repeated, None), atol=1e-6)
    assert_allclose(fit(some, items.weights[some]), found, atol=EXACT)


@settings(max_examples=15)
@given(labelled(least=80, classes=(2, 3)))
def test_calibration_in_clusters_refitted_from_weights(items: Labelled) -> None:
    seen = items.posteriors, items.codes, items.clusters
    fitted = fit_cluster_calibration(*seen, 3, items.weights)
    where = items.posteriors, items.clusters
    refit = fitted.refitter(*seen, items.weights)
    assert_allclose(refit(items.weights)(*where), fitted(*where), atol=1e-6)
    steps = fitted.one_step(*seen, np.stack([items.weights, 1.01 * items.weights]), items.weights)
    assert_allclose(steps[0], fitted(*where), atol=1e-6)
    assert_allclose(steps[1], refit(1.01 * items.weights)(*where), atol=1e-3)


# What intervals need ------------------------------------------------------------------------------


@given(labelled(), FACTORS)
def test_rank_sums(items: Labelled, factor: float) -> None:
    first = items.codes == 0
    values, weights = items.posteriors[:, 0], items.weights
    rows, expanded = items.repeated, items.codes[items.repeated] == 0
    z = weighted_rank_sum_z(values[first], values[~first], weights[first], weights[~first])
    assert z == pytest.approx(
        rank_sum_z(values[rows][expanded], values[rows][~expanded]), abs=1e-10
    )
    # Of more weight, the same difference is more than chance.
    heavier = weighted_rank_sum_z(
        values[first], values[~first], 4 * weights[first], 4 * weights[~first]
    )
    assert abs(heavier) >= abs(z)
    assert np.sign(heavier) == np.sign(z)
    for crisp in (False, True):
        assert_array_equal(
            told_apart(items.posteriors, items.codes, crisp=crisp, weights=weights),
            told_apart(items.posteriors[rows], items.codes[rows], crisp=crisp),
        )


@given(st.integers(2, 30), st.floats(0.01, 100))
def test_rank_sums_of_equal_values_are_nothing(n: int, weight: float) -> None:
    x, heft = np.full(n, 0.1), np.full(n, weight)
    assert weighted_rank_sum_z(x, x, heft, heft) == 0


@given(labelled(most=40), FACTORS, st.integers(0, 2**32))
def test_draws_of_weighted_items(items: Labelled, factor: float, seed: int) -> None:
    k, weights, rows = items.n_classes, items.weights, items.repeated
    prevalences = np.random.default_rng(seed).dirichlet(np.ones(k), 3)

    def drawn(codes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        return ClassMembers(codes, k, weights).draw(prevalences, 50, 2, np.random.default_rng(seed))

    found = drawn(items.codes, weights)
    assert (weights[found] > 0).all()
    # The same numbers choose the same item among repeated ones, but for ties of rounding.
    assert np.mean(found != rows[drawn(items.codes[rows], None)]) < 0.01
    assert np.mean(found != drawn(items.codes, factor * weights)) < 0.01


def test_items_are_drawn_in_proportion_to_their_weights() -> None:
    codes, weights = np.array([0, 1, 0, 1, 1]), np.array([1.0, 0.5, 3.0, 0.0, 1.5])
    drawn = ClassMembers(codes, 2, weights).draw(
        np.array([[0.4, 0.6]]), 10_000, 4, np.random.default_rng(0)
    )
    shares = np.bincount(drawn.ravel(), minlength=5) / drawn.size
    assert_allclose(shares, [0.1, 0.15, 0.3, 0.0, 0.45], atol=0.01)


# Clusters -----------------------------------------------------------------------------------------


def in_two_places(n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=300)
    centres = rng.normal(0, 2, (2, n_features))
    return centres[group] + rng.normal(0, 0.3, (300, n_features)), group


@pytest.mark.parametrize("n_features", [5, 60, 400])
@pytest.mark.parametrize(
    "divide",
    [
        lambda X, group, weights: fit_clusters(
            X, n_clusters=2, n_components=10, seed=0, weights=weights
        ),
        lambda X, group, weights: fit_groups(X, group, n_components=10, seed=0, weights=weights),
    ],
    ids=["clusters", "groups"],
)
def test_clusters(n_features: int, divide: Callable) -> None:
    X, group = in_two_places(n_features)
    weights = np.random.default_rng(1).integers(0, 4, size=len(X)).astype(float)
    partition, placed = divide(X, group, weights)
    some = weights > 0
    assert len(placed) == len(X)
    # Items without weight are absent from the fit, and placed as new ones.
    present, own = divide(X[some], group[some], weights[some])
    assert_array_equal(present.coef, partition.coef)
    assert_array_equal(placed.codes[some], own.codes)
    assert_array_equal(placed.novelty[some], own.novelty)
    assert_array_equal(placed.novelty[~some], partition.locate(X[~some]).novelty)
    # Novelty is a rank in weight: on average a half.
    assert np.average(placed.novelty, weights=weights) == pytest.approx(0.5)
    # Repeated items are divided alike.
    rows = np.repeat(np.arange(len(X)), weights.astype(int))
    repeated, _ = divide(X[rows], group[rows], None)
    one, other = partition.locate(X), repeated.locate(X)
    swapped = one.codes[0] != other.codes[0]
    assert_array_equal(one.codes, 1 - other.codes if swapped else other.codes)
    assert np.abs(one.novelty - other.novelty).mean() < 0.1
    ones, plain = divide(X, group, np.ones(len(X))), divide(X, group, None)
    assert_array_equal(ones[1].codes, plain[1].codes)
    assert_allclose(ones[1].novelty, plain[1].novelty, atol=0.02)


def test_clusters_of_sparse_features_are_those_of_dense_ones() -> None:
    X, _ = in_two_places(60)
    weights = np.random.default_rng(3).random(len(X)).round(1)  # some are zero
    options = {"n_clusters": 2, "n_components": 10, "seed": 0, "weights": weights}
    dense, sparse = fit_clusters(X, **options), fit_clusters(csr_array(X), **options)
    assert_array_equal(sparse[1].codes, dense[1].codes)
    assert_allclose(sparse[1].novelty, dense[1].novelty, atol=1e-9)


@pytest.mark.parametrize("n_features", [60, 400])
def test_small_weights_leave_the_singular_vectors_and_what_an_item_has_in_them(
    n_features: int,
) -> None:
    X, _ = in_two_places(n_features)
    plain = fit_clusters(X, n_clusters=1, n_components=10, seed=0)[0]
    light = fit_clusters(X, n_clusters=1, n_components=10, seed=0, weights=np.full(len(X), 0.01))[0]
    assert_allclose(light.lengths, plain.lengths, atol=1e-3)


def test_constant_features_stay_where_they_are() -> None:
    X = np.column_stack([np.full(100, 0.1), np.arange(100.0)])
    weights = np.random.default_rng(0).random(100) + 0.1
    partition, _ = fit_clusters(X, n_clusters=2, n_components=10, seed=0, weights=weights)
    position, _ = partition.embedding(np.array([[0.2, 3.0]]))
    assert position[0, 0] == pytest.approx(0.1)


def test_centres_are_weighted_means() -> None:
    X, _ = in_two_places(3)
    weights = np.random.default_rng(2).random(len(X)) + 0.1
    partition, placed = fit_clusters(X, n_clusters=2, n_components=10, seed=0, weights=weights)
    position, _ = partition.embedding(X)
    for code, centre in enumerate(partition.centres):
        own = placed.codes == code
        assert_allclose(centre, np.average(position[own], axis=0, weights=weights[own]), atol=1e-9)
    assert_allclose(np.average(X, axis=0, weights=weights), partition.embedding.mean)  # type: ignore[attr-defined]


def test_few_items_of_much_weight_carry_clusters() -> None:
    X, _ = in_two_places(3)
    few = X[:30]
    assert fit_clusters(few, n_clusters=2, n_components=10, seed=0)[0].n_clusters == 1
    heavy, _ = fit_clusters(few, n_clusters=2, n_components=10, seed=0, weights=np.full(30, 3.0))
    assert heavy.n_clusters == 2
