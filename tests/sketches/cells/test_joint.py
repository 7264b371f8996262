import numpy as np
import pytest
from numpy.testing import assert_array_equal

from quantshift.sketches.cells import joint as joint_cells
from quantshift.sketches.cells import rounded
from quantshift.sketches.cells.joint import JointCells
from quantshift.sketches.cells.score import WIDE


def rounded_rows(n_classes: int, n: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    posteriors = np.random.default_rng(0).dirichlet([0.4] * n_classes, n)
    largest, codes = rounded.rounded_cells(posteriors)
    return rounded.middles(largest, codes), largest


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_a_joint_cell_knows_the_prediction_and_how_sure_it_is(n_classes):
    rows, largest = rounded_rows(n_classes)
    joint = JointCells(n_classes)
    found = joint.of(rows, largest)
    assert_array_equal(joint.largest(found), largest)
    left = 1 - rows[np.arange(len(rows)), largest]
    assert_array_equal(joint.left_levels(found), joint.levels(left, joint_cells.DEEPEST[0]))
    assert found.min() >= n_classes
    assert found.max() < joint.end_of_rows


def test_marginal_cells_are_behind_the_joint_ones_class_by_class():
    rows, largest = rounded_rows(3)
    joint = JointCells(3)
    *by_class, expected = joint.marginal(rows, largest)
    for k, found in enumerate(by_class):
        starts = [joint.marginal_start(k, largest=bool(b)) for b in largest == k]
        assert_array_equal(found - starts, WIDE.of(rows[:, k]))
    place = rows @ [0, 1, 2] / 2
    assert_array_equal(expected - joint.expected_start, WIDE.of(place))
    assert joint.expected_start + WIDE.n_cells == joint.n_cells


def test_sums_give_means_and_covariances():
    rows, _ = rounded_rows(4)
    total = joint_cells.summed(rows).sum(axis=0)[np.newaxis]
    sums, products, counts = total[:, :3], total[:, 3:], np.array([len(rows)])
    # Sums are in units of 2**-20 and 2**-16, rounded to the nearest; the errors are averaged.
    np.testing.assert_allclose(joint_cells.means(sums, counts)[0], rows.mean(axis=0), atol=2e-7)
    covariances = joint_cells.covariances(sums, products, counts)[0]
    np.testing.assert_allclose(covariances, np.cov(rows.T, bias=True), atol=2e-6)


def test_a_single_row_has_no_spread():
    rows, _ = rounded_rows(3, 50)
    sums = joint_cells.summed(rows)
    assert not joint_cells.covariances(sums[:, :2], sums[:, 2:], np.ones(50)).any()


def test_the_numbers_of_cells_are_those_of_kept_files():
    """Levels of halved width down to 2**-9, 2**-7 and 2**-3, and 16 or 8 of equal width."""
    assert JointCells(3).n_levels == (5 + 16, 3 + 16, 0 + 16)
    assert JointCells(5).n_levels == (6 + 8, 4 + 8, 0 + 8)
    assert JointCells(3).end_of_rows == 3 + 27 * 21 * 19 * 16
    assert JointCells(5).end_of_rows == 5 + 125 * 14 * 12 * 8
