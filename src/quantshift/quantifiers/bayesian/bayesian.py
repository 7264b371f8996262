"""Bayesian quantification: the full posterior of a prevalence.

The estimate is the posterior's mean, and the interval of `predict_interval` covers its central
part: it accounts for the randomness of the training items and of the sample. A prior of equal
shares (`alpha`) pulls estimates of small samples towards it, and if the classifier is uninformative
the posterior equals the prior.

References: A. Ziegler and P. Czyz, "Bayesian quantification with black-box estimators", TMLR 2024
(BayesianCC); A. B. Igiraneza, C. Fraser and R. Hinch, "Estimating prevalence with precision and
accuracy", 2025, arXiv 2507.06061 (PQ); A. Moreo, P. Gonzalez and J. J. del Coz, "Kernel density
estimation for multiclass quantification", Machine Learning 114 (2025).
"""

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from quantshift.base.domains import Positive, Seed, Several, Within
from quantshift.base.seeding import generator, seed_of
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.classifier import Classifier
from quantshift.classify.folds import Folds
from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError, UserError
from quantshift.items.items import Items, uneven
from quantshift.items.predictions import hard_predictions
from quantshift.items.samples import Samples, count_samples, index_blocks
from quantshift.prevalence.weights import Weights, checked_weights, weighted_quantiles
from quantshift.quantifiers.base.estimator import AbstractAggregative, Diagnostics
from quantshift.quantifiers.base.tags import PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.bayesian.gibbs import PosteriorDraws, TwoByTwo, gibbs
from quantshift.quantifiers.bayesian.mixture_posterior import WeightedNodes, posterior_nodes
from quantshift.quantifiers.matching.kdey import Bandwidth, KDEyML, Kernel

DIAGNOSTICS: Mapping[str, str] = MappingProxyType({"uncertainty": "float"})
"""The largest standard deviation of a class's share in the posterior."""

RESAMPLED = 50
"""Resampled sets of training items under whose densities posteriors are drawn."""


class AbstractBayesian(AbstractAggregative):
    """A method with a posterior of the prevalence, whose mean is the estimate."""

    diagnostics: ClassVar[Mapping[str, str]] = DIAGNOSTICS

    @abstractmethod
    def _draw(
        self,
        representation: NDArray[Any],
        index: Indices,
        weights: Weights | None,
        n_draws: int,
        seed: int,
    ) -> Prevalences:
        """Draws of the posteriors of the samples in the index matrix."""

    @property
    def shrinks(self) -> bool:
        """True, because there is a prior."""
        return True

    def posterior(
        self,
        X: Any,
        samples: Samples | None = None,
        *,
        n_draws: int = 1000,
        random_state: int = 0,
        sample_weight: ArrayLike | None = None,
    ) -> Prevalences:
        """Draws of the prevalence of the sample X from its posterior, (n_draws, n_classes).

        With `samples`, draws for each of them, (n_samples, n_draws, n_classes).
        """
        return self._posterior(self.items(X, sample_weight), samples, n_draws, random_state)

    def aggregate_posterior(
        self,
        posteriors: ArrayLike,
        samples: Samples | None = None,
        *,
        n_draws: int = 1000,
        random_state: int = 0,
        sample_weight: ArrayLike | None = None,
    ) -> Prevalences:
        """Like `posterior`, for items given by their posteriors (n_items, n_classes)."""
        check_is_fitted(self, "classes_")
        pool = check_posteriors(posteriors, self.classes_)
        if pool.ndim != 2:
            raise DataError(f"draws need posteriors (n_items, n_classes), got {pool.shape}")
        item_weights = checked_weights(sample_weight, len(pool))
        return self._posterior(Items(pool, weights=item_weights), samples, n_draws, random_state)

    def draws(
        self, items: Items, samples: Samples, n_draws: int, *, random_state: int = 0
    ) -> Prevalences | None:
        """Draws of each sample's prevalence from its posterior, (n_samples, n_draws, n_classes)."""
        weights = uneven(checked_weights(items.weights, len(items)))
        representation = self._represent_items(items)
        drawn = np.empty((count_samples(samples), n_draws, len(self.classes_)))
        for members, index in index_blocks(samples, len(items)):
            drawn[members] = self._draw(representation, index, weights, n_draws, random_state)
        return drawn

    def _posterior(
        self, items: Items, samples: Samples | None, n_draws: int, seed: int
    ) -> Prevalences:
        if n_draws < 1:
            raise UserError(f"n_draws must be at least 1, got {n_draws}")
        one = np.arange(len(items))[np.newaxis]
        drawn = self.draws(items, one if samples is None else samples, n_draws, random_state=seed)
        draws = np.asarray(drawn)
        return draws[0] if samples is None else draws


class AbstractCellCounts(AbstractBayesian):
    """A method that counts items in cells.

    Parameters that it expects: `alpha`, `n_draws` and `random_state`.
    """

    class_counts_: Reals

    @abstractmethod
    def _learn_cells(self, posteriors: Posteriors, weights: Weights | None) -> None:
        """Learn what the cells are from held-out posteriors."""

    @abstractmethod
    def _cells(self, posteriors: Posteriors) -> NDArray[Any]:
        """Indicators of the cell that each item is in, (n_cells, n_items)."""

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        self._learn_cells(posteriors, weights)
        members = np.eye(len(self.classes_))[codes]
        members = members if weights is None else members * weights[:, np.newaxis]
        self.class_counts_ = np.asarray((self._cells(posteriors) @ members).T)
        self._prepare()

    @abstractmethod
    def _prepare(self) -> None:
        """Compute what does not depend on a sample, from `class_counts_`."""

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return self._cells(posteriors)

    def _counts(self, representation: NDArray[Any], index: Indices, weights: Any) -> Reals:
        """Items of each sample in each cell, (n_samples, n_cells)."""
        factors = 1.0 if weights is None else weights[index]
        return np.stack([(row[index] * factors).sum(axis=1) for row in representation], axis=1)

    def _gibbs(self, counts: Reals, n_draws: int, seed: int) -> PosteriorDraws:
        alpha = self.get_params(deep=False)["alpha"]
        return gibbs(self.class_counts_, counts, alpha=alpha, n_draws=n_draws, seed=seed)


class BayesianCC(AbstractCellCounts):
    """Bayesian Classify and Count: ACC's model, with the posterior of rates and prevalence.

    Two classes: on a grid, which is deterministic. More classes: by Gibbs sampling.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    alpha : float
        Of the Dirichlet prior on the prevalence; 1 is flat.
    n_draws : int
        Number of draws of the Gibbs sampler, whose mean is the estimate; `random_state` is also for
        these draws.
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
    >>> from quantshift import BayesianCC
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = BayesianCC().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['uncertainty']
    """

    recommended: ClassVar[str] = "as for ACC, with draws of a posterior"
    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.PREDICTIONS)

    grid_: TwoByTwo | None

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        alpha: Positive = 1.0,
        n_draws: Several = 1000,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.alpha = alpha
        self.n_draws = n_draws
        self.cv = cv
        self.random_state = random_state

    def _prepare(self) -> None:
        two = len(self.classes_) == 2
        self.grid_ = TwoByTwo.of(self.class_counts_, self.alpha) if two else None

    def _learn_cells(self, posteriors: Posteriors, weights: Weights | None) -> None:
        pass

    def _cells(self, posteriors: Posteriors) -> NDArray[Any]:
        return hard_predictions(posteriors)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        counts = self._counts(representation, index, weights)
        if self.grid_ is None:
            drawn = self._gibbs(counts, self.n_draws, self.random_state)
            return drawn.p_mean, {"uncertainty": drawn.p.std(axis=1).max(axis=1)}
        masses, p = self.grid_.masses(counts), self.grid_.p
        mean = masses @ p
        spread = np.sqrt(np.maximum(masses @ p**2 - mean**2, 0.0))
        return np.stack([1 - mean, mean], axis=1), {"uncertainty": spread}

    def _draw(
        self,
        representation: NDArray[Any],
        index: Indices,
        weights: Weights | None,
        n_draws: int,
        seed: int,
    ) -> Prevalences:
        counts = self._counts(representation, index, weights)
        if self.grid_ is None:
            return self._gibbs(counts, n_draws, seed).p
        return self.grid_.draws(self.grid_.masses(counts), n_draws, seed)


class PQ(AbstractCellCounts):
    """Precise Quantifier: the posterior of the share among the sample's own items, from score bins.

    Unlike those of other methods, its intervals are for the items of the sample, not for the
    population they were drawn from.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    n_bins : int
        Bins of the score of the second of two classes, with equal numbers of held-out items. With
        more classes, n_bins // 2 bins of the posterior of each predicted class.
    alpha : float
        As in BayesianCC.
    n_draws : int
        As in BayesianCC.
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
    >>> from quantshift.quantifiers import PQ
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = PQ().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['uncertainty']
    """

    tags: ClassVar[Tags] = replace(
        PRIOR_SHIFT,
        reads=Reading.PREDICTED,
        interval_note="the interval is for the share among the items of the sample",
    )

    edges_: tuple[Reals, ...]

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        n_bins: Several = 4,
        alpha: Positive = 1.0,
        n_draws: Several = 1000,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.n_bins = n_bins
        self.alpha = alpha
        self.n_draws = n_draws
        self.cv = cv
        self.random_state = random_state

    def _learn_cells(self, posteriors: Posteriors, weights: Weights | None) -> None:
        item_weights = np.ones(len(posteriors)) if weights is None else weights
        if posteriors.shape[1] == 2:
            self.edges_ = (_inner_edges(posteriors[:, 1], item_weights, self.n_bins),)
            return
        winner = posteriors.argmax(axis=1)
        self.edges_ = tuple(
            _inner_edges(posteriors[winner == k, k], item_weights[winner == k], self.n_bins // 2)
            for k in range(posteriors.shape[1])
        )

    def _prepare(self) -> None:
        pass

    def _cells(self, posteriors: Posteriors) -> NDArray[Any]:
        if posteriors.shape[1] == 2:
            return _indicators(posteriors[:, 1], self.edges_[0])
        predicted = hard_predictions(posteriors)
        return np.concatenate(
            [
                is_predicted * _indicators(score, edges)
                for is_predicted, score, edges in zip(
                    predicted, posteriors.T, self.edges_, strict=True
                )
            ]
        )

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        counts = self._counts(representation, index, weights)
        drawn = self._gibbs(counts, self.n_draws, self.random_state)
        return drawn.own_mean, {"uncertainty": drawn.own.std(axis=1).max(axis=1)}

    def _draw(
        self,
        representation: NDArray[Any],
        index: Indices,
        weights: Weights | None,
        n_draws: int,
        seed: int,
    ) -> Prevalences:
        return self._gibbs(self._counts(representation, index, weights), n_draws, seed).own


class BayesianKDEy(AbstractBayesian):
    """Bayesian Kernel Density Estimation y: the posterior mean where KDEyML takes the maximum.

    The estimate takes the densities as known. Draws account for the randomness of the training
    items: they come from the posteriors under densities of resampled training items.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    bandwidth : {"scott", "silverman"} or float
        As in KDEyML.
    kernel : {"gaussian", "aitchison", "ilr"}
        As in KDEyML.
    shrinkage : float
        As in KDEyML.
    alpha : float
        As in BayesianCC.
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
    >>> from quantshift.quantifiers import BayesianKDEy
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = BayesianKDEy().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['effective_size', 'uncertainty']
    """

    tags: ClassVar[Tags] = replace(
        PRIOR_SHIFT, reads=Reading.JOINT, smooth=True, draws_resample_training=True
    )
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {**DIAGNOSTICS, "effective_size": "float"}
    )

    densities_: KDEyML

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        bandwidth: Bandwidth = 0.1,
        kernel: Kernel = "gaussian",
        shrinkage: Annotated[float, Within(least=0, below=1)] = 0.0,
        alpha: Positive = 1.0,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.shrinkage = shrinkage
        self.alpha = alpha
        self.cv = cv
        self.random_state = random_state

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        self.densities_ = KDEyML(
            bandwidth=self.bandwidth, kernel=self.kernel, shrinkage=self.shrinkage
        ).fit_posteriors(posteriors, codes, sample_weight=weights)

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return self.densities_._represent(posteriors)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        nodes = self._nodes(representation, index, weights)
        return nodes.mean(), {
            "uncertainty": nodes.spread(),
            "effective_size": nodes.effective_size(),
        }

    def draws(
        self, items: Items, samples: Samples, n_draws: int, *, random_state: int = 0
    ) -> Prevalences | None:
        """Draws of each sample's prevalence, (n_samples, n_draws, n_classes).

        Parts of them come from posteriors under different resampled sets of training items.
        """
        refit = self.densities_.refitter()
        classes = [np.flatnonzero(self.held_out_codes_ == k) for k in range(len(self.classes_))]
        drawn = np.empty((count_samples(samples), n_draws, len(self.classes_)))
        for number, part in enumerate(np.array_split(np.arange(n_draws), min(RESAMPLED, n_draws))):
            rng = generator(random_state, purpose="resampled training items", replicate=number)
            rows = np.concatenate([rng.choice(members, len(members)) for members in classes])
            replicate = copy(self)
            replicate.densities_ = refit(rows)
            drawn[:, part] = AbstractBayesian.draws(
                replicate,
                items,
                samples,
                len(part),
                random_state=seed_of(random_state, replicate=number),
            )
        return drawn

    def _draw(
        self,
        representation: NDArray[Any],
        index: Indices,
        weights: Weights | None,
        n_draws: int,
        seed: int,
    ) -> Prevalences:
        return self._nodes(representation, index, weights).draws(n_draws, seed)

    def _nodes(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None
    ) -> WeightedNodes:
        return posterior_nodes(
            representation,
            index,
            self.prior_,
            alpha=self.alpha,
            seed=self.random_state,
            weights=weights,
        )


def _inner_edges(scores: Reals, weights: Weights, n_bins: int) -> Reals:
    """Borders between bins of equal weight; fewer if scores are tied.

    A border at the smallest score, which is also the quantile if many posteriors are exactly 0,
    would leave the bin below it empty: it is moved to the next score.
    """
    if not len(scores):
        return np.empty(0)
    edges = weighted_quantiles(scores, np.arange(1, n_bins) / n_bins, weights)
    two_smallest = np.unique(scores)[:2]
    return np.unique(np.where(edges <= two_smallest[0], two_smallest[-1], edges))


def _indicators(scores: Reals, edges: Reals) -> Reals:
    """Which bin each score is in, (n_bins, n_items); a score on a border is in the upper one."""
    bins = np.searchsorted(edges, scores, side="right")
    return np.asarray(bins == np.arange(len(edges) + 1)[:, np.newaxis], dtype=np.float64)
