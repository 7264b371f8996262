"""One interval under each of two assumptions, where the items cannot tell which of them holds.

If only the shares of the classes changed, the share is near SLD's estimate; if only the mix of
items did, it is near PCC's:

    SLD +- ERRORS times its error under label shift
    PCC +- sqrt((LEAST_ERROR s)^2 + 1.96^2 s^2 / n),    s = sqrt(p (1 - p))

A change of the mix need not leave P(Y|X) as it was to the last digit: LEAST_ERROR allows for that.
Where only posteriors are known, nothing has tested the features, and PCC's interval is as wide as
the range around it (`allowed_range`).

The constants are chosen on the tables for development; `benchmarks/worlds.py` shows coverage and
length.
"""

import numpy as np

from quantshift.base.types import Prevalences, Reals
from quantshift.quantifiers.base.guarding import NORMAL

ERRORS = 2.5
"""How many errors of SLD its interval reaches to either side."""

DOUBT = 2.0
"""With no shift the error is then 1.07 times PCC's on the tables for development; 1 gives 1.11, and
with 4 it is larger under label shift."""

TINY = 1e-30

LEAST_ERROR = 0.1
"""How far PCC may be from the truth in large samples, in units of s."""


def agreed(prior: tuple[Prevalences, Reals], covariate: Prevalences) -> Prevalences:
    """The estimate where both assumptions give similar shares, (n_samples, n_classes).

    Halfway between SLD and PCC it errs as much under either assumption. But where the two differ by
    no more than SLD errs, nothing need have changed, and PCC errs less. So it is at

        w / 2,    w = d^2 / (d^2 + DOUBT e^2),

    of the way from PCC to SLD, d their distance and e the error of SLD.
    """
    p_hat, error = prior
    distance = np.square(p_hat - covariate).sum(axis=1, keepdims=True)
    noise = DOUBT * np.square(error).sum(axis=1, keepdims=True)
    part = distance / np.maximum(distance + noise, TINY) / 2
    return np.asarray(covariate + part * (p_hat - covariate))


def around_mean(covariate: Prevalences, size: Reals) -> Reals:
    """Half of PCC's interval, (n_samples, n_classes), where features are tested."""
    variance = covariate * (1 - covariate)
    return np.sqrt(variance * (LEAST_ERROR**2 + NORMAL**2 / size[:, np.newaxis]))


def two_intervals(
    prior: tuple[Prevalences, Reals], covariate: Prevalences, h: Reals
) -> tuple[Reals, Reals]:
    """Lower and upper limits, (n_samples, 2, n_classes): under label shift, and under its rival.

    prior: SLD's estimate and its error, (n_samples, n_classes) each. h: half of PCC's interval.
    """
    p_hat, error = prior
    centre = np.stack([p_hat, covariate], axis=1)
    reach = np.stack([ERRORS * error, h], axis=1)
    return np.maximum(centre - reach, 0.0), np.minimum(centre + reach, 1.0)
