"""A control chart for a series of estimates: is the newest beyond what usually happens?

An exponentially weighted moving average (EWMA) of the estimates since the baseline is compared with
the mean of the baseline. It answers to a jump about one look later than a chart of single estimates
would, and to small changes and slow drifts much sooner.

With deviations x_i - m from the mean m of n baseline looks and weights w_i that fall by 1 - WEIGHT
from look to look, the variance of sum w_i (x_i - m) is s^2 (sum w_i^2 + (sum w_i)^2 / n), where s^2
is the variance of the baseline looks: it holds the error of sampling and the usual variation from
look to look alike. An error that all looks share, such as that of one training set, cancels. The
ratio has Student's t distribution with n - 1 degrees of freedom, exactly so for normal looks of one
variance, so that an estimated baseline raises no more false alarms than a known one.
A look with a wider interval than those of the baseline has the additional variance added.

Reference: J. M. Lucas and M. S. Saccucci (1990), Exponentially weighted moving average control
schemes: properties and enhancements, Technometrics 32.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.errors import UserError

WEIGHT = 0.2
"""Of the newest look. Chosen with `benchmarks/history_alarms.py`: a larger weight sees a
jump of five standard deviations a look sooner, small changes later, and alarms more often by chance
where looks have heavy tails; a smaller one is slower at all but the smallest changes."""

FEWEST_BASELINE = 8
"""With fewer looks the limits are so wide that nothing would alarm."""

LARGEST_LEVEL = 0.05
"""Chance of a false alarm at one look, at most, however rare the looks are."""


@dataclass(frozen=True, eq=False)
class Chart:
    """The chart of the looks behind the baseline.

    centre: the mean of the baseline; smoothed: the moving average at each look; reach: how far it
    may be from the centre; alarms: whether it is farther.
    """

    centre: float
    smoothed: NDArray[np.float64]
    reach: NDArray[np.float64]
    alarms: NDArray[np.bool_]


def level_per_look(
    false_alarms_per_year: float, looks_per_year: float, *, n_charts: int = 1
) -> float:
    """The chance of a false alarm at one look of one chart that gives so many a year in all.

    >>> round(1 / level_per_look(1, 365))
    365
    """
    if not false_alarms_per_year > 0:
        raise UserError(
            f"false alarms per year are more than 0, got {false_alarms_per_year:g}",
            arguments=["false_alarms_per_year"],
        )
    if not looks_per_year > 0:
        raise UserError(
            f"looks per year are more than 0, got {looks_per_year:g}", arguments=["looks_per_year"]
        )
    return min(false_alarms_per_year / looks_per_year, LARGEST_LEVEL) / n_charts


def control_chart(
    estimates: ArrayLike,
    standard_errors: ArrayLike,
    n_items: ArrayLike,
    *,
    n_baseline: int,
    level: float,
    weight: float = WEIGHT,
) -> Chart:
    """The chart of a series whose first `n_baseline` looks are the baseline.

    estimates, standard_errors, n_items: one for each look, in the order of time. level: the chance
    of a false alarm at each look.
    """
    from scipy.stats import t as student

    values = np.asarray(estimates, dtype=np.float64)
    variances = np.asarray(standard_errors, dtype=np.float64) ** 2
    sizes = np.asarray(n_items, dtype=np.float64)
    if n_baseline < 2 or n_baseline > len(values):
        raise UserError(
            f"a baseline of {n_baseline} looks of {len(values)}; give 2 or more, and no more than "
            "there are",
            arguments=["baseline"],
        )
    first = values[:n_baseline]
    centre = float(first.mean())
    usual = max(float(first.var(ddof=1)), _least_variance(centre, sizes[:n_baseline]))
    # What intervals share does not matter: only how much wider one is than those of the baseline.
    added = np.maximum(0.0, variances - variances[:n_baseline].mean())[n_baseline:]
    deviations = values[n_baseline:] - centre
    smoothed, squares, additional = np.zeros((3, len(deviations)))
    average, sum_of_squares, extra = 0.0, 0.0, 0.0
    for i, deviation in enumerate(deviations):
        average = (1 - weight) * average + weight * deviation
        sum_of_squares = (1 - weight) ** 2 * sum_of_squares + weight**2
        extra = (1 - weight) ** 2 * extra + weight**2 * added[i]
        smoothed[i], squares[i], additional[i] = average, sum_of_squares, extra
    sums = 1 - (1 - weight) ** np.arange(1, len(deviations) + 1)
    spread = np.sqrt(usual * (squares + sums**2 / n_baseline) + additional)
    reach = student.ppf(1 - level / 2, n_baseline - 1) * spread
    return Chart(centre, centre + smoothed, reach, np.abs(smoothed) > reach)


def _least_variance(centre: float, sizes: NDArray[np.float64]) -> float:
    """That of counting so many items; estimates that all are 0 do not vary at all."""
    size = max(float(np.median(sizes)), 1.0)
    share = (min(max(centre, 0.0), 1.0) * size + 1) / (size + 2)
    return share * (1 - share) / size
