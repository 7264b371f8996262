"""Uniform prevalence: each sample at a point of the simplex of its own."""

import numpy as np
import pytest
from scipy.stats import kstest

from quantshift.prevalence import whole_counts
from quantshift.shifts import UniformPrevalence

Y = np.repeat(["neg", "pos"], 600)


def test_samples_have_the_counts_of_their_nominal_prevalence():
    draws = list(
        UniformPrevalence(test_size=100, test_repeats=50).samples(Y, train={"p_train": 0.5})
    )
    assert len({draw.coordinates["p_test"] for draw in draws}) == 50
    for draw in draws:
        p = draw.coordinates["p_test"]
        assert (draw.labels == "pos").sum() == whole_counts([1 - p, p], 100)[1]
        assert draw.indices.size == np.unique(draw.indices).size == 100
        assert draw.degree == pytest.approx(round(p - 0.5, 1), abs=1e-9)


def test_binary_prevalences_are_uniform():
    shift = UniformPrevalence(test_size=10, test_repeats=1000)
    values = [draw.coordinates["p_test"] for draw in shift.samples(Y)]
    assert kstest(values, "uniform").pvalue > 0.001


def test_ternary_prevalences_are_uniform_on_the_simplex():
    y = np.array(["a", "b", "c"] * 20)
    draws = list(UniformPrevalence(test_size=10, test_repeats=1000).samples(y))
    for rank in range(3):
        # A coordinate of the uniform law on a triangle has distribution 1 - (1 - p)^2.
        values = np.array([draw.coordinates["p_test"][rank] for draw in draws])
        assert kstest(1 - (1 - values) ** 2, "uniform").pvalue > 0.001


def test_every_training_set_meets_the_same_prevalences_in_other_samples():
    shift = UniformPrevalence(test_size=20, test_repeats=5, train_size=100, train_repeats=2)
    first, second = shift.train_test(Y)
    for one, other in zip(first.tests, second.tests, strict=True):
        assert one.coordinates["p_test"] == other.coordinates["p_test"]
        assert one.indices.tolist() != other.indices.tolist()


def test_training_sets_are_natural():
    y = np.repeat([0, 1], [900, 300])
    shift = UniformPrevalence(train_size=200, train_repeats=200)
    draws = list(shift.training_sets(y))
    assert {draw.coordinates["p_train"] for draw in draws} == {0.25}
    positives = np.array([draw.labels.sum() for draw in draws])
    assert positives.std() > 0
    assert positives.mean() == pytest.approx(50, abs=4 * np.sqrt(200 * 0.1875 / 200))
