"""Cells of verdicts: neighbours are joined until each has enough labels."""

import numpy as np
import pytest

from quantshift.judging.items.verdict_cells import of_judges, pooled, scaled_scores


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([5, 5, 5], [0, 1, 2]),
        ([5, 1, 4], [0, 1, 1]),
        ([4, 1, 5], [0, 0, 1]),
        ([5, 5, 1], [0, 1, 1]),
        ([1, 5, 5], [0, 0, 1]),
        ([3, 2, 3], [0, 0, 1]),
        ([1, 1, 1, 9], [0, 0, 0, 1]),
        ([0, 0, 2], [0, 0, 0]),
        ([3, 3], [0, 1]),
    ],
)
def test_the_cell_with_the_fewest_labels_joins_the_smaller_neighbour(counts, expected):
    labelled = np.repeat(np.arange(len(counts)), counts)
    assert pooled(labelled, len(counts), 3).tolist() == expected


def test_scores_that_are_no_probabilities_become_ranks_here_and_elsewhere():
    scores, others = scaled_scores([10.0, 30.0, 20.0, 20.0], [5.0, 20.0, 40.0])
    assert scores.tolist() == [0.125, 0.875, 0.5, 0.5]
    assert others.tolist() == [0.0, 0.5, 1.0]
    assert scaled_scores([0.0, 1.0], [0.5])[1].tolist() == [0.5]


def test_a_verdict_that_nobody_gave_has_a_cell_if_there_are_as_many_as_classes():
    found = of_judges(np.array([[0], [1], [0]]), None, [np.arange(3)], 3)
    assert found.n == 3
    assert found.codes.tolist() == [0, 1, 0]
    assert found.directions == pytest.approx(np.eye(3))
    # Of more verdicts than classes only those that were given have one.
    assert of_judges(np.array([[0], [2], [0]]), None, [np.array([0, 1, -1])], 2).n == 2
