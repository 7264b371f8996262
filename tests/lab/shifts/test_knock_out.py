"""Knock-out shift: part of one class, or of one region, is missing from the samples."""

import numpy as np
import pytest

from quantshift.errors import DataError, UserError
from quantshift.lab.shifts import KnockOutShift

Y = np.repeat(["a", "b", "c"], [200, 300, 500])
REGIONS = np.where(np.arange(1000) % 5 < 2, "north", "south")  # 40% of every class are north


def test_a_class_by_hand():
    shift = KnockOutShift(label="c", removed=[0.0, 0.6, 1.0], test_size=100, test_repeats=1)
    for draw, delta in zip(shift.samples(Y), (0.0, 0.6, 1.0), strict=True):
        left = np.array([200, 300, 500 * (1 - delta)])
        assert draw.degree == draw.coordinates["removed"] == delta
        assert draw.coordinates["p_test"] == pytest.approx(left / left.sum(), abs=1e-9)
        counts = np.array([(draw.labels == name).sum() for name in "abc"])
        assert np.abs(counts - 100 * left / left.sum()).max() < 1


def test_a_region_by_hand():
    y = np.where(REGIONS == "north", np.repeat(["a", "b"], 500), "b")
    shift = KnockOutShift(region="north", removed=[0.0, 0.75, 1.0], test_size=100, test_repeats=3)
    sizes = {
        (name, place): ((y == name) & (place == REGIONS)).sum()
        for name in "ab"
        for place in ("north", "south")
    }
    for draw in shift.samples(y, REGIONS):
        delta = draw.coordinates["removed"]
        left = {key: n * (1 - delta * (key[1] == "north")) for key, n in sizes.items()}
        total = sum(left.values())
        for (name, place), n in left.items():
            there = (y[draw.indices] == name) & (REGIONS[draw.indices] == place)
            assert abs(there.sum() - 100 * n / total) < 1
        p = sum(n for (name, _), n in left.items() if name == "b") / total
        assert draw.coordinates["p_test"] == pytest.approx(p, abs=1e-9)


def test_a_class_of_a_region():
    shift = KnockOutShift(label="a", region="north", removed=[1.0], test_size=920, test_repeats=1)
    (draw,) = shift.samples(Y, REGIONS)
    left = (Y != "a") | (REGIONS == "south")
    assert sorted(draw.indices.tolist()) == np.flatnonzero(left).tolist()


def test_training_sets_are_natural_whatever_is_removed():
    shift = KnockOutShift(label="a", train_size=100, train_repeats=3)
    for draw in shift.training_sets(Y):
        assert draw.coordinates["p_train"] == pytest.approx((0.2, 0.3, 0.5))
        assert draw.indices.size == 100


def test_bound_to_codes_it_draws_the_same():
    for options in ({"label": "b"}, {"region": "south"}, {"by": "place"}):
        shift = KnockOutShift(removed=[0.5], test_size=50, test_repeats=1, **options)
        (named,) = shift.samples(Y, REGIONS)
        bound = shift.bind(list("abc"), ["north", "south"])
        codes = np.searchsorted(list("abc"), Y), np.searchsorted(["north", "south"], REGIONS)
        (coded,) = bound.samples(*codes)
        assert coded.indices.tolist() == named.indices.tolist()
        assert bound.options() == {**shift.options(), **_named(bound)}


def _named(shift):
    return {"label": shift.label, "region": shift.region, "positive": None}


@pytest.mark.parametrize(
    ("options", "categories", "problem"),
    [
        ({"region": "west"}, ["north", "south"], "unknown region 'west'"),
        ({"label": "x"}, None, "unknown class 'x'"),
        ({"region": "north"}, None, "the data have no categories"),
    ],
)
def test_what_there_is_not_is_refused(options, categories, problem):
    with pytest.raises(UserError, match=problem):
        KnockOutShift(**options).bind(list("abc"), categories)


def test_nothing_may_be_left():
    shift = KnockOutShift(region="north", removed=[1.0], test_size=5)
    with pytest.raises(DataError, match="leaves no item"):
        next(shift.samples(["a", "b"], ["north", "north"]))
