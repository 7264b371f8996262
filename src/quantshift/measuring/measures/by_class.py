"""Measures of predicted classes, all of which follow from the confusion matrix."""

import numpy as np

from quantshift.base.types import Reals
from quantshift.measuring.measures.label_chances import LabelledScores
from quantshift.measuring.measures.measure import PerformanceMeasure


def _ratio(part: Reals, whole: Reals) -> Reals:
    undefined = np.full(len(part), np.nan)
    return np.asarray(np.divide(part, whole, out=undefined, where=whole > 0))


def _accuracy(items: LabelledScores) -> float:
    return float(np.trace(items.table))


def _precision(items: LabelledScores) -> Reals:
    return _ratio(np.diagonal(items.table), items.table.sum(axis=0))


def _recall(items: LabelledScores) -> Reals:
    return _ratio(np.diagonal(items.table), items.table.sum(axis=1))


def _specificity(items: LabelledScores) -> Reals:
    """The share of the items of other classes that are not predicted as this one."""
    others = 1 - items.table.sum(axis=1)
    wrong = items.table.sum(axis=0) - np.diagonal(items.table)
    return _ratio(others - wrong, others)


def _f1(items: LabelledScores) -> Reals:
    whole = items.table.sum(axis=0) + items.table.sum(axis=1)
    return _ratio(2 * np.diagonal(items.table), whole)


def _balanced_accuracy(items: LabelledScores) -> float:
    return float(np.nanmean(_recall(items)))


ACCURACY = PerformanceMeasure("accuracy", "accuracy", overall=_accuracy)
BALANCED_ACCURACY = PerformanceMeasure(
    "balanced_accuracy", "balanced accuracy", overall=_balanced_accuracy
)
PRECISION = PerformanceMeasure("precision", "precision", _precision)
RECALL = PerformanceMeasure("recall", "recall", _recall)
SPECIFICITY = PerformanceMeasure("specificity", "specificity", _specificity)
F1 = PerformanceMeasure("f1", "F1", _f1)
