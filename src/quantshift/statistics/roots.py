"""Where a function of one number is zero.

Reference: T. R. Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a
nonlinear function without using derivatives", Advances in Engineering Software 28 (1997).
"""

import math
from collections.abc import Callable

_MOST_STEPS = 200


def root_between(function: Callable[[float], float], low: float, high: float) -> float:
    """A root of a continuous function whose values at both ends differ in sign, to rounding.

    Inverse quadratic interpolation where it is trusted, otherwise bisection.

    >>> round(root_between(lambda x: x * x - 2, 0.0, 2.0), 12)
    1.414213562373
    """
    # b is the newest point, and the root is between a and b; c is the one before.
    a, b = low, high
    at_a, at_b = function(a), function(b)
    if at_a * at_b > 0:
        raise ValueError(f"a function needs different signs at {low} and {high}")
    step = 0.5
    for _ in range(_MOST_STEPS):
        best, at_best = (a, at_a) if abs(at_a) < abs(at_b) else (b, at_b)
        narrowest = 2 * math.ulp(best) / max(abs(b - a), math.ulp(0.0))
        if at_best == 0 or narrowest > 0.5:
            return best
        x = a + min(max(step, narrowest), 1 - narrowest) * (b - a)
        at_x = function(x)
        if (at_x > 0) == (at_a > 0):
            c, at_c = a, at_a
        else:
            c, at_c, b, at_b = b, at_b, a, at_a
        a, at_a = x, at_x
        step = 0.5
        share, rise = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        if rise**2 < share and (1 - rise) ** 2 < 1 - share:
            step = at_a / (at_b - at_a) * at_c / (at_b - at_c)
            step += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
    return best
