"""The short way to the likeliest mixture ends where the long one does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from quantshift.optimise.mixture_likelihood import (
    _by_certain_items,
    _maximised,
    maximise_mixtures,
)
from quantshift.optimise.mixture_newton import newton_mixtures


@pytest.mark.parametrize("n_classes", [3, 4, 10])
@pytest.mark.parametrize("concentration", [0.1, 1.0, 10.0])
def test_the_same_maximum_as_by_the_long_way(n_classes: int, concentration: float) -> None:
    rng = np.random.default_rng(n_classes)
    pool = np.ascontiguousarray(rng.dirichlet(np.full(n_classes, concentration), 2000).T)
    index, start = rng.integers(2000, size=(40, 300)), rng.dirichlet(np.full(n_classes, 5.0))
    weights = rng.integers(0, 4, 2000).astype(float)
    for heft in (None, weights):
        short, _, converged = newton_mixtures(pool, index, start, None, 1e-6, 1000, heft)
        long, _, _ = _maximised(pool, index, start, 1e-6, 1000, heft)
        assert converged.mean() > 0.9
        # Both are within `tol` of the maximum.
        assert_allclose(short[converged], long[converged], atol=1e-6)


@pytest.mark.parametrize("n_classes", [3, 10])
def test_a_prior_is_items_whose_class_is_certain(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    pool = np.ascontiguousarray(rng.dirichlet(np.full(n_classes, 0.5), 1000).T)
    index, start = rng.integers(1000, size=(30, 200)), np.full(n_classes, 1 / n_classes)
    added = rng.choice([0.0, 0.01, 1.0, 50.0, 1e5], 30)
    options = {"tol": 1e-6, "max_iter": 1000, "weights": None}
    found, _, converged = maximise_mixtures(pool, index, start, added=added, **options)
    expected, _, _ = _by_certain_items(pool, index, start, added, **options)
    assert converged.all()
    # Both are within `tol` of the maximum.
    assert_allclose(found, expected, atol=1e-6)
