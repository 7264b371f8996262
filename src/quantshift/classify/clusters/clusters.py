"""Clusters of the feature space: the cluster of an item, and how unlike the training items it is.

A cluster is a deterministic function of an item's features, so that it is *observed* in any sample
and a subclass (class, cluster) is as well defined as a class. Items are placed in a space of few
dimensions: wide features (bags of words, embeddings) by their leading right singular vectors, each
row at unit length; narrow ones standardised. k-means divides the space; with known groups (product
lines, sources, ...) a linear model of the groups divides it instead.

The novelty of an item, how unlike the training items it is, is the share of its length outside the
span of the singular vectors or, for narrow features, its distance from its cluster's centre. In
either case it is a rank among the training items, from 0 to 1, since such lengths have heavy tails.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms

from quantshift.base.types import Codes, Indices, Reals
from quantshift.classify.features import feature_matrix
from quantshift.errors import DataError
from quantshift.prevalence.weights import Weights

FARTHEST = 3.0
"""Narrow features are clipped at this many standard deviations."""

DIGITS = 9
"""The decimals to which positions and distances are compared; others are rounding errors."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each item, and its novelty (NaN where unknown).

    codes: shape (n_items,), from 0; novelty: shape (n_items,), from 0 (usual) to 1 (unlike).
    """

    codes: Codes
    novelty: Reals

    @classmethod
    def known(cls, codes: ArrayLike) -> "Clusters":
        """Clusters given as codes 0, 1, ...; their novelty is unknown."""
        array = np.asarray(codes)
        if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer) or array.min() < 0:
            raise DataError("cluster codes must be one column of whole numbers from 0")
        return cls(array.astype(np.int64), np.full(len(array), np.nan))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Indices) -> "Clusters":
        return Clusters(self.codes[rows], self.novelty[rows])

    @classmethod
    def joined(cls, parts: Sequence["Clusters"]) -> "Clusters":
        """The items of all parts, one part after the other."""
        return cls(
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.novelty for part in parts]),
        )


class Embedding(Protocol):
    """From features (n_items, n_features) to positions (n_items, d) and residuals (n_items,)."""

    def __call__(self, X: Any) -> tuple[Reals, Reals]: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Standardisation:
    """Narrow features: each with mean 0 and variance 1, clipped at 3 to either side.

    Without clipping, a handful of outliers would form a cluster.
    """

    mean: Reals
    scale: Reals

    def __call__(self, X: Any) -> tuple[Reals, Reals]:  # noqa: D102
        position = (np.asarray(X.toarray() if issparse(X) else X) - self.mean) / self.scale
        return np.clip(position, -FARTHEST, FARTHEST), np.zeros(len(position))


@dataclass(frozen=True, eq=False)
class Projection:
    """Wide features: the direction within the leading singular vectors, and the share outside."""

    components: Reals

    def __call__(self, X: Any) -> tuple[Reals, Reals]:  # noqa: D102
        inside = np.asarray(X @ self.components)
        return directions(inside), share_outside(X, inside)


@dataclass(frozen=True, eq=False)
class Partition:
    """A division of the feature space: argmax of linear functions of the position.

    centres: mean position of each cluster's training items, shape (n_clusters, d).
    halves: 0 or 1 for each cluster, the coarse division into two, shape (n_clusters,).
    n_features: the number of features it was fitted on.
    lengths: of the training items' residuals, ascending; novelty is a rank among them.
    novelty_error: the common standard error of the novelties of all training items.
    weights: of the training items in the order of the lengths; None if all are one.
    """

    embedding: Embedding
    coef: Reals
    intercept: Reals
    centres: Reals
    halves: Codes
    n_features: int
    lengths: Reals
    novelty_error: float
    weights: Weights | None = None

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.intercept)

    def locate(self, X: Any) -> Clusters:
        """The clusters of new items."""
        features = feature_matrix(X)
        if features.shape[1] != self.n_features:
            raise DataError(
                f"X has {features.shape[1]} features, the training items had {self.n_features}"
            )
        position, residual = self.embedding(features)
        codes = np.argmax(position @ self.coef + self.intercept, axis=1)
        if not isinstance(self.embedding, Projection):
            residual = distances_from(position, self.centres[codes])
        return Clusters(codes, ranks_among(residual, self.lengths, self.weights))


def directions(inside: Reals) -> Reals:
    """Each row at unit length; rows of zeros stay."""
    length = np.linalg.norm(inside, axis=1, keepdims=True)
    return np.asarray(np.divide(inside, length, out=np.zeros_like(inside), where=length > 0))


def share_outside(X: Any, inside: Reals) -> Reals:
    """The share of each row's length outside the projection; 1 for an empty row."""
    whole = row_norms(X, squared=True)
    outside = np.maximum(whole - (inside * inside).sum(axis=1), 0.0)
    share = np.divide(outside, whole, out=np.ones_like(whole), where=whole > 0)
    return np.asarray(np.sqrt(share))


def distances_from(position: Reals, centres: Reals) -> Reals:
    """The distance of each position from its centre, per dimension."""
    gap = position - centres
    return np.asarray(np.sqrt((gap * gap).mean(axis=1)).round(DIGITS))


def ranks_among(lengths: Reals, reference: Reals, weights: Weights | None) -> Reals:
    """The rank of each length among others, from 0 to 1; equal ones share the mean rank.

    reference: the others, ascending; weights: of these.
    """
    below, up_to = (np.searchsorted(reference, lengths, side=side) for side in ("left", "right"))
    if weights is None:
        return np.asarray((below + up_to) / (2 * len(reference)))
    passed = np.concatenate([[0.0], np.cumsum(weights)])
    return np.asarray((passed[below] + passed[up_to]) / (2 * passed[-1]))
