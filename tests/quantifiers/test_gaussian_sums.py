"""Compiled sums of Gaussians against numpy's, near and far, weighted or not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from quantshift.quantifiers.gaussian_sums import neighbours, sample_gaussians, sums_of_gaussians


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 10])
@pytest.mark.parametrize("bandwidth", [0.01, 0.1, 3.0])
def test_sums_over_groups(n_classes: int, bandwidth: float) -> None:
    rng = np.random.default_rng(n_classes)
    items = rng.dirichlet(np.full(n_classes, 0.3), 300)
    items[:150] = items[:150][neighbours(items[:150])]
    weights = rng.random(300)
    weights[7] = 0
    ends = np.array([150, 300])
    for part in (slice(0, 150), slice(150, 300)):
        weights[part] /= weights[part].sum()
    points = rng.dirichlet(np.full(n_classes, 0.3), 50)
    squares = ((points[:, np.newaxis] - items) ** 2).sum(axis=2)
    terms = weights * np.exp(-squares / (2 * bandwidth**2))
    expected = np.stack([terms[:, :150].sum(axis=1), terms[:, 150:].sum(axis=1)])
    with np.errstate(divide="ignore"):
        found = sums_of_gaussians(
            np.ascontiguousarray(items.T), ends, weights, points, bandwidth**-2
        )
    # The polynomial is right to 1e-11; chunks below e^-30 are left out of sums above 1e-4.
    assert_allclose(found, expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
def test_means_over_samples(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    pool = rng.dirichlet([0.3, 0.4, 0.5], 200)
    index, points = rng.integers(200, size=(6, 90)), rng.dirichlet([1, 1, 1], 40)
    weights = rng.integers(0, 3, 200).astype(float) if weighted else None
    heft = np.ones(index.shape) if weights is None else weights[index]
    squares = ((points[:, np.newaxis] - pool) ** 2).sum(axis=2)
    kernels = np.exp(-squares / (2 * 0.1**2))[:, index]
    expected = (kernels * heft).sum(axis=2).T / heft.sum(axis=1, keepdims=True)
    found = sample_gaussians(np.ascontiguousarray(pool.T), index, weights, points, 0.1**-2)
    assert_allclose(found, expected, rtol=1e-10, atol=1e-13)
    alone = sample_gaussians(np.ascontiguousarray(pool.T), index[2:3], weights, points, 0.1**-2)
    assert (alone[0] == found[2]).all()


def test_points_far_from_everything_have_sums_that_are_zero_or_right() -> None:
    items = np.array([[0.0, 0.1, 0.2], [1.0, 0.9, 0.8]])
    weights = np.full(3, 1 / 3)
    points = np.array([[1.0, 0.0], [9.0, 9.0]])
    found = sums_of_gaussians(items, np.array([3]), weights, points, 100.0)
    squares = ((points[0] - items.T) ** 2).sum(axis=1)
    assert_allclose(found[0, 0], np.exp(-50 * squares).mean(), rtol=1e-10)
    assert found[0, 1] == 0
