"""The maximum of a likelihood of two classes: of a plain mixture, and of one with groups.

`mixture_likelihood` says what is maximised, and when a maximum counts as found.
"""

import math

from quantshift.base.compiled import compiled
from quantshift.base.types import Reals
from quantshift.optimise.mixture_newton import STATIONARY
from quantshift.optimise.total_weights import ROUNDING, total_weight

FLAT = 1e-12
"""With likelihoods equal to this relative precision, the items are uninformative."""

FARTHEST = 700.0
"""Log-odds beyond which a share is zero in floating-point numbers."""

FINEST = 2.0**-50
"""The least tolerance: four times the spacing of the numbers just above one."""

PATIENCE = 12
"""After this many passes every other step is a bisection."""


@compiled
def maximise_pair(
    likelihood: Reals, p: Reals, tol: float, max_iter: int, weights: Reals
) -> tuple[int, bool]:
    """Two classes: the q = p_1 where the score, which falls with q, is zero.

    The score is up - down, with up the sum over items of class 1 (likelihood_1 > likelihood_0) of
    1 / (q - pole), every pole <= 0, and down that over the others, with poles >= 1. Each is fitted
    by one pole, in value and slope, and the next q is where the two fits meet. Unlike a Newton step
    on the score, this step is accurate if an item is almost impossible at one border, because its
    pole is close to that border. A border is only returned if the score there points outwards; a
    step out of the bracket is replaced by bisection. The bounds of Newton's error hold for weights
    of at least one; with smaller ones, for the likelihood divided by the smallest weight.
    """
    n = likelihood.shape[0]
    total, unweighted = total_weight(weights, n), len(weights) == 0
    least = 1.0
    for weight in weights:
        least = min(least, weight)
    accuracy = max(tol, FINEST)
    now, low, high = p[1], 0.0, 1.0
    zero_tried, one_tried = False, False
    for step in range(1, max_iter + 1):
        other = 1.0 - now
        up, up_square, down, down_square = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            a, b = likelihood[j, 0], likelihood[j, 1]
            # Not a + now (b - a), which may round to zero if only b remains and is small.
            term = (b - a) / (other * a + now * b)
            # Without a branch, because the sign of the term is unpredictable.
            pull_up, pull_down = max(term, 0.0), max(-term, 0.0)
            weight = 1.0 if unweighted else weights[j]
            up += weight * pull_up
            up_square += weight * pull_up * pull_up
            down += weight * pull_down
            down_square += weight * pull_down * pull_down
        score = up - down
        zero_tried, one_tried = zero_tried or now == 0.0, one_tried or now == 1.0
        outwards = (now == 0.0 and score <= 0.0) or (now == 1.0 and score >= 0.0)
        if outwards or score == 0.0 or up + down <= FLAT * total:
            p[0], p[1] = 1.0 - now, now
            return step, True
        if score > 0.0:
            low = now
        else:
            high = now
        curvature = up_square + down_square
        steepness = math.sqrt(curvature / least)
        decrement = abs(score) / least / steepness
        if decrement < 0.25 and 0.0 < now < 1.0:
            # Bounds on the decrement, the score and the error after a Newton step.
            after = (decrement / (1.0 - decrement)) ** 2
            left = least * after * (steepness / (1.0 - decrement))
            error = after / (1.0 - after) / ((1.0 - decrement) * steepness)
            newton = now + score / curvature
            if error <= accuracy and left <= STATIONARY * total and 0.0 < newton < 1.0:
                p[0], p[1] = 1.0 - newton, newton
                return step, True
        if down == 0.0:
            following = 1.0
        elif up == 0.0:
            following = 0.0
        else:
            following = now + score / (up * (down_square / down) + down * (up_square / up))
        if following <= 0.0 and not zero_tried:
            following = 0.0
        elif following >= 1.0 and not one_tried:
            following = 1.0
        elif not low < following < high or (step > PATIENCE and step % 2 == 0):
            following = 0.5 * (low + high)
            if following in (low, high):  # adjacent floating-point numbers
                p[0], p[1] = 1.0 - now, now
                return step, True
        now = following
    p[0], p[1] = 1.0 - now, now
    return max_iter, False


@compiled
def maximise_odds(
    likelihood: Reals,
    groups: Reals,
    counts: Reals,
    p: Reals,
    tol: float,
    max_iter: int,
    weights: Reals,
) -> tuple[int, bool]:
    """Two classes with groups: Newton on the log-odds of p within a bracket of the score's root.

    With u_j = p_1 r_j1 / (p . r_j), the score is sum_j u_j - sum_c n_c v_c, where v_c is the same
    for m_c. Its first two derivatives are at most sums of u (1 - u) and n v (1 - v), which bounds
    the error after a step. The quadratic model is valid up to a distance of about 2, which limits a
    step; while the maximum is not yet bracketed, the limit doubles with every step. A border is an
    infinite log-odds: it is tried once p is within 1e-2 of it and the score points there.
    """
    n, n_groups = likelihood.shape[0], groups.shape[0]
    total, unweighted = total_weight(weights, n), len(weights) == 0
    accuracy = max(tol, FINEST)
    now = math.log(p[1] / p[0])
    low, high, longest = -FARTHEST, FARTHEST, 2.0
    zero_tried, one_tried = False, False
    for step in range(1, max_iter + 1):
        p[0], p[1] = 1.0 / (1.0 + math.exp(now)), 1.0 / (1.0 + math.exp(-now))
        # Sums of small terms: the shares of class 1 if p_1 is small, otherwise those of class 0.
        rare = 1 if now < 0.0 else 0
        expected, fitted, item_variance, group_variance = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            part, rest = p[rare] * likelihood[j, rare], p[1 - rare] * likelihood[j, 1 - rare]
            share = part / (part + rest)
            if not unweighted:
                share *= weights[j]
            expected += share
            item_variance += share * (rest / (part + rest))
        for c in range(n_groups):
            if counts[c] > 0:
                part, rest = p[rare] * groups[c, rare], p[1 - rare] * groups[c, 1 - rare]
                share = part / (part + rest)
                fitted += counts[c] * share
                group_variance += counts[c] * share * (rest / (part + rest))
        score = expected - fitted if rare == 1 else fitted - expected
        if abs(score) <= ROUNDING * (expected + fitted):
            return step, True
        if score > 0.0:
            low = now
        else:
            high = now
        curvature = group_variance - item_variance
        change = longest if score > 0.0 else -longest
        if curvature > 0.0:
            newton = score / curvature
            bound = math.exp(min(abs(newton), 1.0)) * (group_variance + item_variance)
            slope = curvature - bound * abs(newton)  # lower bound after the step
            left = 0.5 * bound * newton**2  # upper bound of the score after the step
            if (
                abs(newton) < 1.0
                and slope > 0.0
                and left <= accuracy * slope
                and left <= STATIONARY * total * p[rare]
                and low < now + newton < high
            ):
                now += newton
                p[0], p[1] = 1.0 / (1.0 + math.exp(now)), 1.0 / (1.0 + math.exp(-now))
                return step, True
            change = min(max(newton, -longest), longest)
        following = now + change
        if following < low or following > high or following == now:
            following = 0.5 * (low + high)
            if following in (low, high):
                return step, True
        elif low == -FARTHEST or high == FARTHEST:
            longest = 2.0 * longest if abs(change) == longest else 2.0
            outwards = p[rare] < 1e-2 and (score > 0.0) == (rare == 0)
            if outwards and not (one_tried if rare == 0 else zero_tried):
                if _is_border(likelihood, groups, counts, rare, weights):
                    p[rare], p[1 - rare] = 0.0, 1.0
                    return step + 1, True
                zero_tried, one_tried = zero_tried or rare == 1, one_tried or rare == 0
        now = following
    return max_iter, False


@compiled
def _is_border(
    likelihood: Reals, groups: Reals, counts: Reals, absent: int, weights: Reals
) -> bool:
    """Whether the likelihood decreases if the odds of a class increase from zero."""
    score = 0.0
    for j in range(likelihood.shape[0]):
        pull = likelihood[j, absent] / likelihood[j, 1 - absent]
        score += pull if len(weights) == 0 else weights[j] * pull
    for c in range(groups.shape[0]):
        if counts[c] > 0:
            score -= counts[c] * groups[c, absent] / groups[c, 1 - absent]
    return score <= 0.0
