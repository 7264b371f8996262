"""Measures of probabilities: log-loss, Brier score, and the calibration error."""

import numpy as np

from quantshift.base.types import Reals
from quantshift.measuring.measures.label_chances import LabelledScores
from quantshift.measuring.measures.measure import PerformanceMeasure

SMALLEST = np.finfo(np.float64).eps
"""Probabilities count as at least this, as in scikit-learn's log-loss."""

N_BINS = 10
"""Bins of equal width in which scores and chances are compared."""


def _log_loss(items: LabelledScores) -> float:
    scores = np.clip(items.scores, SMALLEST, 1 - SMALLEST)
    scores = scores / scores.sum(axis=1, keepdims=True)
    return float(-(items.shares @ (items.chances * np.log(scores)).sum(axis=1)))


def _brier(items: LabelledScores) -> float:
    """The mean squared difference, summed over classes and halved: for two classes, that of one."""
    gaps = items.scores**2 - 2 * items.scores * items.chances + items.chances
    return float(items.shares @ gaps.sum(axis=1) / 2)


def _calibration_error(items: LabelledScores) -> Reals:
    """The mean difference between scores and shares of the class in bins of the score."""
    bins = np.minimum(items.scores * N_BINS, N_BINS - 1).astype(np.int64)
    gaps = (items.scores - items.chances) * items.shares[:, np.newaxis]
    return np.array(
        [
            np.abs(np.bincount(bins[:, k], gaps[:, k], minlength=N_BINS)).sum()
            for k in range(items.n_classes)
        ]
    )


LOG_LOSS = PerformanceMeasure("log_loss", "log-loss", overall=_log_loss, is_share=False)
BRIER = PerformanceMeasure("brier", "Brier score", overall=_brier, is_share=False)
CALIBRATION_ERROR = PerformanceMeasure("calibration_error", "calibration error", _calibration_error)
