"""Labelled items, and samples of known prevalence that are drawn from them to learn from."""

from dataclasses import dataclass

import numpy as np

from quantshift.base.types import Codes, Indices, Prevalences, Reals


@dataclass(frozen=True, eq=False)
class LearningItems:
    """Labelled items to learn from.

    scores: logarithms of the likelihoods of the classes, (n_items, n_classes), by calibrations that
        have not seen the item's part. features: (n_items, n_features), perhaps without columns.
    codes, counts, parts: class, number of items that it stands for, and part of each item. Every
        part has all classes.
    """

    scores: Reals
    features: Reals
    codes: Codes
    counts: Reals
    parts: Indices


@dataclass(frozen=True, eq=False)
class Bags:
    """index: positions of the items, (n_bags, size). p_true: prevalences among these items."""

    index: Indices
    p_true: Prevalences


@dataclass(frozen=True, eq=False)
class BagSource:
    """Items to draw from, all of one part.

    rows: their positions; codes, counts: of these items, which are drawn with a probability
    proportional to their count within their class. Every class occurs.
    """

    rows: Indices
    codes: Codes
    counts: Reals
    n_classes: int

    def draw(self, n: int, size: int, concentration: float, rng: np.random.Generator) -> Bags:
        """Bags with prevalences of a symmetric Dirichlet distribution; concentration 1: uniform."""
        prevalences = rng.dirichlet(np.full(self.n_classes, concentration), n)
        borders = np.cumsum(prevalences, axis=1)[:, :-1]
        drawn = (rng.random((n, size, 1)) >= borders[:, np.newaxis]).sum(axis=2)
        uniform = rng.random((n, size))
        index = np.empty((n, size), dtype=np.int64)
        for code in range(self.n_classes):
            members = np.flatnonzero(self.codes == code)
            upper = np.cumsum(self.counts[members])
            chosen = np.searchsorted(upper, uniform[drawn == code] * upper[-1], side="right")
            # Rounding may lead beyond the last item.
            index[drawn == code] = self.rows[members[np.minimum(chosen, len(members) - 1)]]
        counted = (drawn[:, :, np.newaxis] == np.arange(self.n_classes)).mean(axis=1)
        return Bags(index, counted)
