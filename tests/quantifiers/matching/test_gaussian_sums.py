"""Compiled sums of Gaussians against numpy's, near and far, weighted or not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from quantshift.quantifiers.matching.gaussian_sums import (
    BLOCK,
    TILE,
    blocks_of_neighbours,
    neighbours,
    sample_gaussians,
    sums_of_gaussians,
)


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
    """Over several blocks of points and tiles of items; a sample has the bits it has alone."""
    rng = np.random.default_rng(0)
    n_items = TILE + 200
    pool = np.ascontiguousarray(rng.dirichlet([0.3, 0.4, 0.5], n_items).T)
    pool[:, :20] = pool[:, 20:40]  # ties
    index, points = rng.integers(n_items, size=(20, 90)), rng.dirichlet([1, 1, 1], 2 * BLOCK + 9)
    points = points[blocks_of_neighbours(points)]
    weights = rng.integers(0, 3, n_items).astype(float) if weighted else None
    heft = np.ones(index.shape) if weights is None else weights[index]
    squares = ((points[:, np.newaxis] - pool.T) ** 2).sum(axis=2)
    kernels = np.exp(-squares / (2 * 0.1**2))[:, index]
    expected = (kernels * heft).sum(axis=2).T / heft.sum(axis=1, keepdims=True)
    found = sample_gaussians(pool, index, weights, points, 0.1**-2)
    # The polynomial is right to 1e-11; items whose Gaussians are below e^-30 are left out.
    assert_allclose(found, expected, rtol=1e-10, atol=1e-13)
    alone = sample_gaussians(
        np.ascontiguousarray(pool[:, index[2]]),
        np.arange(90)[np.newaxis],
        None if weights is None else weights[index[2]],
        points,
        0.1**-2,
    )
    assert (alone[0] == found[2]).all()


def test_blocks_are_boxes_of_near_points() -> None:
    points = np.random.default_rng(0).random((5 * BLOCK + 3, 2))
    order = blocks_of_neighbours(points)
    assert (np.sort(order) == np.arange(len(points))).all()
    sides = [np.ptp(points[order[i : i + BLOCK]], axis=0) for i in range(0, len(points), BLOCK)]
    # Six boxes of a square: none is as large as half of it.
    assert max(side.prod() for side in sides) < 0.5


def test_points_far_from_everything_have_sums_that_are_zero_or_right() -> None:
    items = np.array([[0.0, 0.1, 0.2], [1.0, 0.9, 0.8]])
    weights = np.full(3, 1 / 3)
    points = np.array([[1.0, 0.0], [9.0, 9.0]])
    found = sums_of_gaussians(items, np.array([3]), weights, points, 100.0)
    squares = ((points[0] - items.T) ** 2).sum(axis=1)
    assert_allclose(found[0, 0], np.exp(-50 * squares).mean(), rtol=1e-10)
    assert found[0, 1] == 0
