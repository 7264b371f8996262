"""SLD with a Dirichlet prior, and MAPLS."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from quantshift import SLD
from quantshift.checks.every_quantifier import check_quantifier
from quantshift.errors import UserError
from quantshift.quantifiers import MAPLS
from quantshift.quantifiers.likelihood.mapls import sample_weight


def classified(n: int, p: np.ndarray, rng: np.random.Generator, prior: np.ndarray | None = None):
    """Exact posteriors at the prior (equal shares), and classes drawn from p."""
    y = rng.choice(len(p), n, p=p)
    logits = 1.2 * (rng.normal(size=(n, len(p))) + 1.2 * np.eye(len(p))[y])
    posteriors = np.exp(logits) * (1.0 if prior is None else prior)
    return posteriors / posteriors.sum(axis=1, keepdims=True), y


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_the_prior_is_expectation_maximisation_with_added_items(n_classes):
    rng = np.random.default_rng(n_classes)
    known, y = classified(400, np.full(n_classes, 1 / n_classes), rng)
    quantifier = SLD(calibration="none", prior=4.0, tol=1e-9).fit_posteriors(known, y)
    sample, _ = classified(60, rng.dirichlet(np.ones(n_classes)), rng)
    weights = rng.integers(1, 4, 60).astype(float)
    p = quantifier.prior_.copy()
    for _ in range(5000):
        own = sample * p / quantifier.prior_
        own /= own.sum(axis=1, keepdims=True)
        p = (weights @ own + 3) / (weights.sum() + 3 * n_classes)
    assert_allclose(quantifier.aggregate(sample, sample_weight=weights), p, atol=1e-6)


def test_no_prior_is_alpha_one_to_the_last_bit():
    rng = np.random.default_rng(0)
    known, y = classified(300, np.array([0.5, 0.3, 0.2]), rng)
    sample, _ = classified(100, np.array([0.2, 0.3, 0.5]), rng)
    plain, flat = (SLD(prior=prior).fit_posteriors(known, y) for prior in (None, 1))
    assert_array_equal(plain.aggregate(sample), flat.aggregate(sample))


def test_a_prior_counts_less_in_a_larger_sample():
    rng = np.random.default_rng(0)
    known, y = classified(500, np.array([0.5, 0.5]), rng)
    sample, _ = classified(20, np.array([0.95, 0.05]), rng)
    plain, drawn = (SLD(prior=prior).fit_posteriors(known, y) for prior in (None, 5.0))
    many = np.tile(sample, (50, 1))
    few_apart, many_apart = (
        np.abs(drawn.aggregate(s) - plain.aggregate(s)).max() for s in (sample, many)
    )
    assert few_apart > 0.05 > 0.02 > many_apart


@pytest.mark.parametrize("calibration", ["auto", "isotonic", "bcts"])
def test_auto_takes_a_prior_where_classes_are_hard_to_tell(calibration):
    rng = np.random.default_rng(1)
    easy, y = classified(600, np.full(3, 1 / 3), rng)
    mixed = np.where(rng.random((600, 1)) < 0.75, easy[rng.permutation(600)], easy)
    quantifier = SLD(calibration=calibration, prior="auto").fit_posteriors(mixed, y)
    assert quantifier.alpha_ > 1
    assert quantifier.refit(np.arange(600)).alpha_ == quantifier.alpha_


def test_a_prior_that_is_none_is_refused():
    for prior in (0.5, "yes", np.nan):
        with pytest.raises(
            UserError, match=r"prior of SLD must be .* of at least 1, 'auto' or None"
        ):
            SLD(prior=prior).fit_posteriors(np.full((10, 2), 0.5), [0, 1] * 5)


@pytest.mark.slow
def test_the_public_checks_with_a_prior():
    check_quantifier(SLD(prior=2.0))


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.8, 0.2], [0.6, 0.3, 0.1]])
def test_mapls_believes_samples_that_are_far_from_equal_shares(prior):
    prior = np.array(prior)
    n_classes = len(prior)
    far = np.eye(n_classes)[:1] * 0.97 + 0.03 / n_classes
    near = np.full((1, n_classes), 1 / n_classes) + 0.005 * (np.arange(n_classes) == 0)
    near /= near.sum()
    assert sample_weight(far, prior) > 2 * sample_weight(near, prior) or (prior == 0.5).all()
    assert (sample_weight(np.vstack([far, near]), prior) > 0).all()


def test_mapls_does_not_depend_on_the_size_of_the_sample():
    rng = np.random.default_rng(2)
    known, y = classified(400, np.array([0.5, 0.3, 0.2]), rng)
    quantifier = MAPLS().fit_posteriors(known, y)
    sample, _ = classified(80, np.array([0.1, 0.2, 0.7]), rng)
    assert_allclose(
        quantifier.aggregate(sample), quantifier.aggregate(np.tile(sample, (3, 1))), atol=1e-7
    )
