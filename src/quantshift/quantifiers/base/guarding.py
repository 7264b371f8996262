"""What a guarded method offers: it tests on every sample whether its own assumption is refuted.

While nothing is refuted its estimate, and the interval, are those of another method inside it
(`unguarded_`). After a refutation nothing in the data says which assumption is closest to the
truth, and an `AllowedRange` says what the assumptions allow.
"""

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np

from quantshift.base.types import Prevalences, Reals
from quantshift.quantifiers.base.estimator import AbstractClassifying, AbstractQuantifier, Estimate
from quantshift.quantifiers.base.items import Items

AUTO, PRIOR, COVARIATE, BETWEEN = "auto", "prior", "covariate", "between"

ASSUMPTIONS = (AUTO, PRIOR, COVARIATE)
"""What may be assumed: whatever the test says, prior shift (P(X|Y) is the same, perhaps within
subgroups), or covariate shift (P(Y|X) is)."""

NORMAL = 1.96


@dataclass(frozen=True, eq=False)
class AllowedRange:
    """What the assumptions allow for one sample. Prevalences have the shape (n_classes,).

    estimate: the method's; rests_on: the assumption behind it, PRIOR, COVARIATE or BETWEEN the two.
    low, high: limits that hold the training prevalence and the estimates of all classifiers.
    prior, covariate: the estimates under either assumption, by the classifier that is used.
    plain_prior: the one under prior shift if there are no subgroups.
    covariate_by_classifier: by every classifier, (n_classifiers, n_classes).
    members: `covariate` by models each of which has not seen one fold of the training items,
        (n_members, n_classes); it shows how much the estimate depends on them.
    refuted, in_doubt: whether the sample refutes the method's assumption, and whether it explains
        so much of the difference that no other may be better. auc, z, explained: of this test.
    """

    estimate: Prevalences
    rests_on: str
    low: Reals
    high: Reals
    prior: Prevalences
    covariate: Prevalences
    plain_prior: Prevalences
    covariate_by_classifier: Prevalences
    members: Reals
    refuted: bool
    in_doubt: bool
    auc: float
    z: float
    explained: float

    def if_covariate(self, size: float) -> tuple[Reals, Reals]:
        """The limits where covariate shift is assumed, (n_classes,) each. size: of the sample.

        Neither the training prevalence nor prior shift has to be considered.
        """
        low, high = covariate_limits(
            self.covariate_by_classifier[np.newaxis], self.members[np.newaxis], np.array([size])
        )
        return low[0], high[0]


class AbstractGuarded(AbstractQuantifier):
    """A quantifier that tests on every sample whether its assumption is refuted.

    Its constructor takes `assume` (one of ASSUMPTIONS), `mode` ("columns" or "signal", the kind of
    features), `classifiers` to choose from, `cv` and `seed`.
    """

    assume: str

    @property
    @abstractmethod
    def chosen_(self) -> int:
        """The place of the classifier that is used among those to choose from."""

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
    def ranges(self, estimate: Estimate) -> Sequence[AllowedRange]:
        """What the assumptions allow for each sample of an estimate that it has made."""

    def assuming(self, assume: str) -> Self:
        """The same fitted quantifier with another assumption."""
        other = copy(self)
        other.assume = assume
        return other


def training_deviations(members: Reals) -> Reals:
    """The contribution of the training items to PCC's error, (n_samples, n_members, n_classes).

    members: PCC by models each of which has not seen one fold of the training items. Weighted with
    independent standard normal numbers and summed over the members, these deviations have the
    variance of the delete-a-group jackknife (P. Kott, Journal of Official Statistics 17, 2001).
    """
    n_members = members.shape[1]
    centred = members - members.mean(axis=1, keepdims=True)
    return np.asarray(np.sqrt((n_members - 1) / n_members) * centred)


def covariate_limits(means: Reals, members: Reals, size: Reals) -> tuple[Reals, Reals]:
    """Limits of PCC where covariate shift is assumed, (n_samples, n_classes) each.

    means: PCC by each classifier, (n_samples, n_classifiers, n_classes), all within the limits.
    members: of the better one; size: of the samples.
    """
    centre = members.mean(axis=1)
    sampling = centre * (1 - centre) / size[:, np.newaxis]
    training = np.square(training_deviations(members)).sum(axis=1)
    margin = NORMAL * np.sqrt(sampling + training)
    low, high = means.min(axis=1) - margin, means.max(axis=1) + margin
    return np.maximum(low, 0.0), np.minimum(high, 1.0)
