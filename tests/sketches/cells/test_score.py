import numpy as np
import pytest
from numpy.testing import assert_array_equal

from quantshift.sketches.cells import score as cells
from quantshift.sketches.sketch_table import cells_of
from tests.sketches.made import awkward

WIDTHS = pytest.mark.parametrize("kind", cells.WIDTHS, ids=["wide", "middle", "narrow"])


def awkward_scores() -> np.ndarray:
    return np.array(sorted(s for s in awkward() if s is not None and 0 <= s <= 1))


@WIDTHS
def test_every_cell_stands_for_a_score_that_is_in_it(kind):
    every = np.arange(kind.first, kind.end)
    for scores in (kind.middles(every), kind.stands_for(every)):
        assert_array_equal(kind.of(scores), every)
        assert (np.diff(scores) > 0).all()


@WIDTHS
def test_cells_are_in_the_order_of_scores(kind):
    assert (np.diff(kind.of(awkward_scores())) >= 0).all()


@WIDTHS
def test_a_cell_is_a_small_part_of_the_distance_to_the_nearer_end_wide(kind):
    scores = np.random.default_rng(0).beta(0.3, 0.3, 10_000)
    stands_for = kind.middles(kind.of(scores))
    distance = np.minimum(scores, 1 - scores)
    near = distance >= 2.0**-cells.SMALLEST
    assert (np.abs(stands_for - scores)[near] <= distance[near] / kind.per_octave).all()
    tiny = np.abs(stands_for - scores)[~near]
    assert tiny.max(initial=0.0) <= 2.0**-cells.SMALLEST / kind.per_octave


def test_pieces_fill_their_cell_and_no_other():
    every = np.arange(cells.WIDE.n_cells)
    pieces = cells.WIDE.pieces(every, 4)
    assert_array_equal(cells.WIDE.of(pieces.ravel()), np.repeat(every, 4))
    # Means of four numbers that are exact but for the last bit.
    np.testing.assert_allclose(pieces.mean(axis=1), cells.WIDE.middles(every), rtol=1e-14)


@pytest.mark.parametrize(("narrow", "wide"), [(2, 1), (2, 0), (1, 0)])
def test_a_narrow_cell_lies_within_a_wide_one(narrow, wide):
    scores = awkward_scores()
    kind, wider = cells.WIDTHS[narrow], cells.WIDTHS[wide]
    assert_array_equal(kind.widened(kind.of(scores), wider), wider.of(scores))


def test_scores_with_few_digits_come_back_as_they_were():
    scores = np.arange(1001) / 1000
    for kind in (cells.MIDDLE, cells.NARROW):
        assert_array_equal(kind.stands_for(kind.of(scores)), scores)


def test_widths_are_told_by_the_numbers_of_cells():
    ends = np.array([kind.first for kind in cells.WIDTHS] + [kind.end - 1 for kind in cells.WIDTHS])
    assert_array_equal(cells.width_of(ends), [0, 1, 2, 0, 1, 2])
    assert_array_equal(cells.scores_of(ends), [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("row", [[0.5, 0.6], [np.nan, 0.5], [-0.1, 1.1], [1.0, np.inf]])
def test_rows_that_are_no_posteriors_are_outside(row):
    assert cells_of(np.array([row])).tolist() == [cells.OUTSIDE]


@pytest.mark.parametrize("kind", [cells.NARROW, cells.WIDE])
def test_minus_zero_is_zero(kind):
    assert kind.of(np.array([-0.0])) == kind.of(np.array([0.0]))
