"""Kernel means: the mixture of the training classes whose kernel mean matches the sample's.

A kernel k(x, y) = phi(x).phi(y) maps items to a space of functions, in which the mean of a sample
determines its distribution if the kernel is characteristic, as the Gaussian one is. With G_kl the
mean kernel between items of classes k and l, and g_k between the sample and class k, the squared
distance of the means (maximum mean discrepancy) is p'Gp - 2 p.g plus a constant: its minimum on the
simplex is found exactly. A negative distance works like a kernel here, and gives the energy
distance.

Random Fourier features replace phi by n_components cosines and sines, so that the cost does not
depend on the number of training items.

References: A. Iyer, S. Nath and S. Sarawagi, "Maximum mean discrepancy for class ratio estimation:
convergence bounds and kernel selection", ICML 2014; B. Dussap, G. Blanchard and B.-E.
Cherief-Abdellatif, "Label shift quantification with robustness guarantees via distribution feature
matching", ECML PKDD 2023; A. Rahimi and B. Recht, "Random features for large-scale kernel
machines", NIPS 2007.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quantshift.base.domains import Positive, Seed, Several
from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Posteriors, Reals
from quantshift.classify.classifier import Classifier
from quantshift.classify.folds import Folds
from quantshift.errors import DataError
from quantshift.items.items import Items, dense_features
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractAggregative
from quantshift.quantifiers.base.tags import FEATURES, PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.matching.class_kernels import (
    AbstractMeanMatching,
    ClassPoints,
    mean_distances,
    mean_gaussians,
)

Kernel: TypeAlias = Literal["rbf", "energy", "rff"]

BLOCK_VALUES = 1 << 20
"""The most random feature values that are computed at once."""


@dataclass(frozen=True, eq=False)
class MeanKernel:
    """The mean kernel of points with the items of each class.

    frequencies: of random Fourier features, (n_dimensions, n_frequencies), or None; class_means:
    of these features, (n_features, n_classes), or None.
    """

    training: ClassPoints
    kernel: str
    gamma: float
    frequencies: Reals | None = None
    class_means: Reals | None = None

    def __call__(self, points: Reals) -> Reals:
        """Mean kernels, (n_classes, n_points)."""
        if self.kernel == "energy":
            return -mean_distances(self.training, points, "euclidean")
        if self.frequencies is None or self.class_means is None:
            return mean_gaussians(
                self.training, points, np.full(len(self.training), 2 * self.gamma)
            )
        values = np.empty((len(self.training), len(points)))
        for block in _blocks(len(points), len(self.class_means)):
            values[:, block] = (_waves(points[block], self.frequencies) @ self.class_means).T
        return values

    def gram(self) -> Reals:
        """Mean kernels between classes, (n_classes, n_classes)."""
        if self.class_means is not None:
            return np.asarray(self.class_means.T @ self.class_means)
        return self.training.pair_means(self)


class MMDy(AbstractMeanMatching, AbstractAggregative):
    """Maximum Mean Discrepancy y-similarity: matches kernel means of posteriors.

    Falls back as EDy does.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    kernel : {"rbf", "energy", "rff"}
        "rbf" (default), exp(-gamma |x - y|^2); "energy", minus the Euclidean distance, which is EDy
        with that metric; "rff", random Fourier features of "rbf".
    gamma : float, optional
        Of "rbf" and "rff"; default: one over the number of classes.
    n_components : int
        Random features of "rff", half of them cosines; `random_state` draws their frequencies.
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
    >>> from quantshift.quantifiers import MMDy
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = MMDy().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback']
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.JOINT, smooth=True)

    kernel_: MeanKernel

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        kernel: Kernel = "rbf",
        gamma: Positive | None = None,
        n_components: Several = 1000,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.cv = cv
        self.random_state = random_state

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        class_points = ClassPoints.of(posteriors, codes, len(self.classes_), weights)
        self.kernel_ = _mean_kernel(
            class_points, self.kernel, self.gamma, self.n_components, self.random_state
        )
        self.gram_ = self.kernel_.gram()

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return self.kernel_(posteriors)


class MMDx(AbstractMeanMatching):
    """Maximum Mean Discrepancy x-similarity: matches kernel means of features.

    Falls back as EDy does.

    Parameters
    ----------
    kernel : {"rbf", "energy", "rff"}
        As for MMDy; the default of gamma is one over the number of features. The scale of features
        matters: standardise them first, e.g. by a pipeline.
    gamma : float, optional
        See `kernel`.
    n_components : int
        See `kernel`.
    random_state : int
        Draws the frequencies of "rff".

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import MMDx
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = MMDx().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback']
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, sees=FEATURES)

    kernel_: MeanKernel

    def __init__(
        self,
        *,
        kernel: Kernel = "rbf",
        gamma: Positive | None = None,
        n_components: Several = 1000,
        random_state: Seed = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def _learn(self, items: Items, codes: Codes) -> None:
        X = dense_features(items, "MMDx")
        class_points = ClassPoints.of(X, codes, len(self.classes_), items.weights)
        self.kernel_ = _mean_kernel(
            class_points, self.kernel, self.gamma, self.n_components, self.random_state
        )
        self.gram_ = self.kernel_.gram()

    def _represent_items(self, items: Items) -> NDArray[Any]:
        X = dense_features(items, "MMDx")
        n_features = self.kernel_.training.points.shape[1]
        if X.shape[1] != n_features:
            raise DataError(f"{X.shape[1]} features, but {n_features} in training")
        return self.kernel_(X)


def _mean_kernel(
    classes: ClassPoints, kernel: str, gamma: float | None, n_components: int, seed: int
) -> MeanKernel:
    n_dimensions = classes.points.shape[1]
    gamma = 1 / n_dimensions if gamma is None else gamma
    if kernel != "rff":
        return MeanKernel(classes, kernel, gamma)
    rng = generator(seed, purpose="random Fourier features")
    frequencies = np.sqrt(2 * gamma) * rng.normal(size=(n_components // 2, n_dimensions)).T
    means = np.zeros((2 * (n_components // 2), len(classes)))
    for k, part in enumerate(classes.parts()):
        points, weights = classes.points[part], classes.weights[part]
        for block in _blocks(len(points), len(means)):
            means[:, k] += weights[block] @ _waves(points[block], frequencies)
    return MeanKernel(classes, kernel, gamma, frequencies, means)


def _waves(points: Reals, frequencies: Reals) -> Reals:
    """Random Fourier features, (n_points, 2 n_frequencies); products approximate the kernel."""
    phase = points @ frequencies
    waves = np.hstack([np.cos(phase), np.sin(phase)])
    return np.asarray(waves / np.sqrt(frequencies.shape[1]))


def _blocks(n_items: int, n_values: int) -> list[slice]:
    at_once = max(1, BLOCK_VALUES // n_values)
    return [slice(start, start + at_once) for start in range(0, n_items, at_once)]
