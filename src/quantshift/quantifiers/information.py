"""Do the posteriors tell the classes apart at all?

Adjusted estimates divide by the difference that a class makes. Where it makes none, any prevalence
explains any sample, and an estimate is the whim of a fallback. Posteriors that are worse than
chance are information, too, if there is no doubt about it; but those of classifiers that have
learnt nothing, held out in folds, tend to be a little worse than chance, and are not.

Reference: H. Mann and D. Whitney, "On a test of whether one of two random variables is
stochastically larger than the other", Annals of Mathematical Statistics 18 (1947).
"""

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from quantshift.quantifiers.counting import hard_predictions
from quantshift.types import Codes, Posteriors

BETTER, WORSE = 0.05, 1e-4
"""Two-sided significance at which posteriors count as better than chance, and as worse."""


def told_apart(posteriors: Posteriors, codes: Codes, *, crisp: bool) -> NDArray[np.bool_]:
    """Which classes have held-out posteriors that differ, shape (n_classes, n_classes).

    Two classes differ if the odds between them are larger in the one than in the other by more than
    chance: the rank sum test with ties. crisp: by predictions instead of posteriors.
    """
    n_classes = posteriors.shape[1]
    scores = hard_predictions(posteriors).T if crisp else posteriors
    apart = np.eye(n_classes, dtype=bool)
    for j in range(n_classes):
        for k in range(j + 1, n_classes):
            own, total = scores[:, k], scores[:, j] + scores[:, k]
            share = np.divide(own, total, out=np.full(len(own), 0.5), where=total > 0)
            z = rank_sum_z(share[codes == k], share[codes == j])
            p_value = 2 * stats.norm.sf(abs(z))
            apart[j, k] = apart[k, j] = p_value < (BETTER if z > 0 else WORSE)
    return apart


def rank_sum_z(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """The rank sum of x above what it is if x and y are alike, in standard errors; ties count."""
    both = np.concatenate([x, y])
    n = len(both)
    ties = np.unique(both, return_counts=True)[1].astype(np.float64)
    variance = len(x) * len(y) / 12 * (n + 1 - (ties**3 - ties).sum() / (n * (n - 1)))
    if variance <= 0:
        return 0.0
    excess = stats.rankdata(both)[: len(x)].sum() - len(x) * (n + 1) / 2
    return float(excess / np.sqrt(variance))
