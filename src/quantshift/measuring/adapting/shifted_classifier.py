"""`ShiftedClassifier`: any classifier, adapted to a batch of rows without labels."""

from copy import copy
from typing import Annotated, Any, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted, column_or_1d

from quantshift.base.domains import Seed, Within, check_options
from quantshift.base.types import Posteriors, Prevalences
from quantshift.claims import Reason, decide
from quantshift.classify.classifier import (
    Classifier,
    fit_classifier,
    item_rows,
    n_rows,
    predict_posteriors,
    set_columns,
)
from quantshift.classify.folds import Folds, fold_of_each, folds_of
from quantshift.errors import DataError, UserError
from quantshift.items.items import take_rows, uneven
from quantshift.items.samples import Samples, sample_rows
from quantshift.measuring.adapting.adaptation import Adaptation, NotAdaptedWarning, strength_of
from quantshift.measuring.adapting.correction import Correction
from quantshift.measuring.adapting.decisions import (
    Decisions,
    checked_costs,
    checked_target,
    precision_threshold,
    recall_threshold,
)
from quantshift.measuring.adapting.evidence import Examiner, TrainingItems
from quantshift.prevalence import simplex
from quantshift.prevalence.labels import encode_labels
from quantshift.prevalence.weights import Weights, checked_weights
from quantshift.quantifiers.base.estimator import Quantifier
from quantshift.quantifiers.base.guarding import Assume
from quantshift.quantifiers.base.training_labels import at_least_two_classes, training_weights


class ShiftedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that adapts to rows without labels, where the rows support it.

    After `fit` it predicts as the classifier does. `adapt(X)` estimates the shares of the classes
    among the rows of X and corrects all later probabilities to them. Without evidence that only the
    shares changed, probabilities stay as trained: a `NotAdaptedWarning` says so, and
    `adaptation_.sentence` says why.

    Parameters
    ----------
    classifier : classifier, optional
        Any scikit-learn classifier with `predict_proba` (default: logistic regression). A fitted
        one, `FrozenEstimator(model)`, is used as it is; `fit` then needs labelled items that it was
        not trained on.
    quantifier : quantifier, optional
        Whose shares are used. Default: SLD.
    assume : {"auto", "prior", "covariate"}
        "auto" adapts as far as the rows give evidence; "prior" always, because you declare that
        only the shares of the classes changed; "covariate" never, because similar rows still get
        the same label.
    costs : array, optional
        A matrix with the cost of predicting the class of the column for an item of the class of the
        row; the cheapest class is predicted.
    precision : float, optional
        Instead of costs, a target for one class, which is predicted from a threshold
        (`threshold_`): the one that reaches the target on the rows to which it was adapted, before
        that on the training items.
    recall : float, optional
        Instead of costs, a target for one class, which is predicted from a threshold
        (`threshold_`): the one that reaches the target on the rows to which it was adapted, before
        that on the training items.
    positive : class label, optional
        The class of precision or recall (default: the last).
    cv : int, array or splitter, optional
        Folds of held-out probabilities, as in `SLD`. None: 5, or fewer if a class has fewer items.
    random_state : int
        Of the folds and the tests.

    Attributes
    ----------
    classes_, prior_ : arrays of shape (n_classes,)
        The labels of the classes, and their shares in training.
    classifier_ : classifier
        Fitted on all training items.
    adaptation_ : Adaptation, optional
        What `adapt` has found; None before.
    threshold_ : float, optional
        Of a target; None without.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat(["ham", "spam"], 300)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> model = ShiftedClassifier(assume="prior").fit(X, y).adapt(X[:350])
    >>> model.adaptation_.prevalence.round(1)
    array([0.9, 0.1])
    """

    classes_: NDArray[Any]
    classifier_: Any
    prior_: Prevalences
    adaptation_: Adaptation | None
    threshold_: float | None
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    examiner_: Examiner

    def __init__(
        self,
        classifier: Classifier | None = None,
        quantifier: Quantifier | None = None,
        *,
        assume: Assume = "auto",
        costs: ArrayLike | None = None,
        precision: Annotated[float, Within(above=0, most=1)] | None = None,
        recall: Annotated[float, Within(above=0, most=1)] | None = None,
        positive: Any = None,
        cv: Folds = None,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.quantifier = quantifier
        self.assume = assume
        self.costs = costs
        self.precision = precision
        self.recall = recall
        self.positive = positive
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier, and what is needed to adapt it, on labelled items.

        sample_weight: how many items each item stands for.
        """
        check_options(self)
        X, codes, classes, weights, cv = self._checked(X, y, sample_weight)
        self.classes_ = classes
        self.decisions(None)
        self.classifier_ = fit_classifier(self.classifier, X, classes[codes], weights)
        set_columns(self, X)
        self.prior_ = simplex.from_codes(codes, len(classes), weights)
        folds = folds_of(cv, codes, seed=self.random_state)
        training = TrainingItems(
            X, codes, classes, weights, folds, self.classifier, self.classifier_, self.random_state
        )
        self.examiner_ = Examiner.fit(training, self.quantifier, self.assume)
        self.adaptation_ = None
        self.threshold_ = self.decisions(self.examiner_.plain.held_out_posteriors_).threshold
        return self

    def adapt(self, X: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Adapt to the rows of X as far as they support it; replaces any earlier adaptation.

        Parameters
        ----------
        X : items
            The rows to be classified.
        sample_weight : array of shape (n_items,), optional
            How many items each row stands for.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import ShiftedClassifier
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> fitted = ShiftedClassifier().fit(X, y)
        >>> between = [[1.5]]  # as likely in spam as in ham
        >>> before = fitted.predict_proba(between)
        >>> after = fitted.adapt(X[:250]).predict_proba(between)  # 200 of ham, 50 of spam
        >>> bool(after[0, 0] > before[0, 0] + 0.1)
        True
        """
        (adaptation,), posteriors, weights = self._adaptations(X, None, sample_weight)
        self.adaptation_ = adaptation
        self.threshold_ = self.decisions(adaptation(posteriors), weights).threshold
        grounds = adaptation.grounds
        meant = grounds.declares_covariate or grounds.reason is Reason.AGREEMENT
        if adaptation.strength == 0 and not meant:
            warn(f"{adaptation.sentence}; {adaptation.cure}", NotAdaptedWarning, stacklevel=2)
        return self

    def adaptations(
        self, X: Any, samples: Samples, sample_weight: ArrayLike | None = None
    ) -> tuple[Adaptation, ...]:
        """The adaptation to each of `samples` of the rows of X, which are classified once.

        samples: an index matrix or a list of index arrays into X. `adapted(adaptation)` is the
        classifier with one of them.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import ShiftedClassifier
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> fitted = ShiftedClassifier().fit(X, y)
        >>> found = fitted.adaptations(X, [range(100, 250), range(150, 400)])
        >>> [type(one).__name__ for one in found]
        ['Adaptation', 'Adaptation']
        >>> fitted.adapted(found[0]).predict(X[[0, 399]]).tolist()
        ['ham', 'spam']
        """
        return self._adaptations(X, samples, sample_weight)[0]

    def adapted(self, adaptation: Adaptation | None) -> Self:
        """A copy that shares the fitted classifier and has this adaptation; None: as trained.

        A threshold stays as it is: use `adapt` for one that reaches a target on a sample.
        """
        check_is_fitted(self, "classifier_")
        other = copy(self)
        other.adaptation_ = adaptation
        return other

    def predict_proba(self, X: Any) -> Posteriors:
        """Probabilities of the classes: as trained or, after `adapt`, corrected.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import ShiftedClassifier
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> ShiftedClassifier().fit(X, y).predict_proba(X[[0, 399]]).round(1) + 0.0
        array([[1., 0.],
               [0., 1.]])
        """
        posteriors = self._as_trained(X)
        return posteriors if self.adaptation_ is None else self.adaptation_(posteriors)

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted class of each row; without an adaptation or a target, the classifier's.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import ShiftedClassifier
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> ShiftedClassifier().fit(X, y).predict(X[[0, 399]]).tolist()
        ['ham', 'spam']
        """
        check_is_fitted(self, "classifier_")
        is_adapted = self.adaptation_ is not None and self.adaptation_.strength > 0
        decisions = self.decisions(None)
        if not is_adapted and decisions.costs is None and self.threshold_ is None:
            return np.asarray(self.classifier_.predict(_items(X)))
        decisions = Decisions(decisions.costs, decisions.positive, self.threshold_)
        return self.classes_[decisions(self.predict_proba(X))]

    def get_metadata_routing(self) -> MetadataRouter:
        """`sample_weight` is used here and passed on to the classifier."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                classifier=self.classifier,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )

    def __sklearn_tags__(self) -> Any:
        """The tags of the classifier, as far as its input is concerned."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self.classifier is not None:
            tags.input_tags = get_tags(self.classifier).input_tags
        return tags

    def _checked(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Any, NDArray[np.int64], NDArray[Any], Weights | None, Any]:
        """Items, codes, classes and weights, without items of weight zero; and the folds."""
        X = _items(X)
        if y is None:
            raise DataError(
                "ShiftedClassifier requires y to be passed, but the target y is None: give a label "
                "per item"
            )
        y = _as_array(y)
        labels = column_or_1d(y, warn=True) if len(np.shape(y)) == 2 else y
        classes, codes = at_least_two_classes(*encode_labels(labels))
        if n_rows(X) != len(codes):
            raise DataError(f"X has {n_rows(X)} items but y has {len(codes)} labels")
        weights = training_weights(sample_weight, codes, classes)
        cv = fold_of_each(self.cv, len(codes))
        if weights is not None and not weights.all():
            rows = np.flatnonzero(weights)
            X, codes, weights = take_rows(X, rows), codes[rows], weights[rows]
            cv = cv if np.ndim(cv) == 0 else np.asarray(cv)[rows]
        return X, codes, classes, uneven(weights), cv

    def _adaptations(
        self, X: Any, samples: Samples | None, sample_weight: ArrayLike | None
    ) -> tuple[tuple[Adaptation, ...], Posteriors, Weights | None]:
        posteriors = self._as_trained(X)
        X, n_items = _items(X), len(posteriors)
        weights = uneven(checked_weights(sample_weight, n_items))
        rows = [np.arange(n_items)] if samples is None else sample_rows(samples, n_items)
        evidence = self.examiner_.examine(X, posteriors, rows, weights)
        calibrator = self.examiner_.plain.calibrator_
        adaptations = tuple(
            Adaptation(
                self.classes_,
                Correction(
                    self.prior_,
                    each.prevalence,
                    strength_of(decide(each.facts), each.p_doubles),
                    calibrator,
                ),
                each.facts,
                each.p_doubles,
                each.support,
            )
            for each in evidence
        )
        return adaptations, posteriors, weights

    def decisions(
        self, posteriors: Posteriors | None, sample_weight: Weights | None = None
    ) -> Decisions:
        """The rule of decision. posteriors: of the items on which a target has to be reached."""
        targets = [name for name in ("precision", "recall") if getattr(self, name) is not None]
        n_rules = len(targets) + (self.costs is not None)
        if n_rules > 1:
            raise UserError("give one of costs, precision and recall", arguments=["costs"])
        if self.costs is not None:
            return Decisions(checked_costs(self.costs, len(self.classes_)))
        if not targets:
            return Decisions()
        target = checked_target(getattr(self, targets[0]), targets[0])
        positive = self._positive()
        if posteriors is None:
            return Decisions(None, positive)
        find = precision_threshold if targets[0] == "precision" else recall_threshold
        return Decisions(None, positive, find(posteriors[:, positive], target, sample_weight))

    def _positive(self) -> int:
        if self.positive is None:
            return len(self.classes_) - 1
        labels = self.classes_.tolist()
        if self.positive not in labels:
            raise UserError(
                f"positive={self.positive!r} is not one of the classes "
                f"({', '.join(map(repr, labels[:10]))})",
                arguments=["positive"],
            )
        return int(labels.index(self.positive))

    def _as_trained(self, X: Any) -> Posteriors:
        check_is_fitted(self, "classifier_")
        return predict_posteriors(self.classifier_, _items(X), self.classes_)


def _as_array(values: Any) -> Any:
    """The values; as an array if all they offer is a conversion to one."""
    convertible = hasattr(values, "__array__") and not hasattr(values, "shape")
    return np.asarray(values) if convertible else values


def _items(X: Any) -> Any:
    """The items; an error if there are none."""
    X = item_rows(X)
    if n_rows(X) == 0:
        raise DataError(
            "Found array with 0 sample(s) while a minimum of 1 is required: give X a row"
        )
    return X
