"""`performance`: how good a classifier is on rows without labels, before and after correction."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from quantshift.answers.kinds import limits_head
from quantshift.answers.show.records import as_frame
from quantshift.answers.text import aligned
from quantshift.answers.words import limits
from quantshift.base.nouns import percent
from quantshift.base.threads import in_one_thread
from quantshift.base.types import Indices, Posteriors, Reals
from quantshift.claims import Assumption, Facts, Grounds, Kind, Reason, decide
from quantshift.errors import DataError, UserError, check_level, unknown_name
from quantshift.items.items import Items, uneven
from quantshift.measuring.accuracy import (
    ATC,
    CONFIDENCE,
    DOC,
    LEAP,
    AccuracyEstimates,
    accuracies,
)
from quantshift.measuring.accuracy import METHODS as BY_ERRORS
from quantshift.measuring.adapting.adaptation import Adaptation
from quantshift.measuring.adapting.decisions import checked_costs
from quantshift.measuring.adapting.shifted_classifier import ShiftedClassifier
from quantshift.measuring.estimate import Measured, PerformanceEstimator, Sample, Use
from quantshift.measuring.measures.by_class import ACCURACY, F1
from quantshift.measuring.measures.registry import MEASURES, chosen_measures
from quantshift.prevalence.labels import column
from quantshift.prevalence.weights import Weights, checked_weights
from quantshift.quantifiers.base.estimator import AbstractQuantifier
from quantshift.quantifiers.base.given import refuse_pipeline
from quantshift.quantifiers.base.guarding import AUTO, Assume
from quantshift.quantifiers.likelihood.sld import SLD

BY_EVIDENCE = "evidence"
METHODS = (BY_EVIDENCE, *BY_ERRORS)

ASSUMED: Mapping[str, str] = MappingProxyType(
    {
        LEAP: "only the shares of the classes changed",
        **dict.fromkeys((ATC, DOC, CONFIDENCE), "they are as well calibrated as in training"),
    }
)
"""What the methods that rely on held-out errors assume, of the probabilities."""

FEWEST_REPLICATES = 20


@dataclass(frozen=True, eq=False, repr=False)
class Performance:
    """Measures of a classifier on items without labels.

    Attributes
    ----------
    as_trained, corrected : tuple of Measured
        The measures of the classifier as trained, and after the correction that the evidence
        allows; the second is empty if there is none.
    grounds : Grounds
        Of which kind the limits are, and why.
    sentence : str
        What was done with the probabilities.
    confusion : array of shape (n_classes, n_classes)
        The estimated share of items of each class (row) that get each prediction (column) as
        trained; NaN where the method does not say.
    prevalence : array of shape (n_classes,)
        The shares of the classes in the sample if only they changed.
    groups : dict
        The same for each group of items, if groups were given.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import ShiftedClassifier, performance
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> found = performance(ShiftedClassifier().fit(X, y), X[100:250], n_bootstrap=50)
    >>> found.of("accuracy").measure
    'accuracy'
    >>> found.to_frame().columns.tolist()[:4]
    ['group', 'items', 'use', 'measure']
    """

    classes: NDArray[Any]
    n_items: int
    level: float
    grounds: Grounds
    sentence: str
    strength: float
    prevalence: Reals
    as_trained: tuple[Measured, ...]
    corrected: tuple[Measured, ...]
    confusion: Reals
    groups: Mapping[Any, "Performance"] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        """The kind of the limits."""
        return self.grounds.kind

    @property
    def reason(self) -> Reason:
        """Why they are of that kind."""
        return self.grounds.reason

    def of(self, measure: str, label: Any = None, *, corrected: bool = False) -> Measured:
        """One measure, of all classes or of one. corrected: after the correction, if any.

        Parameters
        ----------
        measure : str
            Its name, such as "accuracy".
        label : class, optional
            For the measure of one class.
        corrected : bool
            After the correction, if there is one.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import ShiftedClassifier, performance
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> found = performance(ShiftedClassifier().fit(X, y), X[100:250], n_bootstrap=50)
        >>> accuracy = found.of("accuracy")
        >>> bool(accuracy.low < accuracy.estimate < accuracy.high)
        True
        """
        measures = self.corrected if corrected and self.corrected else self.as_trained
        for each in measures:
            if each.measure == measure and each.label == label:
                return each
        names = ", ".join(dict.fromkeys(m.measure for m in measures))
        raise UserError(f"there is no measure {measure!r} of {label!r} here; known: {names}")

    def records(self) -> Iterator[dict[str, Any]]:
        """A row per group, use, measure and class."""
        for group, part in ((None, self), *self.groups.items()):
            for use, measured in (("as trained", part.as_trained), ("corrected", part.corrected)):
                for each in measured:
                    yield {
                        "group": group,
                        "items": part.n_items,
                        "use": use,
                        "measure": each.measure,
                        "class": each.label,
                        "estimate": each.estimate,
                        "low": each.low,
                        "high": each.high,
                        "training": each.training,
                        "kind": part.kind.value,
                        "reason": part.reason.value,
                    }

    def to_frame(self) -> Any:
        """A data frame with a row per use, measure and class: pandas if installed, else polars.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import ShiftedClassifier, performance
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> found = performance(ShiftedClassifier().fit(X, y), X[100:250], n_bootstrap=50)
        >>> found.to_frame()["measure"].unique().tolist()[:4]
        ['accuracy', 'balanced_accuracy', 'precision', 'recall']
        """
        return as_frame(self.records())

    def to_text(self) -> str:
        """The measures of all classes together, as a table, and what they rest on.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import ShiftedClassifier, performance
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> found = performance(ShiftedClassifier().fit(X, y), X[100:250], n_bootstrap=50)
        >>> print(found.to_text().splitlines()[0])
                           estimate    95% interval  in training  corrected
        """
        head = limits_head(self.kind, self.level)
        rows = [["", "estimate", head, "in training", "corrected", ""]]
        after = {each.measure: each for each in self.corrected if each.label is None}
        for each in self.as_trained:
            if each.label is None:
                new = after.get(each.measure)
                corrected = "" if new is None else _value(new.estimate, each.measure)
                cells = [_value(each.estimate, each.measure), _bounds(each)]
                training = _value(each.training, each.measure)
                rows.append([MEASURES[each.measure].label, *cells, training, corrected, ""])
        return "\n".join([*aligned(rows), f"Probabilities {self.sentence}."])

    def __repr__(self) -> str:
        """The table in text."""
        return self.to_text()


@in_one_thread
def performance(
    classifier: Any,
    X: Any,
    *,
    held_out: tuple[Any, Any] | None = None,
    method: str = BY_EVIDENCE,
    assume: Assume = AUTO,
    groups: ArrayLike | None = None,
    measures: Sequence[str] | None = None,
    costs: ArrayLike | None = None,
    level: float = 0.95,
    n_bootstrap: int = 100,
    random_state: int = 0,
    sample_weight: ArrayLike | None = None,
) -> Performance:
    """How good a classifier is on the rows of X, which have no labels.

    The limits are a confidence interval if the rows show what changed, or you declare it; otherwise
    they are a range of what the assumptions allow.

    Parameters
    ----------
    classifier : classifier
        A fitted `ShiftedClassifier`; or any fitted classifier, with `held_out`, (X, y) of labelled
        items that it was not trained on, and `assume` as in `ShiftedClassifier`.
    X : items
        The items.
    held_out : tuple, optional
        Labelled items that the classifier was not trained on.
    method : str
        "evidence" estimates all measures from calibrated posteriors, under the assumption that the
        rows support. The others have an assumption of their own: "LEAP" that only the shares of the
        classes changed, for the accuracy and F1; "ATC", "DoC" and "confidence" that the classifier
        is as well calibrated as in training, for the accuracy alone. With them, `classifier` may
        also be a fitted quantifier that has learnt from held-out posteriors (PACC, SLD, ...): its
        classifier is estimated, by LEAP with its shares.
    assume : {"auto", "prior", "covariate"}
        As in `ShiftedClassifier`.
    groups : array, optional
        A value for each row; each group is also estimated on its own.
    measures : sequence of str, optional
        Names of `quantshift.measuring.MEASURES` (default: all that the method estimates).
    costs : array, optional
        A matrix with the cost of predicting the class of the column for an item of the class of the
        row, for the measure "cost".
    level : float
        Level of the test, or of the limits.
    n_bootstrap : int
        How often the training items are drawn again for the limits.
    random_state : int
        Seed of the replicates.
    sample_weight : array, optional
        How many items each row stands for.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import ShiftedClassifier, performance
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = ShiftedClassifier().fit(X, y)
    >>> found = performance(fitted, X[100:250], measures=["accuracy"], n_bootstrap=50)
    >>> (accuracy,) = found.as_trained
    >>> accuracy.measure, bool(0.85 < accuracy.estimate < 1)
    ('accuracy', True)
    """
    check_level(level)
    if n_bootstrap < FEWEST_REPLICATES:
        raise UserError(
            f"limits need at least {FEWEST_REPLICATES} bootstrap replicates, got {n_bootstrap}"
        )
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    names = None if groups is None else column(groups, name="groups")
    bootstrap = _Bootstrap(level, n_bootstrap, random_state)
    measuring: _Measuring
    if method == BY_EVIDENCE:
        fitted = _fitted(classifier, held_out, assume, random_state)
        measuring = _ByEvidence.made(fitted, X, sample_weight, measures, costs, bootstrap)
    elif assume != AUTO or costs is not None:
        raise UserError(
            f"{method} has an assumption of its own and knows no costs: leave out both",
            arguments=["method"],
        )
    else:
        estimated = _measures_by_errors(method, measures)
        seen = _seen(classifier, X, held_out, sample_weight)
        measuring = _ByErrors(*seen, method, estimated, bootstrap)
    n_items = measuring.n_items
    if names is not None and len(names) != n_items:
        raise DataError(f"{len(names)} groups do not fit {n_items} rows: give one per row")
    rows = {} if names is None else {g: np.flatnonzero(names == g) for g in np.unique(names)}
    whole, *parts = measuring.performances([np.arange(n_items), *rows.values()])
    by_group = dict(zip([g.item() for g in rows], parts, strict=True))
    return Performance(**{**vars(whole), "groups": by_group})


@dataclass(frozen=True)
class _Bootstrap:
    """How limits are found."""

    level: float
    n_replicates: int
    seed: int


class _Measuring(Protocol):
    """The rows of a call, as one of the methods sees them."""

    @property
    def n_items(self) -> int:
        """How many rows there are."""

    def performances(self, samples: Sequence[Indices]) -> list[Performance]:
        """The measures on each of the samples of the rows."""


@dataclass(frozen=True, eq=False)
class _ByEvidence:
    """Calibrated posteriors, under the assumption that the rows support."""

    fitted: ShiftedClassifier
    estimator: PerformanceEstimator
    X: Any
    posteriors: Posteriors
    sample_weight: ArrayLike | None

    @classmethod
    def made(
        cls,
        fitted: ShiftedClassifier,
        X: Any,
        sample_weight: ArrayLike | None,
        measures: Sequence[str] | None,
        costs: ArrayLike | None,
        bootstrap: _Bootstrap,
    ) -> Self:
        """What estimates the measures, and the rows as the classifier sees them."""
        costs = fitted.costs if costs is None else costs
        matrix = None if costs is None else checked_costs(costs, len(fitted.classes_))
        estimator = PerformanceEstimator(
            fitted.examiner_.plain,
            chosen_measures(measures, costs=matrix is not None),
            classes=fitted.classes_,
            costs=matrix,
            level=bootstrap.level,
            n_replicates=bootstrap.n_replicates,
            seed=bootstrap.seed,
        )
        return cls(fitted, estimator, X, fitted.adapted(None).predict_proba(X), sample_weight)

    @property
    def n_items(self) -> int:
        """How many rows there are."""
        return len(self.posteriors)

    def performances(self, samples: Sequence[Indices]) -> list[Performance]:
        """The measures on each of the samples of the rows."""
        adaptations = self.fitted.adaptations(self.X, samples, self.sample_weight)
        weights = uneven(checked_weights(self.sample_weight, self.n_items))
        return [
            self._of(rows, adaptation, None if weights is None else weights[rows])
            for rows, adaptation in zip(samples, adaptations, strict=True)
        ]

    def _of(self, rows: Indices, adaptation: Adaptation, weights: Weights | None) -> Performance:
        posteriors = self.posteriors[rows]
        sample = Sample(
            posteriors, adaptation.prevalence, adaptation.facts, weights, adaptation.support
        )
        held_out = self.estimator.trained.held_out_posteriors_
        as_trained = self.fitted.decisions(held_out)
        uses = [Use(posteriors, as_trained(posteriors))]
        if adaptation.strength > 0:
            scores = adaptation(posteriors)
            uses.append(Use(scores, self.fitted.decisions(scores, weights)(scores)))
        training = self.estimator.in_training(Use(held_out, as_trained(held_out)))
        estimates = self.estimator.of(sample, uses, training)
        return Performance(
            classes=self.fitted.classes_,
            n_items=len(rows),
            level=self.estimator.level,
            grounds=sample.grounds,
            sentence=adaptation.sentence,
            strength=adaptation.strength,
            prevalence=adaptation.prevalence,
            as_trained=estimates[0].measured,
            corrected=estimates[1].measured if len(estimates) > 1 else (),
            confusion=estimates[0].table,
        )


@dataclass(frozen=True, eq=False)
class _ByErrors:
    """The accuracy from held-out errors, under the assumption of the method."""

    quantifier: AbstractQuantifier
    items: Items
    classes: NDArray[Any]
    method: str
    measures: tuple[str, ...]
    bootstrap: _Bootstrap

    @property
    def n_items(self) -> int:
        """How many rows there are."""
        return len(self.items)

    def performances(self, samples: Sequence[Indices]) -> list[Performance]:
        """The measures on each of the samples of the rows."""
        found = accuracies(
            self.quantifier,
            self.items,
            samples,
            method=self.method,
            level=self.bootstrap.level,
            n_bootstrap=self.bootstrap.n_replicates,
            seed=self.bootstrap.seed,
        )
        unknown = np.full((len(self.classes), len(self.classes)), np.nan)
        assumed = decide(Facts(Assumption.METHOD, declared=Assumption.METHOD))
        tables = [unknown] * len(samples) if found.f1 is None else list(found.f1.tables)
        return [
            Performance(
                classes=self.classes,
                n_items=len(rows),
                level=self.bootstrap.level,
                grounds=assumed,
                sentence=f"as trained: {self.method} assumes that {ASSUMED[self.method]}",
                strength=0.0,
                prevalence=found.prevalence[i],
                as_trained=tuple(self._measured(found, i)),
                corrected=(),
                confusion=tables[i],
            )
            for i, rows in enumerate(samples)
        ]

    def _measured(self, found: AccuracyEstimates, i: int) -> Iterator[Measured]:
        """The measures of sample i."""
        if ACCURACY.name in self.measures:
            overall = (found.accuracy[i], found.low[i], found.high[i], found.training)
            yield Measured(ACCURACY.name, None, *map(float, overall))
        if F1.name in self.measures and found.f1 is not None:
            f1 = found.f1
            macro = (f1.macro[i], f1.macro_low[i], f1.macro_high[i], f1.training.mean())
            yield Measured(F1.name, None, *map(float, macro))
            rows = (f1.by_class[i], f1.by_class_low[i], f1.by_class_high[i], f1.training)
            for label, *numbers in zip(self.classes.tolist(), *rows, strict=True):
                yield Measured(F1.name, label, *map(float, numbers))


def _measures_by_errors(method: str, names: Sequence[str] | None) -> tuple[str, ...]:
    """The measures of these names that the method estimates; without names all of them."""
    estimated = (ACCURACY.name, F1.name) if method == LEAP else (ACCURACY.name,)
    if names is None:
        return estimated
    chosen = [measure.name for measure in chosen_measures(names, costs=True)]
    for name in chosen:
        if name not in estimated:
            raise UserError(
                f"{method} estimates {' and '.join(estimated)}, and not {name}",
                arguments=["measures"],
            )
    return tuple(chosen)


def _seen(
    classifier: Any, X: Any, held_out: tuple[Any, Any] | None, sample_weight: ArrayLike | None
) -> tuple[AbstractQuantifier, Items, NDArray[Any]]:
    """A quantifier that knows the errors of the classifier, the rows as it sees them, the classes.

    For a classifier that is no quantifier it is SLD.
    """
    if isinstance(classifier, ShiftedClassifier):
        if held_out is not None:
            raise UserError("a ShiftedClassifier has its own held-out items and assumption")
        decisions = classifier.decisions(None)
        if decisions.costs is not None or decisions.positive is not None:
            raise UserError(
                "held-out errors are those of the most probable class: give a ShiftedClassifier "
                "without costs and target",
                arguments=["method"],
            )
        posteriors = classifier.adapted(None).predict_proba(X)
        weights = checked_weights(sample_weight, len(posteriors))
        return classifier.examiner_.plain, Items(posteriors, weights=weights), classifier.classes_
    refuse_pipeline(classifier, "performance")
    if isinstance(classifier, AbstractQuantifier):
        if held_out is not None:
            raise UserError("held_out is for a classifier: a quantifier has held out items itself")
        quantifier = classifier
    elif held_out is None:
        raise UserError(
            f"{type(classifier).__name__} is not a quantifier: give held_out=(X, y), labelled "
            "items it was not trained on, or a fitted quantifier such as SLD"
        )
    else:
        quantifier = SLD(FrozenEstimator(classifier)).fit(*held_out)
    check_is_fitted(quantifier, "classes_")
    return quantifier, quantifier.items(X, sample_weight), quantifier.classes_


def _fitted(
    classifier: Any, held_out: tuple[Any, Any] | None, assume: Assume, seed: int
) -> ShiftedClassifier:
    refuse_pipeline(classifier, "performance")
    if isinstance(classifier, ShiftedClassifier):
        check_is_fitted(classifier)
        if held_out is not None or assume not in (AUTO, classifier.assume):
            raise UserError("a ShiftedClassifier has its own held-out items and assumption")
        return classifier
    if held_out is None:
        raise UserError(
            f"{type(classifier).__name__} is not a ShiftedClassifier: give held_out=(X, y), "
            "labelled items it was not trained on"
        )
    return ShiftedClassifier(FrozenEstimator(classifier), assume=assume, random_state=seed).fit(
        *held_out
    )


def _value(value: float, measure: str) -> str:
    if np.isnan(value):
        return "?"
    return percent(value) if MEASURES[measure].is_share else f"{value:.3f}"


def _bounds(each: Measured) -> str:
    if np.isnan(each.low):
        return "?"
    if MEASURES[each.measure].is_share:
        return limits(each.low, each.high)
    return f"{each.low:.3f} to {each.high:.3f}"
