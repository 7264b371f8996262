"""One class against the rest: how methods for two classes serve more.

Two classes have a single score, that of the second class. With more, every class has one, and the
others together are the rest. The rest is then taken to be mixed as in training, so that methods of
this kind are consistent for two classes alone; `docs/quantifiers/smm.md` shows how far off they may
be with more.
"""

import numpy as np
from numpy.typing import NDArray

from quantshift.classify.scores import matched_columns
from quantshift.prevalence import of_positive
from quantshift.quantifiers.counting import hard_predictions
from quantshift.types import Codes, Posteriors, Prevalences


def scored_members(codes: Codes, n_classes: int) -> NDArray[np.bool_]:
    """Which items are of the class of a score, (n_scores, n_items)."""
    return np.asarray(matched_columns(np.eye(n_classes, dtype=bool)[codes]).T)


def scored_predictions(posteriors: Posteriors) -> NDArray[np.float64]:
    """Which items are predicted to be of the class of a score, (n_scores, n_items)."""
    return np.asarray(matched_columns(hard_predictions(posteriors).T).T)


def normalised_shares(shares: NDArray[np.float64], prior: Prevalences) -> Prevalences:
    """Prevalences from the share of each score's class, (n_samples, n_scores).

    Where all shares are zero, the prior.
    """
    if shares.shape[1] == 1:
        return of_positive(shares[:, 0])
    total = shares.sum(axis=1, keepdims=True)
    some = np.broadcast_to(prior, shares.shape).copy()
    return np.asarray(np.divide(shares, total, out=some, where=total > 0))
