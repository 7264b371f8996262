import numpy as np
import pytest
from numpy.testing import assert_array_equal

from quantshift.sketches import cells
from tests.sketches.made import awkward


def test_every_cell_stands_for_a_score_that_is_in_it():
    middles = cells.score_middles()
    assert len(middles) == cells.n_cells(2)
    assert_array_equal(cells.score_cells(middles), np.arange(len(middles)))
    assert (np.diff(middles) > 0).all()


def test_cells_are_in_the_order_of_scores():
    scores = np.array(sorted(s for s in awkward() if s is not None and 0 <= s <= 1))
    assert (np.diff(cells.score_cells(scores)) >= 0).all()


def test_a_cell_is_at_most_a_128th_of_the_distance_to_the_nearer_end_wide():
    scores = np.random.default_rng(0).beta(0.3, 0.3, 10_000)
    stands_for = cells.score_middles()[cells.score_cells(scores)]
    distance = np.minimum(scores, 1 - scores)
    near = distance >= 2.0**-cells.SMALLEST
    assert (np.abs(stands_for - scores)[near] <= distance[near] / 128).all()
    assert np.abs(stands_for - scores)[~near].max(initial=0.0) <= 2.0**-cells.SMALLEST / 128


def test_pieces_fill_their_cell_and_no_other():
    every = np.arange(cells.n_cells(2))
    pieces = cells.score_pieces(every, 4)
    assert_array_equal(cells.score_cells(pieces.ravel()), np.repeat(every, 4))
    # Means of four numbers that are exact but for the last bit.
    np.testing.assert_allclose(pieces.mean(axis=1), cells.score_middles(), rtol=1e-14)


@pytest.mark.parametrize("row", [[0.5, 0.6], [np.nan, 0.5], [-0.1, 1.1], [1.0, np.inf]])
def test_rows_that_are_no_posteriors_are_outside(row):
    assert cells.cells_of(np.array([row])).tolist() == [cells.OUTSIDE]


@pytest.mark.parametrize("labelled", [False, True])
def test_of_more_classes_a_cell_keeps_the_prediction(labelled):
    posteriors = np.random.default_rng(0).dirichlet([0.4] * 4, 2000)
    joint = cells.JointCells.of(4, labelled=labelled)
    found = joint.cells(posteriors)
    first, second = joint.leading(found)
    order = np.argsort(-posteriors, axis=1)
    assert_array_equal(first, order[:, 0])
    assert_array_equal(second, order[:, 1])
    assert found.max() < joint.n_joint


def test_cells_of_labelled_rows_are_in_the_same_levels_as_others():
    posteriors = np.random.default_rng(0).dirichlet([0.4] * 3, 2000)
    fine, coarse = cells.JointCells.of(3, labelled=True), cells.JointCells.of(3)
    assert_array_equal(
        fine.sample_levels(fine.cells(posteriors)), coarse.sample_levels(coarse.cells(posteriors))
    )


def test_marginal_cells_are_behind_the_joint_ones_class_by_class():
    posteriors = np.random.default_rng(0).dirichlet([0.4] * 3, 500)
    joint = cells.JointCells.of(3)
    for k in range(3):
        found = joint.marginal_cells(posteriors, k) - joint.marginal_start(k)
        assert_array_equal(found, cells.score_cells(posteriors[:, k]))
    assert joint.marginal_start(3) == joint.n_cells
