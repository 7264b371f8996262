"""Kernel densities and energies beside scikit-learn's and QuaPy 0.2.3's."""

import time
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.neighbors import KernelDensity
from threadpoolctl import threadpool_limits

from quantshift import KDEyML
from quantshift.quantifiers import EDx, EDy, KDEyCS, KDEyHD

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from quapy.method import aggregative as quapy
    from quapy.method._energy import _EnergyDistanceCore

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


def problem(n_classes: int) -> Problem:
    """Labelled posteriors and samples over the whole simplex, (8, 200, n_classes)."""
    rng = np.random.default_rng(n_classes)

    def posteriors(y: np.ndarray) -> np.ndarray:
        z = np.exp(1.2 * (rng.normal(size=(*y.shape, n_classes)) + 1.5 * np.eye(n_classes)[y]))
        return np.asarray(z / z.sum(axis=-1, keepdims=True))

    y = rng.integers(n_classes, size=600)
    labels = [rng.choice(n_classes, 200, p=p) for p in rng.dirichlet(np.ones(n_classes), 8)]
    return posteriors(y), y, posteriors(np.stack(labels))


def theirs(name: str, known: np.ndarray, y: np.ndarray, **options: Any) -> Any:
    n_classes = known.shape[1]
    classifier = LogisticRegression().fit(np.eye(n_classes), np.arange(n_classes))
    method = getattr(quapy, name)(classifier, False, val_split=None, **options)
    method.aggregation_fit(known, y)
    return method


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("bandwidth", [0.02, 0.1, "scott", "silverman"])
def test_densities_are_scikit_learn_s(n_classes: int, bandwidth: float | str) -> None:
    """With all items in one leaf: its tree of smaller ones is far off where densities are faint.

    (Bandwidth 0.02, 5 classes: logarithms of densities by up to 77.)
    """
    known, y, samples = problem(n_classes)
    fitted = KDEyML(bandwidth=bandwidth).fit_posteriors(known, y)
    exact = KernelDensity(bandwidth=bandwidth, leaf_size=len(y))
    log = [exact.fit(known[y == k]).score_samples(samples[0]) for k in range(n_classes)]
    assert_allclose(np.log(fitted._represent(samples[0])), log, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize(
    ("n_classes", "options"),
    [
        (2, {}),
        (3, {}),
        (5, {"bandwidth": 0.05}),
        (3, {"kernel": "aitchison", "bandwidth": 0.5}),
        (3, {"kernel": "ilr", "bandwidth": "scott", "shrinkage": 0.1}),
    ],
    ids=str,
)
def test_maximum_likelihood(n_classes: int, options: dict[str, Any]) -> None:
    """QuaPy's SLSQP stops up to 2e-5 away; it also adds 1e-12 to densities. Never likelier."""
    known, y, samples = problem(n_classes)
    reference = theirs("KDEyML", known, y, **options)
    fitted = KDEyML(**options).fit_posteriors(known, y)
    for sample in samples:
        mine, other = fitted.aggregate(sample), reference.aggregate(sample)
        assert_allclose(mine, other, atol=5e-4)
        densities = fitted._represent(sample)
        likelihoods = [np.log(p @ densities).sum() for p in (mine, other)]
        assert likelihoods[0] >= likelihoods[1] - 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_single_samples_are_not_slower_than_quapy_s(n_classes: int) -> None:
    """They took 2.2 times as long with 9,500 training items, and take 0.04 times as long now."""
    known, y, samples = problem(n_classes)
    known, y = np.tile(known, (16, 1))[:9500], np.tile(y, 16)[:9500]
    reference = theirs("KDEyML", known, y)
    fitted = KDEyML().fit_posteriors(known, y)

    def seconds(method: Any) -> float:
        method.aggregate(samples[0])  # what is made once
        start = time.process_time()
        for sample in samples:
            method.aggregate(sample)
        return time.process_time() - start

    with threadpool_limits(1):
        assert seconds(fitted) < seconds(reference)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_cauchy_schwarz(n_classes: int) -> None:
    """QuaPy's SLSQP ends up to 5e-4 away, and never lower."""
    known, y, samples = problem(n_classes)
    reference = theirs("KDEyCS", known, y)
    fitted = KDEyCS().fit_posteriors(known, y)
    for sample in samples:
        mine, other = fitted.aggregate(sample), reference.aggregate(sample)
        assert_allclose(mine, other, atol=2e-3)
        overlap = fitted._represent(sample).mean(axis=1)
        values = [
            -np.log(p @ overlap) + np.log(p @ fitted.overlaps_ @ p) / 2 for p in (mine, other)
        ]
        assert values[0] <= values[1] + 1e-12


@pytest.mark.slow
def test_hellinger_with_the_same_reference_points() -> None:
    """The same sum over points; QuaPy adds 1e-10 to densities and ends within SLSQP's 1e-3."""
    known, y, samples = problem(3)
    fitted = KDEyHD(n_points=1500).fit_posteriors(known, y)
    reference = theirs("KDEyHD", known, y, montecarlo_trials=30, random_state=0)
    points = fitted.reference_
    reference.reference_samples = points
    reference.reference_classwise_densities = np.asarray(
        [reference.pdf(kde, points, "gaussian") for kde in reference.mix_densities]
    )
    reference.reference_density = reference.reference_classwise_densities.mean(axis=0)
    for sample in samples[:4]:
        assert_allclose(fitted.aggregate(sample), reference.aggregate(sample), atol=1e-3)


def test_hellinger_of_two_classes_without_chance() -> None:
    """QuaPy's 10,000 random points leave an error of some 1e-3."""
    known, y, samples = problem(2)
    fitted = KDEyHD().fit_posteriors(known, y)
    reference = theirs("KDEyHD", known, y, random_state=0)
    for sample in samples[:3]:
        assert_allclose(fitted.aggregate(sample), reference.aggregate(sample), atol=1e-2)


@pytest.mark.parametrize("metric", ["manhattan", "euclidean"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_energy(metric: str, n_classes: int) -> None:
    """QuaPy's quadratic problem is ours; its solver, quadprog, is replaced by SLSQP here.

    The coefficients agree to rounding. Where no share is zero the solution is that of a linear
    system and agrees to 1e-10; elsewhere SLSQP ends within 1e-5, and never lower.
    """
    known, y, samples = problem(n_classes)
    core = _EnergyDistanceCore()
    core.distance = manhattan_distances if metric == "manhattan" else euclidean_distances
    core._fit_energy_model([known[y == k] for k in range(n_classes)])
    estimates = {
        "y": EDy(metric=metric).fit_posteriors(known, y).aggregate,
        "x": EDx(metric=metric).fit(known, y).predict,
    }
    for sample in samples:
        slope = core._compute_ed_param_test(
            core.distance, core.train_distrib_, sample, core.K_, core.train_n_cls_i_
        )

        def objective(p: np.ndarray, slope: np.ndarray = slope) -> float:
            return float(p @ core.G_ @ p / 2 - slope @ p)

        inside = np.linalg.solve(core.G_, slope)
        for estimate in estimates.values():
            mine = estimate(sample)
            if inside.min() >= 0 and inside.sum() <= 1:
                assert_allclose(mine[:-1], inside, atol=1e-10)
                continue
            found = minimize(
                objective,
                np.full(n_classes - 1, 1 / n_classes),
                bounds=[(0, 1)] * (n_classes - 1),
                constraints={"type": "ineq", "fun": lambda p: 1 - p.sum()},
                options={"ftol": 1e-14},
            )
            assert_allclose(mine[:-1], found.x, atol=1e-5)
            assert objective(mine[:-1]) <= found.fun + 1e-12
