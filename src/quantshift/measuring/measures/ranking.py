"""The area under the ROC curve: how well scores rank the items of a class above the others."""

import numpy as np

from quantshift.base.types import Reals
from quantshift.measuring.measures.label_chances import LabelledScores
from quantshift.measuring.measures.measure import PerformanceMeasure


def _auc(items: LabelledScores) -> Reals:
    """The AUC of each class against the others.

    With chances, an item would be compared with itself, as a tie; such pairs are left out.
    """
    areas = np.full(items.n_classes, np.nan)
    for k in range(items.n_classes):
        inside = items.shares * items.chances[:, k]
        outside = items.shares * (1 - items.chances[:, k])
        _, rank = np.unique(items.scores[:, k], return_inverse=True)
        by_score_in, by_score_out = (np.bincount(rank, part) for part in (inside, outside))
        below = np.cumsum(by_score_out) - by_score_out
        itself = float(inside @ outside)
        right = float(by_score_in @ (below + by_score_out / 2)) - itself / 2
        pairs = float(inside.sum() * outside.sum()) - itself
        if pairs > 1e-12:
            areas[k] = np.clip(right / pairs, 0.0, 1.0)
    return areas


AUC = PerformanceMeasure("auc", "AUC", _auc)
