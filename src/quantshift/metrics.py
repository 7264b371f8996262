"""Error measures between true and estimated prevalences, batched over leading axes.

All take `p_true` and `p_hat` of shape (..., n_classes) and return shape (...). The measures that
divide by a prevalence or take its logarithm need `smoothing`, always explicitly: each prevalence p
becomes (p + s) / (1 + s * n_classes). The customary value is 1 / (2 * sample size). It may be an
array of shape (...) when samples differ in size.

Definitions as in F. Sebastiani, "Evaluation measures for quantification: an axiomatic approach",
Information Retrieval Journal 23 (2020).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.errors import DataError
from quantshift.types import Prevalences

Errors = NDArray[np.float64]


def ae(p_true: ArrayLike, p_hat: ArrayLike) -> Errors:
    """Absolute error: mean over classes of |p_hat - p_true|."""
    p, q = _pair(p_true, p_hat)
    return np.asarray(np.abs(q - p).mean(axis=-1))


def se(p_true: ArrayLike, p_hat: ArrayLike) -> Errors:
    """Squared error: mean over classes of (p_hat - p_true)^2."""
    p, q = _pair(p_true, p_hat)
    return np.asarray(((q - p) ** 2).mean(axis=-1))


def nae(p_true: ArrayLike, p_hat: ArrayLike) -> Errors:
    """Normalised absolute error: AE divided by the largest AE possible for `p_true`."""
    p, q = _pair(p_true, p_hat)
    largest = 2 * (1 - p.min(axis=-1)) / p.shape[-1]
    return np.asarray(ae(p, q) / largest)


def rae(p_true: ArrayLike, p_hat: ArrayLike, *, smoothing: ArrayLike) -> Errors:
    """Relative absolute error: mean over classes of |p_hat - p_true| / p_true, smoothed."""
    p, q = _smoothed_pair(p_true, p_hat, smoothing)
    return np.asarray((np.abs(q - p) / p).mean(axis=-1))


def nrae(p_true: ArrayLike, p_hat: ArrayLike, *, smoothing: ArrayLike) -> Errors:
    """Normalised relative absolute error: RAE divided by the largest RAE possible."""
    p, q = _smoothed_pair(p_true, p_hat, smoothing)
    smallest = p.min(axis=-1)
    largest = (p.shape[-1] - 1 + (1 - smallest) / smallest) / p.shape[-1]
    return np.asarray((np.abs(q - p) / p).mean(axis=-1) / largest)


def kld(p_true: ArrayLike, p_hat: ArrayLike, *, smoothing: ArrayLike) -> Errors:
    """Kullback-Leibler divergence of `p_hat` from `p_true`, smoothed, in nats."""
    p, q = _smoothed_pair(p_true, p_hat, smoothing)
    return np.asarray((p * np.log(p / q)).sum(axis=-1))


def nkld(p_true: ArrayLike, p_hat: ArrayLike, *, smoothing: ArrayLike) -> Errors:
    """Normalised Kullback-Leibler divergence: 2 e^KLD / (1 + e^KLD) - 1, in [0, 1)."""
    # 2 e^k / (1 + e^k) - 1 is tanh(k / 2), which does not overflow.
    return np.asarray(np.tanh(kld(p_true, p_hat, smoothing=smoothing) / 2))


def smooth(prevalence: ArrayLike, smoothing: ArrayLike) -> Prevalences:
    """The prevalence moved towards uniform: (p + s) / (1 + s * n_classes)."""
    p = np.asarray(prevalence, dtype=np.float64)
    s = np.asarray(smoothing, dtype=np.float64)[..., np.newaxis]
    return np.asarray((p + s) / (1 + s * p.shape[-1]))


PLAIN: Mapping[str, Callable[[ArrayLike, ArrayLike], Errors]] = MappingProxyType(
    {"ae": ae, "se": se, "nae": nae}
)
"""Measures that need no smoothing, by name."""

SMOOTHED: Mapping[str, Callable[..., Errors]] = MappingProxyType(
    {"rae": rae, "nrae": nrae, "kld": kld, "nkld": nkld}
)
"""Measures that take `smoothing`, by name."""


def measure(name: str, p_true: Any, p_hat: Any, *, smoothing: ArrayLike) -> Errors:
    """The measure called `name`; `smoothing` is used by those that need it."""
    if name in PLAIN:
        return PLAIN[name](p_true, p_hat)
    return SMOOTHED[name](p_true, p_hat, smoothing=smoothing)


def _pair(p_true: ArrayLike, p_hat: ArrayLike) -> tuple[Prevalences, Prevalences]:
    p, q = np.asarray(p_true, dtype=np.float64), np.asarray(p_hat, dtype=np.float64)
    if p.ndim == 0 or q.ndim == 0 or p.shape[-1] != q.shape[-1]:
        raise DataError(
            "p_true and p_hat must have the classes as last axis and agree on their number, "
            f"got shapes {p.shape} and {q.shape}"
        )
    return p, q


def _smoothed_pair(
    p_true: ArrayLike, p_hat: ArrayLike, smoothing: ArrayLike
) -> tuple[Prevalences, Prevalences]:
    p, q = _pair(p_true, p_hat)
    if np.any(np.asarray(smoothing) < 0):
        raise DataError(f"smoothing must not be negative, got {smoothing!r}")
    return smooth(p, smoothing), smooth(q, smoothing)
