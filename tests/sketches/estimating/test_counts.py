"""Posteriors in the cells of a sketch."""

import numpy as np
import pytest

from quantshift.sketches.estimating.counts import in_cells


def test_posteriors_in_wide_cells_add_up_to_one_and_are_near():
    p = np.linspace(0.01, 0.99, 50)
    found = in_cells(np.column_stack([1 - p, p]))
    assert found.sum(axis=1) == pytest.approx(np.ones(50))
    assert found[:, 1] == pytest.approx(p, abs=0.05)
