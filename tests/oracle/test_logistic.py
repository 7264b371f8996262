"""The batched logistic regression against scikit-learn's, problem by problem."""

import gzip
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_sample_weight

from quantshift.base.seeding import generator
from quantshift.classify.folds import stratified_folds
from quantshift.classify.learners import LogisticLearner, SklearnLearner
from quantshift.classify.logistic.models import balanced_weights, fit_logistic
from quantshift.texts.view import MatrixView

GRID = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


def fit_quietly(model, X, codes, weight):
    """Fit; on some problems scikit-learn goes over to another of its solvers, and says so."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Line search of Newton solver", ConvergenceWarning)
        # Of lbfgs, when the other solver has left nothing to improve.
        warnings.filterwarnings("ignore", "lbfgs failed to converge after 0", ConvergenceWarning)
        model.fit(X, codes, sample_weight=weight)


def reference(X, codes, C, weight):
    """Coefficients and posteriors of all rows, fitted on those of a positive weight."""
    inside = np.flatnonzero(weight)
    model = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=10_000)
    fit_quietly(model, X[inside], codes[inside], weight[inside])
    return np.append(model.coef_[0], model.intercept_), model.predict_proba(X)


def objective(X, codes, C, weight, solution):
    """Penalty plus loss of the coefficients and the intercept, in that order."""
    scores = X @ solution[:-1] + solution[-1]
    losses = np.logaddexp(0, np.where(codes == 1, -scores, scores))
    return 0.5 * solution[:-1] @ solution[:-1] + C * weight @ losses


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


@pytest.mark.slow
@given(problems())
def test_agrees_with_scikit_learn(problem):
    X, codes, weights = problem
    models = fit_logistic(X, codes, GRID, weights, tol=1e-12, max_iter=20_000)
    assert_agreement(X, codes, GRID, weights, models)


@pytest.mark.slow
@given(problems(), st.sampled_from([1, 2, 4, 8, 16, 1000]), st.sampled_from([1e-2, 1e-6, 1e-9]))
def test_gap_bounds_the_excess_and_the_distance(problem, max_iter, tol):
    X, codes, weights = problem
    models = fit_logistic(X, codes, GRID, weights, tol=tol, max_iter=max_iter)
    np.testing.assert_array_equal(models.converged, models.gap <= tol)
    for j, c in enumerate(GRID):
        solution, _ = reference(X, codes, c, weights[j])
        minimum = objective(X, codes, c, weights[j], solution)
        ours = np.append(models.coef[:, j], models.intercept[j])
        value = objective(X, codes, c, weights[j], ours)
        excess = value - minimum
        assert excess <= models.gap[j] * minimum + 1e-9 * minimum
        # The gap itself is less than its relative form times the objective at hand.
        assert np.sum((ours - solution)[:-1] ** 2) <= 2 * models.gap[j] * value + 1e-9


@pytest.mark.slow
@given(problems())
def test_default_tolerance_is_met(problem):
    X, codes, weights = problem
    models = fit_logistic(X, codes, GRID, weights)
    assert models.converged.all()
    for j, c in enumerate(GRID):
        solution, _ = reference(X, codes, c, weights[j])
        minimum = objective(X, codes, c, weights[j], solution)
        ours = np.append(models.coef[:, j], models.intercept[j])
        assert objective(X, codes, c, weights[j], ours) <= minimum * (1 + 1e-6)


def documents(n_items, n_positive, rng):
    """L2-normalised rows of about 60 of 2,000 words, word k as frequent as 1 / (k + 10)."""
    n_words, codes = 2000, np.zeros(n_items, dtype=np.int64)
    codes[:n_positive] = 1
    tilt = rng.normal(0, 0.4, n_words)
    X = np.zeros((n_items, n_words))
    for i, code in enumerate(codes):
        share = np.exp((2 * code - 1) * tilt) / (np.arange(n_words) + 10)
        X[i, rng.choice(n_words, 80, p=share / share.sum())] = 1
    X *= 1 + np.log(n_items / X.sum(axis=0).clip(1))
    return csr_array(X / np.linalg.norm(X, axis=1, keepdims=True)), codes


def assert_as_accurate_for_every_penalty(X, codes):
    """At the default tolerance, against scikit-learn's newton-cg with a tight one."""
    everyone = np.ones(len(codes), dtype=bool)
    C = np.repeat(GRID, 2)
    weights = np.array([everyone, balanced_weights(codes, everyone)] * len(GRID))
    models = fit_logistic(X, codes, C, weights)
    assert models.converged.all()
    for j, c in enumerate(C):
        model = LogisticRegression(C=c, solver="newton-cg", tol=1e-10, max_iter=1000)
        model.fit(X, codes, sample_weight=weights[j])
        solution = np.append(model.coef_[0], model.intercept_)
        minimum = objective(X, codes, c, weights[j], solution)
        ours = np.append(models.coef[:, j], models.intercept[j])
        relative = objective(X, codes, c, weights[j], ours) / minimum - 1
        # newton-cg is itself 1e-9 above the minimum at most.
        assert -1e-9 <= relative <= 1e-6
        distance = np.linalg.norm(models.coef[:, j] - model.coef_[0])
        assert distance <= 1.1e-3 * np.linalg.norm(model.coef_)


@pytest.mark.parametrize("n_positive", [4, 40, 200, 396])
def test_default_tolerance_means_the_same_for_every_penalty(n_positive):
    X, codes = documents(400, n_positive, generator(0, case="documents", n_positive=n_positive))
    assert_as_accurate_for_every_penalty(X, codes)


@given(st.lists(st.integers(0, 3), min_size=4, max_size=30), st.integers(0, 10**6))
def test_balanced_weights_agree_with_scikit_learn(labels, seed):
    n_classes = max(1, *labels) + 1
    codes = np.array([*range(n_classes), *labels])
    member = generator(seed, case="members").random(codes.size) < 0.6
    member[:n_classes] = True
    expected = np.zeros(codes.size)
    expected[member] = compute_sample_weight("balanced", codes[member])
    np.testing.assert_allclose(balanced_weights(codes, member, n_classes), expected)


@pytest.mark.slow
@pytest.mark.parametrize("prevalence", [0.01, 0.02, 0.1, 0.5, 0.9, 0.98, 0.99])
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
    n_positive = round(3000 * prevalence)
    chosen = np.concatenate(
        [
            rng.choice(np.flatnonzero(positive), n_positive, replace=False),
            rng.choice(np.flatnonzero(~positive), 3000 - n_positive, replace=False),
        ]
    )
    X = TfidfVectorizer(min_df=3, sublinear_tf=True).fit_transform([texts[i] for i in chosen])
    assert_as_accurate_for_every_penalty(X, positive[chosen].astype(np.int64))


# --- more than two classes ---------------------------------------------------------------------


def reference_of_classes(X, codes, C, weight, solver="newton-cholesky"):
    """Coefficients (n_features, n_classes), intercepts that sum to zero, posteriors of all rows."""
    inside = np.flatnonzero(weight)
    model = LogisticRegression(C=C, solver=solver, tol=1e-11, max_iter=20_000)
    fit_quietly(model, X[inside], codes[inside], weight[inside])
    return model.coef_.T, model.intercept_ - model.intercept_.mean(), model.predict_proba(X)


def objective_of_classes(X, codes, C, weight, coef, intercept):
    logits = X @ coef + intercept
    losses = logsumexp(logits, axis=1) - logits[np.arange(len(codes)), codes]
    return 0.5 * np.sum(coef**2) + C * weight @ losses


@st.composite
def class_problems(draw):
    """As `problems`, with three to six classes, some of them rare."""
    rng = generator(draw(st.integers(0, 10**6)), case="multinomial")
    n_classes = draw(st.integers(3, 6))
    n_items, n_features = draw(st.integers(4 * n_classes, 100)), draw(st.integers(1, 15))
    X = rng.random((n_items, n_features)) * (rng.random((n_items, n_features)) < 0.4)
    if draw(st.booleans()):
        X[:, 0] = 1  # a word they all have
    noise = draw(st.sampled_from([0.0, 0.1, 3.0]))
    favour = draw(st.sampled_from([0.0, 2.0])) * np.arange(n_classes)
    truth = X @ rng.normal(size=(n_features, n_classes)) + favour
    codes = (truth + noise * rng.normal(size=truth.shape)).argmax(axis=1)
    codes[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    weights = np.ones((len(GRID), n_items))
    if draw(st.booleans()):
        weights = rng.exponential(size=weights.shape)
    weights[rng.random(weights.shape) < draw(st.sampled_from([0.0, 0.4]))] = 0
    weights[:, :n_classes] = 0.7
    return csr_array(X), codes, weights, n_classes


@pytest.mark.slow
@given(class_problems())
def test_many_classes_agree_with_scikit_learn(problem):
    X, codes, weights, n_classes = problem
    models = fit_logistic(X, codes, GRID, weights, n_classes=n_classes, tol=1e-13, max_iter=20_000)
    assert models.converged.all()
    for j, c in enumerate(GRID):
        coef, intercept, posteriors = reference_of_classes(X.toarray(), codes, c, weights[j])
        np.testing.assert_allclose(models.coef[:, j], coef, atol=1e-4)
        centred = models.intercept[j] - models.intercept[j].mean()
        np.testing.assert_allclose(centred, intercept, atol=1e-3)
        np.testing.assert_allclose(models.training_posteriors[j], posteriors, atol=1e-5)


@pytest.mark.slow
@given(class_problems(), st.sampled_from([1, 2, 4, 8, 16, 1000]), st.sampled_from([1e-2, 1e-6]))
def test_gap_of_many_classes_bounds_the_excess_and_the_distance(problem, max_iter, tol):
    X, codes, weights, n_classes = problem
    models = fit_logistic(X, codes, GRID, weights, n_classes=n_classes, tol=tol, max_iter=max_iter)
    np.testing.assert_array_equal(models.converged, models.gap <= tol)
    for j, c in enumerate(GRID):
        coef, intercept, _ = reference_of_classes(X.toarray(), codes, c, weights[j])
        minimum = objective_of_classes(X, codes, c, weights[j], coef, intercept)
        value = objective_of_classes(
            X, codes, c, weights[j], models.coef[:, j], models.intercept[j]
        )
        assert value - minimum <= models.gap[j] * minimum + 1e-9 * minimum
        distance = np.sum((models.coef[:, j] - coef) ** 2)
        assert distance <= 2 * models.gap[j] * value + 1e-9


def documents_of_classes(n_items, n_classes, rng):
    """L2-normalised rows of 40 of 600 words; class k is half as frequent again as class k - 1."""
    share = 1.5 ** np.arange(n_classes) if n_classes < 10 else np.linspace(1, 3, n_classes)
    counts = np.maximum(6, np.floor(n_items * share / share.sum())).astype(np.int64)
    codes = np.repeat(np.arange(n_classes), counts)
    tilt = rng.normal(0, 0.8, (n_classes, 600))
    X = np.zeros((len(codes), 600))
    for i, code in enumerate(codes):
        words = np.exp(tilt[code]) / (np.arange(600) + 10)
        X[i, rng.choice(600, 40, p=words / words.sum())] = 1
    return X / np.linalg.norm(X, axis=1, keepdims=True), codes


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_classes", [3, 5, 20])
def test_every_penalty_and_balance_agrees_for_many_classes(n_classes, sparse):
    X, codes = documents_of_classes(300, n_classes, generator(0, case="many", k=n_classes))
    X = csr_array(X) if sparse else X
    everyone = np.ones(len(codes), dtype=bool)
    C = np.repeat(GRID, 2)
    weights = np.array([everyone, balanced_weights(codes, everyone, n_classes)] * len(GRID))
    exact = fit_logistic(X, codes, C, weights, n_classes=n_classes, tol=1e-13)
    usual = fit_logistic(X, codes, C, weights, n_classes=n_classes)
    assert exact.converged.all()
    assert usual.converged.all()
    for j, c in enumerate(C):
        coef, intercept, posteriors = reference_of_classes(X, codes, c, weights[j], "newton-cg")
        np.testing.assert_allclose(exact.training_posteriors[j], posteriors, atol=1e-5)
        np.testing.assert_allclose(usual.training_posteriors[j], posteriors, atol=1e-5)
        minimum = objective_of_classes(X, codes, c, weights[j], coef, intercept)
        ours = (usual.coef[:, j], usual.intercept[j])
        relative = objective_of_classes(X, codes, c, weights[j], *ours) / minimum - 1
        assert -1e-9 <= relative <= 1e-9
        distance = np.linalg.norm(usual.coef[:, j] - coef)
        assert distance <= 2e-5 * np.linalg.norm(coef)


def test_learners_of_many_classes_agree():
    X, codes = documents_of_classes(240, 4, generator(0, case="learners of many"))
    rows = generator(0, case="rows").permutation(len(codes))[:200]
    folds, view = stratified_folds(codes[rows], 5, seed=0), MatrixView(csr_array(X))
    settings = [{"C": c, "class_weight": w} for c in (0.1, 10.0) for w in (None, "balanced")]
    ours, theirs = (
        learner.learn(view, rows, codes[rows], settings, folds, 4)
        for learner in (
            LogisticLearner(tol=1e-13),
            SklearnLearner(LogisticRegression(tol=1e-11, max_iter=10_000, solver="newton-cg")),
        )
    )
    np.testing.assert_allclose(ours.out_of_fold, theirs.out_of_fold, atol=1e-5)
    others = np.setdiff1d(np.arange(len(codes)), rows)
    np.testing.assert_allclose(
        ours.posteriors(view, others), theirs.posteriors(view, others), atol=1e-5
    )
    for place in range(len(settings)):
        np.testing.assert_allclose(
            ours.committee(view, others, place), theirs.committee(view, others, place), atol=1e-5
        )
