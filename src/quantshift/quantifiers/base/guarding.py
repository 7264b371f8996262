"""What a guarded method offers: it tests on every sample whether its own assumption is refuted.

What it finds is the facts from which the kind of an answer is decided (`quantshift.claims.decide`).
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Final, Literal, Self, TypeAlias

import numpy as np

from quantshift.base.types import Codes, Flags, Posteriors, Prevalences, Reals
from quantshift.claims import Assumption, Kind, Reason, decide
from quantshift.classify.separation import Reference
from quantshift.items.items import Items
from quantshift.quantifiers.base.estimator import AbstractClassifying, AbstractQuantifier, Estimate

AUTO: Final = "auto"

Assume: TypeAlias = Literal["auto", "prior", "covariate"]

ASSUMPTIONS = (AUTO, Assumption.PRIOR, Assumption.COVARIATE)
"""What a user can assume: nothing is declared, prior shift (P(X|Y) is the same, perhaps within
subgroups), or covariate shift (P(Y|X) is)."""

DECLARATIONS = (None, Assumption.PRIOR, Assumption.COVARIATE)

COLUMNS, SIGNAL = "columns", "signal"
"""Kinds of features: the columns of a table, which may be causes of the label; or a signal, the
words of a text or an embedding, which are effects of it."""

MOST_COLUMNS = 200
"""Features that nothing else is known about are columns if there are at most this many. The tables
of `benchmarks/` have 4 to 183, categories encoded; embeddings have 256 and more."""

NORMAL = 1.96


@dataclass(frozen=True, eq=False)
class ExaminedSamples:
    """What tests and estimates say about samples: arrays with a row per sample, or of one sample.

    facts: what the kind of the answer about each sample depends on, (n_samples,) of `Facts`.
    estimate: the method's. The named numbers, (..., n_classes) each, are `prior`, if only the class
        shares changed (SLD); `covariate`, if only the mix of items did (PCC); and `mixed`, if the
        shares of subgroups did, too (SubclassSLD).
    low, high: limits of the range, (..., n_classes), whatever the kind. either_low, either_high:
        those of the two intervals around `prior` and `covariate`, (..., 2, n_classes).
    p_values: of the tests of label shift, by name, see `score_test`; `doubles` is the one that has
        to be small for evidence. power: the probability that a double would have been refuted.
    support: log-likelihood of label shift minus that of its likeliest double.
    refuted: whether the sample refutes what the method assumes: label shift or, for signals, shifts
        of classes and subgroups. in_doubt: whether label shift explains so much of the difference
        all the same that no other assumption may be better. auc, z, explained: of the test by a
        classifier.
    covariate_by_classifier: PCC by every classifier, (..., n_classifiers, n_classes); members: PCC
        by models each of which has not seen one fold of the training items, (..., n_members,
        n_classes), which shows how much it depends on them.
    label_variance: n times the variance that the labels of the n items add to their mean posterior,
        (..., n_classes).
    """

    facts: Any
    estimate: Prevalences
    prior: Prevalences
    covariate: Prevalences
    mixed: Prevalences
    low: Reals
    high: Reals
    either_low: Reals
    either_high: Reals
    p_values: Mapping[str, Reals]
    power: Reals
    support: Reals
    refuted: Flags
    in_doubt: Flags
    auc: Reals
    z: Reals
    explained: Reals
    covariate_by_classifier: Prevalences
    members: Reals
    label_variance: Reals

    def __len__(self) -> int:
        return len(self.estimate)

    def __getitem__(self, sample: int) -> "ExaminedSamples":
        """One sample."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        p_values = {name: column[sample] for name, column in values.pop("p_values").items()}
        return ExaminedSamples(**{k: v[sample] for k, v in values.items()}, p_values=p_values)

    def __iter__(self) -> Iterator["ExaminedSamples"]:
        return (self[i] for i in range(len(self)))

    @cached_property
    def grounds(self) -> Any:
        """The grounds of the answers, (n_samples,) of `Grounds`; of one sample, a single one."""
        return np.frompyfunc(decide, 1, 1)(self.facts)

    @property
    def is_interval(self) -> Flags:
        """Which answers are intervals, declared or not, (n_samples,)."""
        return np.array([not grounds.kind.is_range for grounds in self.grounds], dtype=bool)

    @property
    def is_either(self) -> Flags:
        """Which answers are either of two intervals, (n_samples,)."""
        return np.array([grounds.kind is Kind.EITHER for grounds in self.grounds], dtype=bool)

    @property
    def agree(self) -> Flags:
        """Which answers are intervals because the assumptions agree, (n_samples,)."""
        reasons = [grounds.reason for grounds in self.grounds]
        return np.array([reason is Reason.AGREEMENT for reason in reasons], dtype=bool)

    def if_covariate(self, size: Reals | float, *, of_items: bool = False) -> tuple[Reals, Reals]:
        """Limits if covariate shift is assumed, (..., n_classes) each. size: of the samples.

        of_items: for the share among the items themselves instead of the population's.
        """
        means, members = self.covariate_by_classifier, self.members
        centre = members.mean(axis=-2)
        spread = self.label_variance if of_items else centre * (1 - centre)
        return covariate_limits(means, members, spread / np.asarray(size)[..., np.newaxis])


def kind_of_features(X: Any) -> str:
    """COLUMNS or SIGNAL, by the number of columns of a matrix of features, dense or sparse."""
    return COLUMNS if X.shape[1] <= MOST_COLUMNS else SIGNAL


class AbstractGuarded(AbstractQuantifier):
    """A quantifier that tests on every sample whether its assumption is refuted.

    Its constructor takes `assume` (one of DECLARATIONS), `mode` (COLUMNS or SIGNAL, the kind of
    features), `classifiers` to choose from, `cv` and `seed`.
    """

    assume: str | None

    @property
    @abstractmethod
    def chosen_(self) -> int:
        """The position of the classifier that is used among those to choose from."""

    @property
    @abstractmethod
    def plain_(self) -> AbstractClassifying:
        """A simple quantifier on the posteriors of that classifier, for comparison."""

    @property
    @abstractmethod
    def unguarded_(self) -> AbstractClassifying:
        """The method that it is while nothing is refuted."""

    @abstractmethod
    def unguarded_items(self, items: Items) -> Items:
        """The items (as `items(X)` returns them) as `unguarded_` sees them."""

    @abstractmethod
    def calibrated_members(self, items: Items) -> Posteriors:
        """Calibrated posteriors of the items by each model of the classifier that is used.

        (n_members, n_items, n_classes); the models are those of the committee of
        `unguarded_items`, in the same order.
        """

    @property
    @abstractmethod
    def reference_(self) -> Reference:
        """The training items that a sample is compared with, by their features."""

    @abstractmethod
    def training_positions(self) -> tuple[Reals, Codes] | None:
        """The standardised features of the training items, and their codes.

        None if those of other items differ from them even if nothing has changed.
        """

    @abstractmethod
    def positions(self, items: Items) -> Reals:
        """The features of other items, standardised in the same way."""

    @abstractmethod
    def examined(self, estimate: Estimate) -> ExaminedSamples:
        """What tests say about the samples of an estimate that it has made.

        For one sample (an estimate without an axis of samples) there is one row.
        """

    def assuming(self, assume: str | None) -> Self:
        """The same fitted quantifier with another declaration."""
        other = copy(self)
        other.assume = assume
        return other


def training_deviations(members: Reals) -> Reals:
    """The contribution of the training items to PCC's error, (..., n_members, n_classes).

    members: PCC by models each of which has not seen one fold of the training items. Weighted with
    independent standard normal numbers and summed over the members, these deviations have the
    variance of the delete-a-group jackknife (P. Kott, Journal of Official Statistics 17, 2001).
    """
    n_members = members.shape[-2]
    centred = members - members.mean(axis=-2, keepdims=True)
    return np.asarray(np.sqrt((n_members - 1) / n_members) * centred)


def covariate_limits(means: Reals, members: Reals, sampling: Reals) -> tuple[Reals, Reals]:
    """Limits of PCC where covariate shift is assumed, (..., n_classes) each.

    means: PCC by each classifier, (..., n_classifiers, n_classes), all within the limits. members:
    of the better one; sampling: the variance of the share that the draw of items (or their labels
    alone) adds, (..., n_classes).
    """
    training = np.square(training_deviations(members)).sum(axis=-2)
    margin = NORMAL * np.sqrt(sampling + training)
    low, high = means.min(axis=-2) - margin, means.max(axis=-2) + margin
    return np.maximum(low, 0.0), np.minimum(high, 1.0)
