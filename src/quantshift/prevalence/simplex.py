"""The simplex: prevalences from labels, checks, whole-item counts, grids and uniform draws."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Codes, Prevalences
from quantshift.errors import DataError, UserError

TOLERANCE = 1e-6
"""How far a row may be from summing to one before it is refused."""


def from_codes(
    codes: Codes, n_classes: int, weights: NDArray[np.float64] | None = None
) -> Prevalences:
    """Share of each class among the codes, shape (n_classes,): of the items, or of their weight."""
    if codes.size == 0:
        raise DataError("no labels: the prevalence of an empty set is undefined")
    if weights is not None:
        return np.asarray(np.bincount(codes, weights, minlength=n_classes) / weights.sum())
    return np.bincount(codes, minlength=n_classes) / codes.size


def check(prevalence: ArrayLike) -> Prevalences:
    """The prevalence as a float array, refused if a row is not on the simplex."""
    p = np.asarray(prevalence, dtype=np.float64)
    if p.ndim == 0 or not np.all(np.isfinite(p)):
        raise DataError(f"a prevalence is a vector of finite numbers, got {prevalence!r}")
    if np.any(p < 0) or np.any(np.abs(p.sum(axis=-1) - 1) > TOLERANCE):
        raise DataError(f"a prevalence must be non-negative and sum to 1, got {p.tolist()}")
    return p


def of_positive(p: ArrayLike) -> Prevalences:
    """Binary prevalences (..., 2) from the prevalence of the second class."""
    positive = np.asarray(p, dtype=np.float64)
    if positive.shape == (1,):  # a single sample, where numpy's overhead would dominate
        share = positive.item()
        return np.array([[1 - share, share]])
    both = np.empty((*positive.shape, 2))
    np.subtract(1, positive, out=both[..., 0])
    both[..., 1] = positive
    return both


def whole_counts(prevalence: ArrayLike, size: int) -> Codes:
    """Whole numbers of items per class that sum to `size`, as close as possible to `size * p`.

    Largest remainder: every class gets the floor of its share, the items left over go to the
    largest remainders; equal remainders favour the later class, so a half rounds up for the
    positive class (50 items at p = .25: 12.5 positives become 13).

    >>> whole_counts([0.75, 0.25], 50).tolist()
    [37, 13]
    """
    # Nine decimals: 0.3 * 5000 is 1499.9999999999998 and means 1500.
    exact = np.round(check(prevalence) * size, 9)
    counts = np.floor(exact).astype(np.int64)
    order = np.lexsort((-np.arange(len(exact)), -(np.round(exact - counts, 9))))
    counts[order[: size - counts.sum()]] += 1
    return counts


def grid(n_classes: int, n_points: int) -> Prevalences:
    """All prevalences with coordinates among `n_points` equally spaced values in [0, 1].

    >>> grid(2, 3).tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    """
    if n_classes < 2 or n_points < 2:
        raise UserError(f"a grid needs 2 classes and 2 points, got {n_classes} and {n_points}")
    steps = n_points - 1
    return np.array(sorted(_compositions(steps, n_classes), reverse=True)) / steps


def uniform(n_samples: int, n_classes: int, rng: np.random.Generator) -> Prevalences:
    """Prevalences uniform on the simplex (Kraemer's algorithm: gaps of sorted uniforms)."""
    cuts = np.sort(rng.random((n_samples, n_classes - 1)), axis=1)
    edges = np.concatenate([np.zeros((n_samples, 1)), cuts, np.ones((n_samples, 1))], axis=1)
    return np.diff(edges, axis=1)


def _compositions(total: int, parts: int) -> Sequence[tuple[int, ...]]:
    if parts == 1:
        return [(total,)]
    return [
        (first, *rest)
        for first in range(total + 1)
        for rest in _compositions(total - first, parts - 1)
    ]
