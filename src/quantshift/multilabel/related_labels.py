"""Groups of labels that occur together more or less often than by chance.

What can be said about all sets of labels at once is limited: ten labels have a thousand sets. So
labels are split into groups of at most ten, the most strongly related labels first, and the labels
of different groups are treated as if the items were all that links them.
"""

import numpy as np

from quantshift.base.types import Flags, Indices, Reals
from quantshift.prevalence.weights import Weights


def related_groups(has: Flags, largest: int, weights: Weights | None = None) -> list[Indices]:
    """The labels (columns) of each group, sorted; groups have at most `largest` labels.

    Pairs of labels are joined in the order of their correlation, as long as the two groups
    together are small enough. Equal correlations are taken in the order of how frequent the labels
    are, so that the order of the columns matters only for labels that are equal in every respect.
    """
    n_labels = has.shape[1]
    if n_labels <= largest:
        return [np.arange(n_labels)]
    strength, share = _correlations(has, weights)
    first, second = np.triu_indices(n_labels, 1)
    low, high = np.minimum(share[first], share[second]), np.maximum(share[first], share[second])
    order = np.lexsort((low, high, -strength[first, second].round(12)))
    group = np.arange(n_labels)
    size = np.ones(n_labels, dtype=np.int64)
    for a, b in zip(group[first[order]].tolist(), group[second[order]].tolist(), strict=True):
        one, other = group[a], group[b]
        if one != other and size[one] + size[other] <= largest:
            group[group == other] = one
            size[one] += size[other]
    return [np.flatnonzero(group == number) for number in dict.fromkeys(group.tolist())]


def _correlations(has: Flags, weights: Weights | None) -> tuple[Reals, Reals]:
    """Absolute correlations of all pairs of labels, and the share of each label."""
    indicators = has.astype(np.float64)
    share = np.average(indicators, axis=0, weights=weights)
    centred = indicators - share
    weighted = centred if weights is None else centred * weights[:, np.newaxis]
    covariance = weighted.T @ centred
    spread = np.sqrt(np.maximum(np.diag(covariance), np.finfo(np.float64).tiny))
    return np.abs(covariance / np.outer(spread, spread)), share


def frequent_together(has: Flags, most: int) -> Indices:
    """The labels of the pairs that occur together most often, until there are enough.

    This is how A. Moreo, M. Francisco and F. Sebastiani (TKDD 2023) reduce data sets. Among pairs
    that are equally frequent the last one comes first: with this order the errors of MLPE on birds,
    the only set for development where it matters, are nearest to the printed ones.
    """
    n_labels = has.shape[1]
    if n_labels <= most:
        return np.arange(n_labels)
    first, second = np.triu_indices(n_labels, 1)
    together = (has.T.astype(np.int64) @ has.astype(np.int64))[first, second]
    chosen: dict[int, None] = {}
    for pair in np.argsort(together, kind="stable")[::-1]:
        for label in (int(first[pair]), int(second[pair])):
            if len(chosen) < most:
                chosen[label] = None
    return np.array(sorted(chosen))
