"""What the network sees, against other libraries and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import ks_2samp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from quantshift import SLD
from quantshift.quantifiers.pretrained import summaries


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_the_area_under_the_curve_is_that_of_scikit_learn(rng):
    scores = rng.integers(0, 12, (3, 80)).astype(float)  # many are equal
    y = rng.integers(0, 2, (3, 80)).astype(float)
    weights = rng.uniform(0.1, 2, (3, 80))
    expected = [roc_auc_score(y[i], scores[i], sample_weight=weights[i]) for i in range(3)]
    assert_allclose(summaries.area_under_curve(scores, y, weights, np), expected, rtol=1e-12)


def test_the_largest_gap_is_that_of_scipy(rng):
    first, second = rng.integers(0, 9, (1, 60)) / 1.0, rng.integers(2, 11, (1, 40)) / 1.0
    gap = summaries.largest_gap(
        first, second, np.full((1, 60), 1 / 60), np.full((1, 40), 1 / 40), np
    )
    assert_allclose(gap, ks_2samp(first[0], second[0]).statistic, rtol=1e-12)


def test_the_regression_is_that_of_scikit_learn(rng):
    X = rng.standard_normal((200, 3))
    y = (rng.random(200) < expit(X @ [1.0, -2.0, 0.5] + 0.3)).astype(float)
    weights = rng.uniform(0.2, 2, 200)
    model = LogisticRegression(C=1 / 2.0, tol=1e-10).fit(X, y, sample_weight=weights)
    design = np.column_stack([np.ones(200), X])[np.newaxis]
    found = summaries.logistic_regression(
        design, y[np.newaxis], weights[np.newaxis], 2.0, np, steps=30
    )
    # The intercept is penalised by a thousandth of the ridge, that of scikit-learn not at all.
    assert_allclose(found[0, 1:], model.coef_[0], atol=2e-3)
    assert_allclose(found[0, 0], model.intercept_[0], atol=2e-3)


def test_the_most_likely_share_is_that_of_sld(rng):
    q = rng.beta(1, 2, 300)
    y = (rng.random(500) < 0.3).astype(int)
    held_out = np.column_stack([np.full(500, 0.7), np.full(500, 0.3)])
    sld = SLD(calibration=None, tol=1e-12, max_iter=100_000).fit_posteriors(held_out, y)
    expected = sld.aggregate(np.column_stack([1 - q, q]))[1]
    share, _, gain = summaries.most_likely_share(
        np.log(q / (1 - q))[np.newaxis],
        np.array([sld.prior_[1]]),
        np.full((1, 300), 1 / 300),
        np,
    )
    assert_allclose(share[0], expected, atol=1e-4)
    assert gain[0] >= 0


def test_intercepts_give_the_shares(rng):
    logits = rng.standard_normal((2, 50)) * 2
    weights = rng.dirichlet(np.ones(50), 2)
    shares = np.array([0.1, 0.5, 0.93])
    intercepts = summaries.intercepts_of(shares, logits, weights, np)
    means = (expit(logits[:, :, None] + intercepts[:, None]) * weights[:, :, None]).sum(axis=1)
    assert_allclose(means, np.broadcast_to(shares, means.shape), atol=1e-5)
