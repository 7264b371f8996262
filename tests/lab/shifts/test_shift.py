"""Points, pools and seeds: what all shifts share."""

import hashlib
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from quantshift.errors import DataError, PoolTooSmallError, UserError
from quantshift.lab import shifts
from quantshift.lab.shifts import (
    AbstractShift,
    ConceptShift,
    CovariateShift,
    KnockOutShift,
    LocalCovariateShift,
    NaturalPrevalence,
    NoiseShift,
    PriorShift,
    TweakOneShift,
    UniformPrevalence,
    split_pools,
)
from quantshift.lab.shifts.natural import AbstractNaturalTraining
from quantshift.prevalence import simplex

Y = np.arange(400) % 2
CATEGORIES = np.where(np.arange(400) % 4 < 2, "A", "B")
SMALL = (
    PriorShift(
        test_prevalences=[0.2, 0.5],
        train_prevalences=[0.1, 0.5],
        test_size=20,
        train_size=40,
        test_repeats=2,
        train_repeats=2,
    ),
    CovariateShift(
        test_alphas=[0.3],
        train_alphas=[0.0, 1.0],
        test_size=20,
        train_size=40,
        test_repeats=2,
        train_repeats=2,
    ),
    LocalCovariateShift(
        test_size=18, train_size=40, test_repeats=2, train_repeats=2, with_control=True
    ),
    ConceptShift(test_cuts=[0.5], train_cuts=[0.5], test_size=20, train_size=40, test_repeats=2),
    NaturalPrevalence(test_size=20, test_repeats=2, train_size=40, train_repeats=2),
    UniformPrevalence(test_size=20, test_repeats=2, train_size=40, train_repeats=2),
    TweakOneShift(test_size=20, test_repeats=2, train_size=40, train_repeats=2),
    KnockOutShift(test_size=20, test_repeats=2, train_size=40, train_repeats=2),
    NoiseShift(test_size=20, test_repeats=2, train_size=40, train_repeats=2),
)
IDS = [shift.name for shift in SMALL]
RELATIVE = [shift for shift in SMALL if not isinstance(shift, KnockOutShift | NoiseShift)]
"""Those whose degree is a difference from training; of the others the samples alone tell it."""


def test_every_exported_protocol_is_tried_here():
    exported = {getattr(shifts, name) for name in shifts.__all__}
    protocols = {
        item for item in exported if isinstance(item, type) and issubclass(item, AbstractShift)
    }
    assert protocols - {AbstractShift} == {type(shift) for shift in SMALL}


@pytest.mark.parametrize("shift", SMALL, ids=IDS)
def test_a_protocol_names_itself_and_what_changes(shift):
    assert shift.changes
    assert "\n" not in shift.changes
    assert shift.__doc__.splitlines()[0].endswith(".")


def test_names_are_distinct_because_they_enter_the_seeds():
    assert len(set(IDS)) == len(IDS)


@pytest.mark.parametrize("shift", SMALL, ids=IDS)
def test_train_test_draws_from_disjoint_pools_and_carries_the_coordinates(shift):
    cells = list(shift.train_test(Y, CATEGORIES))
    trained = set().union(*(cell.train.indices.tolist() for cell in cells))
    tested = set().union(*(d.indices.tolist() for cell in cells for d in cell.tests))
    assert not trained & tested
    for cell in cells:
        assert np.isnan(cell.train.degree)
        assert cell.train.indices.size == 40
        for draw in cell.tests:
            assert cell.train.coordinates.items() <= draw.coordinates.items()
            assert {"repeat", "train_repeat"} <= draw.coordinates.keys()
            assert np.isfinite(draw.degree)


@pytest.mark.parametrize("shift", SMALL, ids=IDS)
def test_train_test_equals_its_parts(shift):
    train_pool, test_pool = split_pools(CATEGORIES, Y, seed=shift.seed)
    cells = list(shift.train_test(Y, CATEGORIES))
    alone = list(shift.training_sets(Y, CATEGORIES, pool=train_pool))
    assert len(cells) == len(alone)
    for cell, train in zip(cells, alone, strict=True):
        assert cell.train.indices.tolist() == train.indices.tolist()
        assert cell.train.coordinates == train.coordinates
        tests = shift.samples(Y, CATEGORIES, pool=test_pool, train=train.coordinates)
        for ours, theirs in zip(cell.tests, tests, strict=True):
            assert ours.indices.tolist() == theirs.indices.tolist()
            assert ours.coordinates == theirs.coordinates
            assert ours.degree == theirs.degree


@pytest.mark.parametrize("shift", RELATIVE, ids=lambda shift: shift.name)
def test_without_training_coordinates_the_degree_is_unknown(shift):
    assert all(np.isnan(draw.degree) for draw in shift.samples(Y, CATEGORIES))


@pytest.mark.parametrize("shift", SMALL, ids=IDS)
def test_coordinates_are_plain_numbers(shift):
    for cell in shift.train_test(Y, CATEGORIES):
        for draw in (cell.train, *cell.tests):
            assert {type(value) for value in draw.coordinates.values()} <= {float, int, bool}
            assert type(draw.degree) is float


@pytest.mark.parametrize("shift", SMALL, ids=IDS)
def test_draws_differ_between_repeats_sides_and_training_sets(shift):
    drawn = [
        tuple(draw.indices)
        for cell in shift.train_test(Y, CATEGORIES)
        for draw in (cell.train, *cell.tests)
    ]
    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize("shift", SMALL, ids=IDS)
def test_a_missing_value_is_refused_before_the_first_draw(shift):
    with pytest.raises(DataError, match="missing value at position 1"):
        shift.samples([1, None], ["A", "B"])


@pytest.mark.parametrize("shift", SMALL, ids=IDS)
def test_columns_of_different_length_are_refused(shift):
    with pytest.raises(DataError, match=r"differ in length \(400 and 399 items\)"):
        shift.training_sets(Y, CATEGORIES[:-1])


@pytest.mark.parametrize("shift", SMALL, ids=IDS)
def test_too_small_a_pool_is_refused_before_the_first_draw(shift):
    with pytest.raises(PoolTooSmallError, match=r"asks for \d+ .*, the pool has \d"):
        shift.samples(Y, CATEGORIES, pool=np.arange(8))


def test_the_shortage_named_is_the_worst_of_the_grid():
    shift = PriorShift(test_prevalences=[0.5, 0.9, 0.7], test_size=300)
    with pytest.raises(PoolTooSmallError) as caught:
        shift.samples(["neg", "pos"] * 200)
    assert str(caught.value) == (
        "prior shift: a test sample (p_test=0.9) asks for 270 items of class 'pos', the pool has "
        "200; ask for a smaller size, give a larger pool or set replace=True"
    )


def test_with_replacement_a_small_pool_will_do_and_it_is_recorded():
    shift = PriorShift(test_prevalences=[0.9], test_size=300, test_repeats=1, replace=True)
    (draw,) = shift.samples(Y, pool=np.arange(10))
    assert draw.coordinates["replace"] is True
    assert draw.indices.size == 300
    assert np.unique(draw.indices).size == 10
    assert draw.labels.sum() == 270


def test_with_replacement_an_empty_group_is_still_refused():
    shift = PriorShift(test_prevalences=[0.9], test_size=300, replace=True)
    with pytest.raises(PoolTooSmallError, match="the pool has 0; ask for a smaller size, give a"):
        shift.samples(Y, pool=np.arange(0, 10, 2))


def test_without_replacement_nothing_is_recorded():
    assert all("replace" not in draw.coordinates for draw in SMALL[0].samples(Y))


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        (np.ones(400, dtype=bool), "flatnonzero"),
        ([], "at least one position"),
        ([[1, 2]], "at least one position"),
        ([0.5, 2], "must hold positions"),
        ([0, 400], r"position 400 is outside 0\.\.399"),
        ([-1, 3], "position -1 is outside"),
        ([3, 3, 4], "twice"),
    ],
)
def test_wrong_pools_are_refused(pool, message):
    with pytest.raises(DataError, match=message):
        SMALL[0].samples(Y, pool=pool)


@pytest.mark.parametrize(
    "pool", [list(range(200)), pd.Series(range(200)), pl.Series(range(200)), np.arange(199, -1, -1)]
)
def test_a_pool_is_a_set_of_any_sequence_type(pool):
    expected = [draw.indices.tolist() for draw in SMALL[0].samples(Y, pool=np.arange(200))]
    assert [draw.indices.tolist() for draw in SMALL[0].samples(Y, pool=pool)] == expected


def test_pools_come_in_pairs_and_share_nothing():
    with pytest.raises(UserError, match="give both or neither"):
        SMALL[0].train_test(Y, train_pool=[1, 2])
    with pytest.raises(UserError, match=r"share 2 items, e\.g\. 4"):
        SMALL[0].train_test(Y, train_pool=[1, 4, 5], test_pool=[5, 4, 6])


def test_given_pools_are_used():
    cells = SMALL[0].train_test(Y, train_pool=np.arange(200), test_pool=np.arange(200, 400))
    for cell in cells:
        assert cell.train.indices.max() < 200
        assert all(draw.indices.min() >= 200 for draw in cell.tests)


def test_unknown_training_coordinates_are_refused_with_the_nearest_name():
    with pytest.raises(UserError, match="did you mean 'p_train'"):
        SMALL[0].samples(Y, train={"ptrain": 0.5})


def test_training_coordinates_are_seed_axes_free_of_noise():
    one, noisy, other = (
        next(SMALL[0].samples(Y, train={"p_train": p})) for p in (0.3, np.float64(0.1 + 0.2), 0.4)
    )
    assert one.indices.tolist() == noisy.indices.tolist()
    assert one.coordinates == noisy.coordinates
    assert one.indices.tolist() != other.indices.tolist()


@pytest.mark.parametrize(
    ("some", "expected"),
    [
        (SMALL[:6], "27d704f84a75b1cf"),
        ([TweakOneShift], "5364c90025e9d5d8"),
        ([KnockOutShift], "ceb4ef144f70a3ab"),
        ([NoiseShift], "3fe059ad6aede5cb"),
    ],
    ids=["older", "tweak-one", "knock-out", "noise"],
)
def test_the_draws_of_a_seed_never_change(some, expected):
    # Stored results are compared across versions and machines: a new value here is a break.
    digest = hashlib.sha256()
    for shift in (shift for shift in SMALL if shift in some or type(shift) in some):
        for cell in shift.train_test(Y, CATEGORIES):
            for draw in (cell.train, *cell.tests):
                digest.update(draw.indices.astype("<i8").tobytes())
    assert digest.hexdigest()[:16] == expected


SIZES = {"test_size": 20, "train_size": 40, "test_repeats": 2, "train_repeats": 2}
GRID = simplex.grid(3, 3)
THREE = (
    (
        PriorShift(test_prevalences=GRID, train_prevalences=GRID[1:4], **SIZES),
        "c3fe1f690d6735f9",
        "a8792b094de54d1f",
    ),
    (NaturalPrevalence(**SIZES), "796722c29750a350", "582e6cc4d8829b6d"),
    (UniformPrevalence(**SIZES), "edc7fe4b4e76d204", "ca48fd556333c342"),
)


@pytest.mark.parametrize(
    ("shift", "once", "replacing"), THREE, ids=[shift.name for shift, *_ in THREE]
)
def test_nor_do_those_of_three_classes(shift, once, replacing):
    y = np.array(["ask", "buy", "sell"])[np.arange(600) % 3]
    for expected, protocol in ((once, shift), (replacing, replace(shift, replace=True))):
        digest = hashlib.sha256()
        for cell in protocol.train_test(y):
            for draw in (cell.train, *cell.tests):
                digest.update(draw.indices.astype("<i8").tobytes())
                digest.update(repr(draw.degree).encode())
        assert digest.hexdigest()[:16] == expected


@pytest.mark.parametrize("shift", SMALL, ids=IDS)
def test_points_name_the_draws_without_the_data(shift):
    trains = list(shift.training_sets(Y, CATEGORIES))
    tests = list(shift.samples(Y, CATEGORIES))
    for points, draws in ((shift.training_points(), trains), (shift.test_points(), tests)):
        assert len(points) == len(draws)
        for point, draw in zip(points, draws, strict=True):
            assert point.items() <= draw.coordinates.items()
        # The prevalences of random samples are known from their pool alone.
        told = not isinstance(shift, AbstractNaturalTraining)
        assert not told or points == [draw.coordinates for draw in draws]


@pytest.mark.parametrize("shift", SMALL, ids=IDS)
def test_one_training_set_is_the_same_as_in_the_whole_grid(shift):
    pool = np.arange(100, 400)
    for point, draw in zip(
        shift.training_points(), shift.training_sets(Y, CATEGORIES, pool=pool), strict=True
    ):
        alone = shift.training_set(point, Y, CATEGORIES, pool=pool)
        assert alone.indices.tolist() == draw.indices.tolist()
        assert alone.labels.tolist() == draw.labels.tolist()
        assert alone.coordinates == draw.coordinates


def test_one_training_set_may_be_asked_for_by_the_coordinates_of_its_draw():
    shift = PriorShift(train_prevalences=[0.5], train_size=40, train_repeats=2, replace=True)
    draw = list(shift.training_sets(Y))[1]
    assert draw.coordinates["replace"] is True
    alone = shift.training_set(draw.coordinates, Y)
    assert alone.indices.tolist() == draw.indices.tolist()


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        ({"p_train": 0.55, "train_repeat": 0}, r"no training sets at \(p_train=0.55, train_rep"),
        ({"p_train": 0.5, "train_repeat": 2}, "no training sets"),
        ({"p_train": 0.5}, "no training sets"),
        ({"train_repeat": 0}, "2 training sets"),
        ({"p_trian": 0.5, "train_repeat": 0}, "did you mean 'p_train'"),
    ],
)
def test_a_training_set_outside_the_grid_is_refused(coordinates, message):
    with pytest.raises(UserError, match=message):
        SMALL[0].training_set(coordinates, Y)
