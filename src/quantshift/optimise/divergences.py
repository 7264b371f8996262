"""Divergences between normalised histograms, batched over leading axes; bins may be empty."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

Histograms = NDArray[np.float64]
Divergence = Callable[[Histograms, Histograms], NDArray[np.float64]]


def hellinger(p: Histograms, q: Histograms) -> NDArray[np.float64]:
    """Hellinger distance, in [0, 1]: sqrt(1 - sum sqrt(p q))."""
    return np.asarray(np.sqrt(np.maximum(1 - np.sqrt(p * q).sum(axis=-1), 0)))


def topsoe(p: Histograms, q: Histograms) -> NDArray[np.float64]:
    """Topsoe divergence: KL(p, m) + KL(q, m) with m the mean of both, in [0, 2 ln 2]."""
    middle = (p + q) / 2
    return np.asarray((rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=-1))


def squared_euclidean(p: Histograms, q: Histograms) -> NDArray[np.float64]:
    """Squared Euclidean distance: sum (p - q)^2."""
    return np.asarray(((p - q) ** 2).sum(axis=-1))


DivergenceName: TypeAlias = Literal["hellinger", "topsoe", "squared_euclidean"]

DIVERGENCES: Mapping[str, Divergence] = MappingProxyType(
    {"hellinger": hellinger, "topsoe": topsoe, "squared_euclidean": squared_euclidean}
)
"""The divergences DyS knows by name. All are convex in p."""
