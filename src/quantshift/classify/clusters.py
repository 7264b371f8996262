"""Clusters of the feature space: where an item is, and how unlike the training items it is.

A cluster is a deterministic function of an item's features, so that it is *observed* in any sample
and a subclass (class, cluster) is as well defined as a class. Items are placed in a space of few
dimensions: wide features (bags of words, embeddings) by their leading right singular vectors, each
row at unit length; narrow ones standardised. k-means divides the space; known groups (product
lines, sources, ...) can stand in its place, and then a linear model of the groups does.

How unlike the training items an item is, its novelty, is the share of its length that the singular
vectors do not reach, or its distance from its cluster's centre in narrow features; in either case
as a rank among the training items, from 0 to 1, since such lengths have heavy tails.

Training items are treated as if they were new, so that new ones fall into clusters in the same
shares and are not novel by comparison. Clusters, and distances from their centres, are those of
k-means without the item's fold. An item has helped to make the singular
vectors, so its own residual is divided by one minus its leverage (what leaving it out would give,
to first order, if the other singular values were small), and what is still missing is measured on
items held out from the singular vectors of the rest.

Items may have weights, which count as so many items: in means and variances, singular vectors,
k-means, sizes of clusters and ranks. Folds and random starts are of items, so repeated items are
divided alike, not to the last digit as weighted ones are. Items without weight take no part, and
are placed as new ones.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, diags_array, issparse
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.utils.extmath import randomized_svd, row_norms

from quantshift.classify.folds import stratified_folds
from quantshift.errors import DataError, UserError
from quantshift.labels import encode_labels
from quantshift.seeding import generator, seed_of
from quantshift.types import Codes, Indices
from quantshift.weights import Weights, checked_weights, total_of

Reals = NDArray[np.float64]

ITEMS_PER_CLUSTER = 25
"""Training items of the rarest class per cluster; a small training set gets fewer clusters, but two
if there are as many items of all classes."""

SMALLEST_CLUSTER = 12
"""Fewer training items are no cluster; new items would fall into it in quite other shares."""

FARTHEST = 3.0
"""Standard deviations at which narrow features are cut."""

_STARTS = 4
"""Restarts of k-means; the best is kept."""

_POWER_ITERATIONS = 2
"""Of the randomised decomposition; more changed no cluster on the reviews."""

_DIGITS = 9
"""To which positions and distances are compared: equal items differ beyond them by rounding."""

N_FOLDS = 5
"""Folds in which the training items' clusters, groups and residuals are predicted."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Where items are: the cluster of each, and its novelty (NaN where it is not known).

    codes: shape (n_items,), from 0; novelty: shape (n_items,), from 0 (usual) to 1 (unlike).
    """

    codes: Codes
    novelty: Reals

    @classmethod
    def known(cls, codes: ArrayLike) -> "Clusters":
        """Clusters given from outside, as codes 0, 1, ...; nothing is known of their novelty."""
        whole = np.asarray(codes)
        if whole.ndim != 1 or not np.issubdtype(whole.dtype, np.integer) or whole.min() < 0:
            raise DataError("cluster codes must be one column of whole numbers from 0")
        return cls(whole.astype(np.int64), np.full(len(whole), np.nan))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Indices) -> "Clusters":
        return Clusters(self.codes[rows], self.novelty[rows])

    @classmethod
    def joined(cls, parts: Sequence["Clusters"]) -> "Clusters":
        """The items of all parts, one part behind the other."""
        return cls(
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.novelty for part in parts]),
        )


class Embedding(Protocol):
    """Features (n_items, n_features) to positions (n_items, d) and residuals (n_items,)."""

    def __call__(self, X: Any) -> tuple[Reals, Reals]: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Standardisation:
    """Narrow features: each to mean 0 and variance 1, cut at 3 to either side.

    Uncut, a handful of outliers would be a cluster of their own.
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
        return _directions(inside), _residual(X, inside)


@dataclass(frozen=True, eq=False)
class Partition:
    """A division of the feature space: argmax of linear functions of the position.

    centres: mean position of each cluster's training items, shape (n_clusters, d).
    halves: 0 or 1 for each cluster, the coarse division into two, shape (n_clusters,).
    n_features: width of the features it was made for.
    lengths: how far the training items are outside, ascending: what novelty is a rank in.
    novelty_error: standard error that the novelties of all training items have in common.
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
            residual = _distances(position, self.centres[codes])
        return Clusters(codes, _ranks(residual, self.lengths, self.weights))


def fit_clusters(
    X: Any,
    *,
    n_clusters: int,
    n_components: int,
    seed: int,
    n_rarest: float | None = None,
    weights: Weights | None = None,
) -> tuple[Partition, Clusters]:
    """k-means on the training items: the division, and where the training items are.

    n_rarest: training items of the rarest class (default: of all), which limit the clusters; with
        weights, their sum.
    """
    if n_clusters < 1 or n_components < 1:
        raise UserError(
            f"n_clusters and n_components must be at least 1, got {n_clusters} and {n_components}"
        )
    features = feature_matrix(X)

    def fit(features: Any, weights: Weights | None) -> tuple[Partition, Clusters]:
        return _fit_clusters(features, n_clusters, n_components, seed, n_rarest, weights)

    return _with_the_weightless(fit, features, weights)


def _with_the_weightless(
    fit: Callable[[Any, Weights | None], tuple[Partition, Clusters]],
    features: Any,
    weights: Weights | None,
) -> tuple[Partition, Clusters]:
    """A division of the items with weight, and where all items are."""
    if weights is None or weights.all():
        return fit(features, weights)
    rows = np.flatnonzero(weights)
    partition, own = fit(features[rows], weights[rows])
    placed = partition.locate(features)
    placed.codes[rows], placed.novelty[rows] = own.codes, own.novelty
    return partition, placed


def _fit_clusters(
    features: Any,
    n_clusters: int,
    n_components: int,
    seed: int,
    n_rarest: float | None,
    weights: Weights | None,
) -> tuple[Partition, Clusters]:
    embedding, position, residual, error = _fit_embedding(features, n_components, seed, weights)
    of_all = int(total_of(weights, len(position)) // ITEMS_PER_CLUSTER)
    of_rarest = of_all if n_rarest is None else int(n_rarest // ITEMS_PER_CLUSTER)
    carried = max(of_rarest, min(of_all, 2))
    wanted = max(1, min(n_clusters, carried, _n_distinct(position, n_clusters)))
    means = KMeans(wanted, n_init=_STARTS, random_state=_sklearn_seed(seed, "k-means")).fit(
        position, sample_weight=weights
    )
    centres = _large_clusters(position, means.labels_, wanted, weights)
    codes, distances = _as_if_held_out(position, centres, seed, weights)
    lengths = residual if isinstance(embedding, Projection) else distances
    return _divided(
        Partition(
            embedding,
            coef=2 * centres.T,
            intercept=-(centres * centres).sum(axis=1),
            centres=centres,
            halves=_halves(centres, np.bincount(codes, weights, minlength=len(centres))),
            n_features=features.shape[1],
            lengths=np.sort(lengths),
            novelty_error=_in_ranks(error, lengths, weights),
            weights=_in_order(lengths, weights),
        ),
        codes,
        lengths,
    )


def fit_groups(
    X: Any, groups: Any, *, n_components: int, seed: int, weights: Weights | None = None
) -> tuple[Partition, Clusters]:
    """Known groups of the training items: the groups that a linear model says items are in.

    New items have no group, so a subclass is (class, predicted group) and the training items'
    groups are predicted too, out of fold.
    """
    names, codes = encode_labels(groups, name="groups")
    features = feature_matrix(X)
    if len(codes) != features.shape[0]:
        raise DataError(f"X has {features.shape[0]} items but there are {len(codes)} groups")
    if len(names) < 2:
        raise DataError(f"all groups are {names.tolist()[0]!r}: leave groups out")
    if weights is not None:
        checked_weights(weights, len(codes), codes, len(names), classes=names, kind="group")

    def fit(features: Any, heft: Weights | None) -> tuple[Partition, Clusters]:
        own = codes if weights is None else codes[weights > 0]
        return _fit_groups(features, own, len(names), n_components, seed, heft)

    return _with_the_weightless(fit, features, weights)


def _fit_groups(
    features: Any,
    codes: Codes,
    n_groups: int,
    n_components: int,
    seed: int,
    weights: Weights | None,
) -> tuple[Partition, Clusters]:
    embedding, position, residual, error = _fit_embedding(features, n_components, seed, weights)
    smallest = int(np.bincount(codes).min())
    folds = stratified_folds(codes, max(2, min(N_FOLDS, smallest)), seed=seed)
    predicted = np.empty_like(codes)
    for fold in range(int(folds.max()) + 1):
        held_out, rest = folds == fold, folds != fold
        coef, intercept = _linear_groups(position[rest], codes[rest], _of(weights, rest))
        predicted[held_out] = np.argmax(position[held_out] @ coef + intercept, axis=1)
    coef, intercept = _linear_groups(position, codes, weights)
    centres = _centres(position, codes, np.arange(n_groups), weights)
    halves = _halves(centres, np.bincount(codes, weights))
    lengths = (
        residual if isinstance(embedding, Projection) else _distances(position, centres[predicted])
    )
    return _divided(
        Partition(
            embedding,
            coef,
            intercept,
            centres,
            halves,
            features.shape[1],
            np.sort(lengths),
            _in_ranks(error, lengths, weights),
            _in_order(lengths, weights),
        ),
        predicted,
        lengths,
    )


def feature_matrix(X: Any) -> Any:
    """Features as a matrix of numbers, sparse ones as CSR; refused if they are none."""
    if issparse(X):
        matrix = csr_array(X)
        values = matrix.data
    else:
        try:
            matrix = values = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            matrix = values = np.empty(0)
        if matrix.ndim != 2:
            raise UserError(
                "clusters need features in numbers: give a scikit-learn Pipeline whose first steps "
                "turn X into them as the classifier, or a matrix (n_items, n_features) as X"
            )
    if not np.isfinite(values).all():
        raise DataError("X holds NaN or infinite values: replace them before fitting")
    return matrix


def _fit_embedding(
    features: Any, n_components: int, seed: int, weights: Weights | None
) -> tuple[Embedding, Reals, Reals, float]:
    """The embedding, positions and residuals of the training items, and an error all share."""
    if features.shape[1] <= n_components or features.shape[0] <= 2 * n_components:
        dense = features.toarray() if issparse(features) else features
        mean, spread = _moments(dense, weights)
        standardisation = Standardisation(mean, np.where(spread > 0, spread, 1.0))
        return standardisation, *standardisation(features), 0.0
    components, singular = _singular_vectors(features, n_components, seed, weights)
    inside = np.asarray(features @ components)
    leverage = _own_weight(weights) * ((inside / singular) ** 2).sum(axis=1)
    # A document that is a dimension of its own has leverage 1: nothing of it is foreseen.
    residual = _residual(features, inside) / np.maximum(1 - leverage, 1e-3)
    residual = np.minimum(residual, 1.0)
    missing, error = _hindsight(features, residual, n_components, seed, weights)
    position = _directions(_as_if_new(features, inside, singular, weights))
    return Projection(components), position, residual + missing, error


def _own_weight(weights: Weights | None) -> float | Weights:
    """How much of an item is left out with it: one of those it stands for, or all if less."""
    return 1.0 if weights is None else np.minimum(weights, 1.0)


def _as_if_new(features: Any, inside: Reals, singular: Reals, weights: Weights | None) -> Reals:
    """Where the training items would be if they had no part in the singular vectors.

    A right singular vector is the sum over items of u_i x_i / s, so an item's own part in its
    coordinate u_i s is u_i |x_i|^2 / s. Left in, clusters of few training items are partly their
    noise, and new items fall into them in other shares.
    """
    squares = _own_weight(weights) * row_norms(features, squared=True)
    own = squares[:, np.newaxis] / singular**2
    return np.asarray(inside * np.maximum(1 - own, 0.0))


def _singular_vectors(
    features: Any, n_components: int, seed: int, weights: Weights | None
) -> tuple[Reals, Reals]:
    """Leading right singular vectors (n_features, d) and singular values (d,)."""
    if weights is not None:
        root = np.sqrt(weights)
        features = diags_array(root) @ features if issparse(features) else root[:, None] * features
    _, singular, rows = randomized_svd(
        features,
        n_components,
        n_iter=_POWER_ITERATIONS,
        random_state=_sklearn_seed(seed, "singular vectors"),
    )
    kept = singular > singular[0] * 1e-9
    return np.ascontiguousarray(rows[kept].T), singular[kept]


def _hindsight(
    features: Any, residual: Reals, n_components: int, seed: int, weights: Weights | None
) -> tuple[float, float]:
    """How much larger residuals of items are if these had no part in the singular vectors.

    Measured on a fifth of the items with the singular vectors of the others, five times; and the
    standard deviation between the five: singular values may be near each other, and another draw of
    items then has other singular vectors. With more features than items (words) there are many
    weak ones, and once is enough.
    """
    shuffled = generator(seed, purpose="held-out residuals").permutation(len(residual))
    missing = []
    for held_out in np.array_split(shuffled, N_FOLDS):
        rest = np.setdiff1d(shuffled, held_out)
        components, _ = _singular_vectors(features[rest], n_components, seed, _of(weights, rest))
        items, heft = features[held_out], _of(weights, held_out)
        foreseen = _residual(items, np.asarray(items @ components))
        mean, spread = _moments(foreseen - residual[held_out], heft)
        if features.shape[1] > features.shape[0]:
            return float(mean), float(spread / np.sqrt(total_of(heft, len(held_out))))
        missing.append(mean)
    return float(np.mean(missing)), float(np.std(missing, ddof=1))


def _directions(inside: Reals) -> Reals:
    length = np.linalg.norm(inside, axis=1, keepdims=True)
    return np.asarray(np.divide(inside, length, out=np.zeros_like(inside), where=length > 0))


def _residual(X: Any, inside: Reals) -> Reals:
    """Share of each row's length outside the projection; an empty row is all outside."""
    whole = row_norms(X, squared=True)
    outside = np.maximum(whole - (inside * inside).sum(axis=1), 0.0)
    share = np.divide(outside, whole, out=np.ones_like(whole), where=whole > 0)
    return np.asarray(np.sqrt(share))


def _of(weights: Weights | None, rows: NDArray[Any]) -> Weights | None:
    return None if weights is None else weights[rows]


def _moments(values: Reals, weights: Weights | None) -> tuple[Any, Any]:
    """Mean and standard deviation of the values, or of each of their columns."""
    if weights is None:
        return values.mean(axis=0), values.std(axis=0)
    # From the first, so that what is constant has no deviation by rounding.
    mean = values[0] + np.average(values - values[0], axis=0, weights=weights)
    return mean, np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights))


def _centres(position: Reals, labels: Codes, which: Codes, weights: Weights | None) -> Reals:
    """Mean position of the items of each of these labels."""
    members = [labels == label for label in which]
    return np.stack([_moments(position[own], _of(weights, own))[0] for own in members])


def _large_clusters(
    position: Reals, labels: Codes, n_clusters: int, weights: Weights | None
) -> Reals:
    """Centres of the clusters that are large enough; items of the others go to the nearest."""
    sizes = np.bincount(labels, weights, minlength=n_clusters)
    kept = np.flatnonzero(sizes >= min(SMALLEST_CLUSTER, sizes.max()))
    nearest = _nearest(position, _centres(position, labels, kept, weights))
    return _centres(position, nearest, np.arange(len(kept)), weights)


def _nearest(position: Reals, centres: Reals) -> Codes:
    return np.asarray(np.argmax(2 * position @ centres.T - (centres**2).sum(axis=1), axis=1))


def _divided(partition: Partition, codes: Codes, lengths: Reals) -> tuple[Partition, Clusters]:
    return partition, Clusters(codes, _ranks(lengths, partition.lengths, partition.weights))


def _distances(position: Reals, centres: Reals) -> Reals:
    gap = position - centres
    return np.asarray(np.sqrt((gap * gap).mean(axis=1)).round(_DIGITS))


def _ranks(lengths: Reals, known: Reals, weights: Weights | None) -> Reals:
    """Place of each length among the known ones, from 0 to 1; equals share the middle place.

    known: ascending; weights: of the known ones.
    """
    below, up_to = (np.searchsorted(known, lengths, side=side) for side in ("left", "right"))
    if weights is None:
        return np.asarray((below + up_to) / (2 * len(known)))
    passed = np.concatenate([[0.0], np.cumsum(weights)])
    return np.asarray((passed[below] + passed[up_to]) / (2 * passed[-1]))


def _in_order(lengths: Reals, weights: Weights | None) -> Weights | None:
    """The weights in the order of ascending lengths."""
    return _of(weights, np.argsort(lengths))


def _in_ranks(length: float, known: Reals, weights: Weights | None) -> float:
    """How much a common change of all lengths moves their ranks on average."""
    ascending, heft = np.sort(known), _in_order(known, weights)
    change = _ranks(known + length, ascending, heft) - _ranks(known, ascending, heft)
    return float(_moments(change, weights)[0])


def _n_distinct(position: Reals, enough: int) -> int:
    """Number of distinct points, or `enough` if there are as many: equal items are one point."""
    for rows in (position[: 50 * enough], position):
        n_distinct = len(np.unique(rows.round(_DIGITS), axis=0))
        if n_distinct >= enough:
            return enough
    return n_distinct


def _as_if_held_out(
    position: Reals, centres: Reals, seed: int, weights: Weights | None
) -> tuple[Codes, Reals]:
    """Clusters of the training items, and distances, by k-means without the items of their fold.

    Each k-means starts from the centres of all items, so that clusters keep their numbers. Where
    most items have equals, centres hardly depend on any of them, and are those of all items: equal
    items are then in the same cluster at the same distance, in whatever fold.
    """
    n_clusters = len(centres)
    n_distinct = len(np.unique(position.round(_DIGITS), axis=0))
    tied = n_distinct < total_of(weights, len(position)) / 2
    codes, distances = np.empty(len(position), np.int64), np.empty(len(position))
    folds = generator(seed, purpose="folds of clusters").permutation(len(position)) % N_FOLDS
    for fold in range(N_FOLDS):
        held_out, rest = position[folds == fold], position[folds != fold]
        heft, own = _of(weights, folds != fold), centres
        if not tied and n_clusters > 1 and _n_distinct(rest, n_clusters) == n_clusters:
            means = KMeans(n_clusters, init=centres, n_init=1).fit(rest, sample_weight=heft)
            own = means.cluster_centers_
        nearest = _nearest(held_out, own)
        codes[folds == fold] = nearest
        distances[folds == fold] = _distances(held_out, own[nearest])
    return codes, distances


def _halves(centres: Reals, sizes: NDArray[Any]) -> Codes:
    """The clusters in two: cut across the axis along which their centres spread most."""
    if len(centres) < 2:
        return np.zeros(len(centres), np.int64)
    gap = centres - np.average(centres, axis=0, weights=sizes)
    axis = np.linalg.svd(gap * np.sqrt(sizes)[:, np.newaxis], full_matrices=False)[2][0]
    order = np.argsort(gap @ axis)
    mass, moment = np.cumsum(sizes[order]), np.cumsum((sizes * (gap @ axis))[order])
    # The sum of squares between two halves, given that the moments of both cancel.
    between = moment[:-1] ** 2 * (1 / mass[:-1] + 1 / (mass[-1] - mass[:-1]))
    halves = np.zeros(len(centres), np.int64)
    halves[order[int(np.argmax(between)) + 1 :]] = 1
    return halves


def _linear_groups(position: Reals, codes: Codes, weights: Weights | None) -> tuple[Reals, Reals]:
    """Scores of the groups: coefficients (d, n_groups) and intercepts."""
    model = LogisticRegression(max_iter=1000).fit(position, codes, sample_weight=weights)
    if len(model.classes_) == 2:
        return np.vstack([0 * model.coef_, model.coef_]).T, np.array([0.0, model.intercept_[0]])
    return model.coef_.T, model.intercept_


def _sklearn_seed(seed: int, purpose: str) -> int:
    return seed_of(seed, purpose=purpose) % 2**32
