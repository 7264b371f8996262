"""Many rare labels in several groups: one that moves must not make others believed."""

import warnings

import numpy as np
import pytest

from quantshift.multilabel import TiltedLabelSets

N_LABELS, N_COLUMNS = 60, 20


def items(n, known, seed):
    """Columns and labels of items; known: how much the columns say about the labels."""
    world = np.random.default_rng(1)
    weights = world.normal(size=(N_COLUMNS, N_LABELS)) / np.sqrt(N_COLUMNS)
    usual = np.log(1 / world.uniform(0.004, 0.06, N_LABELS) - 1)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_COLUMNS))
    return X, rng.random((n, N_LABELS)) < 1 / (1 + np.exp(usual - known * X @ weights))


@pytest.fixture(scope="module")
def fitted():
    X, Y = items(1200, 1.5, 2)
    has_both = Y.sum(axis=0) > 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TiltedLabelSets().fit(X, Y[:, has_both]), has_both


def test_random_samples_are_no_worse_than_doing_nothing(fitted):
    quantifier, kept = fitted
    X, Y = items(2000, 1.5, 3)
    rng = np.random.default_rng(4)
    index = np.stack([rng.choice(2000, 200, replace=False) for _ in range(60)])
    truth = Y[:, kept][index].mean(axis=1)
    found = quantifier.aggregate(quantifier.posteriors(X), index)
    error, nothing = np.abs(found - truth), np.abs(quantifier.prior_ - truth)
    assert error.mean() <= nothing.mean()
    assert (error.mean(axis=0) <= nothing.mean(axis=0) + 0.005).mean() > 0.9


def test_a_label_that_moves_takes_no_others_with_it(fitted):
    quantifier, kept = fitted
    X, Y = items(2000, 1.5, 3)
    Y, rng, index = Y[:, kept], np.random.default_rng(5), []
    for label in range(0, Y.shape[1], 3):
        with_label, without = np.flatnonzero(Y[:, label]), np.flatnonzero(~Y[:, label])
        for k in (25, 50, 100):
            index.append(np.r_[rng.choice(with_label, k), rng.choice(without, 100 - k)])
    index = np.stack(index)
    posteriors, truth = quantifier.posteriors(X), Y[index].mean(axis=1)
    found = quantifier.aggregate(posteriors, index)
    means = np.abs(posteriors[index].mean(axis=1) - truth).mean()
    assert np.abs(found - truth).mean() <= means + 0.001
    assert (found > 0.3).mean() < 0.02


def test_classifiers_that_know_nothing_are_named():
    X, Y = items(400, 0.0, 6)
    with pytest.warns(
        UserWarning, match=r"of \d+ of the \d+ labels the classifiers know too little"
    ):
        TiltedLabelSets().fit(X, Y[:, Y.sum(axis=0) > 1][:, :20])
