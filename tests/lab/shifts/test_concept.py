"""Concept shift: balanced levels, labels of the draw's own cut point."""

import numpy as np
import pytest

from quantshift.errors import DataError, PoolTooSmallError, UserError
from quantshift.lab.shifts import ConceptShift

STARS = 1 + np.arange(20_000) % 5
CUTS = [1.5, 2.5, 3.5, 4.5]


def levels(draw, values=STARS):
    return np.unique(values[draw.indices], return_counts=True)[1].tolist()


def test_samples_hold_100_of_each_star():
    draws = list(ConceptShift().samples(STARS))
    assert len(draws) == 200
    assert sorted({draw.coordinates["cut_test"] for draw in draws}) == CUTS
    for draw in draws:
        assert levels(draw) == [100] * 5
        expected = STARS[draw.indices] > draw.coordinates["cut_test"]
        assert draw.labels.tolist() == expected.astype(int).tolist()


def test_training_sets_hold_1000_of_each_star():
    draws = list(ConceptShift(train_repeats=2).training_sets(STARS))
    assert len(draws) == 8
    for draw in draws:
        assert levels(draw) == [1000] * 5
        assert draw.labels.mean() == pytest.approx((5 - int(draw.coordinates["cut_train"])) / 5)


def test_degrees_run_from_minus_3_to_3():
    shift = ConceptShift(test_size=10, train_size=10, test_repeats=1, train_repeats=1)
    degrees = [draw.degree for cell in shift.train_test(STARS) for draw in cell.tests]
    assert degrees == [c - d for c in CUTS for d in CUTS]


FORCED = {1.5: [125, 93, 94, 94, 94], 4.5: [31, 31, 31, 32, 375]}


def test_forced_prevalences_balance_the_stars_inside_each_class():
    shift = ConceptShift(train_prevalence=0.5, test_prevalence=0.75, test_repeats=1)
    for draw in shift.samples(STARS, train={"cut_train": 2.5, "p_train": 0.5}):
        assert draw.labels.sum() == 375
        assert draw.coordinates["p_test"] == 0.75
        assert draw.coordinates["p_train"] == 0.5
        cut = draw.coordinates["cut_test"]
        counts = np.array(levels(draw))
        for side in (counts[: int(cut)], counts[int(cut) :]):
            assert side.max() - side.min() <= 1
        if cut in FORCED:
            assert counts.tolist() == FORCED[cut]


def test_forced_training_sets():
    shift = ConceptShift(train_prevalence=0.5, train_repeats=1, train_cuts=[3.5])
    (draw,) = shift.training_sets(STARS)
    assert levels(draw) == [833, 833, 834, 1250, 1250]
    assert draw.labels.mean() == 0.5


def test_a_level_at_the_cut_is_left_out():
    shift = ConceptShift(test_cuts=[3], test_size=40, test_repeats=1)
    (draw,) = shift.samples(STARS)
    assert levels(draw) == [10] * 4
    assert 3 not in STARS[draw.indices]


@pytest.mark.parametrize("values", [[0.5, 1.0, 1.5, 2.0], [-10, 0, 10, 100]])
def test_any_ordered_levels_will_do(values):
    column = np.array(values)[np.arange(400) % 4]
    shift = ConceptShift(test_cuts=[values[1] + 0.1], test_size=42, test_repeats=1)
    (draw,) = shift.samples(column)
    assert levels(draw, column) == [10, 10, 11, 11]
    assert draw.labels.sum() == 22


@pytest.mark.parametrize("cut", [0.5, 1, 5, 7, float("inf")])
def test_a_cut_that_leaves_a_class_empty_is_refused(cut):
    with pytest.raises(UserError, match=r"leaves a class empty: the levels are 1, 2, 3, 4, 5"):
        ConceptShift(test_cuts=[cut]).samples(STARS)


def test_wrong_values_are_refused():
    with pytest.raises(DataError, match="stars must be numbers"):
        ConceptShift().samples(["one", "two"])
    with pytest.raises(UserError, match=r"test_prevalence=.* between 0 and 1"):
        ConceptShift(test_prevalence=1.5).samples(STARS)
    with pytest.raises(UserError, match="test_cuts"):
        ConceptShift(test_cuts=[float("nan")]).samples(STARS)


def test_the_level_that_is_too_rare_is_named():
    with pytest.raises(PoolTooSmallError, match="asks for 100 items of level 4, the pool has 0"):
        ConceptShift().samples(STARS, pool=np.flatnonzero(STARS != 4))
