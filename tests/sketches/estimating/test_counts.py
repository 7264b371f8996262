"""Posteriors in the cells of a sketch."""

import numpy as np
import pytest

from quantshift import SLD
from quantshift.sketches.estimating import counts
from quantshift.sketches.estimating.counts import in_cells


def test_posteriors_in_wide_cells_add_up_to_one_and_are_near():
    p = np.linspace(0.01, 0.99, 50)
    found = in_cells(np.column_stack([1 - p, p]))
    assert found.sum(axis=1) == pytest.approx(np.ones(50))
    assert found[:, 1] == pytest.approx(p, abs=0.05)


def test_samples_are_estimated_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    posteriors = rng.dirichlet([1, 1], 40)
    quantifier = SLD().fit_posteriors(posteriors, (rng.random(40) < posteriors[:, 1]).astype(int))
    numbers = rng.integers(1, 9, size=(7, 40)).astype(float)
    together = counts.count_estimates(quantifier, posteriors, numbers)
    monkeypatch.setattr(counts, "MOST_AT_ONCE", 120)
    assert counts.count_estimates(quantifier, posteriors, numbers).tolist() == together.tolist()
    assert together[0] == pytest.approx(
        quantifier.aggregate(np.repeat(posteriors, numbers[0].astype(int), axis=0)), abs=1e-9
    )
