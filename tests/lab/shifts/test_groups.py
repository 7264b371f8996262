"""Natural shift between groups of the data as they are."""

import math
from dataclasses import replace

import numpy as np
import pytest

from quantshift import PCC, GroupShift, evaluate
from quantshift.errors import DataError, UserError
from quantshift.tables.columns.names import NO_NAME

SIZES = {"north": 200, "south": 150, "west": 120, "islet": 30}
GROUPS = np.repeat(list(SIZES), list(SIZES.values()))
# Every second item of the north is positive, every third of the south, every fourth elsewhere.
STEP = np.array([{"north": 2, "south": 3}.get(name, 4) for name in GROUPS])
Y = np.where(np.arange(len(GROUPS)) % STEP == 0, "yes", "no")


def pairs(**options):
    return list(GroupShift(**options).train_test(Y, GROUPS))


def names(draw):
    return sorted(set(GROUPS[draw.indices].tolist()))


def test_all_groups_but_one_are_trained_on_and_that_one_is_estimated_whole():
    found = {pair.train.coordinates["group_train"]: pair for pair in pairs()}
    assert list(found) == ["all but north", "all but south", "all but west"]
    pair = found["all but south"]
    assert names(pair.train) == ["north", "west"]
    assert len(pair.train.indices) == 320
    (test,) = pair.tests
    assert test.indices.tolist() == np.flatnonzero(GROUPS == "south").tolist()
    assert test.labels.tolist() == Y[GROUPS == "south"].tolist()
    assert test.coordinates["group_test"] == "south"
    assert test.coordinates["group_train"] == "all but south"


def test_one_group_is_trained_on_and_every_other_is_estimated():
    found = pairs(design="one-to-others")
    assert [pair.train.coordinates["group_train"] for pair in found] == ["north", "south", "west"]
    assert [[names(test) for test in pair.tests] for pair in found] == [
        [["south"], ["west"]],
        [["north"], ["west"]],
        [["north"], ["south"]],
    ]


def test_the_degree_is_the_change_of_prevalence():
    (pair,) = [p for p in pairs(design="one-to-others") if names(p.train) == ["north"]]
    south = next(test for test in pair.tests if names(test) == ["south"])
    assert pair.train.coordinates["p_train"] == 0.5
    assert south.coordinates["p_test"] == pytest.approx(1 / 3, abs=0.01)
    assert south.degree == -0.2
    assert math.isnan(pair.train.degree)
    flipped = GroupShift(design="one-to-others", positive="no").train_test(Y, GROUPS)
    assert next(flipped).tests[0].degree == 0.2


def test_small_groups_are_left_out_and_that_is_said():
    shift = GroupShift().surveyed(Y, GROUPS)
    assert shift.words().note == "Groups of fewer than 100 items are left out: islet."
    assert "islet" not in {name for pair in pairs() for name in names(pair.train)}
    kept = GroupShift(smallest=30).surveyed(Y, GROUPS)
    assert kept.count_training_sets() == 4
    assert kept.words().note == ""


def test_a_group_smaller_than_a_sample_is_left_out():
    shift = GroupShift(test_size=140).surveyed(Y, GROUPS)
    assert shift.words().note == "Groups of fewer than 140 items are left out: islet, west."


def test_training_sets_without_enough_of_a_class_are_left_out_and_that_is_said():
    rare = np.where(GROUPS == "west", "no", Y)
    shift = GroupShift(design="one-to-others").surveyed(rare, GROUPS)
    assert [point["group_train"] for point in shift.training_points()] == ["north", "south"]
    assert shift.words().note.endswith(
        "Training sets of fewer than 10 items of a class are left out: west."
    )


def test_of_many_groups_left_out_the_number_is_said():
    groups = np.concatenate([GROUPS, [f"g{i:02}" for i in range(40)]])
    shift = GroupShift().surveyed(np.append(Y, ["yes"] * 40), groups)
    assert shift.words().note.endswith("g08, g09 and 31 more.")


def test_samples_of_a_group_are_the_same_whatever_was_trained_on():
    options = {"test_size": 50, "test_repeats": 3, "design": "one-to-others"}
    found = pairs(**options)
    drawn = [
        [test.indices.tolist() for test in pair.tests if names(test) == ["west"]]
        for pair in found[:2]
    ]
    assert drawn[0] == drawn[1]
    assert len({tuple(rows) for rows in drawn[0]}) == 3
    assert all(len(test.indices) == 50 for pair in found for test in pair.tests)
    assert GroupShift(**options).surveyed(Y, GROUPS).count_samples() == 6


def test_training_sets_may_be_smaller_and_many():
    found = pairs(train_size=100, train_repeats=2)
    assert len(found) == 6
    assert {len(pair.train.indices) for pair in found} == {100}
    assert found[0].train.indices.tolist() != found[1].train.indices.tolist()
    # A training set with fewer items is taken whole.
    assert len(pairs(train_size=10**6)[0].train.indices) == 270


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["9", "10", "11"], ["up to 9", "up to 10"]),
        (["2019-12", "2020-01", "2020-02"], ["up to 2019-12", "up to 2020-01"]),
        ([-1.5, 2.0, 10.0], ["up to -1.5", "up to 2.0"]),
    ],
)
def test_forward_goes_in_the_order_of_numbers_or_dates(values, order):
    groups = np.repeat(np.array(values)[::-1], 100)
    y = np.tile(["a", "b"], 150)
    found = list(GroupShift(design="forward").train_test(y, groups))
    assert [pair.train.coordinates["group_train"] for pair in found] == order
    assert [len(pair.train.indices) for pair in found] == [100, 200]
    assert [pair.tests[0].coordinates["group_test"] for pair in found] == list(map(str, values[1:]))


def test_forward_may_look_further_ahead():
    groups = np.repeat(np.arange(2000, 2006), 100)
    found = list(GroupShift(design="forward", ahead=3).train_test(np.tile([0, 1], 300), groups))
    assert [len(pair.tests) for pair in found] == [3, 3, 3]
    assert [test.coordinates["group_test"] for test in found[-1].tests] == ["2003", "2004", "2005"]


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        ("year", ["2019", "2020"]),
        ("quarter", ["2019-Q4", "2020-Q1"]),
        ("month", ["2019-12", "2020-01"]),
        ("week", ["2020-W01"]),
        ("day", ["2019-12-31", "2020-01-01"]),
    ],
)
def test_dates_are_put_together(every, expected):
    dates = np.tile(["2019-12-31", "2020-01-01"], 100)
    shift = GroupShift(every=every)
    if len(expected) < 2:
        with pytest.raises(DataError, match="1 of 1 groups have 100 items or more, and 2 are"):
            shift.surveyed(np.repeat([0, 1], 100), dates)
        return
    assert shift.surveyed(np.repeat([0, 1], 100), dates).survey.names == tuple(expected)


def test_items_without_a_group_are_left_out():
    groups = np.where(np.arange(len(GROUPS)) % 2 == 0, GROUPS, NO_NAME)
    shift = GroupShift(smallest=50)
    assert shift.surveyed(Y, groups).survey.names == ("north", "south", "west")
    for pair in shift.train_test(Y, groups):
        assert (groups[pair.train.indices] != NO_NAME).all()


def test_once_bound_codes_give_the_same_draws():
    shift = GroupShift(design="one-to-others", test_size=40, test_repeats=2)
    categories, codes = np.unique(GROUPS, return_inverse=True)
    bound = shift.bind(["no", "yes"], categories)
    labels = (Y == "yes").astype(int)
    there = list(bound.surveyed(labels, codes).train_test(labels, codes))
    for here, other in zip(shift.train_test(Y, GROUPS), there, strict=True):
        assert here.train.coordinates == other.train.coordinates
        assert [d.indices.tolist() for d in here.tests] == [d.indices.tolist() for d in other.tests]


def test_more_than_two_classes_have_vectors_for_prevalences():
    y = np.arange(len(GROUPS)) % 3
    train, tests = next((pair.train, pair.tests) for pair in GroupShift().train_test(y, GROUPS))
    assert len(train.coordinates["p_train"]) == 3
    assert sum(tests[0].coordinates["p_test"]) == pytest.approx(1)
    bound = GroupShift().bind([0, 1, 2], sorted(SIZES))
    assert {c.type for c in bound.coordinates() if c.name.startswith("p_")} == {"vector"}


def test_a_pool_limits_both_sides():
    pool = np.arange(0, len(GROUPS), 2)
    for pair in GroupShift().train_test(Y, GROUPS, pool=pool):
        assert np.isin(pair.train.indices, pool).all()
        assert np.isin(pair.tests[0].indices, pool).all()


def test_evaluate_takes_every_group_for_a_sample():
    X = np.random.default_rng(0).normal(size=(len(Y), 2)) + (Y == "yes")[:, None]
    train = np.flatnonzero(GROUPS == "islet")
    quantifier = PCC().fit(X[train], Y[train])
    rest = np.flatnonzero(GROUPS != "islet")
    frame = evaluate(quantifier, GroupShift(), X, Y, GROUPS, pool=rest)
    assert frame["group_test"].to_list() == ["north", "south", "west"]


def test_long_names_of_groups_are_shortened_and_stay_apart():
    long = np.where(GROUPS == "north", "x" * 300 + "1", np.where(GROUPS == "south", "x" * 300, "w"))
    points = GroupShift().surveyed(Y, long).training_points()
    assert max(len(point["group_train"]) for point in points) < 60
    assert len({point["group_train"] for point in points}) == 3


@pytest.mark.parametrize(
    ("options", "groups", "message"),
    [
        ({}, np.repeat("a", 500), "1 of 1 groups have 100 items or more, and 2 are needed"),
        ({"by": "Region"}, GROUPS[:250], "column 'Region': 1 of 2 groups"),
        ({"design": "forward", "ahead": 3}, GROUPS, "3 of 4 groups .* 4 are needed"),
        ({"every": "month"}, GROUPS, "is not a date"),
        ({}, None, "groups are missing"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(options, groups, message):
    y = Y if groups is None else np.resize(Y, len(groups))
    with pytest.raises(DataError, match=message) as caught:
        GroupShift(**options).surveyed(y, groups)
    assert len(str(caught.value).splitlines()) == 1


def test_no_training_set_of_two_classes_is_refused():
    with pytest.raises(DataError, match="no training set of the groups has 10 items of every"):
        GroupShift().surveyed(np.where(np.arange(len(Y)) < 3, "yes", "no"), GROUPS)


def test_repeats_of_whole_groups_are_refused():
    with pytest.raises(UserError, match="test_repeats=3 would repeat the same items"):
        GroupShift(test_repeats=3).count_samples()


def test_an_unknown_training_set_is_refused():
    shift = GroupShift().surveyed(Y, GROUPS)
    with pytest.raises(UserError, match="no training set at"):
        shift.training_set({"group_train": "east", "train_repeat": 0}, Y, GROUPS)
    with pytest.raises(UserError, match="no training set at"):
        list(shift.samples(Y, GROUPS, train={"group_train": "east"}))


def test_without_data_nothing_is_known_of_the_groups():
    shift = GroupShift(by="Region")
    assert (shift.training_points(), shift.count_samples()) == ([], None)
    assert replace(shift, survey=None) == shift


def test_chunks_are_consecutive_and_of_about_one_size():
    rng = np.random.default_rng(0)
    days = rng.integers(0, 60, size=1000)
    dates = np.array(["2024-01-01"], dtype="datetime64[D]") + days
    y = rng.integers(0, 2, size=1000)
    shift = GroupShift(design="forward", chunks=5, smallest=10).surveyed(y, dates.astype(str))
    assert len(shift.survey.names) == 5
    sides = list(shift.train_test(y, dates.astype(str)))
    assert len(sides) == 4
    for number, side in enumerate(sides, start=1):
        (test,) = side.tests
        # Nothing is learnt from the future, and a day is in one chunk.
        assert days[side.train.indices].max() < days[test.indices].min()
        # A chunk begins at the first day that has its share of the items before it.
        before = np.array([(days < day).sum() for day in range(60)])
        first = next(day for day in range(60) if before[day] * 5 // 1000 >= number)
        assert days[test.indices].min() == first
    name = sides[0].tests[0].coordinates["group_test"]
    assert name == shift.survey.names[1]
    assert " to " in name


def test_one_chunk_is_none():
    with pytest.raises(UserError, match="chunks=1 must be a whole number of at least 2"):
        GroupShift(chunks=1).surveyed([0, 1], ["a", "b"])
