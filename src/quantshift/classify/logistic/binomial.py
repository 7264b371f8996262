"""The loss of two classes: log(1 + exp(-y (score + intercept))), and its best intercept."""

import math

import numpy as np

from quantshift.base.compiled import compiled
from quantshift.base.types import Reals
from quantshift.classify.logistic.arithmetic import dot, small_exponentials, sum_up

_STEPS = 100


@compiled
def fit_intercept(
    scores: Reals,
    positive: Reals,
    weight: Reals,
    intercept: float,
    share: float,
    longest: float,
    slope: Reals,
    curvature: Reals,
) -> tuple[float, float]:
    """The loss at the best intercept, and that intercept, from a first guess.

    `positive` is 1 for the items of the second class and 0 for the others. The slopes and the
    curvatures of the items' losses are written to `slope` and `curvature`.

    share, longest: the sum e of the slopes must be within `share` times the root of
        S min(D, 1 / longest^2), S and D being the sums of the positive items' slopes and of all
        curvatures, and `longest` the largest norm of a row of X. The loss is above S, so that both
        e^2 / D and the squared norm of e times a row, the two contributions of e to the gap, are
        small compared with the loss.
    """
    # The root of the increasing function sum(slope) by Newton, kept in a bracket by bisection.
    odds = np.empty(len(scores))
    low, high = -math.inf, math.inf
    for _ in range(_STEPS):
        small_exponentials(scores, intercept, odds)
        _slopes(scores, intercept, odds, positive, weight, slope, curvature)
        slope_sum = sum_up(slope)
        total = sum_up(curvature)
        least = -dot(slope, positive) * min(total, 1.0 / longest**2)
        if abs(slope_sum) <= share * math.sqrt(least):
            break
        if slope_sum > 0.0:
            high = intercept
        else:
            low = intercept
        following = intercept - slope_sum / total if total > 0.0 else math.nan
        if not (low < following < high):
            if low == -math.inf:
                following = high - 2.0 * (1.0 + abs(high))
            elif high == math.inf:
                following = low + 2.0 * (1.0 + abs(low))
            else:
                following = 0.5 * (low + high)
                if following in (low, high):
                    break
        intercept = following
    return loss_of(scores, intercept, odds, positive, weight), intercept


@compiled
def intercept_shift(curvature: Reals, change: Reals) -> float:
    """The change of the best intercept, to first order, if the scores change."""
    total = sum_up(curvature)
    return -dot(curvature, change) / total if total > 0.0 else 0.0


@compiled
def bend(curvature: Reals, change: Reals, out: Reals) -> None:
    """The change of the slopes, to first order, if the scores change and the intercept follows."""
    total = sum_up(curvature)
    mean = dot(curvature, change) / total if total > 0.0 else 0.0
    for i in range(len(out)):
        out[i] = curvature[i] * (change[i] - mean)


@compiled
def _slopes(
    scores: Reals,
    intercept: float,
    odds: Reals,
    positive: Reals,
    weight: Reals,
    slope: Reals,
    curvature: Reals,
) -> None:
    for i in range(len(scores)):
        # Posteriors of the likelier and the other class, neither computed as one minus the other.
        likely = 1.0 / (1.0 + odds[i])
        unlikely = odds[i] * likely
        above = scores[i] + intercept >= 0.0
        of_positive = likely if above else unlikely
        of_negative = unlikely if above else likely
        slope[i] = weight[i] * ((1.0 - positive[i]) * of_positive - positive[i] * of_negative)
        curvature[i] = weight[i] * likely * unlikely


@compiled
def loss_of(scores: Reals, intercept: float, odds: Reals, positive: Reals, weight: Reals) -> float:
    """The weighted sum of the losses, given exp(-|score + intercept|)."""
    each = np.empty(len(scores))
    for i in range(len(scores)):
        # log(1 + odds) = 2 artanh(odds / (2 + odds)); the argument is at most 1/3.
        s = odds[i] / (2.0 + odds[i])
        square = s * s
        series = 1.0 / 33.0
        for k in range(15, -1, -1):
            series = series * square + 1.0 / (2.0 * k + 1.0)
        wrong = (scores[i] + intercept) * (1.0 - 2.0 * positive[i])
        each[i] = 2.0 * s * series + (wrong if wrong > 0.0 else 0.0)
    return dot(weight, each)
