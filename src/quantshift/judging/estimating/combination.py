"""Labels of these items and labels from elsewhere together, if the judge treats both alike.

Whether it does is tested: P(verdict | class) among both kinds of labels (chi-square, class by
class). If it does, the two estimates are averaged, each by the other's squared width, and the
squares of the distances to the limits are added, allowing for the verdicts that both use. If
not, the labels from elsewhere say nothing of these items and are left aside.
"""

import numpy as np
from scipy import stats

from quantshift.base.types import Reals

EQUAL = 0.05
"""The p-value from which on rates are taken to be equal."""


def equal_rates(among_items: Reals, elsewhere: Reals) -> float:
    """p-value of classes having the same rates in two tables, (n_classes, n_verdicts) each."""
    statistic, freedom = 0.0, 0
    for pair in np.stack([among_items, elsewhere], axis=1):
        table = pair[:, pair.sum(axis=0) > 0]
        if table.shape[1] < 2 or (table.sum(axis=1) == 0).any():
            continue
        found = stats.chi2_contingency(table, correction=False)
        statistic, freedom = statistic + float(found.statistic), freedom + int(found.dof)
    return float(stats.chi2.sf(statistic, freedom)) if freedom else 1.0


def weight_of_first(a: Reals, b: Reals, r: Reals) -> float:
    """Of two estimates with widths a and b and correlations r, all (n_classes,)."""
    shared = float((r * a * b).sum())
    first, second = float((a * a).sum()) - shared, float((b * b).sum()) - shared
    total = first + second
    return float(np.clip(second / total, 0, 1)) if total > 0 else 0.5


def averaged(a: Reals, b: Reals, r: Reals, w: float) -> Reals:
    """The distance to a limit of the average, from those of the two."""
    square = (w * a) ** 2 + ((1 - w) * b) ** 2 + 2 * r * w * (1 - w) * a * b
    return np.asarray(np.sqrt(np.maximum(square, 0)))
