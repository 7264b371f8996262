"""Fitting clusters of the feature space: by k-means, or by a linear model of known groups.

Training items are treated as if they were new, so that new ones fall into clusters in the same
shares and do not look novel by comparison. Clusters, and distances from their centres, are those of
k-means without the item's fold. An item influences the singular vectors, so its residual is divided
by one minus its leverage (the result of leaving it out, to first order, if the other singular
values were small), and the remaining difference is measured on items held out from the singular
vectors of the rest.

Items may have weights: an item of weight w counts as w items in means and variances, singular
vectors, k-means, sizes of clusters and ranks. Folds and random starts are by item, so repeated
items give nearly the same clusters as weighted ones. Items of weight zero are not used for fitting,
and are placed like new ones.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array, issparse
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.utils.extmath import randomized_svd, row_norms

from quantshift.base.seeding import generator, seed_of
from quantshift.base.types import Codes, Reals
from quantshift.classify.clusters.clusters import (
    DIGITS,
    Clusters,
    Embedding,
    Partition,
    Projection,
    Standardisation,
    directions,
    distances_from,
    ranks_among,
    share_outside,
)
from quantshift.classify.features import feature_matrix
from quantshift.classify.folds import stratified_folds
from quantshift.errors import DataError, UserError
from quantshift.prevalence.labels import encode_labels
from quantshift.prevalence.weights import Weights, checked_weights, total_of

ITEMS_PER_CLUSTER = 25
"""The fewest training items of the rarest class per cluster, which limits the number of clusters.
There are at least two if all classes together have enough items."""

SMALLEST_CLUSTER = 12
"""A cluster needs this many training items; into smaller ones, new items fall in other shares."""

_STARTS = 4
"""Restarts of k-means; the best is kept."""

_POWER_ITERATIONS = 2
"""Power iterations of the randomised SVD; more of them changed no cluster of the reviews."""

N_FOLDS = 5
"""The number of folds in which the training items' clusters, groups and residuals are predicted."""


def fit_clusters(
    X: Any,
    *,
    n_clusters: int,
    n_components: int,
    seed: int,
    n_rarest: float | None = None,
    weights: Weights | None = None,
) -> tuple[Partition, Clusters]:
    """k-means on the training items: the partition, and the clusters of the training items.

    n_rarest: the number of training items of the rarest class (default: of all), which limits the
        number of clusters; with weights, their sum.
    """
    if n_clusters < 1 or n_components < 1:
        raise UserError(
            f"n_clusters and n_components must be at least 1, got {n_clusters} and {n_components}"
        )
    features = feature_matrix(X)

    def fit(features: Any, weights: Weights | None) -> tuple[Partition, Clusters]:
        return _fit_clusters(features, n_clusters, n_components, seed, n_rarest, weights)

    return _including_weightless(fit, features, weights)


def _including_weightless(
    fit: Callable[[Any, Weights | None], tuple[Partition, Clusters]],
    features: Any,
    weights: Weights | None,
) -> tuple[Partition, Clusters]:
    """A partition fitted on the items with positive weights, and the clusters of all items."""
    if weights is None or weights.all():
        return fit(features, weights)
    rows = np.flatnonzero(weights)
    partition, weighted = fit(features[rows], weights[rows])
    placed = partition.locate(features)
    placed.codes[rows], placed.novelty[rows] = weighted.codes, weighted.novelty
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
    supported = max(of_rarest, min(of_all, 2))
    n_parts = max(1, min(n_clusters, supported, _n_distinct(position, n_clusters)))
    means = KMeans(n_parts, n_init=_STARTS, random_state=_sklearn_seed(seed, "k-means")).fit(
        position, sample_weight=weights
    )
    centres = _large_clusters(position, means.labels_, n_parts, weights)
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
    """Clusters from known groups of the training items: the groups that a linear model predicts.

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

    def fit(features: Any, item_weights: Weights | None) -> tuple[Partition, Clusters]:
        weighted_codes = codes if weights is None else codes[weights > 0]
        return _fit_groups(features, weighted_codes, len(names), n_components, seed, item_weights)

    return _including_weightless(fit, features, weights)


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
        held_out, training = folds == fold, folds != fold
        coef, intercept = _linear_groups(
            position[training], codes[training], _weights_of(weights, training)
        )
        predicted[held_out] = np.argmax(position[held_out] @ coef + intercept, axis=1)
    coef, intercept = _linear_groups(position, codes, weights)
    centres = _centres(position, codes, np.arange(n_groups), weights)
    halves = _halves(centres, np.bincount(codes, weights))
    lengths = (
        residual
        if isinstance(embedding, Projection)
        else distances_from(position, centres[predicted])
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


def _fit_embedding(
    features: Any, n_components: int, seed: int, weights: Weights | None
) -> tuple[Embedding, Reals, Reals, float]:
    """The embedding, positions and residuals of the training items, and their common error."""
    if features.shape[1] <= n_components or features.shape[0] <= 2 * n_components:
        dense = features.toarray() if issparse(features) else features
        mean, spread = _moments(dense, weights)
        standardisation = Standardisation(mean, np.where(spread > 0, spread, 1.0))
        return standardisation, *standardisation(features), 0.0
    components, singular = _singular_vectors(features, n_components, seed, weights)
    inside = np.asarray(features @ components)
    leverage = _own_weight(weights) * ((inside / singular) ** 2).sum(axis=1)
    # A document with its own dimension has leverage 1: the others predict nothing about it.
    residual = share_outside(features, inside) / np.maximum(1 - leverage, 1e-3)
    residual = np.minimum(residual, 1.0)
    missing, error = _hindsight(features, residual, n_components, seed, weights)
    position = directions(_as_if_new(features, inside, singular, weights))
    return Projection(components), position, residual + missing, error


def _own_weight(weights: Weights | None) -> float | Weights:
    """The weight that is left out with an item: 1, or all of its weight if that is less."""
    return 1.0 if weights is None else np.minimum(weights, 1.0)


def _as_if_new(features: Any, inside: Reals, singular: Reals, weights: Weights | None) -> Reals:
    """The positions of the training items if they had no influence on the singular vectors.

    A right singular vector is the sum over items of u_i x_i / s, so an item's own part in its
    coordinate u_i s is u_i |x_i|^2 / s. If it stayed, clusters of few training items would be
    partly noise, and new items would fall into them in other shares.
    """
    squares = _own_weight(weights) * row_norms(features, squared=True)
    own_part = squares[:, np.newaxis] / singular**2
    return np.asarray(inside * np.maximum(1 - own_part, 0.0))


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
    is_positive = singular > singular[0] * 1e-9
    return np.ascontiguousarray(rows[is_positive].T), singular[is_positive]


def _hindsight(
    features: Any, residual: Reals, n_components: int, seed: int, weights: Weights | None
) -> tuple[float, float]:
    """How much larger the residuals of items are if these did not influence the singular vectors.

    It is measured on a fifth of the items with the singular vectors of the others, five times. The
    second number is the standard deviation between the five: singular values may be close to each
    other, and another draw of items then has other singular vectors. With more features than items
    (words) there are many weak ones, and one measurement is enough.
    """
    shuffled = generator(seed, purpose="held-out residuals").permutation(len(residual))
    missing = []
    for held_out in np.array_split(shuffled, N_FOLDS):
        training = np.setdiff1d(shuffled, held_out)
        components, _ = _singular_vectors(
            features[training], n_components, seed, _weights_of(weights, training)
        )
        items, item_weights = features[held_out], _weights_of(weights, held_out)
        held_out_residual = share_outside(items, np.asarray(items @ components))
        mean, spread = _moments(held_out_residual - residual[held_out], item_weights)
        if features.shape[1] > features.shape[0]:
            return float(mean), float(spread / np.sqrt(total_of(item_weights, len(held_out))))
        missing.append(mean)
    return float(np.mean(missing)), float(np.std(missing, ddof=1))


def _weights_of(weights: Weights | None, rows: NDArray[Any]) -> Weights | None:
    return None if weights is None else weights[rows]


def _moments(values: Reals, weights: Weights | None) -> tuple[Any, Any]:
    """Mean and standard deviation of the values, or of each of their columns."""
    if weights is None:
        return values.mean(axis=0), values.std(axis=0)
    # Relative to the first value, so that rounding gives constant columns no deviation.
    mean = values[0] + np.average(values - values[0], axis=0, weights=weights)
    return mean, np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights))


def _centres(position: Reals, labels: Codes, which: Codes, weights: Weights | None) -> Reals:
    """Mean position of the items of each of these labels."""
    means = []
    for label in which:
        members = labels == label
        means.append(_moments(position[members], _weights_of(weights, members))[0])
    return np.stack(means)


def _large_clusters(
    position: Reals, labels: Codes, n_clusters: int, weights: Weights | None
) -> Reals:
    """The centres of large enough clusters; items of the others join the nearest one."""
    sizes = np.bincount(labels, weights, minlength=n_clusters)
    large = np.flatnonzero(sizes >= min(SMALLEST_CLUSTER, sizes.max()))
    nearest = _nearest(position, _centres(position, labels, large, weights))
    return _centres(position, nearest, np.arange(len(large)), weights)


def _nearest(position: Reals, centres: Reals) -> Codes:
    return np.asarray(np.argmax(2 * position @ centres.T - (centres**2).sum(axis=1), axis=1))


def _divided(partition: Partition, codes: Codes, lengths: Reals) -> tuple[Partition, Clusters]:
    return partition, Clusters(codes, ranks_among(lengths, partition.lengths, partition.weights))


def _in_order(lengths: Reals, weights: Weights | None) -> Weights | None:
    """The weights in the order of ascending lengths."""
    return _weights_of(weights, np.argsort(lengths))


def _in_ranks(length: float, lengths: Reals, weights: Weights | None) -> float:
    """The mean change of the ranks if all lengths change by the same amount."""
    ascending, item_weights = np.sort(lengths), _in_order(lengths, weights)
    change = ranks_among(lengths + length, ascending, item_weights) - ranks_among(
        lengths, ascending, item_weights
    )
    return float(_moments(change, weights)[0])


def _n_distinct(position: Reals, enough: int) -> int:
    """The number of distinct points, but at most `enough`."""
    for rows in (position[: 50 * enough], position):
        n_distinct = len(np.unique(rows.round(DIGITS), axis=0))
        if n_distinct >= enough:
            return enough
    return n_distinct


def _as_if_held_out(
    position: Reals, centres: Reals, seed: int, weights: Weights | None
) -> tuple[Codes, Reals]:
    """Clusters of the training items, and distances, by k-means without the items of their fold.

    Each k-means starts from the centres of all items, so that clusters keep their numbers. If most
    items have duplicates, the centres hardly depend on a single item, and those of all items are
    used: equal items are then in the same cluster at the same distance, whatever their fold.
    """
    n_clusters = len(centres)
    n_distinct = len(np.unique(position.round(DIGITS), axis=0))
    tied = n_distinct < total_of(weights, len(position)) / 2
    codes, distances = np.empty(len(position), np.int64), np.empty(len(position))
    folds = generator(seed, purpose="folds of clusters").permutation(len(position)) % N_FOLDS
    for fold in range(N_FOLDS):
        held_out, training = position[folds == fold], position[folds != fold]
        item_weights, fold_centres = _weights_of(weights, folds != fold), centres
        if not tied and n_clusters > 1 and _n_distinct(training, n_clusters) == n_clusters:
            means = KMeans(n_clusters, init=centres, n_init=1).fit(
                training, sample_weight=item_weights
            )
            fold_centres = means.cluster_centers_
        nearest = _nearest(held_out, fold_centres)
        codes[folds == fold] = nearest
        distances[folds == fold] = distances_from(held_out, fold_centres[nearest])
    return codes, distances


def _halves(centres: Reals, sizes: NDArray[Any]) -> Codes:
    """The clusters in two halves, split along the axis of largest spread of their centres."""
    if len(centres) < 2:
        return np.zeros(len(centres), np.int64)
    gap = centres - np.average(centres, axis=0, weights=sizes)
    axis = np.linalg.svd(gap * np.sqrt(sizes)[:, np.newaxis], full_matrices=False)[2][0]
    order = np.argsort(gap @ axis)
    mass, moment = np.cumsum(sizes[order]), np.cumsum((sizes * (gap @ axis))[order])
    # The sum of squares between two halves, whose moments add up to zero.
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
