"""LEIP: item by item in plain Python, whatever the order of the items."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from quantshift.quantifiers import LEIP


def drawn(n: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    p = np.exp(rng.normal(size=(n, n_classes)) + 1.5 * np.eye(n_classes)[y])
    return p / p.sum(axis=1, keepdims=True), y


def by_hand(known: np.ndarray, y: np.ndarray, sample: np.ndarray) -> np.ndarray:
    n_classes = sample.shape[1]
    prior = np.bincount(y) / len(y)
    recalls = [(known[y == k].argmax(axis=1) == k).mean() for k in range(n_classes)]
    n_sure = int(np.ceil(min(recalls) * len(sample) - 1e-9))
    order = np.argsort(-sample.max(axis=1))
    counts = np.bincount(sample[order[:n_sure]].argmax(axis=1), minlength=n_classes).astype(float)
    for i in order[n_sure:]:
        shares = np.maximum(counts / counts.sum(), 1e-12)
        counts[(sample[i] * shares / prior).argmax()] += 1
    shares = np.maximum(counts / counts.sum(), 1e-12)
    labels = (sample * shares / prior).argmax(axis=1)
    return np.bincount(labels, minlength=n_classes) / len(sample)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_item_by_item(n_classes: int) -> None:
    known, y = drawn(300, n_classes, 0)
    pool, _ = drawn(200, n_classes, 1)
    fitted = LEIP().fit_posteriors(known, y)
    index = np.stack([np.random.default_rng(i).permutation(200)[:57] for i in range(5)])
    for row, p_hat in zip(index, fitted.aggregate(pool, index), strict=True):
        assert_allclose(p_hat, by_hand(known, y, pool[row]), atol=1e-12)


@pytest.mark.slow
def test_items_that_are_equally_sure_are_labelled_together() -> None:
    known, y = drawn(300, 2, 0)
    fitted = LEIP().fit_posteriors(known, y)
    sample = np.round(drawn(90, 2, 1)[0], 1)
    rng = np.random.default_rng(0)
    expected = fitted.aggregate(sample)
    for _ in range(5):
        assert_allclose(fitted.aggregate(rng.permutation(sample)), expected, atol=1e-12)
    weights = rng.integers(0, 4, 90)
    assert_allclose(
        fitted.aggregate(sample, sample_weight=weights),
        fitted.aggregate(np.repeat(sample, weights, axis=0)),
        atol=1e-12,
    )


def test_a_class_never_predicted_leaves_all_to_the_running_prior() -> None:
    y = np.arange(60) % 3
    constant = np.tile([0.5, 0.3, 0.2], (60, 1))
    estimate = LEIP().fit_posteriors(constant, y).estimate_posteriors(drawn(30, 3, 1)[0])
    assert estimate.diagnostics["counted"] == 0
    assert estimate.prevalence.sum() == pytest.approx(1)
