"""Energy distances: the mixture of the training classes that is closest to the sample.

With X, X' drawn from the mixture of prevalence p and Y, Y' from the sample, the energy distance is
2 E|X - Y| - E|X - X'| - E|Y - Y'|: never negative, and zero only if the two distributions are the
same. With d_k the mean distance of the sample's items to those of class k, and D_kl that between
classes, it is 2 p.d - p'Dp plus a constant: quadratic in p, so that its minimum is found exactly.

References: H. Kawakubo, M. du Plessis and M. Sugiyama, "Computationally efficient class-prior
estimation under class balance change using energy distance", IEICE Transactions 2016; A. Castano
et al., "An analysis of quantification methods based on matching distributions", 2019.
"""

from dataclasses import replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quantshift.base.domains import Seed
from quantshift.base.types import Codes, Posteriors
from quantshift.classify.classifier import Classifier
from quantshift.classify.folds import Folds
from quantshift.errors import DataError
from quantshift.items.items import Items, dense_features
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractAggregative, AbstractWithoutOptions
from quantshift.quantifiers.base.tags import FEATURES, PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.matching.class_kernels import (
    AbstractMeanMatching,
    ClassPoints,
    mean_distances,
)

Metric: TypeAlias = Literal["manhattan", "euclidean"]


class EDy(AbstractMeanMatching, AbstractAggregative):
    """Energy Distance y-similarity: the mixture of the classes' posteriors closest to the sample's.

    If some classes are mixtures of others, the estimate is the one closest to the training
    prevalence among those that fit equally well (`fallback`).

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    metric : {"manhattan", "euclidean"}
        "manhattan" (default) or "euclidean" distances between vectors of posteriors. With two
        classes both give the same estimate.
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
    >>> from quantshift.quantifiers import EDy
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = EDy().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback']
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.JOINT, smooth=True)

    class_points_: ClassPoints

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        metric: Metric = "manhattan",
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.metric = metric
        self.cv = cv
        self.random_state = random_state

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        self.class_points_ = ClassPoints.of(posteriors, codes, len(self.classes_), weights)
        self.gram_ = -class_distances(self.class_points_, self.metric)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return -mean_distances(self.class_points_, posteriors, self.metric)


class CvMy(AbstractMeanMatching, AbstractWithoutOptions):
    """Cramer-von Mises y-similarity: EDy on the ranks of posteriors.

    Minimises sum_c int (F_p,c - G_c)^2 dH_c over the mixtures p, where F_p,c and G_c are the
    distribution functions of class c's posterior in the mixture and in the sample, and H_c is that
    of all training items: the energy distance (Manhattan) of the posteriors' mid-ranks among the
    training items. It does not change if a posterior is replaced by an increasing function of it.
    Falls back as EDy does.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
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
    >>> from quantshift.quantifiers import CvMy
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = CvMy().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback']
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.ONE_AGAINST_REST, smooth=True)

    class_points_: ClassPoints
    order_: tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        item_weights = np.ones(len(codes)) if weights is None else weights
        self.order_ = tuple(
            _distribution(column, item_weights / item_weights.sum()) for column in posteriors.T
        )
        self.class_points_ = ClassPoints.of(
            self._ranks(posteriors), codes, len(self.classes_), weights
        )
        self.gram_ = -class_distances(self.class_points_, "manhattan")

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return -mean_distances(self.class_points_, self._ranks(posteriors), "manhattan")

    def _ranks(self, posteriors: Posteriors) -> NDArray[np.float64]:
        """Mid-ranks among the training items, column by column, between 0 and 1."""
        columns = [
            (below[np.searchsorted(values, x)] + below[np.searchsorted(values, x, "right")]) / 2
            for x, (values, below) in zip(posteriors.T, self.order_, strict=True)
        ]
        return np.stack(columns, axis=1)


class EDx(AbstractMeanMatching):
    """Energy Distance x-similarity: the mixture of the classes' features closest to the sample's.

    Falls back as EDy does.

    Parameters
    ----------
    metric : {"manhattan", "euclidean"}
        "manhattan" (default) or "euclidean" distances between rows of features. The scale of
        features matters: standardise them first, e.g. by a pipeline.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import EDx
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = EDx().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['clipped', 'fallback']
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, sees=FEATURES)

    class_points_: ClassPoints

    def __init__(self, *, metric: Metric = "manhattan") -> None:
        self.metric = metric

    def _learn(self, items: Items, codes: Codes) -> None:
        X = dense_features(items, "EDx")
        self.class_points_ = ClassPoints.of(X, codes, len(self.classes_), items.weights)
        self.gram_ = -class_distances(self.class_points_, self.metric)

    def _represent_items(self, items: Items) -> NDArray[Any]:
        X = dense_features(items, "EDx")
        n_features = self.class_points_.points.shape[1]
        if X.shape[1] != n_features:
            raise DataError(f"{X.shape[1]} features, but {n_features} in training")
        return -mean_distances(self.class_points_, X, self.metric)


def class_distances(classes: ClassPoints, metric: str) -> NDArray[np.float64]:
    """Mean distances between the items of two classes, (n_classes, n_classes)."""
    return classes.pair_means(lambda points: mean_distances(classes, points, metric))


def _distribution(
    column: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sorted values, and the share of items before each position."""
    order = np.argsort(column)
    return column[order], np.concatenate([[0.0], np.cumsum(weights[order])])
