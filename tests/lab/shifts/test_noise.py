"""Noise: a protocol says how strong it is, and draws as natural prevalence does."""

import numpy as np
import pytest

from quantshift import CC, evaluate
from quantshift.errors import UserError
from quantshift.lab.shifts import NoiseShift

Y = np.repeat([0, 1], [300, 700])


def test_samples_are_natural_and_tell_the_strength():
    shift = NoiseShift(strengths=[0.0, 0.5], test_size=40, test_repeats=3)
    draws = list(shift.samples(Y))
    assert [draw.coordinates["feature_noise"] for draw in draws] == [0, 0, 0, 0.5, 0.5, 0.5]
    for draw in draws:
        assert draw.degree == draw.coordinates["feature_noise"]
        assert draw.coordinates["p_test"] == 0.7
        assert np.unique(draw.indices).size == 40


def test_whoever_adds_no_noise_must_not_pretend_to():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2)) + Y[:, np.newaxis]
    quantifier = CC().fit(X, Y)
    with pytest.raises(UserError, match="which only experiments add"):
        evaluate(quantifier, NoiseShift(test_size=50, test_repeats=1), X, Y)
    plain = NoiseShift(strengths=[0.0], test_size=50, test_repeats=1)
    assert len(evaluate(quantifier, plain, X, Y)) == 1
