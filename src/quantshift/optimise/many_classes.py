"""The maximum of a likelihood of any number of classes, with groups or without: safe steps.

`mixture_likelihood` says what is maximised, and when a maximum counts as found. For a plain
mixture, `mixture_newton` finds the same maximum faster, except in difficult cases.
"""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Reals
from quantshift.optimise.active_set import (
    NEARNESS,
    SMALLEST_PIVOT,
    constrained_step,
    factorise,
    move,
)
from quantshift.optimise.mixture_newton import STATIONARY
from quantshift.optimise.total_weights import ROUNDING, total_weight

MATRICES = 4
"""How many matrices a search needs room for."""

STEEPEST = 1e8
"""Factor in EM's step beyond which the share of a class must not be set to zero."""


@compiled
def maximise_many(
    likelihood: Reals,
    groups: Reals,
    counts: Reals,
    p: Reals,
    tol: float,
    max_iter: int,
    weights: Reals,
    space: Reals,
) -> tuple[int, bool]:
    """Any number of classes: Newton steps under the constraint p >= 0.

    A step goes to the maximum of the quadratic model over p >= 0 and is shortened until the
    likelihood rises. If a share is so small that Newton's step could at best double it (g_k > 2),
    an EM step is taken, which finds its size at once. If the likelihood is not concave (groups),
    every step is tried at twice the length of the previous one, because it may be flat as well. The
    likelihood does not depend on the scale of p, which is fixed.

    space: for MATRICES matrices, (MATRICES, n_classes, n_classes).
    """
    n, n_classes = likelihood.shape
    if n == 0:
        return 0, True
    total = total_weight(weights, n)
    start = p.copy()
    now, gradient, next_p, next_gradient = p.copy(), p.copy(), p.copy(), p.copy()
    factor, step, usable = p.copy(), p.copy(), np.ones(n_classes, dtype=np.bool_)
    curvature, next_curvature, model, root = space[0], space[1], space[2], space[3]
    value = _derivatives(
        likelihood, groups, counts, now, gradient, factor, curvature, model, weights, total
    )
    passes, stretch = 1, 1.0
    while True:
        violation, largest = 0.0, 0.0
        for k in range(n_classes):
            # Without groups the two are equal. With groups, the gradient of a tiny share is mostly
            # rounding, and the factor of a class that no group contains is meaningless.
            excess = min(abs(gradient[k]), abs(factor[k] - 1.0))
            if now[k] > 0.0 or gradient[k] > 0.0:
                violation = max(violation, excess)
            largest = max(largest, factor[k] if now[k] > 0.0 else 0.0)
        by_expectation = largest > 2.0
        if by_expectation:
            stretch = 1.0
            for k in range(n_classes):
                step[k] = now[k] * (factor[k] - 1.0)
        else:
            for k in range(n_classes):
                gradient[k] -= NEARNESS * (now[k] - start[k])
                model[k, k] += NEARNESS
                usable[k] = True
            concave = factorise(model, root, usable, SMALLEST_PIVOT)
            if not concave:
                concave = _make_definite(model, curvature, now, gradient, usable, root)
            stretch = 1.0 if concave else 2.0 * stretch
            constrained_step(model, gradient, now, usable, step, root)
            longest = 0.0
            for k in range(n_classes):
                longest = max(longest, abs(step[k]))
            # Below NEARNESS only the start decides: the step may be long, but it is the last.
            if violation <= STATIONARY and (longest <= tol or violation <= NEARNESS):
                move(now, step, 1.0, p)
                return passes, True
        length = stretch
        while True:
            if passes >= max_iter:
                move(now, step, 0.0, p)
                return passes, False
            move(now, step, length, next_p)
            next_value = _derivatives(
                likelihood,
                groups,
                counts,
                next_p,
                next_gradient,
                factor,
                next_curvature,
                model,
                weights,
                total,
            )
            passes += 1
            rises = next_value >= value - ROUNDING * (total + abs(value))
            if by_expectation or (rises and not _is_cliff(next_p, factor)):
                break
            length *= 0.5
            stretch = 1.0
        value = next_value
        now, next_p = next_p, now
        gradient, next_gradient = next_gradient, gradient
        curvature, next_curvature = next_curvature, curvature


@compiled
def _is_cliff(p: Reals, factor: Reals) -> bool:
    """Whether a share is zero although single items need it so much that curvatures overflow."""
    is_cliff = False
    for k in range(len(p)):
        is_cliff = is_cliff or (p[k] == 0.0 and factor[k] > STEEPEST)
    return is_cliff


@compiled
def _derivatives(
    likelihood: Reals,
    groups: Reals,
    counts: Reals,
    p: Reals,
    gradient: Reals,
    factor: Reals,
    curvature: Reals,
    model: Reals,
    weights: Reals,
    total: float,
) -> float:
    """The log-likelihood at p; sets its gradient and negative second derivatives, per item.

    factor: the factor of each class in EM's step. curvature: only the items' part. model: including
    the groups' part, and a unit curvature along the scale of p, on which the likelihood does not
    depend. total: the number of items, or the sum of their weights.
    """
    n, n_classes = likelihood.shape
    pull = np.empty(n_classes)
    for k in range(n_classes):
        gradient[k] = 0.0
        for i in range(k + 1):
            curvature[k, i] = 0.0
    value, product = 0.0, 1.0
    for j in range(n):
        mass = 0.0
        for k in range(n_classes):
            mass += p[k] * likelihood[j, k]
        inverse = 1.0 / mass
        if len(weights) > 0:
            value += weights[j] * math.log(mass)
            for k in range(n_classes):
                pull[k] = likelihood[j, k] * inverse
                gradient[k] += weights[j] * pull[k]
                for i in range(k + 1):
                    curvature[k, i] += weights[j] * pull[k] * pull[i]
            continue
        following = product * mass
        if 1e-100 < following < 1e100:
            product = following
        else:
            value += math.log(product) + math.log(mass)
            product = 1.0
        for k in range(n_classes):
            pull[k] = likelihood[j, k] * inverse
            gradient[k] += pull[k]
            for i in range(k + 1):
                curvature[k, i] += pull[k] * pull[i]
    value += math.log(product)
    for k in range(n_classes):
        gradient[k] /= total
        factor[k] = 0.0
        for i in range(k + 1):
            curvature[k, i] /= total
            curvature[i, k] = curvature[k, i]
            model[k, i] = model[i, k] = curvature[k, i] + 1.0
    for c in range(groups.shape[0]):
        if counts[c] == 0:
            continue
        mass = 0.0
        for k in range(n_classes):
            mass += p[k] * groups[c, k]
        value -= counts[c] * math.log(mass)
        share = counts[c] / total
        for k in range(n_classes):
            pull[k] = groups[c, k] / mass
            factor[k] += share * pull[k]
        for k in range(n_classes):
            for i in range(n_classes):
                model[k, i] -= share * pull[k] * pull[i]
    for k in range(n_classes):
        mean = gradient[k]
        gradient[k] = mean - factor[k]
        factor[k] = mean / factor[k] if factor[k] > 0.0 else 1.0
    return value


@compiled
def _make_definite(
    model: Reals,
    curvature: Reals,
    p: Reals,
    gradient: Reals,
    usable: NDArray[np.bool_],
    root: Reals,
) -> bool:
    """If the likelihood is not concave, make the model concave, in place, and set usable classes.

    Classes at zero that the gradient keeps there are left out: a maximum need only be one among the
    others. If that is enough, the result is True. If not, more and more of the items' own curvature
    is added; on its own, it belongs to a lower bound that touches the likelihood at p, so its steps
    lead uphill.
    """
    n_classes = len(p)
    for k in range(n_classes):
        usable[k] = p[k] > 0.0 or gradient[k] > 0.0
    added, more = 0.0, 0.01
    while not factorise(model, root, usable, SMALLEST_PIVOT):
        for k in range(n_classes):
            for i in range(n_classes):
                model[k, i] += more * curvature[k, i]
        added += more
        more = 2.0 * added
        if added > 10.0:
            for k in range(n_classes):
                for i in range(n_classes):
                    model[k, i] = curvature[k, i] + 1.0  # the scale, as in `_derivatives`
                model[k, k] += NEARNESS
            return False
    return added == 0.0
