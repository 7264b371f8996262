"""Items like those of no class in training, perhaps of a class that training has never seen.

Whatever the shares of the known classes are, a region in which no class has more than a share t of
its items holds no more than t of the sample. A classifier (boosting) is trained on one half of both
sets to distinguish the sample from the training items and scores the other half; then the halves
change places. A threshold is chosen that 0.3% of the training items exceed. If a significantly
larger share of the sample exceeds it than of any class, allowing for half as many again, these
items are like none of the classes. Their share is the least that the sample can hold of
other classes: a class that overlaps with a known one is seen in part or not at all.

Strong covariate shift into regions where training has hardly any items looks the same, and matters
as much: nothing is known about such items.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import bdtrc

from quantshift.base.seeding import generator
from quantshift.base.threads import in_one_thread
from quantshift.base.types import Codes, Flags, Indices, Reals
from quantshift.items.items import Items
from quantshift.quantifiers.base.guarding import AbstractGuarded

MOST_ITEMS = 1500
"""From a larger set, this many items are drawn at random."""

FEWEST_ITEMS = 50
"""Smaller samples are not examined."""

OUTSIDE = 0.003
"""The share of training items whose score is above the threshold."""

ALLOWED = 1.5
"""How many times the largest share of any class is not surprising."""

LEVEL = 0.005
"""Level of the test, divided by the number of samples."""

LEAST = 0.02
"""A smaller share of such items is not reported."""

N_BINS = 255
"""Bins of each feature."""

FEWEST_OF_A_CLASS = 20
"""The share of a smaller class is not known well enough to count."""


def unlike_every_class(
    method: AbstractGuarded,
    items: Items,
    samples: Sequence[Indices],
    *,
    ignored: Sequence[Flags | None] | None = None,
    seed: int = 0,
) -> list[float | None]:
    """The share of items like those of no training class in each sample; None if there are none.

    items: as the method sees them; samples: positions among them. ignored: for each sample, which
    features say nothing about a class: those of dates, which are later in every new sample, and of
    columns that have moved or are missing as a whole.
    """
    training = method.training_positions()
    if training is None or all(len(sample) < FEWEST_ITEMS for sample in samples):
        return [None] * len(samples)
    training_features, codes = training
    rows = _some(np.arange(len(training_features)), seed, "training")
    training_features, codes = training_features[rows], codes[rows]
    positions = method.positions(items)
    level = LEVEL / max(len(samples), 1)
    shares: list[float | None] = []
    for sample, flags in zip(samples, ignored or [None] * len(samples), strict=True):
        # With many features, positions are combinations that cannot be taken apart again.
        if flags is None or len(flags) != positions.shape[1]:
            flags = np.zeros(positions.shape[1], dtype=bool)
        if len(sample) < FEWEST_ITEMS or flags.all():
            shares.append(None)
            continue
        chosen = positions[_some(sample, seed, "sample")][:, ~flags]
        shares.append(_share_unlike(training_features[:, ~flags], codes, chosen, level, seed))
    return shares


def _some(rows: Indices, seed: int, which: str) -> Indices:
    if len(rows) <= MOST_ITEMS:
        return rows
    rng = generator(seed, purpose="unseen class", which=which, n_items=len(rows))
    return rows[rng.choice(len(rows), MOST_ITEMS, replace=False)]


def _share_unlike(
    training: Reals, codes: Codes, sample: Reals, level: float, seed: int
) -> float | None:
    training_scores, sample_scores = _scores(training, sample, seed)
    threshold = np.quantile(training_scores, 1 - OUTSIDE)
    beyond = training_scores > threshold
    sizes = np.bincount(codes)
    counted = np.bincount(codes, beyond, len(sizes))
    large = sizes >= FEWEST_OF_A_CLASS
    most = ((counted + 1) / (sizes + 1))[large].max() if large.any() else 1.0
    n_unlike = int((sample_scores > threshold).sum())
    share = n_unlike / len(sample)
    p_value = float(bdtrc(n_unlike - 1, len(sample), min(ALLOWED * most, 1.0))) if n_unlike else 1.0
    return share if share >= LEAST and p_value < level else None


@in_one_thread
def _scores(training: Reals, sample: Reals, seed: int) -> tuple[Reals, Reals]:
    """How much each item looks like one of the sample, by a model that has not seen it."""
    X = np.concatenate([training, sample])
    is_sample = np.arange(len(X)) >= len(training)
    weights = np.where(is_sample, len(training) / len(sample), 1.0)
    rng = generator(seed, purpose="unseen class: halves", n_items=len(X))
    half = rng.permutation(len(X)) % 2
    scores = np.empty(len(X))
    for k in (0, 1):
        known = half != k
        binned = _in_bins(X, X[known], weights[known])
        fitted = _boosting().fit(binned[known], is_sample[known], weights[known])
        scores[~known] = fitted.decision_function(binned[~known])
    return scores[~is_sample], scores[is_sample]


def _in_bins(X: Reals, known: Reals, weights: Reals) -> Reals:
    """Each column as the numbers of its bins, which hold equal weights of the known items.

    Boosting would make the same bins; for items with weights that takes it twenty times as long.
    """
    levels = np.linspace(0, 1, N_BINS + 1)[1:-1]
    columns = []
    for column, of_known in zip(X.T, known.T, strict=True):
        edges = np.quantile(of_known, levels, weights=weights, method="inverted_cdf")
        columns.append(np.searchsorted(np.unique(edges), column))
    return np.stack(columns, axis=1).astype(np.float64)


def _boosting() -> Any:
    # Imported here, since it takes a while and other calls do not need it.
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=30, max_leaf_nodes=8, learning_rate=0.2, early_stopping=False, random_state=0
    )
