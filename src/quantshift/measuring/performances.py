"""`performance`: how good a classifier is on rows without labels, before and after correction."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator

from quantshift.adapting import Adaptation, ShiftedClassifier
from quantshift.adapting.decisions import checked_costs
from quantshift.answers.kinds import limits_head
from quantshift.answers.records import as_frame
from quantshift.answers.text import aligned
from quantshift.answers.words import limits, percent
from quantshift.base.types import Indices, Reals
from quantshift.errors import DataError, UserError, check_level
from quantshift.measuring.estimate import Measured, PerformanceEstimator, Sample, Use
from quantshift.measuring.measures.registry import MEASURES, chosen_measures
from quantshift.prevalence.labels import column
from quantshift.prevalence.weights import Weights, checked_weights
from quantshift.quantifiers.base.guarding import AUTO
from quantshift.quantifiers.base.items import uneven

FEWEST_REPLICATES = 20


@dataclass(frozen=True, eq=False, repr=False)
class Performance:
    """Measures of a classifier on items without labels.

    kind: of the limits, "confidence interval" or "range". reason, sentence: what the sample shows
        about the shift, and what was done with the probabilities.
    as_trained, corrected: the measures of the classifier as trained and after the correction that
        the evidence allows; the second is empty if there is none.
    confusion, confusion_corrected: the estimated share of items of each class (row) that get each
        prediction (column), (n_classes, n_classes).
    prevalence: the shares of the classes in the sample if only they changed, (n_classes,).
    groups: the same for each group of items, if groups were given.
    """

    classes: NDArray[Any]
    n_items: int
    level: float
    kind: str
    reason: str
    sentence: str
    strength: float
    prevalence: Reals
    as_trained: tuple[Measured, ...]
    corrected: tuple[Measured, ...]
    confusion: Reals
    confusion_corrected: Reals
    groups: Mapping[Any, "Performance"] = field(default_factory=dict)

    def of(self, measure: str, label: Any = None, *, corrected: bool = False) -> Measured:
        """One measure, of all classes or of one. corrected: after the correction, if any."""
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
                        "kind": part.kind,
                        "reason": part.reason,
                    }

    def to_frame(self) -> Any:
        """A data frame with a row per use, measure and class: pandas if installed, else polars."""
        return as_frame(self.records())

    def to_text(self) -> str:
        """The measures of all classes together, as a table, and what they rest on."""
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


def performance(
    classifier: Any,
    X: Any,
    *,
    held_out: tuple[Any, Any] | None = None,
    assume: str = AUTO,
    groups: ArrayLike | None = None,
    measures: Sequence[str] | None = None,
    costs: ArrayLike | None = None,
    level: float = 0.95,
    n_bootstrap: int = 100,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
) -> Performance:
    """How good a classifier is on the rows of X, which have no labels.

    classifier: a fitted `ShiftedClassifier`; or any fitted classifier, with `held_out`, (X, y) of
        labelled items that it was not trained on, and `assume` as in `ShiftedClassifier`.
    groups: a value for each row; each group is also estimated on its own.
    measures: names of `quantshift.measuring.MEASURES` (default: all).
    costs: a matrix with the cost of predicting the class of the column for an item of the class of
        the row, for the measure "cost".
    sample_weight: how many items each row stands for.

    The limits are a confidence interval if the rows show what changed, or you declare it; otherwise
    they are a range of what the assumptions allow.
    """
    check_level(level)
    if n_bootstrap < FEWEST_REPLICATES:
        raise UserError(
            f"limits need at least {FEWEST_REPLICATES} bootstrap replicates, got {n_bootstrap}"
        )
    fitted = _fitted(classifier, held_out, assume, seed)
    matrix = None if costs is None else checked_costs(costs, len(fitted.classes_))
    if matrix is None and fitted.costs is not None:
        matrix = checked_costs(fitted.costs, len(fitted.classes_))
    names = None if groups is None else column(groups, name="groups")
    posteriors = fitted.adapted(None).predict_proba(X)
    n_items = len(posteriors)
    if names is not None and len(names) != n_items:
        raise DataError(f"{len(names)} groups do not fit {n_items} rows: give one per row")
    rows = {} if names is None else {g: np.flatnonzero(names == g) for g in np.unique(names)}
    samples = [np.arange(n_items), *rows.values()]
    adaptations = fitted.adaptations(X, samples, sample_weight)
    estimator = PerformanceEstimator(
        fitted.examiner_.plain,
        chosen_measures(measures, costs=matrix is not None),
        classes=fitted.classes_,
        costs=matrix,
        level=level,
        n_replicates=n_bootstrap,
        seed=seed,
    )
    measuring = _Measuring(
        fitted, estimator, posteriors, uneven(checked_weights(sample_weight, n_items))
    )
    whole, *parts = (
        measuring.of(each, adaptation)
        for each, adaptation in zip(samples, adaptations, strict=True)
    )
    by_group = dict(zip([g.item() for g in rows], parts, strict=True))
    return Performance(**{**vars(whole), "groups": by_group})


@dataclass(frozen=True, eq=False)
class _Measuring:
    """The rows of a call, as the classifier sees them."""

    fitted: ShiftedClassifier
    estimator: PerformanceEstimator
    posteriors: Reals
    weights: Weights | None

    def of(self, rows: Indices, adaptation: Adaptation) -> Performance:
        """The measures on some of the rows."""
        posteriors = self.posteriors[rows]
        weights = None if self.weights is None else self.weights[rows]
        sample = Sample(
            posteriors, adaptation.prevalence, adaptation.reason, weights, adaptation.support
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
            kind=sample.kind,
            reason=adaptation.reason,
            sentence=adaptation.sentence,
            strength=adaptation.strength,
            prevalence=adaptation.prevalence,
            as_trained=estimates[0].measured,
            corrected=estimates[1].measured if len(estimates) > 1 else (),
            confusion=estimates[0].table,
            confusion_corrected=estimates[-1].table,
        )


def _fitted(
    classifier: Any, held_out: tuple[Any, Any] | None, assume: str, seed: int
) -> ShiftedClassifier:
    if isinstance(classifier, ShiftedClassifier):
        if held_out is not None or assume not in (AUTO, classifier.assume):
            raise UserError("a ShiftedClassifier has its own held-out items and assumption")
        return classifier
    if held_out is None:
        raise UserError(
            f"{type(classifier).__name__} is not a ShiftedClassifier: give held_out=(X, y), "
            "labelled items it was not trained on"
        )
    return ShiftedClassifier(FrozenEstimator(classifier), assume=assume, seed=seed).fit(*held_out)


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
