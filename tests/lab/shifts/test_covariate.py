"""Global covariate shift: exact counts of both categories and both classes."""

import math
from collections import Counter

import numpy as np
import pytest

from quantshift.errors import DataError, PoolTooSmallError, UserError
from quantshift.lab.shifts import CovariateShift
from quantshift.prevalence.simplex import whole_counts

N = 20_000
Y = np.arange(N) % 2
CATEGORIES = np.where(np.arange(N) < N // 2, "Books", "Electronics")
ALPHAS = [i / 10 for i in range(11)]


def groups(draw):
    return Counter(
        zip(CATEGORIES[draw.indices].tolist(), draw.labels.astype(int).tolist(), strict=True)
    )


def expected(alpha_tenths, p, size):
    n_a = -(-alpha_tenths * size // 10)  # ceiling in whole numbers
    counts = {}
    for category, n in (("Books", n_a), ("Electronics", size - n_a)):
        negatives, positives = whole_counts([1 - p, p], n).tolist()
        counts |= {(category, 0): negatives, (category, 1): positives}
    return Counter(counts)


@pytest.mark.parametrize("size", [500, 37])
def test_samples_have_exact_counts_at_every_point(size):
    draws = list(CovariateShift(test_repeats=2, test_size=size).samples(Y, CATEGORIES))
    assert len(draws) == 11 * 3 * 2
    for draw in draws:
        tenths = round(10 * draw.coordinates["alpha_test"])
        assert groups(draw) == expected(tenths, draw.coordinates["p_test"], size)
        assert np.unique(draw.indices).size == size


def test_training_sets_have_exact_counts_at_every_point():
    draws = list(CovariateShift(train_repeats=1).training_sets(Y, CATEGORIES))
    assert len(draws) == 33
    for draw in draws:
        tenths = round(10 * draw.coordinates["alpha_train"])
        assert groups(draw) == expected(tenths, draw.coordinates["p_train"], 5000)


def test_the_paper_has_1650_samples_for_each_training_set():
    train = {"alpha_train": 0.3, "p_train": 0.5, "train_repeat": 2}
    draws = list(CovariateShift().samples(Y, CATEGORIES, train=train))
    assert len(draws) == 1650
    points = {tuple(draw.coordinates.items()) for draw in draws}
    assert len(points) == 1650
    assert set(draws[0].coordinates) == {*train, "alpha_test", "p_test", "repeat"}


@pytest.mark.parametrize("tenths", range(11))
def test_the_degree_is_alpha_train_minus_alpha_test(tenths):
    shift = CovariateShift(test_repeats=1, test_size=20)
    for draw in shift.samples(Y, CATEGORIES, train={"alpha_train": tenths / 10, "p_train": 0.5}):
        assert draw.degree == (tenths - round(10 * draw.coordinates["alpha_test"])) / 10


def test_a_share_is_rounded_up_but_not_by_floating_point_noise():
    # 0.07 * 100 is 7.000000000000001
    assert math.ceil(0.07 * 100) == 8
    shift = CovariateShift(
        test_alphas=[0.07, 0.071], test_prevalences=[0.5], test_size=100, test_repeats=1
    )
    shares = [(CATEGORIES[d.indices] == "Books").sum() for d in shift.samples(Y, CATEGORIES)]
    assert shares == [7, 8]


THREE = np.array(["x", "y", "z"])[np.arange(N) % 3]


@pytest.mark.parametrize(
    ("names", "categories", "share"),
    [
        ({}, CATEGORIES, "Books"),
        ({"category_a": "Electronics"}, CATEGORIES, "Electronics"),
        ({"category_a": "Books"}, CATEGORIES, "Books"),
        ({"category_b": "Books"}, CATEGORIES, "Electronics"),
        ({"category_b": "Electronics"}, CATEGORIES, "Books"),
        ({"category_a": "z", "category_b": "x"}, THREE, "z"),
    ],
)
def test_category_a_is_the_first_unless_named(names, categories, share):
    shift = CovariateShift(
        **names, test_alphas=[0.8], test_prevalences=[0.5], test_size=50, test_repeats=1
    )
    (draw,) = shift.samples(Y, categories)
    counts = Counter(categories[draw.indices].tolist())
    assert counts[share] == 40
    assert "y" not in counts


def test_positive_names_the_class_of_the_prevalence():
    shift = CovariateShift(
        test_alphas=[0.5], test_prevalences=[0.25], test_size=80, test_repeats=1, positive=0
    )
    (draw,) = shift.samples(Y, CATEGORIES)
    assert (draw.labels == 0).sum() == 20


@pytest.mark.parametrize(
    ("options", "categories", "error", "message"),
    [
        ({}, None, UserError, "pass the categories"),
        ({}, ["one"] * N, DataError, "found only 'one'"),
        ({}, THREE, UserError, "name two with category_a and category_b"),
        ({"category_a": "x"}, THREE, UserError, "name two with category_a and category_b"),
        ({"category_a": "Boks"}, CATEGORIES, UserError, "did you mean 'Books'"),
        ({"category_a": "x", "category_b": "x"}, THREE, UserError, "are both 'x'"),
        ({"test_alphas": [1.1]}, CATEGORIES, UserError, "test_alphas=.* between 0 and 1"),
        ({"test_prevalences": [-0.1]}, CATEGORIES, UserError, "test_prevalences"),
    ],
)
def test_what_does_not_fit_two_categories_is_refused(options, categories, error, message):
    with pytest.raises(error, match=message):
        CovariateShift(**options).samples(Y, categories)


def test_more_than_two_classes_are_refused():
    with pytest.raises(DataError, match=r"needs two classes, found 3: \[0, 1, 2\]"):
        CovariateShift().samples(np.arange(N) % 3, CATEGORIES)


def test_the_group_that_is_too_small_is_named():
    few = np.flatnonzero((CATEGORIES == "Electronics") | (Y == 1))
    with pytest.raises(PoolTooSmallError) as caught:
        CovariateShift().samples(Y, CATEGORIES, pool=few)
    assert str(caught.value).startswith(
        "covariate shift: a test sample (alpha_test=1, p_test=0.25) asks for 375 negatives of "
        "category 'Books', the pool has 0; "
    )
