"""Natural prevalence: random samples of the pool as it is."""

import numpy as np
import pytest

from quantshift.lab.shifts import NaturalPrevalence, PriorShift

Y = np.repeat(["neg", "pos"], [700, 300])


def test_nominal_coordinates_are_those_of_the_pool():
    shift = NaturalPrevalence(test_size=50, test_repeats=3, train_size=100, train_repeats=2)
    for cell in shift.train_test(Y):
        assert cell.train.coordinates["p_train"] == 0.3
        assert [draw.coordinates["repeat"] for draw in cell.tests] == [0, 1, 2]
        for draw in cell.tests:
            assert draw.coordinates["p_test"] == 0.3
            assert draw.degree == 0.0
            assert draw.indices.size == np.unique(draw.indices).size == 50
            assert draw.labels.tolist() == Y[draw.indices].tolist()


def test_prevalences_vary_as_draws_without_replacement_do():
    shift = NaturalPrevalence(test_size=50, test_repeats=2000)
    positives = np.array([(draw.labels == "pos").sum() for draw in shift.samples(Y)])
    variance = 50 * 0.3 * 0.7 * (1000 - 50) / (1000 - 1)  # hypergeometric
    assert positives.mean() == pytest.approx(15, abs=4 * np.sqrt(variance / 2000))
    assert positives.var() == pytest.approx(variance, rel=0.15)


def test_a_pool_of_another_prevalence_is_a_shift():
    pool = np.concatenate([np.arange(100), np.arange(700, 1000)])
    shift = NaturalPrevalence(test_size=50, test_repeats=1)
    (draw,) = shift.samples(Y, pool=pool, train={"p_train": 0.3})
    assert draw.coordinates["p_test"] == 0.75
    assert draw.degree == 0.5  # 0.45 to one decimal


def test_several_classes():
    y = np.array([1, 2, 3, 3])[np.arange(400) % 4]
    train = {"p_train": (0.5, 0.25, 0.25)}
    (draw,) = NaturalPrevalence(test_size=30, test_repeats=1).samples(y, train=train)
    assert draw.coordinates["p_test"] == (0.25, 0.25, 0.5)
    assert draw.degree == 0.3  # 0.25 to one decimal


def test_training_sets_of_other_protocols_are_understood():
    prior = PriorShift(train_prevalences=[0.5], train_size=100, train_repeats=1)
    (train,) = prior.training_sets(Y)
    (draw,) = NaturalPrevalence(test_size=30, test_repeats=1).samples(Y, train=train.coordinates)
    assert draw.degree == -0.2


def test_with_replacement_a_sample_may_exceed_the_pool():
    (draw,) = NaturalPrevalence(test_size=3000, test_repeats=1, replace=True).samples(Y)
    assert draw.indices.size == 3000
