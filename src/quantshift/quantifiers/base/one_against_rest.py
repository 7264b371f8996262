"""One class against the rest: how methods for two classes are applied to more.

Two classes have a single score, that of the second class. With more, every class has a score, and
the other classes together are the rest. The rest is assumed to be mixed as in training, so methods
of this kind are consistent only for two classes; `docs/quantifiers/smm.md` shows how far off they
can be with more.
"""

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes, Posteriors, Prevalences
from quantshift.classify.scores import matched_columns
from quantshift.items.predictions import hard_predictions
from quantshift.prevalence.simplex import of_positive


def scored_members(codes: Codes, n_classes: int) -> NDArray[np.bool_]:
    """Which items belong to the class of each score, (n_scores, n_items)."""
    return np.asarray(matched_columns(np.eye(n_classes, dtype=bool)[codes]).T)


def scored_predictions(posteriors: Posteriors) -> NDArray[np.float64]:
    """Which items are predicted to belong to the class of each score, (n_scores, n_items)."""
    return np.asarray(matched_columns(hard_predictions(posteriors).T).T)


def normalised_shares(shares: NDArray[np.float64], prior: Prevalences) -> Prevalences:
    """Prevalences from the share of each score's class, (n_samples, n_scores).

    If all shares are zero, the prior is returned.
    """
    if shares.shape[1] == 1:
        return of_positive(shares[:, 0])
    total = shares.sum(axis=1, keepdims=True)
    prevalences = np.broadcast_to(prior, shares.shape).copy()
    return np.asarray(np.divide(shares, total, out=prevalences, where=total > 0))
