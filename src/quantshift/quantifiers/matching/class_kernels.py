"""Mean kernels and distances between points and the training items of each class.

What kernel densities, energies and kernel means have in common: for every point, the mean over the
items of a class of a function of the two. That is one number per class and point, so that samples
are means over their items, and the pairs of points and items are only ever held block by block.
"""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from quantshift.base.compiled import compiled
from quantshift.base.types import Codes, Indices, Ints, Prevalences, Reals
from quantshift.items.items import drawn_weights
from quantshift.optimise.quadratic import is_flat, minimise_on_simplex
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractQuantifier, Diagnostics
from quantshift.quantifiers.base.means import sample_means

BLOCK_PAIRS = 1 << 17
"""Pairs of a point and a training item at once: small enough for the processor's cache."""

HIGHEST = 600.0
"""Largest logarithm of a density's height; if one is larger, all are lowered by the excess."""

MATCHING_DIAGNOSTICS: Mapping[str, str] = MappingProxyType({"clipped": "bool", "fallback": "bool"})
"""Diagnostics of a sample when means are matched."""


@dataclass(frozen=True, eq=False)
class ClassPoints:
    """The training items as points, class by class.

    points: (n_items, n_dimensions), sorted by class; ends: where each class ends; weights: of the
    items, with sum one in each class; sizes: number of items of each class, or their weight.
    """

    points: Reals
    ends: NDArray[np.int64]
    weights: Reals
    sizes: Reals

    @classmethod
    def of(
        cls, points: Reals, codes: Codes, n_classes: int, weights: Weights | None
    ) -> "ClassPoints":
        """The items sorted by class; each class has at least one."""
        order = np.argsort(codes, kind="stable")
        item_weights = np.ones(len(codes)) if weights is None else weights
        sizes = np.bincount(codes, item_weights, minlength=n_classes).astype(np.float64)
        ends = np.cumsum(np.bincount(codes, minlength=n_classes))
        return cls(points[order], ends, (item_weights / sizes[codes])[order], sizes)

    def __len__(self) -> int:
        return len(self.ends)

    def parts(self) -> list[slice]:
        """Where the items of each class are."""
        return [slice(*pair) for pair in zip([0, *self.ends[:-1]], self.ends, strict=True)]

    @cached_property
    def sorted_columns(self) -> tuple[Reals, Reals]:
        """The items' coordinates, from the first item on, sorted in each class; their weights.

        Both (n_dimensions, n_items).
        """
        centred = self.points - self.points[0]
        items, weights = np.empty((2, *centred.T.shape))
        for part in self.parts():
            order = np.argsort(centred[part], axis=0)
            items[:, part] = np.take_along_axis(centred[part], order, axis=0).T
            weights[:, part] = self.weights[part][order].T
        return items, weights

    def class_means(self, values: Reals) -> Reals:
        """Means over each class of values of the items, (n_rows, n_items) -> (n_rows, n_classes).

        The items are those of `points`, in this order.
        """
        columns = [values[:, part] @ self.weights[part] for part in self.parts()]
        return np.stack(columns, axis=1)

    def pair_means(self, means: Callable[[Reals], Reals]) -> Reals:
        """Means over all pairs of items of two classes, (n_classes, n_classes), symmetric.

        means: of any points, over the items of each class, (n_classes, n_points).
        """
        pairs = self.class_means(means(self.points))
        return np.asarray((pairs + pairs.T) / 2)


def mean_gaussians(
    classes: ClassPoints,
    points: Reals,
    precision: Reals,
    *,
    log_height: Reals | None = None,
    relative: bool = False,
) -> Reals:
    """Mean over each class of height * exp(-precision / 2 * |x - s|^2), (n_classes, n_points).

    precision, log_height: of each class, (n_classes,); without heights they are one. relative:
    every point's values are divided by its largest, so that not all of them can be zero.
    """
    heights = np.zeros(len(classes)) if log_height is None else log_height
    middle = classes.points.mean(axis=0)  # differences of large squares would lose digits
    items, points = classes.points - middle, points - middle
    n_items = np.diff(classes.ends, prepend=0)
    scale = np.repeat(precision, n_items)
    # One product gives the exponents: [x, |x|^2, 1] . [c s, -c / 2, height - c |s|^2 / 2].
    right = np.vstack(
        [
            items.T * scale,
            -scale / 2,
            np.repeat(heights, n_items) - scale * (items * items).sum(axis=1) / 2,
        ]
    )
    left = np.column_stack([points, (points * points).sum(axis=1), np.ones(len(points))])
    highest = np.repeat(heights, n_items)

    def values(block: slice) -> Reals:
        exponent = left[block] @ right
        np.minimum(exponent, highest, out=exponent)
        if relative:
            exponent -= exponent.max(axis=1, keepdims=True)
        return np.asarray(np.exp(exponent, out=exponent))

    return _in_blocks(classes, len(points), values)


def mean_distances(classes: ClassPoints, points: Reals, metric: str) -> Reals:
    """Mean distance to the items of each class, (n_classes, n_points).

    metric: "euclidean", or "manhattan", which is a sum over coordinates: the distances to sorted
    items follow from sums up to the point, without looking at pairs.
    """
    if metric == "manhattan":
        return _mean_manhattan(classes, points)
    return _in_blocks(
        classes, len(points), lambda block: np.asarray(cdist(points[block], classes.points))
    )


def _mean_manhattan(classes: ClassPoints, points: Reals) -> Reals:
    origin = classes.points[0]  # not far from the items, or sums would lose digits
    columns = np.ascontiguousarray((points - origin).T)
    order = np.argsort(columns, axis=1)
    means = np.zeros((len(classes), len(points)))
    _add_distances(*classes.sorted_columns, classes.ends, columns, order, means)
    return means


@compiled
def _add_distances(
    items: Reals, weights: Reals, ends: Ints, columns: Reals, order: Ints, means: Reals
) -> None:
    """Add mean distances along each column, class by class, in one walk through sorted numbers.

    items, weights: (n_columns, n_items), sorted within each class; columns: of the points,
    (n_columns, n_points), and `order`, in which they are sorted.
    """
    for k in range(len(ends)):
        first, last = ends[k - 1] if k else 0, ends[k]
        for d in range(len(columns)):
            total, moment = 0.0, 0.0
            for i in range(first, last):
                total += weights[d, i]
                moment += weights[d, i] * items[d, i]
            i, below, moment_below = first, 0.0, 0.0
            for position in order[d]:
                x = columns[d, position]
                while i < last and items[d, i] < x:
                    below += weights[d, i]
                    moment_below += weights[d, i] * items[d, i]
                    i += 1
                means[k, position] += x * (2 * below - total) + moment - 2 * moment_below


def _in_blocks(classes: ClassPoints, n_points: int, values: Callable[[slice], Reals]) -> Reals:
    means = np.empty((len(classes), n_points))
    at_once = max(1, BLOCK_PAIRS // len(classes.points))
    for start in range(0, n_points, at_once):
        block = slice(start, start + at_once)
        means[:, block] = classes.class_means(values(block)).T
    return means


class AbstractReweighted(AbstractQuantifier):
    """A quantifier that is refitted by weights: items drawn twice weigh twice."""

    def refitter(self) -> Callable[[Indices], Self]:
        """`refit` for many calls, in which no item is looked at twice."""
        check_is_fitted(self, "classes_")
        items, codes = self.held_out_, self.held_out_codes_

        def refit(rows: Indices) -> Any:
            weights = drawn_weights(rows, items.weights, len(codes))
            drawn_rows = np.flatnonzero(weights)
            drawn = replace(items.take(drawn_rows), weights=weights[drawn_rows])
            return copy(self)._set_fitted(drawn, codes[drawn_rows], self.classes_)

        return refit


class AbstractMeanMatching(AbstractReweighted):
    """The mixtures of classes nearest to the samples, by mean kernels with each class.

    An item is represented by its mean kernel with each class, (n_classes, n_items); `gram_` is that
    of the classes with each other. p . gram p - 2 p . mean is least. `clipped`: a share is zero
    that would be negative; `fallback`: some classes are mixtures of others, and the estimate is the
    nearest to the prior of those that fit equally well.
    """

    diagnostics: ClassVar[Mapping[str, str]] = MATCHING_DIAGNOSTICS

    gram_: Reals

    def _solve(
        self, representation: Reals, index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        means = sample_means(representation, index, weights)
        p_hat = minimise_on_simplex(self.gram_, means, self.prior_)
        return p_hat, {
            "clipped": (p_hat == 0).any(axis=1),
            "fallback": np.full(len(index), is_flat(self.gram_)),
        }
