"""The most probable class of every item, as code and as indicator."""

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Posteriors


def hard_predictions(posteriors: Posteriors) -> NDArray[np.float64]:
    """Indicators of the most probable class (the first of ties), shape (n_classes, n_items)."""
    codes = predicted_classes(posteriors)[0]
    indicators = np.zeros((posteriors.shape[1], len(codes)))
    indicators[codes, np.arange(len(codes))] = 1.0
    return indicators


def predicted_classes(posteriors: Posteriors) -> NDArray[np.uint16]:
    """The code of the most probable class (the first of ties), shape (1, n_items)."""
    return _predicted_classes(np.ascontiguousarray(posteriors))


@compiled
def _predicted_classes(posteriors: Posteriors) -> NDArray[np.uint16]:
    n_items, n_classes = posteriors.shape
    codes = np.empty((1, n_items), dtype=np.uint16)
    for i in range(n_items):
        winner, largest = 0, posteriors[i, 0]
        for k in range(1, n_classes):
            # Written without a branch, which the processor would mispredict for many items.
            is_larger = posteriors[i, k] > largest
            winner = k if is_larger else winner
            largest = posteriors[i, k] if is_larger else largest
        codes[0, i] = winner
    return codes
