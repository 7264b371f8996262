"""The neural quantifier: what it learns from, what it may not depend on, and bad options."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from quantshift import SLD, predict_interval
from quantshift.checks import yield_checks
from quantshift.errors import UserError
from quantshift.quantifiers.neural.set_network import SetNetwork, _is_better, _parts

SMALL = {"sample_size": 60, "n_samples": 200, "width": 8}


def pool(n=400, seed=0, power=1.0):
    """Items of three classes; posteriors are right only for a power of one."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    scores = power * (2.0 * np.eye(3)[codes] + rng.normal(size=(n, 3)))
    posteriors = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return posteriors, codes


@pytest.fixture(scope="module")
def fitted():
    return SetNetwork(**SMALL).fit_posteriors(*pool())


def test_it_is_right_under_prior_shift(fitted):
    posteriors, codes = pool(3000, seed=1)
    rng = np.random.default_rng(0)
    rows = np.concatenate(
        [rng.choice(np.flatnonzero(codes == k), n) for k, n in ((0, 700), (1, 250), (2, 50))]
    )
    assert_allclose(fitted.aggregate(posteriors[rows]), [0.7, 0.25, 0.05], atol=0.04)


def test_networks_that_are_not_better_are_not_used():
    """Right posteriors of separate classes leave nothing to correct."""
    made = SetNetwork(**SMALL).fit_posteriors(*pool())
    made.weights_ = ()
    new, _ = pool(100, seed=2)
    by_likelihood = SLD(prior=made.alpha_).fit_posteriors(*pool()).aggregate(new)
    assert_allclose(made.aggregate(new), by_likelihood, atol=0.01)
    noise = np.array([[0.4, 0.3], [0.1, 0.1], [0.2, 0.3]])
    gains = np.array([[1, 0.9], [1, 1.2], [1, 0.95]])
    assert not _is_better(gains)
    assert _is_better(np.array([[1, 0.9], [1, 0.92], [1, 0.95]]))
    assert not _is_better(noise[:1])


def test_it_is_better_than_the_likelihood_where_classes_overlap():
    """Shrinkage: two classes that can hardly be told apart."""
    rng = np.random.default_rng(0)

    def drawn(codes):
        score = 0.5 * codes + rng.normal(size=len(codes))
        p = 1 / (1 + np.exp(-0.5 * (score - 0.25)))
        return np.column_stack([1 - p, p])

    codes = np.arange(800) % 2
    posteriors = drawn(codes)
    options = {**SMALL, "n_samples": 600, "monotone": True}
    made = SetNetwork(**options).fit_posteriors(posteriors, codes)
    assert made.alpha_ > 1
    shares = rng.random(200)
    bags = [(rng.random(60) < share).astype(int) for share in shares]
    truth = np.array([bag.mean() for bag in bags])
    new = drawn(np.concatenate(bags))
    index = np.arange(len(new)).reshape(200, 60)
    errors = {}
    for name, quantifier in {"net": made, "sld": SLD().fit_posteriors(posteriors, codes)}.items():
        errors[name] = np.abs(quantifier.aggregate(new, index)[:, 1] - truth).mean()
    assert errors["net"] < errors["sld"]


@pytest.mark.parametrize("measure", ["ae", "rae", "se", "kld"])
def test_every_loss_is_used(measure):
    made = SetNetwork(**SMALL, measure=measure).fit_posteriors(*pool())
    assert made.validation_errors_.shape == (5, 2)
    limits = {"ae": (0.005, 0.2), "rae": (0.05, 2), "se": (1e-5, 0.01), "kld": (1e-4, 0.1)}
    low, high = limits[measure]
    assert low < made.validation_errors_[:, 0].mean() < high


def test_a_seed_repeats_and_another_changes_it(fitted):
    new, _ = pool(50, seed=3)
    same = SetNetwork(**SMALL).fit_posteriors(*pool())
    other = SetNetwork(**SMALL, seed=1).fit_posteriors(*pool())
    assert_array_equal(same.aggregate(new), fitted.aggregate(new))
    assert not np.allclose(other.validation_errors_, fitted.validation_errors_)


def test_intervals_refit_the_first_layer_and_keep_the_network(fitted):
    replicate = fitted.refit(np.arange(0, 400, 2))
    assert replicate.weights_ is fitted.weights_
    assert not np.allclose(replicate.layer_.histograms, fitted.layer_.histograms)
    X, y = pool(200, seed=4)
    own = SetNetwork(**SMALL).fit(X[:, 1:], y)
    interval = predict_interval(own, X[:80, 1:], n_bootstrap=8)
    assert (interval.low <= interval.prevalence).all()
    assert (interval.prevalence <= interval.high).all()


def test_parts_keep_copies_together_and_have_every_class():
    posteriors, codes = pool(60)
    twice = np.concatenate([np.arange(60), np.arange(60)])
    rng = np.random.default_rng(0)
    parts = _parts(posteriors[twice], codes[twice], None, rng)
    assert_array_equal(parts[:60], parts[60:])
    for part in range(5):
        assert set(codes[twice][parts == part]) == {0, 1, 2}
    weights = (np.arange(60) % 2).astype(float)
    assert_array_equal(_parts(posteriors, codes, weights, rng) < 0, weights == 0)


def test_classes_of_a_single_item_can_be_learnt_from():
    posteriors = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    made = SetNetwork(**SMALL).fit_posteriors(posteriors, [0, 0, 1])
    assert made.weights_ == ()
    assert made.aggregate(posteriors).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "aee"}, "unknown loss 'aee'; did you mean 'ae'"),
        ({"width": 0}, "width must be at least 1, got 0"),
        ({"n_samples": -1}, "n_samples must be at least 1"),
    ],
)
def test_bad_options_are_one_line(options, message):
    with pytest.raises(UserError, match=message):
        SetNetwork(**options).fit_posteriors(*pool())


@pytest.mark.slow
@pytest.mark.parametrize(
    "check", [pytest.param(check, id=name) for name, check in yield_checks(SetNetwork(**SMALL))]
)
def test_common(check):
    check()
