"""How far a classifier is adapted to a sample, and why.

Correcting posteriors is right under label shift, and makes them worse if the features have changed
instead. So without a declaration the strength of the correction follows the evidence that the
sample itself gives (`quantshift.claims.decide`):

    declared    1: the user knows that only the shares of the classes changed
    evidence    STRONG: the sample would look different if its items had been selected
    no evidence, agreement (both assumptions give about the same share)
                from 0 to PARTIAL, the larger the less likely selected items would look like this
    refuted     0: the probabilities stay as trained

Three quarters of a correction have nearly all of its gain under label shift, and do much less harm
if the evidence misleads: on tables used for development, +.082 of +.083 in accuracy, and -.029
instead of -.042 where rows had been selected by their score (`benchmarks/shifted_classifier.py`).

What is estimated about the classifier (its accuracy and other measures) is between the values under
the two assumptions, by `label_shift_weight`: under label shift alone if it is declared or there is
evidence for it, under covariate shift alone if label shift is refuted. In between the weight is the
probability of label shift, given the sample: 1 / (1 + e^(SELECTION - support)). The support is the
log-likelihood of label shift minus that of the likeliest selection
(`quantshift.quantifiers.likelihood.score_test`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from quantshift.base.types import Posteriors, Prevalences
from quantshift.claims import EVIDENCE_LEVEL, Facts, Grounds, Reason, decide
from quantshift.measuring.adapting.correction import Correction

NO_LONGER = 0.05
"""P-value of the doubles from which on a sample says nothing in favour of label shift."""

STRONG = 0.75
"""Strength of a correction for which there is evidence."""

PARTIAL = 0.5
"""The largest strength of a correction without evidence."""

SELECTION = 2.0
"""Log-odds of a selection of items against label shift before the sample is seen. An accuracy under
the wrong assumption is further off if the items were selected (.109 instead of .017; .052 instead
of .022 under label shift, `benchmarks/rivals.py performance`)."""

SENTENCES: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.DECLARED: "corrected, because you declared that only the shares of the classes "
        "changed",
        Reason.EVIDENCE: "corrected: the rows support that only the shares of the classes changed",
        Reason.AGREEMENT: "as trained: whatever changed, the shares are about the same",
        Reason.NO_EVIDENCE: "as trained: nothing supports that only the shares of the classes "
        "changed",
        Reason.REFUTED: "as trained: more than the shares of the classes changed",
        Reason.UNINFORMATIVE: "as trained: the rows do not show the shares of the classes",
    }
)
AS_TRAINED = "as trained, because you declared that similar rows still get the same label"
PARTLY = "partly corrected: there is only weak evidence that the shares of the classes changed"
DECLARE = 'label some rows, or give assume="prior" if you know that only the shares changed'
RECALIBRATE = "label some rows and calibrate the classifier on them"


class NotAdaptedWarning(UserWarning):
    """A classifier was to be adapted to a sample, and stays as trained."""


@dataclass(frozen=True, eq=False)
class Adaptation:
    """What a sample says about a classifier's probabilities.

    classes: the labels; prevalence: the shares to which the classifier would be corrected,
        (n_classes,). correction: from posteriors as trained, with its strength.
    facts: what is known of these shares.
    p_doubles: how likely a sample of selected items looks like this one; None if not tested.
    support: log-likelihood of label shift minus that of selected items; None if not known.
    """

    classes: NDArray[Any]
    correction: Correction
    facts: Facts
    p_doubles: float | None = None
    support: float | None = None

    @property
    def grounds(self) -> Grounds:
        """What the estimate of the shares stands on."""
        return decide(self.facts)

    @property
    def reason(self) -> Reason:
        """Why the probabilities are corrected, or not."""
        return self.grounds.reason

    @property
    def prevalence(self) -> Prevalences:
        """The estimated shares of the classes, whether or not they are used."""
        return self.correction.prevalence

    @property
    def strength(self) -> float:
        """The strength of the correction: 0 for probabilities as trained, 1 for a full one."""
        return self.correction.strength

    @property
    def sentence(self) -> str:
        """What was done with the probabilities, and why, in words."""
        if self.grounds.declares_covariate:
            return AS_TRAINED
        if self.reason in (Reason.NO_EVIDENCE, Reason.AGREEMENT) and self.strength > 0:
            return PARTLY
        return SENTENCES[self.reason]

    @property
    def cure(self) -> str:
        """What to do if the probabilities stay as trained."""
        return RECALIBRATE if self.reason is Reason.REFUTED else DECLARE

    def __call__(self, posteriors: Posteriors) -> Posteriors:
        """Posteriors as trained, corrected."""
        return self.correction(posteriors)

    def __repr__(self) -> str:
        """What was done, and to which shares."""
        shares = ", ".join(
            f"{label} {share:.1%}"
            for label, share in zip(self.classes.tolist(), self.prevalence, strict=True)
        )
        return f"<Adaptation: {self.sentence} ({shares})>"


def strength_of(grounds: Grounds, p_doubles: float | None = None) -> float:
    """The strength of the correction that the evidence allows; without evidence, evenly in log p.

    >>> from quantshift.claims import Assumption, Facts, decide
    >>> strength_of(decide(Facts(Assumption.PRIOR, doubles=0.001)))
    0.75
    """
    reason, fixed = grounds.reason, {Reason.DECLARED: 1.0, Reason.EVIDENCE: STRONG}
    if grounds.declares_covariate:
        return 0.0
    if reason in fixed:
        return fixed[reason]
    if reason in (Reason.NO_EVIDENCE, Reason.AGREEMENT) and p_doubles is not None:
        distance = np.log(NO_LONGER / max(p_doubles, EVIDENCE_LEVEL))
        return PARTIAL * float(np.clip(distance / np.log(NO_LONGER / EVIDENCE_LEVEL), 0.0, 1.0))
    return 0.0


def label_shift_weight(grounds: Grounds, support: float | None = None) -> float:
    """The weight of label shift, from 0 to 1, in what is estimated about the classifier.

    >>> from quantshift.claims import Assumption, Facts, decide
    >>> label_shift_weight(decide(Facts(Assumption.PRIOR)), support=2.0)
    0.5
    """
    if grounds.reason is Reason.REFUTED or grounds.declares_covariate:
        return 0.0
    if grounds.reason in (Reason.DECLARED, Reason.EVIDENCE):
        return 1.0
    return float(expit((support or 0.0) - SELECTION))
