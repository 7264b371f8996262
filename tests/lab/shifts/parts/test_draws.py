"""Uniform draws from groups."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare

from quantshift.base.seeding import generator
from quantshift.lab.shifts.parts.draws import positions


@pytest.mark.parametrize("count", [5, 6], ids=["sparse", "dense"])
def test_all_sets_of_a_size_are_equally_likely(count):
    sets = dict.fromkeys(combinations(range(10), count), 0)
    draw = positions([count], [10], replace=False)
    rng = generator(0, test="sets")
    for _ in range(100 * len(sets)):
        sets[tuple(draw(rng).tolist())] += 1
    assert chisquare(list(sets.values())).pvalue > 0.001


def test_groups_are_drawn_independently_of_each_other():
    pairs = np.zeros((4, 6))
    draw = positions([1, 0, 1], [4, 3, 6], replace=False)
    rng = generator(0, test="pairs")
    for _ in range(4000):
        first, second = draw(rng)
        pairs[first, second - 7] += 1
    assert chisquare(pairs.ravel()).pvalue > 0.001


@pytest.mark.parametrize("sizes", [[7], [7, 3], [1, 1, 5]])
def test_a_whole_group_can_be_drawn(sizes):
    drawn = positions(sizes, sizes, replace=False)(generator(0, test="whole"))
    assert drawn.tolist() == list(range(sum(sizes)))
