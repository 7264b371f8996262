"""Prior shift: exact prevalences, in two classes or more."""

import numpy as np
import pytest

from quantshift.errors import DataError, UserError
from quantshift.lab.shifts import PriorShift
from quantshift.prevalence import simplex

Y = np.repeat([0, 1], 6000)
TRAIN = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.98)
TEST = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def test_the_paper_has_50_samples_of_500_at_each_of_11_prevalences():
    draws = list(PriorShift().samples(Y))
    assert len(draws) == 550
    assert sorted({draw.coordinates["p_test"] for draw in draws}) == list(TEST)
    for draw in draws:
        assert draw.indices.size == np.unique(draw.indices).size == 500
        assert draw.labels.sum() == round(500 * draw.coordinates["p_test"])
        assert np.array_equal(draw.labels, Y[draw.indices])


def test_the_paper_has_10_training_sets_of_5000_at_each_of_11_prevalences():
    draws = list(PriorShift().training_sets(Y))
    assert len(draws) == 110
    points = {(d.coordinates["p_train"], d.coordinates["train_repeat"]) for d in draws}
    assert points == {(p, repeat) for p in TRAIN for repeat in range(10)}
    for draw in draws:
        assert draw.indices.size == np.unique(draw.indices).size == 5000
        assert draw.labels.sum() == round(5000 * draw.coordinates["p_train"])


@pytest.mark.parametrize("p_train", TRAIN)
def test_the_degree_is_test_minus_train_to_one_decimal(p_train):
    shift = PriorShift(test_repeats=1, test_size=10)
    degrees = [draw.degree for draw in shift.samples(Y, train={"p_train": p_train})]
    assert degrees == pytest.approx([round(p - p_train, 1) for p in TEST], abs=1e-12)
    assert all(degree in {i / 10 for i in range(-10, 11)} for degree in degrees)


def test_the_whole_paper_has_21_degrees():
    shift = PriorShift(test_size=10, train_size=50, test_repeats=1, train_repeats=1)
    degrees = {draw.degree for cell in shift.train_test(Y) for draw in cell.tests}
    assert degrees == {i / 10 for i in range(-10, 11)}


def test_positive_names_the_class_a_binary_grid_speaks_of():
    y = np.where(Y == 1, "ham", "spam")
    grid = {"test_prevalences": [0.2], "test_size": 100, "test_repeats": 1}
    (default,) = PriorShift(**grid).samples(y)
    (named,) = PriorShift(**grid, positive="ham").samples(y)
    assert (default.labels == "spam").sum() == 20
    assert (named.labels == "ham").sum() == 20
    assert named.coordinates["p_test"] == 0.2


@pytest.mark.parametrize("positive", [None, "ham", "spam"])
def test_columns_of_prevalence_vectors_are_the_sorted_classes(positive):
    y = np.where(Y == 1, "ham", "spam")
    shift = PriorShift(
        test_prevalences=[[0.3, 0.7]], test_size=10, test_repeats=1, positive=positive
    )
    (draw,) = shift.samples(y)
    assert (draw.labels == "ham").sum() == 3
    assert draw.coordinates["p_test"] == (0.3 if positive == "ham" else 0.7)


def test_several_classes_follow_a_grid_of_vectors():
    y = np.array(["a", "b", "c"] * 100)
    points = simplex.grid(3, 6)
    shift = PriorShift(test_prevalences=points, test_size=51, test_repeats=1)
    train = {"p_train": (0.2, 0.4, 0.4)}
    for point, draw in zip(points, shift.samples(y, train=train), strict=True):
        counts = [(draw.labels == label).sum() for label in "abc"]
        assert counts == simplex.whole_counts(point, 51).tolist()
        assert draw.coordinates["p_test"] == pytest.approx(tuple(point))
        distance = np.abs(point - [0.2, 0.4, 0.4]).sum() / 2
        assert draw.degree == pytest.approx(distance, abs=1e-9)


def test_several_classes_train_and_test():
    y = np.array([3, 5, 7] * 200)
    points = [[0.2, 0.2, 0.6], [1 / 3, 1 / 3, 1 / 3]]
    shift = PriorShift(
        test_prevalences=points,
        train_prevalences=points,
        test_size=30,
        train_size=60,
        test_repeats=1,
        train_repeats=1,
    )
    degrees = [[draw.degree for draw in cell.tests] for cell in shift.train_test(y)]
    assert degrees == [[0.0, 0.3], [0.3, 0.0]]


def test_recoded_classes_draw_the_same_items():
    shift = PriorShift(test_prevalences=simplex.grid(3, 3), test_size=20, test_repeats=2)
    codes = np.arange(150) % 3
    names = np.array(["ask", "buy", "sell"])[codes]
    coded = shift.samples(codes, train={"p_train": (0.2, 0.3, 0.5)})
    named = shift.samples(names, train={"p_train": [0.2, 0.3, 0.5]})
    for one, other in zip(coded, named, strict=True):
        assert one.indices.tolist() == other.indices.tolist()
        assert one.degree == other.degree


WRONG = {
    "range": ({"test_prevalences": [0.5, 1.2]}, UserError, "between 0 and 1"),
    "nan": ({"test_prevalences": [0.5, float("nan")]}, UserError, "between 0 and 1"),
    "twice": ({"test_prevalences": [0.3, 0.1 + 0.2]}, UserError, "twice"),
    "empty": ({"test_prevalences": []}, UserError, "sequence of numbers"),
    "words": ({"test_prevalences": ["half"]}, UserError, "must be numbers"),
    "scalar": ({"test_prevalences": 0.5}, UserError, "sequence of numbers"),
    "vectors": ({"test_prevalences": [[0.2, 0.3, 0.5]]}, UserError, r"per class \(2\)"),
    "vectors twice": ({"test_prevalences": [[0.2, 0.8]] * 2}, UserError, "point twice"),
    "simplex": ({"test_prevalences": [[0.2, 0.9]]}, DataError, "sum to 1"),
    "size": ({"test_size": 0}, UserError, "test_size=0 must be a whole number"),
    "fraction": ({"test_size": 10.5}, UserError, "test_size=10.5 must be a whole number"),
    "repeats": ({"test_repeats": True}, UserError, "test_repeats=True must be"),
    "positive": ({"positive": 2}, UserError, "unknown positive class '2'"),
}


@pytest.mark.parametrize(("options", "error", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_options_are_refused_when_draws_are_asked_for(options, error, message):
    shift = PriorShift(**options)
    with pytest.raises(error, match=message):
        shift.samples(Y)


def test_a_binary_grid_for_several_classes_names_the_cure():
    with pytest.raises(UserError, match=r"one column per class \(3\).*prevalence\.grid"):
        PriorShift().samples(["a", "b", "c"] * 500)


def test_positive_makes_no_sense_with_several_classes():
    with pytest.raises(UserError, match="needs two classes, found 3"):
        PriorShift(positive="a").samples(["a", "b", "c"])


def test_one_class_is_refused():
    with pytest.raises(DataError, match="only one class"):
        PriorShift().samples(["a", "a"])
