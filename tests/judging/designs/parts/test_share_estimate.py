"""Counts of items and labels in cells, with weights as effective numbers."""

import numpy as np
import pytest

from quantshift.judging.designs.parts.share_estimate import item_counts, labelled_table

CELLS = np.array([0, 0, 1, 2, 2, 2])


def test_without_weights_items_are_counted():
    assert item_counts(CELLS, 4).tolist() == [2, 1, 3, 0]
    assert item_counts(CELLS, 4, np.full(6, 5.0)).tolist() == [2, 1, 3, 0]
    assert item_counts(CELLS, 4, np.zeros(6)).tolist() == [0, 0, 0, 0]


def test_weighted_items_are_as_many_as_would_tell_as_much():
    """Kish: (sum w)^2 / sum w^2 in all, divided as the weights are."""
    weights = np.array([3.0, 1.0, 2.0, 1.0, 1.0, 4.0])
    found = item_counts(CELLS, 4, weights)
    assert found.sum() == pytest.approx(12**2 / 32)
    assert found / found.sum() == pytest.approx(np.array([4, 2, 6, 0]) / 12)


def test_labels_are_counted_by_class_and_cell():
    y, weights = np.array([0, 1, 1, 0, 0, 1]), np.array([3.0, 1.0, 2.0, 1.0, 1.0, 4.0])
    table = labelled_table(CELLS, y, 4, 2)
    assert table.tolist() == [[1, 0, 2, 0], [1, 1, 1, 0]]
    weighted = labelled_table(CELLS, y, 4, 2, weights)
    assert weighted.sum() == pytest.approx(12**2 / 32)
    assert weighted / weighted.sum() == pytest.approx(np.array([[3, 0, 2, 0], [1, 2, 4, 0]]) / 12)
