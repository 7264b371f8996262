"""Divergences between normalised histograms, batched over leading axes; empty bins are welcome."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

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


DIVERGENCES: Mapping[str, Divergence] = MappingProxyType(
    {"hellinger": hellinger, "topsoe": topsoe, "squared_euclidean": squared_euclidean}
)
"""The divergences DyS knows by name. All are convex in p."""


Terms = Callable[[Histograms, Histograms], tuple[Histograms, Histograms, Histograms]]

LEAST = 1e-12
"""Shares of a mixture below this are taken for it in derivatives, which are infinite at zero."""


def hellinger_terms(p: Histograms, q: Histograms) -> tuple[Histograms, Histograms, Histograms]:
    """Each bin's part of the squared Hellinger distance, up to a constant, and its derivatives."""
    root = np.sqrt(q / np.maximum(p, LEAST))
    return -np.sqrt(p * q), -root / 2, root / (4 * np.maximum(p, LEAST))


def topsoe_terms(p: Histograms, q: Histograms) -> tuple[Histograms, Histograms, Histograms]:
    """Each bin's part of the Topsoe divergence and its derivatives by p."""
    middle, safe = (p + q) / 2, np.maximum(p, LEAST)
    value = rel_entr(p, middle) + rel_entr(q, middle)
    return value, np.log(2 * safe / (safe + q)), q / (safe * (safe + q))


def squared_terms(p: Histograms, q: Histograms) -> tuple[Histograms, Histograms, Histograms]:
    """Each bin's part of the squared Euclidean distance and its derivatives by p."""
    return (p - q) ** 2, 2 * (p - q), np.full(p.shape, 2.0)


TERMS: Mapping[str, Terms] = MappingProxyType(
    {
        "hellinger": hellinger_terms,
        "topsoe": topsoe_terms,
        "squared_euclidean": squared_terms,
    }
)
"""The same divergences bin by bin, with first and second derivatives."""
