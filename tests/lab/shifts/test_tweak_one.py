"""Tweak-one shift: one class at a given prevalence, the others share the rest."""

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.lab.shifts import TweakOneShift
from quantshift.prevalence.simplex import whole_counts

Y = np.repeat(["a", "b", "c", "d"], [300, 200, 400, 250])


def test_counts_by_hand():
    shift = TweakOneShift(label="b", prevalences=[0.1, 0.7], test_size=90, test_repeats=2)
    draws = list(shift.samples(Y))
    assert [draw.coordinates["tweaked"] for draw in draws] == [0.1, 0.1, 0.7, 0.7]
    for draw in draws:
        p = draw.coordinates["tweaked"]
        rest = (1 - p) / 3
        wanted = whole_counts([rest, p, rest, rest], 90)
        assert [(draw.labels == name).sum() for name in "abcd"] == wanted.tolist()
        assert draw.coordinates["p_test"] == pytest.approx((rest, p, rest, rest), abs=1e-9)
        assert np.unique(draw.indices).size == 90


def test_the_last_class_unless_another_is_named():
    shift = TweakOneShift(prevalences=[0.7], test_size=100, test_repeats=1)
    (draw,) = shift.samples(Y)
    assert (draw.labels == "d").sum() == 70
    bound = shift.bind(list("abcd"), None)
    assert bound.label == 3
    (coded,) = bound.samples(np.searchsorted(list("abcd"), Y))
    assert coded.indices.tolist() == draw.indices.tolist()


def test_degree_is_the_distance_from_training():
    shift = TweakOneShift(label="a", prevalences=[1.0], test_size=10, test_repeats=1)
    (draw,) = shift.samples(Y, train={"p_train": (0.25, 0.25, 0.25, 0.25)})
    assert draw.degree == 0.8  # 0.75 to one decimal


def test_a_class_that_there_is_not():
    with pytest.raises(UserError, match="unknown class 'x'"):
        TweakOneShift(label="x").bind(list("abcd"), None)
