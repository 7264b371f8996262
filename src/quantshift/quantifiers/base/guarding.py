"""What a guarded method offers: it tests on every sample whether its own assumption is refuted.

Unlabelled items can refute label shift, and can never confirm it; they can never refute covariate
shift, which allows every change of the features. So an answer is a confidence interval only if

    declared    the user has declared an assumption (and the items do not refute it),
    evidence    label shift is not refuted by a sample that could tell it from its doubles, which
                covariate shift would make, or
    agreement   both assumptions give similar shares, and the interval covers both.

Otherwise it is a range, because label shift is `refuted` or there is `no evidence` for it; or
nothing can be estimated, if the classifier separates `neither` class from the others or the range
holds nearly everything. `Grounds` says all of this for many samples, in one place.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes, Flags, Posteriors, Prevalences, Reals
from quantshift.classify.separation import Reference
from quantshift.quantifiers.base.answer_kinds import AGREEMENT as AGREEMENT
from quantshift.quantifiers.base.answer_kinds import CANNOT as CANNOT
from quantshift.quantifiers.base.answer_kinds import CONFIDENCE_INTERVAL as CONFIDENCE_INTERVAL
from quantshift.quantifiers.base.answer_kinds import DECLARED as DECLARED
from quantshift.quantifiers.base.answer_kinds import EVIDENCE as EVIDENCE
from quantshift.quantifiers.base.answer_kinds import NEITHER as NEITHER
from quantshift.quantifiers.base.answer_kinds import NO_EVIDENCE as NO_EVIDENCE
from quantshift.quantifiers.base.answer_kinds import RANGE as RANGE
from quantshift.quantifiers.base.answer_kinds import REFUTED as REFUTED
from quantshift.quantifiers.base.estimator import AbstractClassifying, AbstractQuantifier, Estimate
from quantshift.quantifiers.base.items import Items

AUTO, PRIOR, COVARIATE, BETWEEN = "auto", "prior", "covariate", "between"

ASSUMPTIONS = (AUTO, PRIOR, COVARIATE)
"""What a user can assume: nothing is declared, prior shift (P(X|Y) is the same, perhaps within
subgroups), or covariate shift (P(Y|X) is)."""

DECLARATIONS = (None, PRIOR, COVARIATE)

COLUMNS, SIGNAL = "columns", "signal"
"""Kinds of features: the columns of a table, which may be causes of the label; or a signal, the
words of a text or an embedding, which are effects of it."""

MOST_COLUMNS = 200
"""Features that nothing else is known about are columns if there are at most this many. The tables
of `benchmarks/` have 4 to 183, categories encoded; embeddings have 256 and more."""

EVIDENCE_LEVEL = 0.005
"""Doubles of the sample must be this unlikely to look like it. `benchmarks/evidence.py` shows what
other levels would cost."""

AGREEING = 0.15
"""Estimates under the two assumptions that differ by less agree, if the features refute neither."""

AGREEING_SCORES = 0.05
"""The same where only scores are known, and a change of the features may go unnoticed."""

WIDEST = 0.4
"""A range that is wider is not an estimate: only labels can tell the share."""

NORMAL = 1.96


@dataclass(frozen=True, eq=False)
class Grounds:
    """What the answers about samples stand on: arrays with a row per sample, or of one sample.

    kind, reason: of the answer, see the docstring of the module. rests_on: the assumption behind
        the estimate, PRIOR, COVARIATE or BETWEEN the two.
    estimate: the method's. The named numbers, (..., n_classes) each, are `prior`, if only the class
        shares changed (SLD); `covariate`, if only the mix of items did (PCC); and `mixed`, if the
        shares of subgroups did, too (SubclassSLD).
    low, high: limits of the range, (..., n_classes), whatever the kind.
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

    kind: NDArray[np.str_]
    reason: NDArray[np.str_]
    rests_on: NDArray[np.str_]
    estimate: Prevalences
    prior: Prevalences
    covariate: Prevalences
    mixed: Prevalences
    low: Reals
    high: Reals
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

    def __getitem__(self, sample: int) -> "Grounds":
        """The grounds of one sample."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        p_values = {name: column[sample] for name, column in values.pop("p_values").items()}
        return Grounds(**{k: v[sample] for k, v in values.items()}, p_values=p_values)

    def __iter__(self) -> Iterator["Grounds"]:
        return (self[i] for i in range(len(self)))

    def if_covariate(self, size: Reals | float, *, of_items: bool = False) -> tuple[Reals, Reals]:
        """Limits if covariate shift is assumed, (..., n_classes) each. size: of the samples.

        of_items: for the share among the items themselves instead of the population's.
        """
        means, members = self.covariate_by_classifier, self.members
        centre = members.mean(axis=-2)
        spread = self.label_variance if of_items else centre * (1 - centre)
        return covariate_limits(means, members, spread / np.asarray(size)[..., np.newaxis])


def kinds_of(
    assume: str | None,
    *,
    refuted: Flags,
    doubles: Reals,
    apart: Reals,
    width: Reals,
    informative: bool,
    agreeing: float = AGREEING,
) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Kind and reason of the answers about samples, (n_samples,) each.

    refuted: whether a test refutes label shift. doubles: p-value of the sample's doubles. apart:
    the largest difference between the estimates under the two assumptions; width: of the range.
    informative: whether the classifier separates the classes at all. agreeing: estimates that are
    less apart agree.
    """
    n = len(refuted)
    if assume == COVARIATE:
        return np.full(n, CONFIDENCE_INTERVAL), np.full(n, DECLARED)
    if assume == PRIOR:
        return (
            np.where(refuted, RANGE, CONFIDENCE_INTERVAL),
            np.where(refuted, REFUTED, DECLARED),
        )
    reason = np.select(
        [
            np.full(n, not informative),
            refuted & (width > WIDEST),
            refuted,
            doubles <= EVIDENCE_LEVEL,
            width > WIDEST,
            apart < agreeing,
        ],
        [NEITHER, NEITHER, REFUTED, EVIDENCE, NEITHER, AGREEMENT],
        NO_EVIDENCE,
    )
    kind = np.select(
        [reason == NEITHER, np.isin(reason, [EVIDENCE, AGREEMENT])],
        [CANNOT, CONFIDENCE_INTERVAL],
        RANGE,
    )
    return kind, reason


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
    def grounds(self, estimate: Estimate) -> Grounds:
        """What the answers about the samples of an estimate that it has made stand on.

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
