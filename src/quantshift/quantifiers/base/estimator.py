"""The scikit-learn interface of every quantifier.

    X --items--> what the method sees --representation--> rows per item --solution--> prevalence

A method declares what it is (`tags`), most of all what it sees of items: posteriors of a
classifier, those of its committee, features. It defines how an item is represented and how the
samples of an index matrix are solved. Everything else is implemented here: labels of any kind,
weights, the classifier and its out-of-fold posteriors, checks, batches, blocks, diagnostics.

    AbstractQuantifier     any method, such as HDx or those of other libraries
    AbstractClassifying    uses posteriors, and can work with posteriors alone: SubclassSLD
    AbstractAggregative    uses nothing else; a method consists of three functions of posteriors
"""

import inspect
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from types import FrameType, MappingProxyType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Protocol,
    Self,
    TypeAlias,
    runtime_checkable,
)

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from quantshift.base.domains import Seed, Such, check_options
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences
from quantshift.classify.classifier import (
    Classifier,
    cross_fit,
    fit_classifier,
    frame_columns,
    item_rows,
    n_rows,
    predict_posteriors,
    set_columns,
)
from quantshift.classify.folds import Folds, fold_of_each, folds_of
from quantshift.classify.posteriors import EMPTY, check_posteriors, check_shape
from quantshift.errors import DataError, UserError
from quantshift.intervals.prediction import PrevalenceInterval, item_interval
from quantshift.intervals.regions import Region, RegionKind, region_of
from quantshift.intervals.targets import POPULATION, Whose
from quantshift.items.estimate import Diagnostics as Diagnostics
from quantshift.items.estimate import Estimate as Estimate
from quantshift.items.items import Items, check_rows, take_rows, uneven
from quantshift.items.samples import (
    Blocks,
    Samples,
    consecutive_blocks,
    count_samples,
    index_blocks,
    whole_pool,
)
from quantshift.prevalence import simplex
from quantshift.prevalence.labels import declared_order, encode_labels
from quantshift.prevalence.masks import real_numbers
from quantshift.prevalence.weights import Weights, checked_weights
from quantshift.quantifiers.base.tags import TAG_NAMES, Tags
from quantshift.quantifiers.base.training_labels import (
    at_least_two_classes,
    check_sorted,
    labelled_posteriors,
    training_weights,
)

if TYPE_CHECKING:
    import polars as pl

CV, RANDOM_STATE = 5, 0
"""Folds of the out-of-fold posteriors, and their seed, if a method has no such options."""

ROUNDING = 1e-6
"""How far an estimate may be from the simplex."""


class Reduction(Protocol):
    """A reduction of features, learnt from the training items, that applies to other items."""

    @property
    def training(self) -> Any:
        """The reduced features of the training items."""

    def __call__(self, features: Any) -> Any:
        """The reduced features of other items."""


@dataclass(frozen=True, eq=False)
class Unreduced:
    """Features as they are."""

    training: Any

    def __call__(self, features: Any) -> Any:  # noqa: D102
        return features


class AbstractQuantifier(BaseEstimator, ABC):  # type: ignore[misc]
    """What all quantifiers share: fit on labelled items, estimate the prevalence of samples.

    Fitted state: `classes_` (sorted labels), `prior_` (training prevalence), `classifier_` (None if
    there is none or the method was fitted from items), `held_out_` and `held_out_codes_` (what the
    method has seen of the training items, from which it can be fitted again), and what the method
    itself learns.

    >>> from quantshift import SLD
    >>> isinstance(SLD(), AbstractQuantifier), SLD.tags.assumption
    (True, 'P(X|Y) is the same in the sample (prior shift), posteriors calibrated')
    """

    tags: ClassVar[Tags]
    """What the method is: what it sees, what it assumes, how it is to be treated."""

    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Diagnostics with one number per sample: their names, and "bool", "int" or "float"."""

    recommended: ClassVar[str] = ""
    """When to use it, if it is one of the few to begin with; not inherited."""

    later_options: ClassVar[frozenset[str]] = frozenset()
    """Options that were added later: at their defaults they are not part of signatures."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in TAG_NAMES & vars(cls).keys():
            raise UserError(
                f"{cls.__name__}.{name} would be ignored: write it as tags = Tags({name}=...)"
            )

    classes_: NDArray[Any]
    prior_: Prevalences
    classifier_: Any
    committee_: tuple[Any, ...]
    reduction_: Reduction | None
    held_out_: Items
    held_out_codes_: Codes
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the quantifier, and the classifier if it has one, on labelled items.

        Parameters
        ----------
        X : items
            Whatever the classifier takes: dense, sparse, a data frame, a list of texts for a
            pipeline.
        y : array of shape (n_items,)
            Labels of any kind.
        sample_weight : array of shape (n_items,), optional
            How many items each item of X stands for; the classifier gets them as `sample_weight`.
            Folds are drawn without regard to weights, so that repeating items and weighting them
            give the same estimates apart from the random folds.

        Notes
        -----
        A `FrozenEstimator` is used as it is: X and y must then be items it has not been trained on.
        The option `cv` is the number of folds (None: 5), an array with the fold of each item, a
        list of (training, held out) positions, or a splitter of scikit-learn that holds out every
        item once.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import SLD
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> from sklearn.model_selection import KFold
        >>> fitted = SLD(cv=KFold(3, shuffle=True, random_state=0)).fit(X, y)
        >>> fitted.classes_.tolist(), fitted.prior_.tolist()
        (['ham', 'spam'], [0.5, 0.5])
        """
        return self._fit(X, y, sample_weight, self.reduction)

    def fit_items(
        self, items: Items, y: Any, *, classes: Any = None, reduction: Reduction | None = None
    ) -> Self:
        """Fit from labelled items whose posteriors or features are known, classified by any model.

        Parameters
        ----------
        items : Items
            Their posteriors must be of items that the model was not trained on (held out or out of
            fold), columns in the order of `classes`; their features must be reduced by `reduction`.
        y : array of shape (n_items,)
            Their labels.
        classes : array of shape (n_classes,), optional
            The label of each column; default: the sorted labels that occur in y.
        reduction : Reduction, optional
            That of the features, if there is one.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import SLD, PACC
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> first = PACC().fit(X, y)
        >>> second = SLD().fit_items(first.held_out_, y)  # the same posteriors, another method
        >>> second.estimate_items(first.items(X[100:250])).prevalence.round(1)
        array([0.7, 0.3])
        """
        check_options(self)
        class_labels, codes = at_least_two_classes(*encode_labels(y, classes=classes))
        if self.tags.ordered and classes is None:
            check_sorted(declared_order(y, class_labels), class_labels)
        if items and len(items) != len(codes):
            raise DataError(f"{len(items)} items do not fit {len(codes)} labels: give one each")
        if items.posteriors is not None:
            # A copy, so that it does not change with the caller's array.
            checked = np.array(check_posteriors(items.posteriors, class_labels))
            items = replace(items, posteriors=checked)
        set_columns(self, None)
        self.classifier_, self.committee_, self.reduction_ = None, (), reduction
        weights = training_weights(items.weights, codes, class_labels)
        if weights is not None and not weights.all():
            rows = np.flatnonzero(weights)
            items, codes = items.take(rows), codes[rows]
        return self._set_fitted(items, codes, class_labels)

    def predict(
        self, X: Any, samples: Samples | None = None, *, sample_weight: ArrayLike | None = None
    ) -> Prevalences:
        """Prevalence of the sample X, shape (n_classes,), in the order of `classes_`.

        With `samples` (an index matrix or a list of index arrays into X) the prevalence of each
        of them, shape (n_samples, n_classes); X is classified once.

        Parameters
        ----------
        X : items, as `fit` takes them
        samples : index matrix or list of index arrays, optional
            Samples of X.
        sample_weight : array of shape (n_items,), optional
            How much each item of X counts.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import SLD
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> SLD().fit(X, y).predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
        array([0.7, 0.3])
        """
        _refuse_cross_val_predict(sys._getframe(1))
        return self.estimate(X, samples, sample_weight=sample_weight).prevalence

    def estimate(
        self, X: Any, samples: Samples | None = None, *, sample_weight: ArrayLike | None = None
    ) -> Estimate:
        """Like `predict`, with the diagnostics.

        Parameters
        ----------
        X : items, as `fit` takes them
        samples : index matrix or list of index arrays, optional
            Samples of X.
        sample_weight : array of shape (n_items,), optional
            How many items each item of X stands for, in whichever sample it is.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> estimate = PACC().fit(X, y).estimate(X[100:250])
        >>> estimate.prevalence.round(1), sorted(estimate.diagnostics)
        (array([0.7, 0.3]), ['clipped', 'fallback', 'separation'])
        """
        return self.estimate_items(self.items(X, sample_weight), samples)

    def predict_interval(
        self,
        X: Any,
        samples: Samples | None = None,
        *,
        level: float = 0.95,
        n_bootstrap: int = 1000,
        simultaneous: bool = False,
        random_state: int = 0,
        sample_weight: ArrayLike | None = None,
        of: Whose = POPULATION,
    ) -> PrevalenceInterval:
        """Like `predict`, with the limits of each share.

        A `Pipeline` of scikit-learn that ends in a quantifier passes on `predict` alone. Put the
        other steps inside the classifier: `SLD(make_pipeline(StandardScaler(), ...))`.

        Parameters
        ----------
        X : items, as `fit` takes them
        samples : index matrix or list of index arrays, optional
            Samples of X; each gets its interval.
        level : float
            Confidence level.
        n_bootstrap : int
            Replicates, on resampled training items and resampled items of the sample.
        simultaneous : bool
            Make the limits so wide that all classes are within theirs at once with probability
            `level`. Two classes have one share between them, and nothing changes.
        random_state : int
            Seed of the replicates.
        sample_weight : array of shape (n_items,), optional
            How much each item of X counts.
        of : {"population", "items"}
            Whose share: that of the population the sample was drawn from, or that among its own
            items, which is known better.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> PACC().fit(X, y).predict_interval(X[100:250], n_bootstrap=200)
        PrevalenceInterval(ham: 69.6% (60.7 to 77.1), spam: 30.4% (22.9 to 39.3); level=0.95)
        """
        return item_interval(
            self,
            self.items(X, sample_weight),
            samples,
            level=level,
            n_bootstrap=n_bootstrap,
            simultaneous=simultaneous,
            random_state=random_state,
            of=of,
        )

    def predict_region(
        self,
        X: Any,
        samples: Samples | None = None,
        *,
        kind: RegionKind = "ellipse",
        level: float = 0.95,
        n_bootstrap: int = 1000,
        random_state: int = 0,
        sample_weight: ArrayLike | None = None,
    ) -> Region | list[Region]:
        """Where the prevalences of all classes are at once; a list with `samples`.

        Parameters
        ----------
        kind : {"ellipse", "box", "clr", "ilr"}
            Its form: an ellipse, the same of log-ratios, or limits of each class.
        X, samples, level, n_bootstrap, random_state, sample_weight
            As in `predict_interval`.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> PACC().fit(X, y).predict_region(X[100:250]).contains([[0.7, 0.3], [0.3, 0.7]])
        array([ True, False])
        """
        interval = self.predict_interval(
            X,
            samples,
            level=level,
            n_bootstrap=n_bootstrap,
            random_state=random_state,
            sample_weight=sample_weight,
        )
        return region_of(interval, kind=kind)

    def predict_frame(
        self,
        X: Any,
        samples: Samples | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> "pl.DataFrame":
        """Like `predict`, as a polars frame: a row for each sample, a column for each class.

        This is the one way to shares with names; `.to_pandas()` makes a pandas frame of it. There
        is no `set_output`, which in scikit-learn names the columns of `transform`: what `predict`
        returns stays an array, so that code that takes any estimator can rely on it.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PCC
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> PCC().fit(X, y).predict_frame(X, [range(100, 250), range(200)]).columns
        ['ham', 'spam']
        """
        import polars as pl

        shares = np.atleast_2d(self.predict(X, samples, sample_weight=sample_weight))
        return pl.DataFrame(
            {str(label): column for label, column in zip(self.classes_, shares.T, strict=True)}
        )

    def items(self, X: Any, sample_weight: ArrayLike | None = None) -> Items:
        """What the method sees of the items of X: classify once, estimate many times.

        Parameters
        ----------
        X : items, as `fit` takes them
        sample_weight : array of shape (n_items,), optional
            How much each item counts.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> fitted = PACC().fit(X, y)
        >>> items = fitted.items(X)
        >>> len(items), items.posteriors.shape
        (400, (400, 2))
        """
        self._check_fitted()
        X = item_rows(X)
        n_items = n_rows(X)
        if n_items == 0:
            raise DataError(EMPTY)
        item_weights = checked_weights(sample_weight, n_items)
        if not self.tags.sees:
            # Only the number of items matters.
            self._check_unseen(X)
            return Items(weights=np.ones(n_items) if item_weights is None else item_weights)
        posteriors = committee = features = None
        if "posteriors" in self.tags.sees:
            posteriors = self._posteriors(self.classifier_, X)
        if "committee" in self.tags.sees and self.committee_:
            committee = np.stack([self._posteriors(model, X) for model in self.committee_])
        if "features" in self.tags.sees:
            features = self._features(X)
            features = features if self.reduction_ is None else self.reduction_(features)
        return Items(posteriors, committee, features, item_weights)

    def estimate_items(self, items: Items, samples: Samples | None = None) -> Estimate:
        """Like `estimate`, for items as returned by `items(X)`.

        Parameters
        ----------
        items : Items
            What `items(X)` has returned.
        samples : index matrix or list of index arrays, optional
            Samples of the items.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> fitted = PACC().fit(X, y)
        >>> items = fitted.items(X)
        >>> fitted.estimate_items(items, [range(100, 250), range(200)]).prevalence.round(1) + 0.0
        array([[0.7, 0.3],
               [1. , 0. ]])
        """
        self._check_fitted()
        if samples is not None:
            shape = (count_samples(samples),)
            n_items = len(items) if items else None
            return self._estimate(items, index_blocks(samples, n_items), shape)
        if not len(items):
            raise DataError(EMPTY)
        return self._estimate(items, consecutive_blocks(1, len(items)), ())

    def reduction(self, features: Any, codes: Codes, weights: Weights | None = None) -> Reduction:
        """The method's reduction of features, learnt from those of the training items.

        It does not depend on posteriors, so that all settings of a classifier share it. By
        default features stay as they are. codes, weights: of the training items.
        """
        return Unreduced(features)

    def refit(self, rows: Indices) -> Self:
        """A copy fitted again on some of the items it was fitted on.

        The classifier stays the same. This is one replicate of a bootstrap over the training side.

        Parameters
        ----------
        rows : array
            Positions among the items of the fit, any number of them, perhaps repeated; every class
            must occur.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> fitted = PACC().fit(X, y)
        >>> fitted.refit(np.arange(0, 400, 2)).predict(X[100:250]).round(1)
        array([0.7, 0.3])
        """
        return self.refitter()(rows)

    def refitter(self) -> Callable[[Indices], Self]:
        """`refit` for many calls: what does not depend on the rows is computed once."""
        self._check_fitted()

        def refit(rows: Indices) -> Any:
            return copy(self)._set_fitted(
                self.held_out_.take(rows), self.held_out_codes_[rows], self.classes_
            )

        return refit

    def needs_held_out_posteriors(self) -> bool:
        """Whether the method learns from posteriors of items the classifier has not seen."""
        return self.tags.adjusts

    @property
    def takes_weights(self) -> bool:
        """Whether items may have weights."""
        return _has_weights(self._solve)

    @property
    def shrinks(self) -> bool:
        """Whether estimates are pulled towards a prior, more so for smaller samples."""
        return False

    def draws(
        self, items: Items, samples: Samples, n_draws: int, *, random_state: int = 0
    ) -> Prevalences | None:
        """Draws of each sample's prevalence from its posterior, (n_samples, n_draws, n_classes).

        Intervals use these draws if there are any. None: the method has no posterior, and its
        error is estimated by resampling.
        """
        return None

    @abstractmethod
    def _learn(self, items: Items, codes: Codes) -> None:
        """Learn what is needed from labelled items; `items.weights` is None if all count once."""

    @abstractmethod
    def _represent_items(self, items: Items) -> Any:
        """What each item contributes, shape (n_rows, n_items), or whatever `_solve` takes."""

    @abstractmethod
    def _solve(
        self, representation: Any, index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        """Prevalences (n_samples, n_classes) of the samples in the index matrix.

        weights: of the items of the pool, (n_items,); None: every item counts once.
        """

    def _fit(
        self,
        X: Any,
        y: Any,
        weights: ArrayLike | None,
        reduction: Callable[[Any, Codes, Weights | None], Reduction],
    ) -> Self:
        check_options(self)
        X = item_rows(X)
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: give a "
                "label per item"
            )
        classes, codes = at_least_two_classes(*encode_labels(y))
        declared = declared_order(y, classes) if self.tags.ordered else None
        if declared is not None:
            classes, codes = encode_labels(y, classes=declared)
        if n_rows(X) != len(codes):
            raise DataError(f"X has {n_rows(X)} items but y has {len(codes)} labels")
        if "posteriors" not in self.tags.sees and getattr(X, "shape", ())[1:] == (0,):
            raise DataError(
                f"0 feature(s) (shape={X.shape}) while a minimum of 1 is required: give X a column"
            )
        item_weights = training_weights(weights, codes, classes)
        cv = fold_of_each(self.get_params(deep=False).get("cv", CV), len(codes))
        if item_weights is not None and not item_weights.all():
            rows = np.flatnonzero(item_weights)
            X, codes, item_weights = take_rows(X, rows), codes[rows], item_weights[rows]
            cv = cv if np.ndim(cv) == 0 else np.asarray(cv)[rows]
        item_weights = uneven(item_weights)
        set_columns(self, X)
        if not self.tags.sees:
            self._check_unseen(X)
        self.classifier_, self.committee_, self.reduction_ = None, (), None
        posteriors = features = None
        if "posteriors" in self.tags.sees:
            self.classifier_ = fit_classifier(self._classifier(), X, classes[codes], item_weights)
            if self.needs_held_out_posteriors():
                posteriors, models = self._cross_fit(X, codes, classes, item_weights, cv)
                self.committee_ = models if "committee" in self.tags.sees else ()
        if "features" in self.tags.sees:
            self.reduction_ = reduction(self._features(X), codes, item_weights)
            features = self.reduction_.training
        return self._set_fitted(Items(posteriors, None, features, item_weights), codes, classes)

    def _classifier(self) -> Any:
        return self.get_params(deep=False)["classifier"]

    def _cross_fit(
        self, X: Any, codes: Codes, classes: NDArray[Any], weights: Weights | None, cv: Any
    ) -> tuple[Posteriors, tuple[Any, ...]]:
        """Posteriors of the training items by models that have not seen them, and those models."""
        classifier, options = self._classifier(), self.get_params(deep=False)
        crisp = self.tags.crisp
        if isinstance(classifier, FrozenEstimator):
            return predict_posteriors(classifier, X, classes, crisp=crisp), (classifier,)
        folds = folds_of(cv, codes, seed=options.get("random_state", RANDOM_STATE))
        return cross_fit(classifier, X, codes, classes, folds, crisp=crisp, weights=weights)

    def _check_columns(self, X: Any) -> None:
        """Refuse columns that are not those of the training items, by number, name and order."""
        training_names, names = getattr(self, "feature_names_in_", None), frame_columns(X)
        if training_names is None or names is None:
            self._check_width(X)
        elif names != training_names.tolist():
            others = [name for name in names if name not in training_names] or [
                name for name in training_names if name not in names
            ]
            wrong = f"such as {others[0]!r}" if others else "the same in another order"
            raise DataError(
                "The feature names should match those that were passed during fit: X has other "
                f"columns than the training items, {wrong}; select "
                "X[list(quantifier.feature_names_in_)]"
            )

    def _check_width(self, X: Any) -> None:
        trained, given = getattr(self, "n_features_in_", None), getattr(X, "shape", ())[1:]
        if trained is not None and given and given[0] != trained:
            raise DataError(
                f"X has {given[0]} features, but {type(self).__name__} is expecting {trained} "
                "features as input: give the columns of the training items"
            )

    def _check_unseen(self, X: Any) -> None:
        """Refuse what is no matrix of features, if no classifier and no method looks at them."""
        if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
            check_rows(X, type(self).__name__)
        self._check_columns(X)

    def __sklearn_tags__(self) -> Any:
        """Sparse features are accepted if the classifier accepts them."""
        tags = super().__sklearn_tags__()
        classifier = self.get_params(deep=False).get("classifier")
        accepts = classifier is None or get_tags(classifier).input_tags.sparse
        tags.input_tags.sparse = accepts
        tags.target_tags.required = True
        return tags

    def _check_fitted(self) -> None:
        if "classes_" not in vars(self):  # scikit-learn's check takes as long as PCC's mean
            check_is_fitted(self, "classes_")

    def _set_fitted(self, items: Items, codes: Codes, classes: NDArray[Any]) -> Self:
        items = replace(items, weights=uneven(items.weights))
        self._set_training(items, codes, classes)
        if items.weights is not None and not self.takes_weights:
            raise _no_weights(self)
        self._learn(items, codes)
        return self

    def _set_training(self, items: Items, codes: Codes, classes: NDArray[Any]) -> None:
        self.prior_ = simplex.from_codes(codes, len(classes), items.weights)
        self.classes_ = classes
        self.held_out_, self.held_out_codes_ = items, codes

    def _posteriors(self, model: Any, X: Any) -> Posteriors:
        if model is None:
            raise UserError(
                f"this {type(self).__name__} was fitted from posteriors and has no classifier: "
                "call aggregate(posteriors) instead of predict(X)"
            )
        return predict_posteriors(model, X, self.classes_, crisp=self.tags.crisp)

    def _features(self, X: Any) -> Any:
        """X itself or, if the classifier is a Pipeline, X transformed by all but its last step."""
        model = self.classifier_
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        if isinstance(model, Pipeline) and len(model) > 1:
            return model[:-1].transform(X)  # It finds its columns itself.
        self._check_columns(X)
        return X

    def _estimate(self, items: Items, blocks: Blocks, shape: tuple[int, ...]) -> Estimate:
        p_hat, diagnostics = self._solved(items, blocks)
        return Estimate(
            prevalence=p_hat.reshape(*shape, -1),
            classes=self.classes_,
            diagnostics={
                # A copy, like that of the prevalences, so that callers can modify it.
                name: np.array(column, order="C").reshape((*shape, *column.shape[1:]))
                for name, column in diagnostics.items()
            },
        )

    def _solved(self, items: Items, blocks: Blocks) -> tuple[Prevalences, Diagnostics]:
        """Prevalences and diagnostics of the samples of all blocks, in their order."""
        weights = items.weights
        if weights is not None:
            weights = uneven(checked_weights(weights, len(items)))
            if weights is not None and not self.takes_weights:
                raise _no_weights(self)
        representation = self._represent_items(items)
        solved = []
        for members, index in blocks:
            if weights is None:
                solution = self._solve(representation, index)
            else:
                _check_total_weight(weights, index, members)
                solution = self._solve(representation, index, weights)
            p_hat, diagnostics = _checked_pair(self, solution)
            _check_prevalences(self, p_hat, len(members))
            solved.append((members, p_hat, diagnostics))
        return _in_order(solved)


Quantifier: TypeAlias = Annotated[
    AbstractQuantifier,
    Such("a quantifier such as PACC()", lambda value: isinstance(value, AbstractQuantifier)),
]


class AbstractClassifying(AbstractQuantifier):
    """A quantifier that uses posteriors, and can work with those of any model."""

    tags: ClassVar[Tags] = Tags()

    def fit_posteriors(
        self,
        posteriors: ArrayLike,
        y: Any,
        *,
        classes: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit only the aggregation, from posteriors of any model and the true labels.

        Parameters
        ----------
        posteriors : array of shape (n_items, n_classes)
            Of items the model was not trained on (held out or out of fold); columns in the order of
            `classes`.
        y : array of shape (n_items,)
            Labels.
        classes : array of shape (n_classes,), optional
            The label of each column; default: the sorted labels that occur in y.
        sample_weight : array of shape (n_items,), optional
            How many items each row stands for; whole numbers are equivalent to repeated rows.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], [100, 100])
        >>> of_spam = 3 * (y == "spam")
        >>> spam = np.random.default_rng(0).beta(1 + of_spam, 4 - of_spam)
        >>> posteriors = np.stack([1 - spam, spam], axis=1)
        >>> fitted = PACC().fit_posteriors(posteriors, y)
        >>> fitted.aggregate(posteriors[50:125]).round(1)  # 50 of ham, 25 of spam
        array([0.7, 0.3])
        """
        return self.fit_items(
            labelled_posteriors(posteriors, y, classes, sample_weight), y, classes=classes
        )

    def aggregate(
        self,
        posteriors: ArrayLike,
        samples: Samples | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Prevalences:
        """Prevalences of samples given by their posteriors.

        Parameters
        ----------
        posteriors : array of shape (..., n_items, n_classes)
            One sample, or a batch of samples with any leading axes; the result has shape (...,
            n_classes). With `samples` it is one pool, (n_items, n_classes).
        samples : index matrix or list of index arrays, optional
            Samples of the pool; a matrix (n_samples, size) is padded with -1.
        sample_weight : array of shape (..., n_items), optional
            How much each item counts.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], [100, 100])
        >>> of_spam = 3 * (y == "spam")
        >>> spam = np.random.default_rng(0).beta(1 + of_spam, 4 - of_spam)
        >>> posteriors = np.stack([1 - spam, spam], axis=1)
        >>> fitted = PACC().fit_posteriors(posteriors, y)
        >>> fitted.aggregate(posteriors, [range(50, 125), range(100)]).round(1) + 0.0
        array([[0.7, 0.3],
               [1. , 0. ]])
        """
        if samples is None and sample_weight is None and getattr(posteriors, "ndim", 0) == 2:
            return self._aggregate_one(posteriors)
        pool, blocks, shape = self._pool(posteriors, samples, sample_weight)
        return self._solved(pool, blocks)[0].reshape(*shape, -1)

    def _aggregate_one(self, posteriors: ArrayLike) -> Prevalences:
        """The same for one sample, without the overhead for many samples."""
        p = self._checked(posteriors)
        solution = self._solve(self._represent_posteriors(p), whole_pool(len(p)))
        p_hats, _ = _checked_pair(self, solution)
        p_hat: Prevalences = p_hats[0].astype(np.float64)
        shares = p_hat.tolist()
        # Written so that NaN is refused as well, and in plain Python: two numbers are few.
        if not (abs(sum(shares) - 1) <= ROUNDING and min(shares) >= -ROUNDING):
            raise _no_prevalence(self, shares)
        return p_hat

    def _represent_posteriors(self, posteriors: Posteriors) -> Any:
        return self._represent_items(Items(posteriors))

    def _checked(self, posteriors: ArrayLike) -> Posteriors:
        """The posteriors; an error unless they are valid, or only for their shape if not seen."""
        self._check_fitted()
        check = check_posteriors if self.tags.sees else check_shape
        return check(posteriors, self.classes_)

    def estimate_posteriors(
        self,
        posteriors: ArrayLike,
        samples: Samples | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Estimate:
        """Like `aggregate`, with the diagnostics.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], [100, 100])
        >>> of_spam = 3 * (y == "spam")
        >>> spam = np.random.default_rng(0).beta(1 + of_spam, 4 - of_spam)
        >>> posteriors = np.stack([1 - spam, spam], axis=1)
        >>> fitted = PACC().fit_posteriors(posteriors, y)
        >>> sorted(fitted.estimate_posteriors(posteriors[50:125]).diagnostics)
        ['clipped', 'fallback', 'separation']
        """
        return self._estimate(*self._pool(posteriors, samples, sample_weight))

    def aggregate_interval(
        self,
        posteriors: ArrayLike,
        samples: Samples | None = None,
        *,
        level: float = 0.95,
        n_bootstrap: int = 1000,
        simultaneous: bool = False,
        random_state: int = 0,
        sample_weight: ArrayLike | None = None,
        of: Whose = POPULATION,
    ) -> PrevalenceInterval:
        """Like `predict_interval`, for items given by their posteriors (n_items, n_classes).

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import PACC
        >>> y = np.repeat(["ham", "spam"], [100, 100])
        >>> of_spam = 3 * (y == "spam")
        >>> spam = np.random.default_rng(0).beta(1 + of_spam, 4 - of_spam)
        >>> posteriors = np.stack([1 - spam, spam], axis=1)
        >>> fitted = PACC().fit_posteriors(posteriors, y)
        >>> interval = fitted.aggregate_interval(posteriors[50:125], n_bootstrap=200)
        >>> bool(interval.low[1] < 1 / 3 < interval.high[1])
        True
        """
        self._check_fitted()
        pool = check_posteriors(posteriors, self.classes_)
        if pool.ndim != 2:
            raise DataError(f"an interval needs posteriors (n_items, n_classes), got {pool.shape}")
        return item_interval(
            self,
            Items(pool, weights=checked_weights(sample_weight, len(pool))),
            samples,
            level=level,
            n_bootstrap=n_bootstrap,
            simultaneous=simultaneous,
            random_state=random_state,
            of=of,
        )

    def _pool(
        self, posteriors: ArrayLike, samples: Samples | None, weights: ArrayLike | None
    ) -> tuple[Items, Blocks, tuple[int, ...]]:
        """The items of all samples, the blocks of samples, and the leading axes of the estimate."""
        p = self._checked(posteriors)
        w = None
        if weights is not None:
            w = np.asarray(real_numbers(weights, "weights"), dtype=np.float64)
        if w is not None and w.shape != p.shape[:-1]:
            raise DataError(
                f"weights of shape {w.shape} do not fit posteriors of shape {p.shape}: give one "
                "per item"
            )
        shape = p.shape[:-2]
        rows = p.reshape(-1, p.shape[-1]) if shape else p
        pool = Items(rows, weights=None if w is None else w.ravel())
        if samples is None:
            return pool, consecutive_blocks(math.prod(shape), p.shape[-2]), shape
        if shape:
            raise DataError(
                "samples index one pool of posteriors (n_items, n_classes), "
                f"got posteriors of shape {p.shape}"
            )
        return pool, index_blocks(samples, len(pool)), (count_samples(samples),)

    @property
    def held_out_posteriors_(self) -> Posteriors:
        """Posteriors of the training items by models that had not seen them; may have no rows."""
        return _or_none(self.held_out_.posteriors, len(self.classes_))


class AbstractAggregative(AbstractClassifying):
    """A quantifier that consists of three functions of posteriors; the first may do nothing.

    >>> from quantshift import SLD
    >>> from quantshift.quantifiers import HDx
    >>> isinstance(SLD(), AbstractAggregative), isinstance(HDx(), AbstractAggregative)
    (True, False)
    """

    @abstractmethod
    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        """Learn what is needed from held-out posteriors (without rows if none were requested)."""

    @abstractmethod
    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        """What each item contributes, shape (n_features, n_items)."""

    @property
    def takes_weights(self) -> bool:
        """Whether items may have weights."""
        return _has_weights(self._solve) and _has_weights(self._fit_aggregation)

    def _learn(self, items: Items, codes: Codes) -> None:
        posteriors = _or_none(items.posteriors, len(self.classes_))
        if items.weights is None:
            self._fit_aggregation(posteriors, codes)
        else:
            self._fit_aggregation(posteriors, codes, items.weights)

    def _represent_posteriors(self, posteriors: Posteriors) -> NDArray[Any]:
        return self._represent(posteriors)

    def _represent_items(self, items: Items) -> NDArray[Any]:
        if items.posteriors is None and self.tags.sees:
            raise UserError(f"{type(self).__name__} needs posteriors: give those of the items")
        return self._represent(_or_none(items.posteriors, len(self.classes_)))


class AbstractWithoutOptions(AbstractAggregative):
    """Aggregative quantifiers whose only options are the classifier, `cv` and `random_state`."""

    def __init__(
        self, classifier: Classifier | None = None, *, cv: Folds = 5, random_state: Seed = 0
    ) -> None:
        self.classifier = classifier
        self.cv = cv
        self.random_state = random_state


@runtime_checkable
class CombinesMembers(Protocol):
    """What a method offers whose tags say that its members read the posteriors."""

    members_: Sequence[AbstractClassifying]

    def combined(self, estimates: NDArray[np.float64]) -> Prevalences:
        """One estimate per sample, from those of the members, (n_members, n_samples, n_classes)."""


def same_for_all(value: float | bool, n_samples: int) -> NDArray[Any]:
    """A diagnostic that is the same for all samples, (n_samples,)."""
    return np.array((value,)) if n_samples == 1 else np.full(n_samples, value)


def _in_order(
    solved: Sequence[tuple[Indices, Prevalences, Diagnostics]],
) -> tuple[Prevalences, Diagnostics]:
    """Prevalences, always a copy, and diagnostics of all samples, put together from blocks."""
    _, p_hat, block_diagnostics = solved[0]
    if len(solved) == 1:  # a single block has its samples in order
        return np.array(p_hat, dtype=np.float64, order="C"), block_diagnostics
    n_samples = sum(len(members) for members, _, _ in solved)
    prevalences = np.empty((n_samples, p_hat.shape[1]))
    diagnostics = {
        name: np.empty((n_samples, *values.shape[1:]), values.dtype)
        for name, values in block_diagnostics.items()
    }
    for members, p_hat, block_diagnostics in solved:
        prevalences[members] = p_hat
        for name, values in block_diagnostics.items():
            diagnostics[name][members] = values
    return prevalences, diagnostics


def _check_total_weight(weights: Weights, index: Indices, members: Indices) -> None:
    empty = ~weights[index].any(axis=1)
    if empty.any():
        raise DataError(
            f"sample {members[int(np.argmax(empty))]} has a total weight of zero: a prevalence "
            "needs at least one item with positive weight"
        )


def _checked_pair(quantifier: AbstractQuantifier, solution: Any) -> tuple[Any, Diagnostics]:
    """What a method's own `_solve` returned, if it is prevalences and diagnostics."""
    if isinstance(solution, tuple) and len(solution) == 2:
        return solution
    raise DataError(
        f"_solve of {type(quantifier).__name__} returned {type(solution).__name__}: expected a "
        "tuple of prevalences and diagnostics; return (p_hat, {}) if there are no diagnostics"
    )


def _check_prevalences(quantifier: AbstractQuantifier, p_hat: Any, n_samples: int) -> None:
    """Raise unless a method's solution is a prevalence for each sample."""
    expected, shape = (n_samples, len(quantifier.classes_)), np.shape(p_hat)
    if shape != expected:
        raise DataError(
            f"{type(quantifier).__name__} returned an array of shape {shape}: expected {expected}, "
            "a row for each sample and a column for each class"
        )
    off = np.abs(p_hat @ np.ones(shape[1]) - 1)  # faster than a sum over a few columns
    # Written so that NaN is refused as well.
    if not (off.max() <= ROUNDING and p_hat.min() >= -ROUNDING):
        valid = (off <= ROUNDING) & (p_hat.min(axis=1) >= -ROUNDING)
        raise _no_prevalence(quantifier, p_hat[int(np.argmin(valid))].tolist())


def _no_prevalence(quantifier: AbstractQuantifier, shares: list[float]) -> DataError:
    listed = ", ".join(f"{share:.6g}" for share in shares[:5]) + (", ..." if shares[5:] else "")
    return DataError(
        f"{type(quantifier).__name__} returned [{listed}]: a prevalence has no negative share, and "
        "its shares sum to 1"
    )


def _has_weights(function: Callable[..., Any]) -> bool:
    return "weights" in inspect.signature(function).parameters


def _no_weights(quantifier: AbstractQuantifier) -> UserError:
    return UserError(
        f"{type(quantifier).__name__} does not support weights: leave them out, or give its "
        "functions a last parameter weights=None"
    )


def _or_none(posteriors: Posteriors | None, n_classes: int) -> Posteriors:
    return np.empty((0, n_classes)) if posteriors is None else posteriors


def _refuse_cross_val_predict(caller: FrameType | None) -> None:
    """Refuse to be one of the estimators whose predictions scikit-learn sorts by item.

    It would fail later, with an index that is out of bounds. Nothing but the callers tells.
    """
    while caller is not None and caller.f_globals.get("__name__", "").startswith("sklearn."):
        if caller.f_code.co_name == "_fit_and_predict":
            raise UserError(
                "cross_val_predict needs a prediction for each item, and a quantifier makes one "
                "for each sample: use cross_val_score(..., scoring=PrevalenceScorer()) for its "
                "error on held-out items, or cross_val_predict with its classifier"
            )
        caller = caller.f_back
