"""The minimum of a smooth convex function of a few parameters, to rounding.

Newton's method, with steps halved until the value falls. Close to the minimum the value cannot tell
where that is: a change of the parameters by 1e-8 changes it by about 1e-16 of itself. There, steps
are taken as they are, and end when they are negligible or no longer shrink. So what is left is the
rounding of the gradient times the inverse Hessian: the same items in another order, or repeated
instead of weighted, give the same minimum as far as it is determined at all.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Reals

_VISIBLE = 1e-10
"""A fall of the value by less than this part of it is left to the gradient."""

_NEGLIGIBLE = 1e-9
"""After a step this short, the next one would be about its square."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where a function is smallest, its value there, and its Hessian."""

    theta: Reals
    value: float
    hessian: Reals


def newton_minimum(
    value: Callable[[Reals], float],
    derivatives: Callable[[Reals], tuple[Reals, Reals]],
    start: Reals,
    bounded: NDArray[np.bool_] | None = None,
    *,
    negligible: float = _NEGLIGIBLE,
) -> Minimum:
    """The minimum of a convex function, by Newton's method from the start.

    derivatives: from parameters to gradient and Hessian; bounded: which parameters are at least
    zero. A bounded parameter at zero stays there as long as it would become negative. negligible: a
    step this short is the last one.
    """
    bounded = np.zeros(len(start), dtype=bool) if bounded is None else bounded
    theta, level = start, value(start)
    free, before = np.ones(len(start), dtype=bool), np.inf
    for _ in range(100):
        gradient, hessian = derivatives(theta)
        free_before, free = free, ~(bounded & (theta <= 0) & (gradient > 0))
        step = np.zeros_like(theta)
        step[free] = solved(hessian[np.ix_(free, free)], gradient[free])
        if 0.5 * float(gradient @ step) > _VISIBLE * abs(level):
            trial, trial_level = _lower(value, theta, step, level, bounded)
        else:
            trial = _moved(theta, step, bounded)
            if np.abs(trial - theta).max() > 0.5 * before and (free == free_before).all():
                break
            trial_level, before = value(trial), float(np.abs(trial - theta).max())
        length = float(np.abs(trial - theta).max())
        theta, level = trial, trial_level
        if length < negligible:
            break
    return Minimum(theta, level, hessian)


def solved(hessian: Reals, gradient: Reals) -> Reals:
    """The Newton step; the shortest of them if rounding has made the Hessian singular."""
    try:
        return np.asarray(np.linalg.solve(hessian, gradient))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(hessian, gradient, rcond=None)[0])


def _lower(
    value: Callable[[Reals], float],
    theta: Reals,
    step: Reals,
    level: float,
    bounded: NDArray[np.bool_],
) -> tuple[Reals, float]:
    """Where a step leads that is halved until the value does not rise; and the value there."""
    size = 1.0
    while size > 1e-10:
        trial = _moved(theta, size * step, bounded)
        trial_level = value(trial)
        if trial_level <= level:
            return trial, trial_level
        size /= 2
    return theta, level


def _moved(theta: Reals, step: Reals, bounded: NDArray[np.bool_]) -> Reals:
    moved = theta - step
    return np.where(bounded, np.maximum(moved, 0.0), moved)
