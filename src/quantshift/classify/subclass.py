"""Subclasses: clusters of the feature space, and P(class | score, cluster) calibrated in each.

A cluster is a deterministic function of an item's features, so that it is *observed* in any sample
and a subclass (class, cluster) is as well defined as a class. Items are placed in a space of few
dimensions: wide features (bags of words, embeddings) by their leading right singular vectors, each
row at unit length; narrow ones standardised. k-means divides the space; known groups (product
lines, sources, ...) can stand in its place, and then a linear model of the groups does.

How unlike the training items an item is, its novelty, is the share of its length that the singular
vectors do not reach, or its distance from its cluster's centre in narrow features. A training item
has helped to make the singular vectors, so its own residual is divided by one minus its leverage
(what leaving it out would give, to first order, if the other singular values were small), and what
is still missing is measured on items held out from the singular vectors of the rest. Without that
every new item would look novel.

The calibration is a sigmoid of the score with an offset and a slope per cluster, drawn to
the common ones by a ridge penalty: logit P(k | x) = a + a_c + (b + b_c) * score, penalty
ridge / 2 * (a_c^2 + b_c^2), scores in units of their standard deviation. The ridge is that of
`RIDGES` with the most evidence (Laplace's approximation): strong where clusters do not differ or
hold few items of a class, weak where they do. With more than two classes it is one against
the rest, normalised.

Reference: D. MacKay, "Bayesian interpolation", Neural Computation 4 (1992), for the ridge.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from scipy.special import expit, logit
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.utils.extmath import randomized_svd, row_norms

from quantshift.classify.calibration import FLOOR
from quantshift.classify.folds import stratified_folds
from quantshift.errors import DataError, UserError
from quantshift.labels import encode_labels
from quantshift.seeding import generator, seed_of
from quantshift.types import Codes, Indices, Posteriors

Reals = NDArray[np.float64]

RIDGES = (10.0, 100.0, 1000.0)
"""Candidates for the weight that draws the clusters' offsets and slopes to the common ones."""

ITEMS_PER_CLUSTER = 25
"""Training items per cluster on average, at least; a small training set gets fewer clusters."""

_STARTS = 4
"""Restarts of k-means; the best is kept."""

_POWER_ITERATIONS = 2
"""Of the randomised decomposition; more changed no cluster on the reviews."""

HELD_OUT = 5
"""One training item in so many tells how far new items are outside the singular vectors."""

GROUP_FOLDS = 5
"""Folds in which the training items' groups are predicted."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Where items are: the cluster of each, and its novelty (NaN where it is not known).

    codes: shape (n_items,), from 0; novelty: shape (n_items,).
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


class Embedding(Protocol):
    """Features (n_items, n_features) to positions (n_items, d) and residuals (n_items,)."""

    def __call__(self, X: Any) -> tuple[Reals, Reals]: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Standardisation:
    """Narrow features: each to mean 0 and variance 1; nothing is left out."""

    mean: Reals
    scale: Reals

    def __call__(self, X: Any) -> tuple[Reals, Reals]:  # noqa: D102
        position = (np.asarray(X.toarray() if issparse(X) else X) - self.mean) / self.scale
        return position, np.zeros(len(position))


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
    """

    embedding: Embedding
    coef: Reals
    intercept: Reals
    centres: Reals
    halves: Codes
    n_features: int

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
        return self._place(*self.embedding(features))

    def _place(self, position: Reals, residual: Reals) -> Clusters:
        codes = np.argmax(position @ self.coef + self.intercept, axis=1)
        return self.with_codes(codes, position, residual)

    def with_codes(self, codes: Codes, position: Reals, residual: Reals) -> Clusters:
        """Items whose clusters are known by other means (predicted out of fold)."""
        if isinstance(self.embedding, Projection):
            return Clusters(codes, residual)
        gap = position - self.centres[codes]
        return Clusters(codes, np.sqrt((gap * gap).mean(axis=1)))


def fit_clusters(
    X: Any, *, n_clusters: int, n_components: int, seed: int
) -> tuple[Partition, Clusters]:
    """k-means on the training items: the division, and where the training items are."""
    if n_clusters < 1 or n_components < 1:
        raise UserError(
            f"n_clusters and n_components must be at least 1, got {n_clusters} and {n_components}"
        )
    features = feature_matrix(X)
    embedding, position, residual = _fit_embedding(features, n_components, seed)
    # Equal items are one point, and k-means wants as many points as clusters.
    distinct = len(np.unique(position.round(9), axis=0)) if len(position) < 1000 else n_clusters
    wanted = max(1, min(n_clusters, len(position) // ITEMS_PER_CLUSTER, distinct))
    means = KMeans(wanted, n_init=_STARTS, random_state=_sklearn_seed(seed, "k-means")).fit(
        position
    )
    centres = np.asarray(means.cluster_centers_, dtype=np.float64)
    partition = Partition(
        embedding,
        coef=2 * centres.T,
        intercept=-(centres * centres).sum(axis=1),
        centres=centres,
        halves=_halves(centres, np.bincount(means.labels_, minlength=wanted)),
        n_features=features.shape[1],
    )
    return partition, partition._place(position, residual)


def fit_groups(X: Any, groups: Any, *, n_components: int, seed: int) -> tuple[Partition, Clusters]:
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
    embedding, position, residual = _fit_embedding(features, n_components, seed)
    smallest = int(np.bincount(codes).min())
    folds = stratified_folds(codes, max(2, min(GROUP_FOLDS, smallest)), seed=seed)
    predicted = np.empty_like(codes)
    for fold in range(int(folds.max()) + 1):
        coef, intercept = _linear_groups(position[folds != fold], codes[folds != fold])
        held_out = folds == fold
        predicted[held_out] = np.argmax(position[held_out] @ coef + intercept, axis=1)
    coef, intercept = _linear_groups(position, codes)
    centres = np.stack([position[codes == code].mean(axis=0) for code in range(len(names))])
    halves = _halves(centres, np.bincount(codes))
    partition = Partition(embedding, coef, intercept, centres, halves, features.shape[1])
    return partition, partition.with_codes(predicted, position, residual)


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


@dataclass(frozen=True, eq=False)
class SubclassCalibration:
    """P(class | score, cluster), with what its own uncertainty follows from.

    offsets, slopes: shape (n_columns, n_clusters); a single column for two classes.
    bread: inverse Hessians, (n_columns, 2 + 2 n_clusters, 2 + 2 n_clusters), in the order a, b,
        a_1, b_1, a_2, b_2, ...
    scale: unit of the scores, shape (n_columns,).
    """

    offsets: Reals
    slopes: Reals
    bread: Reals
    scale: Reals

    def __call__(self, posteriors: Posteriors, codes: Codes) -> Posteriors:
        """Calibrated posteriors of items in the clusters `codes`."""
        scores = class_scores(posteriors)
        return normalise_columns(expit(self.offsets[:, codes].T + self.slopes[:, codes].T * scores))


def fit_subclass_calibration(
    posteriors: Posteriors, codes: Codes, clusters: Codes, n_clusters: int
) -> SubclassCalibration:
    """Penalised maximum likelihood on held-out posteriors, with Platt's targets."""
    scores, targets = class_scores(posteriors), platt_targets(codes, posteriors.shape[1])
    fits = [
        _fit_column(scores[:, j], targets[:, j], clusters, n_clusters)
        for j in range(scores.shape[1])
    ]
    theta = np.stack([fit[0] for fit in fits])
    scale = np.array([fit[2] for fit in fits])
    return SubclassCalibration(
        offsets=theta[:, :1] + theta[:, 2::2],
        slopes=(theta[:, 1:2] + theta[:, 3::2]) / scale[:, np.newaxis],
        bread=np.stack([fit[1] for fit in fits]),
        scale=scale,
    )


def class_scores(posteriors: Posteriors) -> Reals:
    """Log-odds of each class against the rest (two classes: of the second alone)."""
    columns = posteriors[:, 1:] if posteriors.shape[1] == 2 else posteriors
    return np.asarray(logit(np.clip(columns, FLOOR, 1 - FLOOR)))


def platt_targets(codes: Codes, n_classes: int) -> Reals:
    """Memberships kept away from 0 and 1, so that separable data stay finite."""
    members = np.eye(n_classes)[codes]
    columns = members[:, 1:] if n_classes == 2 else members
    n_in, n_out = columns.sum(axis=0), (1 - columns).sum(axis=0)
    return np.asarray(np.where(columns == 1, (n_in + 1) / (n_in + 2), 1 / (n_out + 2)))


def normalise_columns(columns: Reals) -> Posteriors:
    """Posteriors (n_items, n_classes) from one-against-the-rest columns, never exactly 0 or 1."""
    inside = np.clip(columns, FLOOR, 1 - FLOOR)
    if inside.shape[1] == 1:
        return np.asarray(np.concatenate([1 - inside, inside], axis=1))
    return np.asarray(inside / inside.sum(axis=1, keepdims=True))


def calibration_design(scores: Reals, clusters: Codes, n_clusters: int) -> Reals:
    """Columns 1, score, and the same within each cluster, (n_items, 2 + 2 n_clusters)."""
    design = np.zeros((len(scores), 2 + 2 * n_clusters))
    rows = np.arange(len(scores))
    design[:, 0] = design[rows, 2 + 2 * clusters] = 1
    design[:, 1] = design[rows, 3 + 2 * clusters] = scores
    return design


def _fit_column(
    scores: Reals, targets: Reals, clusters: Codes, n_clusters: int
) -> tuple[Reals, Reals, float]:
    """Coefficients, inverse Hessian and unit of one class's scores."""
    scale = float(np.std(scores)) or 1.0
    design = calibration_design(scores / scale, clusters, n_clusters)
    start = np.zeros(design.shape[1])
    start[0] = float(logit(targets.mean()))
    # With one cluster there is nothing of its own: a ridge that leaves nothing.
    ridges = RIDGES if n_clusters > 1 else (1e6,)
    most, chosen, bread = -np.inf, start, np.eye(len(start))
    for ridge in sorted(ridges, reverse=True):
        # The tiny weight of the common ones keeps flat directions solvable.
        penalty = np.concatenate([[1e-6, 1e-6], np.full(2 * n_clusters, ridge)])
        start, hessian, loss = _penalised_fit(design, targets, penalty, start)
        evidence = n_clusters * np.log(ridge) - loss - 0.5 * np.linalg.slogdet(hessian)[1]
        if evidence > most:
            most, chosen, bread = float(evidence), start, np.asarray(np.linalg.inv(hessian))
    return chosen, bread, scale


def _penalised_fit(
    design: Reals, targets: Reals, penalty: Reals, theta: Reals
) -> tuple[Reals, Reals, float]:
    """Coefficients, Hessian and loss of a logistic regression, by Newton's method from theta."""

    def loss(theta: Reals) -> float:
        linear = design @ theta
        fit = np.sum(np.logaddexp(0, linear) - targets * linear)
        return float(fit + 0.5 * np.sum(penalty * theta * theta))

    value = loss(theta)
    for _ in range(100):
        p = expit(design @ theta)
        hessian = (design * (p * (1 - p))[:, np.newaxis]).T @ design + np.diag(penalty)
        step = np.linalg.solve(hessian, design.T @ (p - targets) + penalty * theta)
        size = 1.0
        while (trial := loss(theta - size * step)) > value and size > 1e-10:
            size /= 2
        theta, value = theta - size * step, min(trial, value)
        if np.abs(size * step).max() < 1e-9:
            break
    return theta, hessian, value


def _fit_embedding(features: Any, n_components: int, seed: int) -> tuple[Embedding, Reals, Reals]:
    """The embedding, and positions and residuals of the training items."""
    if features.shape[1] <= n_components or features.shape[0] <= 2 * n_components:
        dense = features.toarray() if issparse(features) else features
        spread = dense.std(axis=0)
        standardisation = Standardisation(dense.mean(axis=0), np.where(spread > 0, spread, 1.0))
        return standardisation, *standardisation(features)
    components, singular = _singular_vectors(features, n_components, seed)
    inside = np.asarray(features @ components)
    leverage = ((inside / singular) ** 2).sum(axis=1)
    # A document that is a dimension of its own has leverage 1: nothing of it is foreseen.
    residual = _residual(features, inside) / np.maximum(1 - leverage, 1e-3)
    residual = np.minimum(residual, 1.0)
    residual = residual + _hindsight(features, residual, n_components, seed)
    return Projection(components), _directions(_as_if_new(features, inside, singular)), residual


def _as_if_new(features: Any, inside: Reals, singular: Reals) -> Reals:
    """Where the training items would be if they had no part in the singular vectors.

    A right singular vector is the sum over items of u_i x_i / s, so an item's own part in its
    coordinate u_i s is u_i |x_i|^2 / s. Left in, clusters of few training items are partly their
    noise, and new items fall into them in other shares.
    """
    own = row_norms(features, squared=True)[:, np.newaxis] / singular**2
    return np.asarray(inside * np.maximum(1 - own, 0.0))


def _singular_vectors(features: Any, n_components: int, seed: int) -> tuple[Reals, Reals]:
    """Leading right singular vectors (n_features, d) and singular values (d,)."""
    _, singular, rows = randomized_svd(
        features,
        n_components,
        n_iter=_POWER_ITERATIONS,
        random_state=_sklearn_seed(seed, "singular vectors"),
    )
    kept = singular > singular[0] * 1e-9
    return np.ascontiguousarray(rows[kept].T), singular[kept]


def _hindsight(features: Any, residual: Reals, n_components: int, seed: int) -> float:
    """How much larger residuals of items are if these had no part in the singular vectors.

    Measured on a fifth of the items, with the singular vectors of the others.
    """
    shuffled = generator(seed, purpose="held-out residuals").permutation(len(residual))
    held_out, rest = np.split(shuffled, [max(1, len(shuffled) // HELD_OUT)])
    components, _ = _singular_vectors(features[rest], n_components, seed)
    items = features[held_out]
    foreseen = _residual(items, np.asarray(items @ components))
    return float(np.mean(foreseen - residual[held_out]))


def _directions(inside: Reals) -> Reals:
    length = np.linalg.norm(inside, axis=1, keepdims=True)
    return np.asarray(np.divide(inside, length, out=np.zeros_like(inside), where=length > 0))


def _residual(X: Any, inside: Reals) -> Reals:
    """Share of each row's length outside the projection; an empty row is all outside."""
    whole = row_norms(X, squared=True)
    outside = np.maximum(whole - (inside * inside).sum(axis=1), 0.0)
    share = np.divide(outside, whole, out=np.ones_like(whole), where=whole > 0)
    return np.asarray(np.sqrt(share))


def _halves(centres: Reals, sizes: NDArray[np.int64]) -> Codes:
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


def _linear_groups(position: Reals, codes: Codes) -> tuple[Reals, Reals]:
    """Scores of the groups: coefficients (d, n_groups) and intercepts."""
    model = LogisticRegression(max_iter=1000).fit(position, codes)
    if len(model.classes_) == 2:
        return np.vstack([0 * model.coef_, model.coef_]).T, np.array([0.0, model.intercept_[0]])
    return model.coef_.T, model.intercept_


def _sklearn_seed(seed: int, purpose: str) -> int:
    return seed_of(seed, purpose=purpose) % 2**32
