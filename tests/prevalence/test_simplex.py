import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from quantshift.base.seeding import generator
from quantshift.errors import DataError, UserError
from quantshift.prevalence import simplex


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 5_000))
def test_whole_counts_are_the_nearest(seed: int, n_classes: int, size: int) -> None:
    p = np.random.default_rng(seed).dirichlet(np.ones(n_classes))
    counts = simplex.whole_counts(p, size)
    assert counts.sum() == size
    assert (np.abs(counts - p * size) < 1 + 1e-6).all()


@given(st.integers(0, 100), st.integers(1, 5_000))
def test_binary_counts_round_half_up_for_the_second_class(percent: int, size: int) -> None:
    counts = simplex.whole_counts([1 - percent / 100, percent / 100], size)
    assert counts[1] == math.floor(percent * size / 100 + 0.5)


def test_grid() -> None:
    assert_allclose(simplex.grid(2, 11)[:, 1], np.linspace(0, 1, 11))
    three = simplex.grid(3, 5)
    assert len(three) == math.comb(4 + 2, 2)
    assert len(np.unique(three, axis=0)) == len(three)
    with pytest.raises(UserError, match="needs 2 classes and 2 points"):
        simplex.grid(1, 5)


def test_uniform_draws_have_the_moments_of_the_flat_dirichlet() -> None:
    draws = simplex.uniform(20_000, 4, generator(0, purpose="test"))
    assert_allclose(draws.sum(axis=1), 1)
    assert_allclose(draws.mean(axis=0), 1 / 4, atol=0.005)
    assert_allclose(draws.var(axis=0), 3 / (16 * 5), atol=0.002)


def test_bad_prevalences() -> None:
    for bad in ([0.5, 0.6], [1.2, -0.2], [np.nan, 1.0], 0.5):
        with pytest.raises(DataError):
            simplex.check(bad)
    with pytest.raises(DataError, match="empty set"):
        simplex.from_codes(np.array([], dtype=np.int64), 2)
