"""Kernel densities, energies and kernel means: definitions by loops, consistency, odd inputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.special import softmax
from scipy.stats import cramervonmises_2samp

from quantshift import KDEyML
from quantshift.checks.every_quantifier import check_quantifier
from quantshift.errors import DataError, UserError
from quantshift.quantifiers import CvMy, EDx, EDy, KDEyCS, KDEyHD, MMDx, MMDy
from quantshift.quantifiers.matching import class_kernels, kdey
from quantshift.quantifiers.matching.class_kernels import (
    ClassPoints,
    mean_distances,
    mean_gaussians,
)

ON_POSTERIORS = {
    "KDEyML": KDEyML(),
    "KDEyML aitchison": KDEyML(kernel="aitchison", bandwidth=0.5, shrinkage=0.1),
    "KDEyML ilr": KDEyML(kernel="ilr", bandwidth="scott"),
    "KDEyML silverman": KDEyML(bandwidth="silverman"),
    "KDEyCS": KDEyCS(),
    "KDEyHD": KDEyHD(n_points=1000),
    "EDy": EDy(),
    "EDy euclidean": EDy(metric="euclidean"),
    "CvMy": CvMy(),
    "MMDy": MMDy(),
    "MMDy energy": MMDy(kernel="energy"),
    "MMDy rff": MMDy(kernel="rff", gamma=10.0, n_components=200),
}
LIKELIEST = kdey.TOLERANCE
"""How far KDEyML may end from the maximum, the least exact of these methods."""

BY_SIZE = {"KDEyML ilr", "KDEyML silverman"}
"""Their bandwidths, and with them the densities of equal items, depend on the classes' sizes."""
ON_FEATURES = {
    "EDx": EDx(),
    "EDx euclidean": EDx(metric="euclidean"),
    "MMDx": MMDx(),
    "MMDx energy": MMDx(kernel="energy"),
    "MMDx rff": MMDx(kernel="rff", n_components=200),
}


def drawn(rng: np.random.Generator, y: np.ndarray, n_classes: int) -> np.ndarray:
    """Posteriors of items of these classes."""
    scores = np.exp(1.3 * (rng.normal(size=(len(y), n_classes)) + 1.5 * np.eye(n_classes)[y]))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def problem(n_classes: int, n: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labelled posteriors and a sample of other prevalences."""
    rng = np.random.default_rng(n_classes)
    y = np.arange(n) % n_classes
    new = rng.choice(n_classes, 80, p=rng.dirichlet(np.ones(n_classes)))
    return drawn(rng, y, n_classes), y, drawn(rng, new, n_classes)


@pytest.mark.parametrize("name", [name for name in ON_POSTERIORS if "KDEyML" not in name])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_a_mixture_of_the_training_items_gives_its_weights(name: str, n_classes: int) -> None:
    """Fisher consistency: with the training items themselves, weighted to p, as the sample.

    KDEyML compares items, not their smoothed density, with smoothed densities: it errs by that.
    """
    known, y, _ = problem(n_classes)
    p = np.random.default_rng(1).dirichlet(np.full(n_classes, 2.0))
    fitted = ON_POSTERIORS[name].fit_posteriors(known, y)
    found = fitted.aggregate(known, sample_weight=p[y] + 1e-300)
    # Quadratics are solved to rounding times the condition of the classes' kernels; the divergence
    # of KDEyHD is flat around zero, where a search ends early.
    assert_allclose(found, p, atol=1e-4 if name == "KDEyHD" else 1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_kdeyml_is_consistent_for_items_of_its_densities(n_classes: int) -> None:
    known, y, _ = problem(n_classes)
    p = np.array([0.2, 0.8] if n_classes == 2 else [0.2, 0.1, 0.7])
    rng = np.random.default_rng(0)
    n = 40_000
    centres = np.concatenate(
        [rng.choice(np.flatnonzero(y == k), round(n * p[k])) for k in range(n_classes)]
    )
    points = known[centres] + 0.1 * rng.normal(size=(len(centres), n_classes))
    fitted = KDEyML().fit_posteriors(known, y)
    solved, _ = fitted._solve(fitted._represent(points), np.arange(n)[np.newaxis])
    assert_allclose(solved[0], p, atol=0.015)  # four standard errors


@pytest.mark.parametrize("name", ON_FEATURES)
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_a_mixture_of_training_features_gives_its_weights(name: str, n_classes: int) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(420) % n_classes
    X = rng.normal(size=(420, 4)) + rng.normal(size=(n_classes, 4))[y]
    p = rng.dirichlet(np.full(n_classes, 2.0))
    found = ON_FEATURES[name].fit(X, y).predict(X, sample_weight=p[y])
    # Rounding times the condition of the classes' kernels.
    assert_allclose(found, p, atol=1e-7)


@pytest.mark.parametrize("metric", ["manhattan", "euclidean"])
def test_mean_distances_by_all_pairs(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    items, y, points = rng.normal(size=(50, 3)), np.arange(50) % 3, rng.normal(size=(20, 3))
    items[7], points[3] = items[4], items[4]
    weights = rng.random(50)
    known = ClassPoints.of(items, y, 3, weights)
    pairs = cdist(points, items, {"manhattan": "cityblock"}.get(metric, metric))
    expected = [pairs[:, y == k] @ weights[y == k] / weights[y == k].sum() for k in range(3)]
    assert_allclose(mean_distances(known, points, metric), expected, atol=1e-12)
    monkeypatch.setattr(class_kernels, "BLOCK_PAIRS", 130)
    assert_allclose(mean_distances(known, points, metric), expected, atol=1e-12)


def test_mean_gaussians_by_all_pairs_far_from_the_origin() -> None:
    rng = np.random.default_rng(0)
    items, y, points = rng.normal(size=(50, 3)), np.arange(50) % 2, rng.normal(size=(20, 3))
    precision = np.array([2.0, 5.0])
    known = ClassPoints.of(items + 1e4, y, 2, None)
    kernel = np.exp(-precision[y] / 2 * cdist(points, items, "sqeuclidean"))
    expected = [kernel[:, y == k].mean(axis=1) for k in range(2)]
    assert_allclose(mean_gaussians(known, points + 1e4, precision), expected, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_energy_is_least(n_classes: int) -> None:
    """By a grid of prevalences and sums over all pairs."""
    known, y, sample = problem(n_classes)
    for metric, name in (("manhattan", "cityblock"), ("euclidean", "euclidean")):
        p_hat = EDy(metric=metric).fit_posteriors(known, y).aggregate(sample)

        def energy(p: np.ndarray, name: str = name) -> float:
            share = p[y] / np.bincount(y)[y]
            within = share @ cdist(known, known, name) @ share
            return float(2 * (share @ cdist(known, sample, name)).mean() - within)

        grid = np.random.default_rng(0).dirichlet(np.ones(n_classes), 200)
        near = np.abs(p_hat + 1e-3 * np.random.default_rng(1).normal(size=(50, n_classes)))
        others = np.concatenate([grid, near / near.sum(axis=1, keepdims=True)])
        assert energy(p_hat) <= min(energy(p) for p in others) + 1e-12


def test_two_classes_have_one_energy() -> None:
    known, y, sample = problem(2)
    here, there, kernel = (
        method.fit_posteriors(known, y).aggregate(sample)
        for method in (EDy(), EDy(metric="euclidean"), MMDy(kernel="energy"))
    )
    assert_allclose(here, there, atol=1e-12)
    assert_allclose(kernel, there, atol=1e-12)


def test_cvmy_ranks_are_those_of_training_items_and_monotone() -> None:
    """Two classes: the integral of the squared difference of distribution functions over H."""
    known, y, sample = problem(2)
    p_hat = CvMy().fit_posteriors(known, y).aggregate(sample)[1]
    places = np.sort(known[:, 1])

    def cdf(values: np.ndarray) -> np.ndarray:
        below = (values[:, np.newaxis] < places).mean(axis=0)
        return (below + (values[:, np.newaxis] <= places).mean(axis=0)) / 2

    low, high, new = cdf(known[y == 0, 1]), cdf(known[y == 1, 1]), cdf(sample[:, 1])
    grid = np.linspace(0, 1, 2001)
    differences = grid[:, np.newaxis] * high + (1 - grid[:, np.newaxis]) * low - new
    assert p_hat == pytest.approx(grid[(differences**2).sum(axis=1).argmin()], abs=2e-3)
    steeper = [x**3 / (x**3).sum(axis=1, keepdims=True) for x in (known, sample)]
    assert_allclose(CvMy().fit_posteriors(steeper[0], y).aggregate(steeper[1])[1], p_hat, atol=1e-9)


def test_cvmy_ranks_make_the_statistic_of_the_two_sample_test() -> None:
    """With H of both samples the energy of ranks is scipy's statistic, up to known factors."""
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=40), rng.normal(0.5, size=60)
    both = np.concatenate([one, two])
    ranks = (both[:, np.newaxis] >= both).mean(axis=1)
    a, b = ranks[:40, np.newaxis], ranks[40:, np.newaxis]
    energy = 2 * cdist(a, b).mean() - cdist(a, a).mean() - cdist(b, b).mean()
    statistic = cramervonmises_2samp(one, two).statistic
    assert energy / 2 * (40 * 60 / 100) == pytest.approx(statistic, abs=1e-2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_kernel_means_by_the_whole_kernel_matrix(n_classes: int) -> None:
    """n = 200: no prevalence has a smaller distance of means than the one found."""
    known, y, sample = problem(n_classes, 200)
    p_hat = MMDy(gamma=5.0).fit_posteriors(known, y).aggregate(sample)
    gram = np.exp(-5 * cdist(known, known, "sqeuclidean"))
    cross = np.exp(-5 * cdist(known, sample, "sqeuclidean")).mean(axis=1)

    def discrepancy(p: np.ndarray) -> float:
        share = p[y] / np.bincount(y)[y]
        return float(share @ gram @ share - 2 * share @ cross)

    rng = np.random.default_rng(0)
    near = np.abs(p_hat + 1e-3 * rng.normal(size=(50, n_classes)))
    others = [*rng.dirichlet(np.ones(n_classes), 200), *near / near.sum(axis=1, keepdims=True)]
    assert discrepancy(p_hat) <= min(map(discrepancy, others)) + 1e-12


def test_random_features_approach_the_kernel() -> None:
    """Their error falls with the root of their number: 20,000 of them are within 0.02."""
    known, y, sample = problem(3)
    exact = MMDy(gamma=5.0).fit_posteriors(known, y).aggregate(sample)
    errors = []
    for n in (20, 20_000):
        waves = MMDy(kernel="rff", gamma=5.0, n_components=n)
        errors.append(np.abs(waves.fit_posteriors(known, y).aggregate(sample) - exact).max())
    assert errors[1] < 0.02
    assert errors[1] < errors[0]


def test_cauchy_schwarz_is_least() -> None:
    known, y, sample = problem(3)
    p_hat = KDEyCS().fit_posteriors(known, y).aggregate(sample)
    pairs = np.exp(-cdist(known, known, "sqeuclidean") / 0.04)
    cross = np.exp(-cdist(known, sample, "sqeuclidean") / 0.04).mean(axis=1)

    def divergence(p: np.ndarray) -> float:
        share = p[y] / np.bincount(y)[y]
        return float(-np.log(share @ cross) + np.log(share @ pairs @ share) / 2)

    rng = np.random.default_rng(0)
    near = np.abs(p_hat + 1e-3 * rng.normal(size=(50, 3)))
    others = [*rng.dirichlet(np.ones(3), 200), *near / near.sum(axis=1, keepdims=True)]
    assert divergence(p_hat) <= min(map(divergence, others)) + 1e-12


def test_hellinger_by_a_fine_grid() -> None:
    """Two classes: a grid ten times as fine and twice as wide has the same minimum to 1e-5."""
    known, y, sample = problem(2)
    estimate = KDEyHD().fit_posteriors(known, y).estimate_posteriors(sample)
    s = np.linspace(-1, 2, 6001)

    def density(values: np.ndarray) -> np.ndarray:
        squares = (s[:, np.newaxis] - values) ** 2 / 0.01  # (1 - s, s): twice the square of s
        return np.exp(-squares).mean(axis=1) / np.sqrt(np.pi * 0.01)

    low, high, new = density(known[y == 0, 1]), density(known[y == 1, 1]), density(sample[:, 1])
    shares = np.linspace(0, 1, 1001)[:, np.newaxis]
    alike = np.sqrt((shares * high + (1 - shares) * low) * new).sum(axis=1) * (s[1] - s[0])
    assert estimate.prevalence[1] == pytest.approx(shares[alike.argmax(), 0], abs=1e-3)
    assert estimate.diagnostics["distance"] == pytest.approx(np.sqrt(1 - alike.max()), abs=1e-5)


def test_hellinger_of_two_classes_on_reference_points() -> None:
    """Drawn points and the grid agree to the noise of 20,000 points."""
    known, y, sample = problem(2)
    exact = KDEyHD().fit_posteriors(known, y).aggregate(sample)
    fitted = KDEyHD().fit_posteriors(known, y)
    points = ClassPoints.of(known, y, 2, None)
    fitted.reference_ = kdey._drawn_points(points, 0.1, 10_000, 0)
    densities = mean_gaussians(points, fitted.reference_, np.full(2, 100.0))
    fitted.cells_ = 1 / (20_000 * densities.mean(axis=0))
    fitted.classes_in_cells_ = densities * fitted.cells_
    assert_allclose(fitted.aggregate(sample), exact, atol=5e-3)


def test_a_tiny_bandwidth_leaves_no_item_without_a_density() -> None:
    known, y, sample = problem(2)
    fitted = KDEyML(bandwidth=1e-3).fit_posteriors(known, y)
    assert fitted._represent(sample).max(axis=0).min() > 0
    assert_allclose(fitted.aggregate(sample).sum(), 1)
    many = KDEyML(bandwidth=1e-6).fit_posteriors(*problem(10)[:2])
    assert np.isfinite(many._represent(problem(10)[2])).all()


@pytest.mark.parametrize("name", [name for name in ON_POSTERIORS if name not in BY_SIZE])
def test_what_tells_nothing_leaves_the_training_prevalence(name: str) -> None:
    constant = np.full((12, 3), 1 / 3)
    y = np.repeat([0, 1, 2], [2, 4, 6])
    estimate = ON_POSTERIORS[name].fit_posteriors(constant, y).estimate_posteriors(constant[:5])
    # A search does not stand quite still on a plain.
    tolerance = 1e-4 if name == "KDEyHD" else 1e-6
    assert_allclose(estimate.prevalence, [1 / 6, 1 / 3, 1 / 2], atol=tolerance)
    assert estimate.diagnostics.get("fallback", True)


def test_a_sample_far_from_all_training_items_leaves_the_training_prevalence() -> None:
    known = np.array([[0.9, 0.1], [0.8, 0.2], [0.85, 0.15]])
    fitted = KDEyCS(bandwidth=1e-3).fit_posteriors(known, [0, 1, 1])
    estimate = fitted.estimate_posteriors([[0.1, 0.9]])
    assert estimate.diagnostics["fallback"]
    assert_allclose(estimate.prevalence, [1 / 3, 2 / 3])


def test_ilr_and_aitchison_are_the_same_up_to_a_rotation() -> None:
    known, y, sample = problem(3)
    clr, ilr = (
        KDEyML(kernel=kernel, bandwidth=0.5).fit_posteriors(known, y).aggregate(sample)
        for kernel in ("aitchison", "ilr")
    )
    assert_allclose(clr, ilr, atol=LIKELIEST)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["KDEyML", "EDy", "MMDy"])
def test_the_checks_with_other_options(name: str) -> None:
    """The catalogue's checks run with defaults; these are the rest. The waves' frequencies do
    depend on the order of the columns. With ten classes, densities of log-ratios would need more
    items. Bandwidths by the rules are made for data of variance one, and posteriors vary less."""
    for other in (key for key in ON_POSTERIORS if key.startswith(name + " ")):
        skip = ["columns_in_another_order", "class_relabelling"] if "rff" in other else []
        skip += ["right_for_many_classes"] if name == "KDEyML" else []
        skip += ["right_for_two_classes", "right_for_three_classes"] if other in BY_SIZE else []
        check_quantifier(ON_POSTERIORS[other], skip=skip)


def test_samples_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    known, y, sample = problem(3)
    fitted = KDEyHD(n_points=300).fit_posteriors(known, y)
    index = np.random.default_rng(0).integers(len(sample), size=(7, 40))
    whole = fitted.aggregate(sample, index)
    monkeypatch.setattr(kdey, "MOST_VALUES", 2000)
    # The same points and densities in parts: only the order of sums differs.
    assert_allclose(fitted.aggregate(sample, index), whole, atol=1e-9)


def test_intervals_of_three_classes_hold_the_truth() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = rng.normal(size=(240, 2)) + 2 * np.eye(3, 2)[y]
    new = np.repeat([0, 1, 2], [60, 90, 50])
    X_new = rng.normal(size=(200, 2)) + 2 * np.eye(3, 2)[new]
    for method in (EDx(), MMDx(), KDEyML(), KDEyCS(), EDy()):
        found = method.fit(X, y).predict_interval(X_new, n_bootstrap=30)
        truth = np.bincount(new) / 200
        assert np.all((found.low <= truth + 0.1) & (truth - 0.1 <= found.high))
        assert np.all(found.high - found.low < 0.6)


def test_replicates_by_weights_are_plain_refits() -> None:
    known, y, sample = problem(3)
    rows = np.concatenate([np.arange(30), np.random.default_rng(0).integers(300, size=200)])
    for method in ON_POSTERIORS.values():
        again = method.fit_posteriors(known, y).refit(rows)
        here = again.aggregate(sample)
        there = method.fit_posteriors(known[rows], y[rows]).aggregate(sample)
        assert_allclose(here, there, atol=LIKELIEST)


def test_what_cannot_be_used_is_refused() -> None:
    known, y, _ = problem(2)
    wrong = {
        "got 'manhatan'; did you mean 'manhattan'": EDy(metric="manhatan"),
        "got 'rbv'; did you mean 'rbf'": MMDy(kernel="rbv"),
        "got 'ilt'; did you mean 'ilr'": KDEyML(kernel="ilt"),
        "got 'scot'; did you mean 'scott'": KDEyML(bandwidth="scot"),
        "bandwidth of KDEyML must be .* above 0, 'scott' or 'silverman', got 0": KDEyML(
            bandwidth=0
        ),
        "bandwidth of KDEyCS must be a number above 0, got 'scott'": KDEyCS(bandwidth="scott"),
        "bandwidth of KDEyHD must be a number above 0, got -1": KDEyHD(bandwidth=-1),
        "shrinkage of KDEyML must be .* of at least 0 and below 1": KDEyML(
            kernel="ilr", shrinkage=1
        ),
        "shrinkage is for log-ratios": KDEyML(shrinkage=0.1),
        "gamma of MMDy must be a number above 0 or None": MMDy(gamma=0),
        "n_components of MMDy must be .* of at least 2": MMDy(kernel="rff", n_components=1),
    }
    for message, method in wrong.items():
        with pytest.raises(UserError, match=message):
            method.fit_posteriors(known, y)
    with pytest.raises(UserError, match="n_points must be at least one per class"):
        KDEyHD(n_points=2).fit_posteriors(*problem(3)[:2])
    for method in (EDx(), MMDx()):
        with pytest.raises(DataError, match=r"1 features, but \w+ is expecting 2"):
            method.fit(known, y).predict(known[:, :1])
        with pytest.raises(UserError, match="more than 1000: reduce them"):
            method.fit(np.zeros((4, 1001)), [0, 1, 0, 1])


def test_estimates_are_the_same_in_any_order_of_training_items() -> None:
    known, y, sample = problem(3)
    order = np.random.default_rng(0).permutation(len(y))
    for method in ON_POSTERIORS.values():
        here = method.fit_posteriors(known, y).aggregate(sample)
        assert_allclose(
            method.fit_posteriors(known[order], y[order]).aggregate(sample), here, atol=LIKELIEST
        )
    assert_array_equal(
        KDEyHD(random_state=1).fit_posteriors(known, y).aggregate(sample),
        KDEyHD(random_state=1).fit_posteriors(known, y).aggregate(sample),
    )


def test_densities_of_a_sample_need_no_set_up_and_no_matrix_products(monkeypatch) -> None:
    """Before, a sample was compared with all training items by products of small matrices.

    With several threads that took longer than QuaPy does. Densities are the same to 1e-9.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=2000)
    posteriors = softmax(2 * rng.normal(size=(2000, 3)) + 3 * np.eye(3)[y], axis=1)
    fitted = KDEyML().fit_posteriors(posteriors, y)
    precision = fitted.bandwidths_**-2
    log_height = -3 * np.log(np.sqrt(2 * np.pi) * fitted.bandwidths_)
    exact = mean_gaussians(fitted.class_points_, posteriors, precision, log_height=log_height)
    monkeypatch.setattr("quantshift.quantifiers.matching.kdey.mean_gaussians", None)
    assert_allclose(fitted._represent(posteriors), exact, rtol=1e-9, atol=1e-9 * exact.max())
    assert fitted.class_points_.points.flags.f_contiguous
