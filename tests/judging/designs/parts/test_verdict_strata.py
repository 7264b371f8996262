"""Verdicts as strata."""

import numpy as np
import pytest

from quantshift.judging.designs.parts.verdict_strata import pooled_cells
from quantshift.judging.items.verdict_cells import VerdictCells


def test_labels_stand_for_the_items_of_their_cell_though_cells_are_joined():
    codes = np.repeat([0, 1, 2], [6, 8, 10])
    labelled = np.arange(24) < np.repeat([1, 9, 24], [6, 8, 10])
    labelled[:6] = [True, False, False, False, False, False]
    n = np.bincount(codes[labelled])
    groups, weights = pooled_cells(VerdictCells(codes, None, 3, None), labelled)
    assert n.tolist() == [1, 3, 10]
    assert weights == pytest.approx(np.repeat([6, 8 / 3, 1], n))
    assert len(groups) == 24
