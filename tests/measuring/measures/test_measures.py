"""Every measure: scikit-learn's if labels are known, its expectation if they have chances."""

import numpy as np
import pytest
from sklearn import metrics

from quantshift.errors import UserError
from quantshift.measuring import (
    MEASURES,
    LabelledScores,
    PerformanceMeasure,
    register_performance_measure,
)
from quantshift.measuring.measures.registry import chosen_measures


def scored(n_classes, seed, n=300):
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.full(n_classes, 0.8), n)
    scores = (scores * 20).round() / 20 + 1e-3  # some ties
    scores /= scores.sum(axis=1, keepdims=True)
    codes = (rng.random((n, 1)) > np.cumsum(scores, axis=1)).sum(axis=1).clip(max=n_classes - 1)
    return scores, scores.argmax(axis=1), codes, rng.integers(1, 4, n).astype(float)


def overall(name, items):
    measure = MEASURES[name]
    if measure.overall is not None:
        return measure.overall(items)
    return np.nanmean(measure.of_classes(items))


def by_sklearn(name, scores, predicted, codes, weights):
    """The reference, per class where there is one."""
    k = scores.shape[1]
    labels, one = np.arange(k), np.eye(k)[codes]
    each = {
        "precision": lambda: metrics.precision_score(
            codes, predicted, labels=labels, average=None, sample_weight=weights
        ),
        "recall": lambda: metrics.recall_score(
            codes, predicted, labels=labels, average=None, sample_weight=weights
        ),
        "f1": lambda: metrics.f1_score(
            codes, predicted, labels=labels, average=None, sample_weight=weights
        ),
        "specificity": lambda: [
            metrics.recall_score(codes != j, predicted != j, sample_weight=weights) for j in labels
        ],
        "auc": lambda: [
            metrics.roc_auc_score(codes == j, scores[:, j], sample_weight=weights) for j in labels
        ],
        "accuracy": lambda: metrics.accuracy_score(codes, predicted, sample_weight=weights),
        "balanced_accuracy": lambda: metrics.balanced_accuracy_score(
            codes, predicted, sample_weight=weights
        ),
        "log_loss": lambda: metrics.log_loss(codes, scores, sample_weight=weights, labels=labels),
        "brier": lambda: np.average(((scores - one) ** 2).sum(axis=1) / 2, weights=weights),
    }
    return each[name]()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "accuracy",
        "balanced_accuracy",
        "precision",
        "recall",
        "specificity",
        "f1",
        "auc",
        "log_loss",
        "brier",
    ],
)
def test_with_labels_it_is_that_of_scikit_learn(name, n_classes, weighted):
    scores, predicted, codes, weights = scored(n_classes, 0)
    weights = weights if weighted else None
    items = LabelledScores.of_labels(scores, predicted, codes, weights)
    expected = by_sklearn(name, scores, predicted, codes, weights)
    measure = MEASURES[name]
    if np.ndim(expected):
        np.testing.assert_allclose(measure.of_classes(items), expected, atol=1e-9)
        assert overall(name, items) == pytest.approx(np.mean(expected))
    else:
        assert measure.overall(items) == pytest.approx(expected)
    if name == "brier" and n_classes == 2:
        reference = metrics.brier_score_loss(codes, scores[:, 1], sample_weight=weights)
        assert measure.overall(items) == pytest.approx(reference)


def test_the_calibration_error_is_that_of_bins():
    scores = np.array([[0.85, 0.15], [0.81, 0.19], [0.3, 0.7], [0.35, 0.65]])
    items = LabelledScores.of_labels(scores, scores.argmax(axis=1), np.array([0, 0, 1, 0]))
    # Of the second class: bins [.1, .2): mean .17, none; [.6, .7): .65 and none; [.7, .8): .7, one.
    expected = (2 * 0.17 + 0.65 + 0.3) / 4
    found = MEASURES["calibration_error"].of_classes(items)
    np.testing.assert_allclose(found[1], expected)


def test_the_cost_is_that_of_the_table():
    costs = np.array([[0.0, 1.0], [5.0, -1.0]])
    scores = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.4, 0.6]])
    codes = np.array([0, 1, 1, 0])
    items = LabelledScores.of_labels(scores, scores.argmax(axis=1), codes, None, costs)
    assert MEASURES["cost"].overall(items) == pytest.approx((0 - 1 + 5 + 1) / 4)


@pytest.mark.parametrize("name", [n for n in MEASURES if n not in ("calibration_error", "cost")])
def test_with_chances_it_is_about_the_mean_over_drawn_labels(name):
    scores, predicted, _, _ = scored(2, 1, n=200)
    rng = np.random.default_rng(2)
    chances = np.clip(scores + rng.normal(0, 0.1, (200, 1)) * [1, -1], 0.01, 0.99)
    chances /= chances.sum(axis=1, keepdims=True)
    expected = overall(name, LabelledScores(scores, predicted, chances))
    drawn = []
    for _ in range(300):
        codes = (rng.random(200) > chances[:, 0]).astype(int)
        drawn.append(overall(name, LabelledScores.of_labels(scores, predicted, codes)))
    error = np.std(drawn) / np.sqrt(len(drawn))
    assert expected == pytest.approx(np.mean(drawn), abs=4 * error + 1e-3)


def test_a_class_that_is_never_predicted_has_no_precision():
    scores = np.tile([0.6, 0.4], (4, 1))
    items = LabelledScores.of_labels(scores, np.zeros(4, dtype=int), np.array([0, 0, 1, 1]))
    assert np.isnan(MEASURES["precision"].of_classes(items)[1])
    assert overall("precision", items) == 0.5


def test_a_measure_of_ones_own_is_registered_once():
    mine = PerformanceMeasure("half", "half", overall=lambda items: 0.5)
    register_performance_measure(mine)
    try:
        assert chosen_measures(["half"], costs=False) == [mine]
        with pytest.raises(UserError, match="already"):
            register_performance_measure(mine)
    finally:
        del MEASURES["half"]


def test_unknown_measures_and_missing_costs_are_one_line():
    with pytest.raises(UserError, match="did you mean 'accuracy'"):
        chosen_measures(["acuracy"], costs=False)
    with pytest.raises(UserError, match="needs the costs"):
        chosen_measures(["cost"], costs=False)
    assert "cost" not in {m.name for m in chosen_measures(None, costs=False)}
