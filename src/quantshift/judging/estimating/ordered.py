"""The mean of ordered classes, such as grades from 1 to 5, and how it differs between systems.

Its standard error follows from what each item adds to the shares of the classes (their influence).
Limits are as many standard errors away as those of the shares are from theirs, on average over the
classes, so that the care for few labels carries over. The limits of a difference follow from those
of both means by the squares of the distances (MOVER), allowing for the items and labels that both
systems share.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from quantshift.claims import Estimated
from quantshift.errors import DataError
from quantshift.judging.estimating.differences import check_comparable, correlation, mover
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.result import MEAN


def mean(judged: Judged, values: ArrayLike) -> Estimated:
    """The mean of the items; values: those of the classes, (n_classes,)."""
    worth, shares = np.asarray(values, dtype=np.float64), judged.shares
    if worth.shape != shares.prevalence.shape or not np.isfinite(worth).all():
        raise DataError(f"a mean needs a number for each of the {len(shares.prevalence)} classes")
    parts = [shares.influence]
    if shares.influence_external is not None:
        parts.append(shares.influence_external)
    moved = np.concatenate(parts) / len(shares.influence)
    errors = np.sqrt((moved**2).sum(axis=0))
    error = float(np.sqrt(((moved @ worth) ** 2).sum()))
    z = float(ndtri((1 + judged.level) / 2))
    half = shares.width / 2
    if errors.sum() > 0 and error > 0:
        margin = max(float(half.sum() / errors.sum()), z) * error
    else:
        # No label contradicts the verdicts: what a class may still gain, another loses.
        margin = float(half.max()) * float(np.ptp(worth))
    middle = float(shares.prevalence @ worth)
    low, high = np.clip([middle - margin, middle + margin], worth.min(), worth.max())
    return Estimated(MEAN, middle, float(low), float(high))


def mean_difference(
    a: Judged, b: Judged, values: ArrayLike, *, paired: bool = False, shared: bool = False
) -> Estimated:
    """The mean in a minus that in b; the arguments are those of `mean` and `difference`."""
    worth = np.asarray(values, dtype=np.float64)
    of_a, of_b = mean(a, worth), mean(b, worth)
    check_comparable(a, b, paired=paired)
    r = correlation(a, b, paired=paired, shared=shared, worth=worth[:, np.newaxis])
    distances_a, distances_b = (
        (np.array([one.estimate - one.low]), np.array([one.high - one.estimate]))
        for one in (of_a, of_b)
    )
    down, up = mover(distances_a, distances_b, r)
    d, most = of_a.estimate - of_b.estimate, float(np.ptp(worth))
    return Estimated(MEAN, d, max(d - float(down[0]), -most), min(d + float(up[0]), most))
