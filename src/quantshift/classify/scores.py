"""Scores of classes: log-odds of each class against the rest, and targets to fit them to.

Two classes have a single score, that of the second class; more have one score each, and the results
for the classes are combined by normalising.

Reference: J. Platt, "Probabilistic outputs for support vector machines", 1999 (targets).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from quantshift.base.types import Codes, Posteriors

FLOOR = 1e-12
"""Posteriors are clipped to this distance from 0 and 1, where log-odds are infinite."""


def matched_columns(posteriors: Posteriors) -> Posteriors:
    """The columns of the classes with a score: only the second if there are two."""
    return posteriors[:, 1:] if posteriors.shape[1] == 2 else posteriors


def class_scores(posteriors: Posteriors, farthest: float = np.inf) -> NDArray[np.float64]:
    """Log-odds of each class against the rest, clipped at `farthest` to either side."""
    scores = logit(np.clip(matched_columns(posteriors), FLOOR, 1 - FLOOR))
    return np.asarray(np.clip(scores, -farthest, farthest))


def farthest_score(n_items: float) -> float:
    """Log-odds beyond which n held-out items cannot show how reliable a classifier is.

    n_items: their number, or the sum of their weights; less than one counts as one.
    """
    return float(np.log(2 * max(n_items, 1)))


def memberships(codes: Codes, n_classes: int) -> NDArray[np.float64]:
    """1 where an item is of the class of the column, 0 elsewhere."""
    return matched_columns(np.eye(n_classes)[codes])


def platt_targets(
    codes: Codes, n_classes: int, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Memberships kept away from 0 and 1, so that separable data has a finite fit.

    weights: of the items, in units of an item.
    """
    members = memberships(codes, n_classes)
    if weights is None:
        n_in, n_out = members.sum(axis=0), (1 - members).sum(axis=0)
    else:
        n_in, n_out = weights @ members, weights @ (1 - members)
    return np.asarray(np.where(members == 1, (n_in + 1) / (n_in + 2), 1 / (n_out + 2)))


def joined_scores(columns: NDArray[np.float64]) -> Posteriors:
    """Posteriors (n_items, n_classes) from one-against-the-rest columns."""
    if columns.shape[1] == 1:
        return np.concatenate([1 - columns, columns], axis=1)
    total = columns.sum(axis=1, keepdims=True)
    uniform = np.full_like(columns, 1 / columns.shape[1])
    return np.asarray(np.divide(columns, total, out=uniform, where=total > 0))
