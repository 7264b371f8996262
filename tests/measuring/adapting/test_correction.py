"""Corrections of posteriors: Bayes' rule, in closed form."""

import numpy as np
import pytest
from scipy.stats import norm

from quantshift.measuring import Correction

CENTRES = np.array([-1.0, 0.5, 2.0])


def gaussian_posteriors(x, prevalence):
    """Of classes N(centre, 1) with these shares."""
    joint = prevalence * norm.pdf(x[:, np.newaxis], loc=CENTRES[: len(prevalence)])
    return joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("prior", "prevalence"),
    [([0.5, 0.5], [0.1, 0.9]), ([0.2, 0.3, 0.5], [0.6, 0.3, 0.1])],
)
def test_gaussian_classes_have_the_posteriors_of_bayes_rule(prior, prevalence):
    x = np.linspace(-3, 3, 41)
    prior, prevalence = np.array(prior), np.array(prevalence)
    corrected = Correction(prior, prevalence)(gaussian_posteriors(x, prior))
    np.testing.assert_allclose(corrected, gaussian_posteriors(x, prevalence), atol=1e-12)


def test_half_a_correction_is_half_way_in_log_odds():
    x, prior = np.linspace(-2, 2, 9), np.array([0.5, 0.5])
    raw = gaussian_posteriors(x, prior)
    half = Correction(prior, np.array([0.2, 0.8]), 0.5)(raw)
    np.testing.assert_allclose(
        np.log(half[:, 1] / half[:, 0]) - np.log(raw[:, 1] / raw[:, 0]), np.log(2.0), atol=1e-9
    )


def test_strength_zero_returns_the_posteriors_themselves():
    raw = np.array([[0.3, 0.7]])
    assert Correction(np.array([0.5, 0.5]), np.array([0.1, 0.9]), 0.0)(raw) is raw


def test_an_item_that_can_only_be_of_an_absent_class_keeps_its_posteriors():
    raw = np.array([[1.0, 0.0], [0.5, 0.5]])
    corrected = Correction(np.array([0.5, 0.5]), np.array([0.0, 1.0]))(raw)
    np.testing.assert_array_equal(corrected, [[1.0, 0.0], [0.0, 1.0]])


def test_posteriors_are_calibrated_before_they_are_corrected():
    class Sharper:
        def __call__(self, posteriors):
            return posteriors**2 / (posteriors**2).sum(axis=1, keepdims=True)

    raw, prior = np.array([[0.25, 0.75]]), np.array([0.5, 0.5])
    corrected = Correction(prior, np.array([0.9, 0.1]), 1.0, Sharper())(raw)
    np.testing.assert_allclose(corrected, [[0.5, 0.5]])
