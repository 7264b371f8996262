"""Every method against the best on one data set: paired t-tests over training sets.

The samples of a training set share its errors, so they are not independent evidence: 1,000 samples
of five training sets are five observations. The mean error over the samples of a training set is
one observation of each method, and the differences between two methods are paired by training set.
Means over many samples are nearly normal, so that a t-test needs only a few of them, where a rank
test needs at least six.

The best method was chosen with the same data, which makes the tests somewhat too eager; Holm's
correction for the number of methods makes up for it.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from quantshift.lab.analysis.paired import TIE
from quantshift.statistics.multiple_tests import holm

FEWEST_SETS = 3
"""With two training sets, a difference would have to be enormous to be significant."""


def against_best(
    means: NDArray[np.float64], *, may_be_best: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The p-value of each method against the best one, with Holm's correction.

    means: mean errors of shape (training sets, methods), NaN where a method has none.
    may_be_best: which methods can be the best; the others are compared with it.

    NaN for the best itself, for methods that lack a training set, and for all if there are fewer
    than `FEWEST_SETS` training sets or no method can be the best.
    """
    n_sets, n_methods = means.shape
    p_values = np.full(n_methods, np.nan)
    complete = ~np.isnan(means).any(axis=0)
    candidates = np.flatnonzero(complete & may_be_best)
    if n_sets < FEWEST_SETS or not candidates.size:
        return p_values
    best = candidates[np.argmin(np.round(means[:, candidates].mean(axis=0), 10))]
    others = np.flatnonzero(complete & (np.arange(n_methods) != best))
    differences = means[:, others] - means[:, [best]]
    mean = differences.mean(axis=0)
    error = differences.std(axis=0, ddof=1) / np.sqrt(n_sets)
    # Differences that are all the same have no error; rounding alone is no difference.
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.abs(mean) <= TIE, 0.0, np.abs(mean) / error)
    p_values[others] = holm(2 * stats.t.sf(t, n_sets - 1))
    return p_values
