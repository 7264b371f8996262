"""Error measures between true and estimated prevalences, batched over leading axes.

All take `p_true` and `p_hat` of shape (..., n_classes) and return shape (...); `MEASURES` has them
by name, with their properties. The measures that divide by a prevalence or take its logarithm need
`smoothing`, always explicitly: each prevalence p becomes (p + s) / (1 + s * n_classes). The
customary value is 1 / (2 * sample size). It may be an array of shape (...) when samples differ in
size.

Definitions as in F. Sebastiani, "Evaluation measures for quantification: an axiomatic approach",
Information Retrieval Journal 23 (2020); those for ordered classes as in T. Sakai, "Evaluating
evaluation measures for ordinal classification and ordinal quantification", ACL 2021.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Prevalences
from quantshift.errors import DataError, UserError, unknown_name

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


def nmd(p_true: ArrayLike, p_hat: ArrayLike) -> Errors:
    """Normalised match distance of ordered classes: the work of moving `p_hat` to `p_true`.

    The sum over classes but the last of |cumulated p_hat - cumulated p_true|, divided by its
    largest value, n_classes - 1: an earth mover's distance with a step of one between neighbours.
    """
    p, q = _pair(p_true, p_hat)
    steps = np.abs(np.cumsum(q - p, axis=-1)[..., :-1])
    return np.asarray(steps.sum(axis=-1) / max(p.shape[-1] - 1, 1))


def macro_nmd(p_true: ArrayLike, p_hat: ArrayLike, *, n_bins: int = 4) -> float:
    """Mean over bins of the mean class of `p_true` of the mean NMD of the samples in each.

    The mean of the classes 0, 1, ... of a sample (its mean star) lies in one of `n_bins` bins of
    equal width between the first class and the last; bins without samples do not count. It is one
    number for all samples, (n_samples, n_classes), in which rare kinds of samples count as much as
    common ones.
    """
    p, q = _pair(p_true, p_hat)
    last = max(p.shape[-1] - 1, 1)
    position = (p * np.arange(p.shape[-1])).sum(axis=-1).ravel() / last
    bins = np.minimum((position * n_bins).astype(np.int64), n_bins - 1)
    errors = nmd(p, q).ravel()
    return float(np.mean([errors[bins == b].mean() for b in np.unique(bins)]))


def rnod(p_true: ArrayLike, p_hat: ArrayLike) -> Errors:
    """Root normalised order-aware divergence of ordered classes.

    sqrt(sum_i sum_j |i - j| (p_hat_j - p_true_j)^2 / (n (n_classes - 1))), where i runs over the
    n classes that are present (p_true_i > 0) and j over all.
    """
    p, q = _pair(p_true, p_hat)
    classes = np.arange(p.shape[-1])
    distance = np.abs(classes[:, np.newaxis] - classes).astype(np.float64)
    present = p > 0
    divergence = (present * ((q - p) ** 2 @ distance)).sum(axis=-1)
    return np.asarray(np.sqrt(divergence / (present.sum(axis=-1) * max(len(classes) - 1, 1))))


def smooth(prevalence: ArrayLike, smoothing: ArrayLike) -> Prevalences:
    """The prevalence moved towards uniform: (p + s) / (1 + s * n_classes)."""
    p = np.asarray(prevalence, dtype=np.float64)
    s = np.asarray(smoothing, dtype=np.float64)[..., np.newaxis]
    return np.asarray((p + s) / (1 + s * p.shape[-1]))


@dataclass(frozen=True)
class Measure:
    """An error measure and its properties.

    name: its key in `MEASURES`; title: in words, as in "mean absolute error".
    smoothed: whether `function` takes `smoothing`.
    ordinal: whether the order of the classes matters to it.
    """

    name: str
    title: str
    function: Callable[..., Errors]
    smoothed: bool = False
    ordinal: bool = False

    def __call__(self, p_true: ArrayLike, p_hat: ArrayLike, *, smoothing: ArrayLike) -> Errors:
        """The errors, whether or not the measure needs `smoothing`."""
        if self.smoothed:
            return self.function(p_true, p_hat, smoothing=smoothing)
        return self.function(p_true, p_hat)


_MEASURES = {
    known_measure.name: known_measure
    for known_measure in (
        Measure("ae", "absolute error", ae),
        Measure("se", "squared error", se),
        Measure("nae", "normalised absolute error", nae),
        Measure("rae", "relative absolute error", rae, smoothed=True),
        Measure("nrae", "normalised relative absolute error", nrae, smoothed=True),
        Measure("kld", "Kullback-Leibler divergence", kld, smoothed=True),
        Measure("nkld", "normalised Kullback-Leibler divergence", nkld, smoothed=True),
        Measure("nmd", "normalised match distance", nmd, ordinal=True),
        Measure("rnod", "root normalised order-aware divergence", rnod, ordinal=True),
    )
}

MEASURES: Mapping[str, Measure] = MappingProxyType(_MEASURES)
"""Every measure by name."""


def register_measure(new: Measure) -> None:
    """Make a measure known to evaluations, experiments, reports and leaderboards of this process.

    Worker processes of a run do not know it; measures of finished results need none.
    """
    if not new.name.isidentifier() or new.name in MEASURES:
        raise UserError(f"{new.name!r} is taken or no name such as 'ae'; choose another")
    _MEASURES[new.name] = new


def withdraw_measure(known: Measure) -> None:
    """Undo `register_measure`."""
    del _MEASURES[known.name]


def measure_called(name: str) -> Measure:
    """The measure of that name; an unknown one is an error that names the nearest."""
    if name not in MEASURES:
        raise unknown_name("error measure", name, MEASURES)
    return MEASURES[name]


def measure(name: str, p_true: Any, p_hat: Any, *, smoothing: ArrayLike) -> Errors:
    """The measure called `name`; `smoothing` is used by those that need it."""
    return measure_called(name)(p_true, p_hat, smoothing=smoothing)


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
