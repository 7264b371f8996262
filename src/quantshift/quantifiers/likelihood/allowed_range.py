"""The range of shares that remain possible where no assumption can be relied on.

Around PCC, p, the half-width h of a class has three parts,

    h^2 = (A s)^2 + ((auc - .5) s)^2 + 1.96^2 p (1 - p) / n,    s = sqrt(p (1 - p)),

where auc is how well a classifier separates the sample from training items weighted as label shift
would have it: the less these explain it, the further the truth may be. If the scores alone refute
label shift, the side of SubclassSLD's estimate m is extended by a part of m - p, a small one, since
the rows were then selected by something like the score and PCC is nearly right.

If features refute it, the mix of items and the shares of classes may have changed together. The
range then holds the shares that any such change leaves possible (`mixed_shift`), and PCC. Both are
widened by the first and last parts of h. Signals have no such model: their range extends to
SubclassSLD's estimate.

Of the way to these limits from PCC +- h, with a smaller part for the auc, the range of columns goes
`PART`: the last quarter costs more width than it avoids misses. The measure is the interval score,
width + 40 times the distance of a miss, where groups of the development tables are natural.

If nothing refutes label shift and nothing speaks for it, the range spans this one and the limits
under label shift.

The constants are those for which the range contained nine tenths of the truths in each of the
worlds of `benchmarks/worlds.py` on the tables for development.
"""

import numpy as np

from quantshift.base.types import Flags, Prevalences, Reals
from quantshift.quantifiers.base.guarding import NORMAL

LEAST_SPREAD = 0.15
"""The A of the half-width."""

PART, BEYOND = 0.75, 0.75
"""The part of the way to the limits of refuted samples, and the factor of auc - .5 in the h that it
starts from."""

NOT_SEPARATED = 0.5
"""The area under the ROC curve of chance."""

BY_SCORES = 0.45
"""The part of the way to SubclassSLD's estimate, if only the scores refute label shift."""


def half_width(covariate: Prevalences, auc: Reals, size: Reals) -> Reals:
    """The h of the range, (n_samples, n_classes). auc, size: (n_samples,)."""
    variance = covariate * (1 - covariate)
    beyond = np.maximum(auc - 0.5, 0.0)[:, np.newaxis]
    return np.sqrt(variance * (LEAST_SPREAD**2 + beyond**2 + NORMAL**2 / size[:, np.newaxis]))


def on_the_way(
    covariate: Prevalences, auc: Reals, size: Reals, limits: tuple[Reals, Reals]
) -> tuple[Reals, Reals]:
    """A part of the way from PCC +- h to wider limits, (n_samples, n_classes) each."""
    low, high = limits
    h = half_width(covariate, NOT_SEPARATED + BEYOND * (auc - NOT_SEPARATED), size)
    near_low, near_high = covariate - h, covariate + h
    return (
        np.maximum(near_low + PART * np.minimum(low - near_low, 0.0), 0.0),
        np.minimum(near_high + PART * np.maximum(high - near_high, 0.0), 1.0),
    )


def joint_limits(
    covariate: Prevalences, jointly: tuple[Reals, Reals], size: Reals
) -> tuple[Reals, Reals]:
    """Limits if features refute label shift, (n_samples, n_classes) each.

    jointly: limits of `mixed_shift`; NaN where it was not fitted. size: (n_samples,).
    """
    low, high = jointly
    middle = (low + high) / 2
    unseparated = np.full(len(size), NOT_SEPARATED)
    around = half_width(covariate, unseparated, size)
    wider = np.hypot(high - middle, half_width(middle, unseparated, size))
    return (
        np.maximum(np.minimum(covariate - around, middle - wider), 0.0),
        np.minimum(np.maximum(covariate + around, middle + wider), 1.0),
    )


def range_limits(
    covariate: Prevalences,
    mixed: Prevalences,
    prior: tuple[Prevalences, Reals],
    h: Reals,
    *,
    refuted: Flags,
    by_features: Flags,
) -> tuple[Reals, Reals]:
    """Lower and upper limits, (n_samples, n_classes) each.

    covariate, mixed: estimates of PCC and SubclassSLD; prior: SLD's, and its standard error under
    label shift. refuted, by_features: whether label shift is, and by features, (n_samples,).
    """
    part = np.where(by_features, 1.0, BY_SCORES)[:, np.newaxis]
    reached = covariate + part * (mixed - covariate)
    low, high = np.minimum(covariate, reached) - h, np.maximum(covariate, reached) + h
    p_hat, error = prior
    not_refuted = ~refuted[:, np.newaxis]
    low = np.where(not_refuted, np.minimum(covariate - h, p_hat - NORMAL * error), low)
    high = np.where(not_refuted, np.maximum(covariate + h, p_hat + NORMAL * error), high)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)
