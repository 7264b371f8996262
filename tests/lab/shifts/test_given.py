"""Samples that come with the data."""

from dataclasses import replace

import numpy as np
import pytest

from quantshift import PCC, GivenSamples, evaluate
from quantshift.errors import DataError, PoolTooSmallError, UserError
from quantshift.lab.shifts import Given

TRAIN = np.arange(100)
LABELS = np.array(["ham", "spam"])[(np.arange(100) % 4 == 0).astype(int)]  # 25 spam
Y = [*LABELS.tolist(), *[None] * 60]
GIVEN = Given(
    train=TRAIN,
    samples=(np.arange(100, 120), np.arange(120, 160), np.array([100, 100, 159])),
    prevalences=np.array([[0.75, 0.25], [0.1, 0.9], [1.0, 0.0]]),
    names=("one", "two", "three"),
)
SHIFT = GivenSamples(given=GIVEN)


def test_samples_are_the_given_ones_with_their_truth():
    draws = list(SHIFT.samples(Y, train={"p_train": 0.25}))
    for draw, indices, truth in zip(draws, GIVEN.samples, GIVEN.prevalences, strict=True):
        assert draw.indices.tolist() == indices.tolist()
        assert draw.labels is None
        assert draw.true_prevalence(["ham", "spam"]).tolist() == truth.tolist()
        assert draw.coordinates["p_test"] == truth[1]
    assert [draw.coordinates["given"] for draw in draws] == ["one", "two", "three"]
    # 0.65 to one decimal, halves away from zero
    assert [draw.degree for draw in draws] == [0.0, 0.7, -0.3]
    assert SHIFT.count_samples() == 3


def test_the_training_set_is_all_training_items():
    assert SHIFT.training_points() == [{"train_repeat": 0}]
    draw = SHIFT.training_set({"train_repeat": 0}, Y)
    assert draw.indices.tolist() == TRAIN.tolist()
    assert draw.labels.tolist() == LABELS.tolist()
    assert draw.coordinates == {"p_train": 0.25, "train_repeat": 0}
    assert np.isnan(draw.degree)


def test_training_sets_may_be_smaller_and_many():
    shift = replace(SHIFT, train_size=30, train_repeats=3, seed=5)
    assert shift.count_training_sets() == 3
    draws = [shift.training_set(point, Y) for point in shift.training_points()]
    assert len({tuple(draw.indices) for draw in draws}) == 3
    for draw in draws:
        assert np.unique(draw.indices).size == 30
        assert draw.labels.tolist() == LABELS[draw.indices].tolist()
        assert draw.coordinates["p_train"] == 0.25
    again = shift.training_set(draws[2].coordinates, Y)
    assert again.indices.tolist() == draws[2].indices.tolist()


def test_a_thousand_million_training_sets_are_counted():
    assert replace(SHIFT, train_size=30, train_repeats=10**9).count_training_sets() == 10**9


def test_one_training_set_is_not_drawn_twice():
    with pytest.raises(UserError, match="train_repeats=2 would repeat one training set"):
        replace(SHIFT, train_repeats=2).training_points()


@pytest.mark.parametrize("point", [{"train_repeat": 1}, {}, {"train_repeat": 0.5}])
def test_a_training_set_that_is_not_there_is_refused(point):
    with pytest.raises(UserError, match=r"use one of training_points\(\)"):
        SHIFT.training_set(point, Y)


def test_coordinates_and_words():
    names = [(item.name, item.side, item.type) for item in SHIFT.coordinates()]
    assert names == [
        ("p_train", "train", "float"),
        ("p_test", "test", "float"),
        ("given", "test", "string"),
    ]
    assert SHIFT.words().title == "Given samples"
    assert SHIFT.facet({"p_train": 0.5, "p_test": 0.5}) == ""


def test_without_data_nothing_is_known():
    shift = GivenSamples()
    assert shift.count_samples() is None
    assert shift.count_training_sets() == 1
    assert set(shift.options()) == {"train_size", "train_repeats", "positive"}
    with pytest.raises(UserError, match=r"pass given=Given\(\.\.\.\)"):
        shift.samples(Y)
    with pytest.raises(DataError, match="no given samples"):
        shift.bind(["ham", "spam"], None)


@pytest.mark.parametrize("positive", [None, "ham", "spam"])
def test_binding_speaks_of_codes_and_draws_the_same(positive):
    shift = GivenSamples(train_size=30, positive=positive)
    bound = shift.bind(["ham", "spam"], None, GIVEN)
    order = shift.class_order(["ham", "spam"])
    codes = np.full(160, -1)
    codes[:100] = [order.index(label) for label in LABELS]
    named = replace(shift, given=GIVEN)
    (point,) = shift.training_points()
    ours, theirs = bound.training_set(point, codes), named.training_set(point, Y)
    assert ours.indices.tolist() == theirs.indices.tolist()
    assert ours.coordinates == theirs.coordinates
    assert [order[code] for code in ours.labels] == theirs.labels.tolist()
    for one, other in zip(
        bound.samples(codes, train=ours.coordinates),
        named.samples(Y, train=theirs.coordinates),
        strict=True,
    ):
        assert one.coordinates == other.coordinates
        assert one.degree == other.degree
        assert one.true_prevalence([0, 1])[1] == one.coordinates["p_test"]
        truth = dict(zip(["ham", "spam"], other.true_prevalence(["ham", "spam"]), strict=True))
        assert one.coordinates["p_test"] == truth[order[1]]


def test_several_classes_have_vectors_even_if_training_lacks_one():
    given = Given(np.arange(10), (np.arange(10, 15),), np.array([[0.2, 0.3, 0.5]]), ("only",))
    bound = GivenSamples().bind(["a", "b", "c"], None, given)
    assert [item.type for item in bound.coordinates()] == ["vector", "vector", "string"]
    codes = np.array([0, 2] * 5 + [-1] * 5)
    train = bound.training_set({"train_repeat": 0}, codes)
    assert train.coordinates["p_train"] == (0.5, 0.0, 0.5)
    (draw,) = bound.samples(codes, train=train.coordinates)
    assert draw.coordinates["p_test"] == (0.2, 0.3, 0.5)
    assert draw.degree == 0.3


def test_evaluate_needs_no_labels_of_the_samples():
    rng = np.random.default_rng(0)
    posteriors = rng.dirichlet([1, 1], 160)
    quantifier = PCC().fit_posteriors(posteriors[TRAIN], LABELS)
    frame = evaluate(quantifier, SHIFT, posteriors, Y, posteriors=True)
    assert frame["given"].to_list() == ["one", "two", "three"]
    assert frame["p_true"].to_list() == [0.25, 0.9, 0.0]
    expected = [posteriors[sample, 1].mean() for sample in GIVEN.samples]
    assert frame["p_hat"].to_list() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prevalences": np.array([[0.5, 0.5]] * 2)}, "3 samples, 2 rows"),
        ({"prevalences": np.array([0.5, 0.5])}, "one row per sample"),
        ({"prevalences": np.array([[0.5, 0.6]] * 3)}, "sum to 1"),
        ({"names": ("one", "two", "one")}, "same name"),
        ({"train": np.array([0, 130])}, "'two' holds the training item 130"),
        ({"train": np.array([0, 0])}, "twice"),
        ({"train": np.array([0, 160])}, r"160 is outside 0\.\.159"),
        ({"samples": (GIVEN.samples[0], np.array([], dtype=int), GIVEN.samples[2])}, "'two' has"),
        ({"prevalences": np.eye(3)}, "of 3 classes, the training items have 2"),
    ],
)
def test_data_that_do_not_fit_are_refused(change, message):
    shift = replace(SHIFT, given=replace(GIVEN, **change))
    with pytest.raises(DataError, match=message):
        shift.check_pools(Y, None, train_pool=None, test_pool=None)


def test_pools():
    SHIFT.check_pools(Y, None, train_pool=TRAIN, test_pool=np.arange(100, 160))
    assert SHIFT.training_set({"train_repeat": 0}, Y, pool=np.arange(50)).indices.max() == 49
    with pytest.raises(DataError, match="'two' has items outside the pool"):
        SHIFT.samples(Y, pool=np.arange(100, 130))
    pools = {"train_pool": np.arange(50), "test_pool": np.arange(50, 160)}
    larger = replace(SHIFT, train_size=60)
    larger.check_pools(Y, None, **pools)
    everything = larger.training_set({"train_repeat": 0}, Y, pool=np.arange(50))
    assert everything.indices.tolist() == list(range(50))
    with pytest.raises(PoolTooSmallError, match="50 training items, so train_repeats=2 would"):
        replace(larger, train_repeats=2).check_pools(Y, None, **pools)
    with pytest.raises(PoolTooSmallError, match="there are no training items"):
        SHIFT.check_pools(Y, None, train_pool=np.arange(150, 160), test_pool=np.arange(160))
    with pytest.raises(DataError, match="of 2 classes, the labels have 3"):
        SHIFT.bind("abc", None)
