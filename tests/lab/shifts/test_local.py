"""Local covariate shift and its control: counts of the four groups, afresh for every point."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.lab.shifts import LocalCovariateShift

N = 12_000
Y = np.arange(N) % 2
CATEGORIES = np.where(np.arange(N) % 4 < 2, "A", "B")
GRID = [Fraction(i, 20) for i in range(5, 16)]


def groups(draw):
    pairs = zip(CATEGORIES[draw.indices].tolist(), draw.labels.tolist(), strict=True)
    counts = Counter(pairs)
    return [counts["A", 0], counts["A", 1], counts["B", 0], counts["B", 1]]


def nearest(value):
    return int(value + Fraction(1, 2))


def shifted(p, size=500):
    half, sixth = Fraction(size, 2), Fraction(size, 6)
    grown = (p * (sixth + half) - sixth) / (1 - p)
    return [nearest(sixth), nearest(grown), nearest(2 * sixth), nearest(sixth)]


@pytest.fixture(scope="module")
def draws():
    shift = LocalCovariateShift(test_repeats=2, with_control=True)
    return list(shift.samples(Y, CATEGORIES, train={"p_train": 0.5}))


def test_every_point_has_its_sample_and_its_control(draws):
    points = [(d.coordinates["p_test"], d.coordinates["control"]) for d in draws]
    assert Counter(points) == {(float(p), control): 2 for p in GRID for control in (False, True)}


def test_the_counts_are_those_of_the_paper(draws):
    for draw in draws:
        if not draw.coordinates["control"]:
            p = Fraction(round(20 * draw.coordinates["p_test"]), 20)
            assert groups(draw) == shifted(p)


def test_sizes_grow_from_333_to_1000(draws):
    sizes = {d.coordinates["p_test"]: d.indices.size for d in draws}
    assert sizes == {
        0.25: 333,
        0.3: 357,
        0.35: 384,
        0.4: 416,
        0.45: 454,
        0.5: 500,
        0.55: 555,
        0.6: 625,
        0.65: 714,
        0.7: 833,
        0.75: 1000,
    }


def test_true_prevalence_is_nominal_within_rounding(draws):
    for draw in draws:
        # Four groups, each within half an item of its exact number.
        error = abs(draw.labels.mean() - draw.coordinates["p_test"])
        assert error <= 1 / draw.indices.size


def test_the_control_has_the_same_classes_but_the_categories_of_training(draws):
    pairs = {}
    for draw in draws:
        key = draw.coordinates["p_test"], draw.coordinates["repeat"]
        pairs.setdefault(key, {})[draw.coordinates["control"]] = groups(draw)
    for pair in pairs.values():
        (a_neg, a_pos, b_neg, b_pos), (ca_neg, ca_pos, cb_neg, cb_pos) = pair[False], pair[True]
        assert ca_neg + cb_neg == a_neg + b_neg
        assert ca_pos + cb_pos == a_pos + b_pos
        assert ca_pos == nearest(Fraction(2 * (a_pos + b_pos), 3))
        assert ca_neg == nearest(Fraction(a_neg + b_neg, 3))


def test_degrees_have_two_decimals(draws):
    degrees = sorted({draw.degree for draw in draws})
    assert degrees == [i * 5 / 100 for i in range(-5, 6)]


@pytest.mark.parametrize(
    ("size", "counts"),
    [(5000, [833, 1667, 1667, 833]), (7, [1, 2, 3, 1]), (1001, [167, 333, 334, 167])],
)
def test_training_sets_have_exact_sizes(size, counts):
    for draw in LocalCovariateShift(train_size=size, train_repeats=2).training_sets(Y, CATEGORIES):
        assert groups(draw) == counts
        assert draw.coordinates["p_train"] == 0.5


def test_the_control_does_not_change_the_shifted_samples(draws):
    alone = list(LocalCovariateShift(test_repeats=2).samples(Y, CATEGORIES, train={"p_train": 0.5}))
    together = [draw for draw in draws if not draw.coordinates["control"]]
    assert [d.indices.tolist() for d in alone] == [d.indices.tolist() for d in together]
    assert [d.coordinates for d in alone] == [d.coordinates for d in together]


def test_the_size_is_a_parameter():
    shift = LocalCovariateShift(test_size=60, test_repeats=1)
    for p, draw in zip(GRID, shift.samples(Y, CATEGORIES), strict=True):
        assert groups(draw) == shifted(p, 60)


@pytest.mark.parametrize("p", [0.2, 1.0])
def test_prevalences_out_of_reach_are_refused(p):
    with pytest.raises(UserError, match=r"reaches 0\.25 <= p < 1"):
        LocalCovariateShift(test_prevalences=[0.5, p]).samples(Y, CATEGORIES)


def test_a_sample_needs_an_item_of_every_group():
    with pytest.raises(UserError, match="test_size=5 must be a whole number of at least 6"):
        LocalCovariateShift(test_size=5).samples(Y, CATEGORIES)
