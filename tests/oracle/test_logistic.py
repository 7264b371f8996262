"""The batched logistic regression against scikit-learn's, problem by problem."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_sample_weight

from quantshift.classify.logistic import balanced_weights, fit_logistic
from quantshift.seeding import generator

GRID = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


def reference(X, codes, C, weight):
    """Coefficients and posteriors of all rows, fitted on those of a positive weight."""
    inside = np.flatnonzero(weight)
    model = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=10_000)
    model.fit(X[inside], codes[inside], sample_weight=weight[inside])
    return np.append(model.coef_[0], model.intercept_), model.predict_proba(X)


def assert_agreement(X, codes, C, weights, models):
    assert models.converged.all()
    for j, c in enumerate(C):
        coef, posteriors = reference(X, codes, c, weights[j])
        found = np.append(models.coef[:, j], models.intercept[j])
        np.testing.assert_allclose(found, coef, atol=1e-4)
        np.testing.assert_allclose(models.training_posteriors[j], posteriors, atol=1e-4)


@st.composite
def problems(draw):
    """A sparse matrix, codes and a table of weights, from noise to separable classes."""
    rng = generator(draw(st.integers(0, 10**6)), case="logistic")
    n_items, n_features = draw(st.integers(6, 120)), draw(st.integers(1, 40))
    X = rng.random((n_items, n_features)) * (rng.random((n_items, n_features)) < 0.3)
    if draw(st.booleans()):
        X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    X[:, rng.random(n_features) < 0.1] = 0  # a word none of the documents has
    if draw(st.booleans()):
        X[:, 0] = 1  # a word they all have
    truth = X @ rng.normal(size=n_features) + draw(st.sampled_from([0.0, 0.1, 3.0])) * rng.normal(
        size=n_items
    )
    n_positive = max(2, round(draw(st.sampled_from([0.02, 0.3, 0.5, 0.98])) * n_items))
    codes = np.zeros(n_items, dtype=np.int64)
    codes[np.argsort(truth)[-min(n_positive, n_items - 2) :]] = 1
    weights = np.ones((len(GRID), n_items))
    if draw(st.booleans()):
        weights = rng.exponential(size=weights.shape)
    weights[rng.random(weights.shape) < draw(st.sampled_from([0.0, 0.4]))] = 0
    for code in (0, 1):
        weights[:, np.flatnonzero(codes == code)[0]] = 0.7
    return csr_array(X), codes, weights


@given(problems())
def test_agrees_with_scikit_learn(problem):
    X, codes, weights = problem
    models = fit_logistic(X, codes, GRID, weights, tol=1e-11, max_iter=20_000)
    assert_agreement(X, codes, GRID, weights, models)


@given(problems())
def test_default_tolerance_never_fails_in_silence(problem):
    X, codes, weights = problem
    models = fit_logistic(X, codes, GRID, weights)
    for j, c in enumerate(GRID):
        posteriors = models.training_posteriors[j, :, 1]
        slopes = c * weights[j] * (posteriors - codes)
        gradient = np.append(models.coef[:, j] + X.T @ slopes, slopes.sum())
        within = np.abs(gradient).max() / (c * weights[j].sum()) <= 1.0001e-6
        assert within == models.converged[j]
    assert models.converged.all()


@given(st.lists(st.integers(0, 1), min_size=4, max_size=30), st.integers(0, 10**6))
def test_balanced_weights_agree_with_scikit_learn(labels, seed):
    codes = np.array([0, 1, *labels])
    member = generator(seed, case="members").random(codes.size) < 0.6
    member[:2] = True
    expected = np.zeros(codes.size)
    expected[member] = compute_sample_weight("balanced", codes[member])
    np.testing.assert_allclose(balanced_weights(codes, member), expected)


@pytest.mark.slow
@pytest.mark.parametrize("prevalence", [0.5, 0.02])
def test_agrees_on_reviews(reviews_dir, prevalence):
    stars, texts = [], []
    with gzip.open(reviews_dir / "reviews" / "Books.txt.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            star, tab, text = line.partition("\t")
            if tab and star in "1245":
                stars.append(int(star))
                texts.append(text)
    positive = np.array(stars) > 3
    rng = generator(0, case="reviews", prevalence=prevalence)
    n_positive = round(1000 * prevalence)
    chosen = np.concatenate(
        [
            rng.choice(np.flatnonzero(positive), n_positive, replace=False),
            rng.choice(np.flatnonzero(~positive), 1000 - n_positive, replace=False),
        ]
    )
    codes = positive[chosen].astype(np.int64)
    X = TfidfVectorizer(min_df=3, sublinear_tf=True).fit_transform([texts[i] for i in chosen])
    member = rng.random(1000) < 0.8
    C = np.repeat(GRID, 2)
    weights = np.array([member.astype(float), balanced_weights(codes, member)] * len(GRID))
    models = fit_logistic(X, codes, C, weights, tol=1e-10)
    assert models.converged.all()
    inside = np.flatnonzero(member)
    for j, c in enumerate(C):
        # L-BFGS promises a small gradient only; at 1e-9 its posteriors are right to 1e-4.
        model = LogisticRegression(C=c, tol=1e-9, max_iter=100_000)
        model.fit(X[inside], codes[inside], sample_weight=weights[j, inside])
        np.testing.assert_allclose(models.coef[:, j], model.coef_[0], atol=1e-3)
        np.testing.assert_allclose(models.training_posteriors[j], model.predict_proba(X), atol=1e-4)
