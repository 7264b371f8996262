"""May rates be carried over from labels elsewhere? What supports it, and how much depends on it.

Two assumptions are common: that the judge errs as often here as there (rates), and that a verdict
means the same here and there (verdicts). Both are right if nothing changed, one of them at most if
something did, and no unlabelled item shows which. Where they disagree, a range is all there is. A
judge that hardly tells the classes apart carries nothing over: the rate follows from its verdicts
by a division by Youden's J, sensitivity + specificity - 1, which multiplies every error of the
rates.

With more verdicts (or pairs of verdicts of two judges) than classes, the verdicts of the items also
test that rates carry over: no shares of the classes may give them (`fit_p_value`).

Reference: W. Youden, "Index for rating diagnostic tests", Cancer 3 (1950).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from quantshift.base.types import Reals
from quantshift.claims import Estimated
from quantshift.judging.designs.parts.judge_quality import rate_limits
from quantshift.judging.designs.parts.share_estimate import MovedRate
from quantshift.statistics.contingency import ChiSquare

INFORMATIVE = 0.2
"""A judge tells the classes apart if the lower limit of its Youden's J is at least this."""
MOVED = 0.05
"""By how much an error rate is moved to see how far the share moves."""
MOST_STEPS, NEGLIGIBLE = 300, 1e-6
"""The most steps of the search for the likeliest rates and shares, and the gain that ends it."""


@dataclass(frozen=True)
class Youden(Estimated):
    """Youden's J of a judge between two classes."""

    @classmethod
    def of(cls, labelled: Reals, level: float) -> "Youden | None":
        """J by labelled items by class and verdict; None unless there are two of each."""
        if labelled.shape != (2, 2) or not labelled.sum(axis=1).all():
            return None
        rates = labelled / labelled.sum(axis=1, keepdims=True)
        low, high = rate_limits(labelled, level)
        right = np.arange(2), np.arange(2)
        down, up = (rates - low)[right], (high - rates)[right]
        j = float(rates[right].sum() - 1)
        spread = [float(np.sqrt((side**2).sum())) for side in (down, up)]
        return cls("Youden's J", j, max(j - spread[0], -1.0), min(j + spread[1], 1.0))

    @property
    def is_informative(self) -> bool:
        """Whether the judge surely tells the classes apart, in either direction."""
        return self.low >= INFORMATIVE or self.high <= -INFORMATIVE


def moved_rates(labelled: Reals, verdicts: Reals) -> tuple[MovedRate, ...]:
    """The shares of two classes if the judge is right less or more often, class by class.

    labelled: items by class and verdict; verdicts: counts of the items in question.
    """
    if labelled.shape != (2, 2) or not labelled.sum(axis=1).all():
        return ()
    rates = labelled / labelled.sum(axis=1, keepdims=True)
    positive_share = float(verdicts[1] / verdicts.sum())
    moved = []
    for of_class in (1, 0):
        for moved_by in (-MOVED, MOVED):
            right = np.array([rates[0, 0], rates[1, 1]])
            right[of_class] = np.clip(right[of_class] + moved_by, 0, 1)
            slope = float(right.sum() - 1)
            share = 0.5 if abs(slope) < 1e-9 else (positive_share + right[0] - 1) / slope
            share = float(np.clip(share, 0, 1))
            moved.append(MovedRate(of_class, moved_by, np.array([1 - share, share])))
    return tuple(moved)


def fit_p_value(labelled: Reals, verdicts: Reals) -> float:
    """The p-value of the other items having the rates of labelled ones, for any shares of classes.

    labelled: items by class and verdict, random ones of their class, (n_classes, n_verdicts);
    verdicts: counts of the other items. It is that of the likelihood-ratio test against any shares
    of the verdicts; rates and shares are found by EM. 1 if there are not more verdicts than
    classes, so that nothing can be tested.
    """
    seen = labelled.sum(axis=0) + verdicts > 0
    F, N = labelled[labelled.sum(axis=1) > 0][:, seen], verdicts[seen]
    freedom = F.shape[1] - len(F)
    if freedom < 1 or len(F) < 2 or not N.sum():
        return 1.0
    rates = F + N / N.sum()
    p, before = np.full(len(F), 1 / len(F)), -np.inf
    for _ in range(MOST_STEPS):
        rates /= rates.sum(axis=1, keepdims=True)
        mixed = p @ rates
        log_likelihood = float(xlogy(F, rates).sum() + xlogy(N, mixed).sum())
        if log_likelihood - before < NEGLIGIBLE:
            break
        before = log_likelihood
        split = (
            p[:, np.newaxis] * rates * np.divide(N, mixed, out=np.zeros_like(N), where=mixed > 0)
        )
        p, rates = split.sum(axis=1) / N.sum(), F + split
    at_best = sum(float(xlogy(c, c / max(c.sum(), 1)).sum()) for c in (*F, N))
    return ChiSquare(2 * max(at_best - log_likelihood, 0.0), freedom).p_value
