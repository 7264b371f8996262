"""KDEy: the mixture of the classes' kernel densities that is nearest to the sample.

Items are points: their K posteriors. Every class has the density of its held-out items, smoothed by
a Gaussian of bandwidth h. Three notions of nearness give three methods:

    KDEyML  the sample is likeliest (Kullback-Leibler divergence): concave, by `mixture_likelihood`
    KDEyCS  Cauchy-Schwarz divergence to the density of the sample: quadratic, by `quadratic`
    KDEyHD  Hellinger distance to the density of the sample: convex, by `histogram_newton`

With two classes the points lie on a line, and with K in a plane of K - 1 dimensions: what the
Gaussian does across is common to all densities and cancels.

Reference: A. Moreo, P. Gonzalez and J. J. del Coz, "Kernel density estimation for multiclass
quantification", Machine Learning 114 (2025).
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert

from quantshift.base.domains import Count, Positive, Seed, Within
from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.classifier import Classifier
from quantshift.classify.folds import Folds
from quantshift.errors import UserError
from quantshift.items.items import Items
from quantshift.items.samples import Blocks
from quantshift.optimise.histogram_newton import nearest_histograms
from quantshift.optimise.mixture_likelihood import maximise_mixtures
from quantshift.optimise.quadratic import is_flat, minimise_on_simplex
from quantshift.optimise.unimodal import HELLINGER
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractAggregative, Diagnostics
from quantshift.quantifiers.base.means import sample_means
from quantshift.quantifiers.base.tags import PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.matching.class_kernels import (
    HIGHEST,
    MATCHING_DIAGNOSTICS,
    AbstractReweighted,
    ClassPoints,
    mean_gaussians,
)
from quantshift.quantifiers.matching.gaussian_sums import (
    FARTHEST,
    blocks_of_neighbours,
    neighbours,
    sample_gaussians,
    sums_of_gaussians,
)

Kernel: TypeAlias = Literal["gaussian", "aitchison", "ilr"]
Bandwidth: TypeAlias = Positive | Literal["scott", "silverman"]

FLOOR = 1e-12
"""Added to posteriors before their logarithm, as QuaPy does."""

FAINT = 1e-250
"""Densities below this in all classes are computed again, as parts of the largest kernel."""

ALIKE = 1e-10
"""Densities of an item that differ by no more than this part are the same: sums of Gaussians are
right to 1e-11."""

TOLERANCE, MOST_PASSES = 1e-6, 1000
"""Largest error of a prevalence of maximum likelihood, and passes over a sample's items."""

MARGIN, PER_BANDWIDTH = 6, 4
"""The grid for two classes: bandwidths beyond 0 and 1, and points for each bandwidth."""

MOST_VALUES = 1 << 24
"""Densities of samples at reference points held at once, 128 MB: samples share the items of a pool,
and the more of them are held the less often an item is looked at."""

AT_ONCE = 64
"""Samples solved at once, which makes copies of their densities."""


class KDEyML(AbstractReweighted, AbstractAggregative):
    """Kernel Density Estimation y, Maximum Likelihood: the likeliest mixture of class densities.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    bandwidth : {"scott", "silverman"} or float
        Of the Gaussian kernel, or "scott" or "silverman" for a rule by each class's size.
    kernel : {"gaussian", "aitchison", "ilr"}
        "gaussian" on posteriors (default), "aitchison" on their centred log-ratios, "ilr" on
        isometric log-ratios, which gives the same except with a rule for the bandwidth.
    shrinkage : float
        With log-ratios, posteriors are moved to (1 - shrinkage) x + shrinkage / n_classes, and the
        bandwidth is multiplied by 1 - shrinkage.
    cv : int, array or splitter
        Folds of the out-of-fold posteriors.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.
    classifier_ : classifier
        Fitted on all training items.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import KDEyML
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = KDEyML().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['converged', 'iterations']
    """

    recommended: ClassVar[str] = "as for SLD, with probabilities that are off"
    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.JOINT, smooth=True)
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"iterations": "int", "converged": "bool"}
    )

    class_points_: ClassPoints
    bandwidths_: Reals

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        bandwidth: Bandwidth = 0.1,
        kernel: Kernel = "gaussian",
        shrinkage: Annotated[float, Within(least=0, below=1)] = 0.0,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.shrinkage = shrinkage
        self.cv = cv
        self.random_state = random_state

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        if self.shrinkage and self.kernel == "gaussian":
            raise UserError('shrinkage is for log-ratios: set kernel to "aitchison" or "ilr"')
        points = self._coordinates(posteriors)
        self.class_points_ = _near_each_other(
            ClassPoints.of(points, codes, len(self.classes_), weights)
        )
        self.bandwidths_ = self._bandwidths()

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        """The classes' densities, (n_classes, n_items).

        The densities of an item are multiplied by a common factor if all are below 1e-250.
        """
        points, n_dimensions = self._coordinates(posteriors), self.class_points_.points.shape[1]
        log_height = -n_dimensions * np.log(np.sqrt(2 * np.pi) * self.bandwidths_)
        log_height -= max(0.0, float(log_height.max()) - HIGHEST)
        precision = self.bandwidths_**-2
        # Sums need two dimensions or more: log-ratios of two classes may have one.
        if n_dimensions > 1 and (precision == precision[0]).all():
            densities = _sums(self.class_points_, points, float(precision[0]), np.inf)
            densities *= np.exp(log_height[0])
            # Rounding must not make one class likelier than another that has the same items.
            largest = densities.max(axis=0)
            alike = largest - densities.min(axis=0) <= ALIKE * largest
            densities[:, alike] = largest[alike]
        else:
            densities = mean_gaussians(self.class_points_, points, precision, log_height=log_height)
        faint = densities.max(axis=0) < FAINT
        if faint.any():
            densities[:, faint] = mean_gaussians(
                self.class_points_, points[faint], precision, log_height=log_height, relative=True
            )
        return densities

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        p_hat, passes, converged = maximise_mixtures(
            representation,
            index,
            self.prior_,
            tol=TOLERANCE,
            max_iter=MOST_PASSES,
            weights=weights,
        )
        return p_hat, {"iterations": passes, "converged": converged}

    def _coordinates(self, posteriors: Posteriors) -> Reals:
        if self.kernel == "gaussian":
            return posteriors
        n_classes = posteriors.shape[1]
        shrunk = (1 - self.shrinkage) * posteriors + self.shrinkage / n_classes
        logarithms = np.log((shrunk + FLOOR) / (1 + n_classes * FLOOR))
        if self.kernel == "ilr":
            return np.asarray(logarithms @ helmert(n_classes).T)
        return np.asarray(logarithms - logarithms.mean(axis=1, keepdims=True))

    def _bandwidths(self) -> Reals:
        """The bandwidth of each class."""
        sizes, n_dimensions = self.class_points_.sizes, self.class_points_.points.shape[1]
        if not isinstance(self.bandwidth, str):
            return np.full(len(sizes), self.bandwidth * (1 - self.shrinkage))
        scale = 1.0 if self.bandwidth == "scott" else (n_dimensions + 2) / 4
        return np.asarray((scale * sizes) ** (-1 / (n_dimensions + 4)))


class KDEyCS(AbstractReweighted, AbstractAggregative):
    """Kernel Density Estimation y, Cauchy-Schwarz: the mixture density most like the sample's.

    With a_k the mean over the sample of class k's density and B the mean density between items of
    two classes, both with bandwidth sqrt(2) h, -log(p.a) + log(p'Bp) / 2 is least.

    Falls back as EDy does; where no training item is near the sample, to the training prevalence.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    bandwidth : float
        H of the Gaussian kernel.
    cv : int, array or splitter
        Folds of the out-of-fold posteriors.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.
    classifier_ : classifier
        Fitted on all training items.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import KDEyCS
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = KDEyCS().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback']
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.JOINT, smooth=True)
    diagnostics: ClassVar[Mapping[str, str]] = MATCHING_DIAGNOSTICS

    class_points_: ClassPoints
    overlaps_: Reals

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        bandwidth: Positive = 0.1,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.bandwidth = bandwidth
        self.cv = cv
        self.random_state = random_state

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        self.class_points_ = _near_each_other(
            ClassPoints.of(posteriors, codes, len(self.classes_), weights)
        )
        self.overlaps_ = self.class_points_.pair_means(self._overlap)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return self._overlap(posteriors)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        overlap = sample_means(representation, index, weights)
        p_hat, has_overlap = most_alike(self.overlaps_, overlap, self.prior_)
        return p_hat, {
            "clipped": (p_hat == 0).any(axis=1),
            "fallback": ~has_overlap | is_flat(self.overlaps_),
        }

    def _overlap(self, points: Reals) -> Reals:
        return _sums(self.class_points_, points, 1 / (2 * self.bandwidth**2))


class KDEyHD(AbstractReweighted, AbstractAggregative):
    """Kernel Density Estimation y, Hellinger: the mixture density nearest to the sample's.

    Two classes: integrated on a grid, without chance. More: a sum over reference points drawn from
    the classes' densities, divided by how densely they are drawn.

    `distance` is the Hellinger distance, from 0 to 1. Falls back as EDy does.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    bandwidth : float
        Of the Gaussian kernel.
    n_points : int
        Reference points, as many of each class; `random_state` draws them.
    cv : int, array or splitter
        Folds of the out-of-fold posteriors.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.
    classifier_ : classifier
        Fitted on all training items.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import KDEyHD
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = KDEyHD().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['distance', 'fallback']
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.JOINT, smooth=True)
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"distance": "float", "fallback": "bool"}
    )

    reference_: Reals
    cells_: Reals
    classes_in_cells_: Reals

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        bandwidth: Positive = 0.1,
        n_points: Count = 10_000,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.bandwidth = bandwidth
        self.n_points = n_points
        self.cv = cv
        self.random_state = random_state

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        n_classes = len(self.classes_)
        class_points = ClassPoints.of(posteriors, codes, n_classes, weights)
        if n_classes == 2:
            self.reference_, self.cells_ = _grid(self.bandwidth)
        elif self.n_points < n_classes:
            raise UserError(f"n_points must be at least one per class, got {self.n_points}")
        else:
            per_class = self.n_points // n_classes
            drawn = _drawn_points(class_points, self.bandwidth, per_class, self.random_state)
            self.reference_ = drawn[blocks_of_neighbours(drawn)]
        precision = np.full(n_classes, self.bandwidth**-2)
        densities = mean_gaussians(class_points, self.reference_, precision)
        if n_classes > 2:
            self.cells_ = 1 / (len(self.reference_) * densities.mean(axis=0))
        self.classes_in_cells_ = densities * self.cells_

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return np.ascontiguousarray(posteriors.T)

    def _solved(self, items: Items, blocks: Blocks) -> tuple[Prevalences, Diagnostics]:
        """As for other methods, but with all samples of a size in one block: they share items."""
        by_size: dict[int, list[tuple[Indices, Indices]]] = {}
        for members, index in blocks:
            by_size.setdefault(index.shape[1], []).append((members, index))
        joined = [
            (np.concatenate([m for m, _ in group]), np.concatenate([i for _, i in group]))
            for group in by_size.values()
        ]
        return super()._solved(items, joined)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        at_once = max(1, MOST_VALUES // len(self.cells_))
        n_parts = -(-len(index) // at_once)
        densities = (
            self._in_cells(representation, part, weights) for part in np.array_split(index, n_parts)
        )
        solved = [
            nearest_mixture(each[start : start + AT_ONCE], self.classes_in_cells_, self.prior_)
            for each in densities
            for start in range(0, len(each), AT_ONCE)
        ]
        p_hat, distance = (np.concatenate(column) for column in zip(*solved, strict=True))
        flat = is_flat(self.classes_in_cells_ @ self.classes_in_cells_.T)
        return p_hat, {"distance": distance, "fallback": np.full(len(index), flat)}

    def _in_cells(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None
    ) -> Reals:
        """The density of each sample at the reference points, times their cells."""
        densities = sample_gaussians(
            representation, index, weights, self.reference_, self.bandwidth**-2
        )
        densities *= self.cells_
        return densities


def _near_each_other(classes: ClassPoints) -> ClassPoints:
    """The items of each class in the order that `sums_of_gaussians` needs."""
    order = np.concatenate(
        [part.start + neighbours(classes.points[part]) for part in classes.parts()]
    )
    # Stored coordinate by coordinate, so that nothing is copied for a sample.
    points = np.asfortranarray(classes.points[order])
    return replace(classes, points=points, weights=classes.weights[order])


def _sums(
    classes: ClassPoints, points: Reals, precision: float, farthest: float = FARTHEST
) -> Reals:
    """Means over each class of exp(-precision / 2 |x - s|^2), (n_classes, n_points).

    farthest: items for which minus the exponent is larger may be left out.
    """
    return sums_of_gaussians(
        np.ascontiguousarray(classes.points.T),
        classes.ends,
        classes.weights,
        np.ascontiguousarray(points),
        precision,
        farthest,
    )


def most_alike(
    overlaps: Reals, overlap: Reals, prior: Prevalences
) -> tuple[Prevalences, NDArray[np.bool_]]:
    """The p that minimise -log(p . overlap) + log(p . overlaps p) / 2, and which samples have any.

    Neither changes if p is stretched, so p is u / sum(u) for the u >= 0 that minimises
    u . overlaps u - 2 overlap . u. With no overlap above one, sum(u) is at most n_classes over the
    least overlap of a class with itself: u and what is missing to this sum are on a simplex.
    """
    n_classes = len(prior)
    largest = overlap.max(axis=1)
    has_overlap = largest > 0
    linear = overlap / np.where(has_overlap, largest, 1.0)[:, np.newaxis]
    bound = n_classes / float(overlaps.diagonal().min())
    gram = np.zeros((n_classes + 1, n_classes + 1))
    gram[:n_classes, :n_classes] = bound * overlaps
    start = np.append(prior / bound, 1 - 1 / bound)
    u = minimise_on_simplex(gram, np.pad(linear, ((0, 0), (0, 1))), start)[:, :n_classes]
    u[~has_overlap] = prior
    return u / u.sum(axis=1, keepdims=True), has_overlap


def nearest_mixture(
    samples: Reals, classes: Reals, start: Prevalences
) -> tuple[Prevalences, Reals]:
    """The p of least sum (sqrt(p . classes) - sqrt(sample))^2, and Hellinger distances.

    samples: masses in cells, (n_samples, n_cells); classes: (n_classes, n_cells).
    """
    mass = classes.sum(axis=1)
    masses, class_masses = np.ascontiguousarray(samples), np.ascontiguousarray(classes)
    p_hat = nearest_histograms(masses, class_masses, mass / 2, start, 1, HELLINGER)
    alike = np.sqrt((p_hat @ classes) * samples).sum(axis=1)
    squares = p_hat @ mass - 2 * alike + samples.sum(axis=1)
    return p_hat, np.sqrt(np.clip(squares / 2, 0.0, 1.0))


def _grid(bandwidth: float) -> tuple[Reals, Reals]:
    """Posteriors of two classes from below 0 to above 1, and the width of their cells."""
    width = bandwidth / np.sqrt(2)  # the points (1 - s, s) are sqrt(2) times as far apart as s
    steps = int(np.ceil((1 + 2 * MARGIN * width) * PER_BANDWIDTH / width))
    s = np.linspace(-MARGIN * width, 1 + MARGIN * width, steps + 1)
    height = 1 / (np.sqrt(2 * np.pi) * width)
    return np.column_stack([1 - s, s]), np.full(len(s), height * (s[1] - s[0]))


def _drawn_points(classes: ClassPoints, bandwidth: float, per_class: int, seed: int) -> Reals:
    """Points of each class's density, (n_classes * per_class, n_classes).

    Their sum is one as that of the items: what the Gaussian does across the plane cancels. The draw
    does not depend on the order of the items and, unless classes tie, of the classes.
    """
    n_classes = len(classes)
    parts = classes.parts()
    posteriors = [classes.weights[part] @ classes.points[part, k] for k, part in enumerate(parts)]
    columns = np.argsort(posteriors, kind="stable")
    rng = generator(seed, purpose="KDEyHD")
    noise = bandwidth * rng.normal(size=(per_class, n_classes))
    noise -= noise.mean(axis=1, keepdims=True)
    drawn = np.empty((n_classes, per_class, n_classes))
    for k in columns:
        points, weights = classes.points[parts[k]][:, columns], classes.weights[parts[k]]
        order = np.lexsort(points.T)
        upto = np.cumsum(weights[order] * classes.sizes[k])
        quantiles = (np.arange(per_class) + 0.5) / per_class * classes.sizes[k]
        positions = np.minimum(np.searchsorted(upto, quantiles), len(order) - 1)
        drawn[k][:, columns] = points[order[positions]] + noise[rng.permutation(per_class)]
    return drawn.reshape(-1, n_classes)
