"""Maximum likelihood of a mixture, exact and compiled: the prevalence that explains a sample best.

An item j has likelihood r_jk under class k, known up to a factor per item. A sample of prevalence p
then has the log-likelihood sum_j log(p . r_j), which is concave. With w_jk = r_jk / (p . r_j) and
g_k the mean of w_jk over the sample, p is its maximum on the simplex if and only if

    g_k <= 1 for every class, and g_k = 1 wherever p_k > 0          (Karush, Kuhn and Tucker)

and `converged` means that this holds to 1e-7. EM, p_k <- p_k g_k, needs tens to thousands of steps;
a safeguarded Newton method needs about four (two classes) to ten.

The same solver handles a sample of several groups c of n_c items, in which the odds of the classes
are the known odds of the group, m_c, times common factors:
sum_j log(p . r_j) - sum_c n_c log(p . m_c). One group with m = (1, ..., 1) is the plain mixture.

Items may have weights: the terms of j in sums and means are then multiplied by w_j, and n_c is the
sum of the group's weights. Without weights (None) a version without them is compiled.

If the maximum is not unique (classes with equal likelihoods, fewer items than classes), the one
closest to the start is found. With two classes this is the start itself, because either all
prevalences are equally likely or one has the largest likelihood. With more,
NEARNESS / 2 |p - start|^2 is subtracted from the mean log-likelihood, which only matters if
likelihoods differ by less than 1e-10.

References: Y. Kim et al., "A fast algorithm for maximum likelihood estimation of mixture
proportions using sequential quadratic programming", JCGS 2020; Y. Nesterov, "Lectures on convex
optimization", 2018, section 5.2: the negative logarithm is self-concordant, so the error after a
Newton step is bounded before the step is taken.
"""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Ints, Reals
from quantshift.optimise.active_set import (
    NEARNESS,
    SMALLEST_PIVOT,
    constrained_step,
    factorise,
    move,
)
from quantshift.optimise.mixture_newton import STATIONARY, newton_mixtures

STEEPEST = 1e8
"""Factor in EM's step beyond which the share of a class must not be set to zero."""

FLAT = 1e-12
"""Two classes: with likelihoods equal to this relative precision, the items are uninformative."""

ROUNDING = 1e-14
"""A sum whose terms cancel to this fraction of their size is treated as zero."""

FARTHEST = 700.0
"""Log-odds beyond which a share is zero in floating-point numbers."""

PATIENCE = 12
"""Two classes: after this many passes every other step is a bisection."""


def maximise_mixtures(
    likelihoods: Reals,
    index: Ints,
    start: Reals,
    *,
    tol: float,
    max_iter: int,
    weights: Reals | None = None,
    added: Reals | None = None,
) -> tuple[Reals, Ints, NDArray[np.bool_]]:
    """Maximum likelihood prevalences of many samples, each solved independently.

    likelihoods: of the items of a pool, up to a factor per item, (n_classes, n_items); an item that
        is impossible under every class is left out of its sample. index: (n_samples, size).
    start: where every search begins, (n_classes,), no share of it zero.
    tol: largest error of a prevalence. max_iter: most passes over the items of a sample.
    weights: of the items of the pool, (n_items,); only their proportions in a sample matter.
    added: for the maximum a posteriori under a Dirichlet prior, how many items of each class the
        prior is equivalent to in each sample, alpha - 1, (n_samples,).
    Returns (prevalences (n_samples, n_classes), passes, converged).
    """
    # The same kind of array every time (a mapped file is read-only), to avoid recompilation.
    pool = np.require(likelihoods, np.float64, ["C", "W"])
    samples = np.require(index, np.int64, ["C", "W"])
    begin = np.require(start, np.float64, ["C", "W"])
    item_weights = None if weights is None else np.require(weights, np.float64, ["C", "W"])
    certain = None if added is None else np.require(added, np.float64, ["C", "W"])
    if len(pool) == 2:
        if certain is not None:
            return _by_certain_items(pool, samples, begin, certain, tol, max_iter, item_weights)
        return _maximise_pairs(pool, samples, begin, float(tol), int(max_iter), item_weights)
    found = newton_mixtures(pool, samples, begin, certain, float(tol), int(max_iter), item_weights)
    unconverged = np.flatnonzero(~found[2])
    if len(unconverged):
        hard = samples[unconverged]
        if certain is None:
            resolved = _maximise_each(pool, hard, begin, float(tol), int(max_iter), item_weights)
        else:
            resolved = _by_certain_items(
                pool, hard, begin, certain[unconverged], tol, max_iter, item_weights
            )
        for column, values in zip(found, resolved, strict=True):
            column[unconverged] = values
    return found


def _by_certain_items(
    likelihoods: Reals,
    index: Ints,
    start: Reals,
    added: Reals,
    tol: float,
    max_iter: int,
    weights: Reals | None,
) -> tuple[Reals, Ints, NDArray[np.bool_]]:
    """With a prior: add to each sample the items that it is equivalent to, whose class is certain.

    A prior Dirichlet(alpha) adds (alpha - 1) sum_k log p_k to the log-likelihood sum_j log(p . r_j)
    of a sample, and so do alpha - 1 additional items of each class whose class is certain.
    """
    n_classes, (n_samples, size) = len(likelihoods), index.shape
    items = index.ravel()
    certain = np.tile(np.eye(n_classes), n_samples)
    pool = np.concatenate([likelihoods[:, items], certain], axis=1)
    item_weights = np.ones(len(items)) if weights is None else weights[items]
    rows = np.concatenate(
        [
            np.arange(len(items)).reshape(n_samples, size),
            len(items) + np.arange(n_samples * n_classes).reshape(n_samples, n_classes),
        ],
        axis=1,
    )
    all_weights = np.concatenate([item_weights, np.repeat(added, n_classes)])
    return maximise_mixtures(pool, rows, start, tol=tol, max_iter=max_iter, weights=all_weights)


@compiled
def _maximise_pairs(
    likelihoods: Reals,
    index: Ints,
    start: Reals,
    tol: float,
    max_iter: int,
    weights: Reals | None,
) -> tuple[Reals, Ints, NDArray[np.bool_]]:
    """`_maximise_each` for two classes, compiled in a quarter of the time."""
    p_hat = np.empty((len(index), 2))
    passes = np.empty(len(index), dtype=np.int64)
    converged = np.empty(len(index), dtype=np.bool_)
    rows = np.empty((index.shape[1], 2))
    heft = None if weights is None else np.empty(index.shape[1])
    for s in range(len(index)):
        n = _gather(likelihoods, index[s], rows, weights, heft)
        p_hat[s, 0], p_hat[s, 1] = start[0], start[1]
        passes[s], converged[s] = _maximise_pair(
            rows[:n], p_hat[s], tol, max_iter, part_of(heft, 0, n)
        )
    return p_hat, passes, converged


@compiled
def _maximise_each(
    likelihoods: Reals,
    index: Ints,
    start: Reals,
    tol: float,
    max_iter: int,
    weights: Reals | None,
) -> tuple[Reals, Ints, NDArray[np.bool_]]:
    p_hat = np.empty((len(index), len(start)))
    passes = np.empty(len(index), dtype=np.int64)
    converged = np.empty(len(index), dtype=np.bool_)
    rows = np.empty((index.shape[1], len(start)))
    heft = None if weights is None else np.empty(index.shape[1])
    for s in range(len(index)):
        n = _gather(likelihoods, index[s], rows, weights, heft)
        for k in range(len(start)):
            p_hat[s, k] = start[k]
        passes[s], converged[s] = maximise_mixture(
            rows[:n], p_hat[s], tol, max_iter, part_of(heft, 0, n)
        )
    return p_hat, passes, converged


@compiled
def _gather(
    likelihoods: Reals, items: Ints, rows: Reals, weights: Reals | None, heft: Reals | None
) -> int:
    """Set the items' likelihoods and weights, row by row, and return how many there are.

    Items without weight, and items that no class explains, are left out.
    """
    n = 0
    for item in items:
        if weights is not None and heft is not None:
            if weights[item] <= 0.0:
                continue
            heft[n] = weights[item]
        total = 0.0
        for k in range(len(likelihoods)):
            rows[n, k] = likelihoods[k, item]
            total += rows[n, k]
        if total > 0.0:
            n += 1
    return n


@compiled
def part_of(weights: Reals | None, first: int, last: int) -> Reals | None:
    """A slice of the weights, if there are any."""
    return None if weights is None else weights[first:last]


@compiled
def total_weight(weights: Reals | None, n_items: int) -> float:
    """The sum of the weights; without any, the number of items."""
    return float(n_items) if weights is None else weights.sum()


@compiled
def maximise_mixture(
    likelihood: Reals, p: Reals, tol: float, max_iter: int, weights: Reals | None = None
) -> tuple[int, bool]:
    """The p on the simplex that maximises sum_j w_j log(p . likelihood_j), in place, from p.

    likelihood: (n_items, n_classes), every row with a positive entry; weights: (n_items,), all
    positive. Returns (passes, converged).
    """
    n, n_classes = likelihood.shape
    if n_classes == 2:
        return _maximise_pair(likelihood, p, tol, max_iter, weights)
    groups, counts = np.ones((1, n_classes)), np.full(1, total_weight(weights, n))
    return _maximise_many(likelihood, groups, counts, p, tol, max_iter, weights)


@compiled
def maximise_factors(
    likelihood: Reals,
    groups: Reals,
    counts: Reals | Ints,
    p: Reals,
    tol: float,
    max_iter: int,
    weights: Reals | None = None,
) -> tuple[int, bool]:
    """The p on the simplex, in place, at a maximum of the likelihood with groups.

    sum_j w_j log(p . likelihood_j) - sum_c counts_c log(p . groups_c) is not concave and may have
    several maxima: the one found is uphill from p. groups: (n_groups, n_classes); counts: items of
    each, or the sum of their weights.
    """
    if likelihood.shape[1] == 2:
        return _maximise_odds(likelihood, groups, counts, p, tol, max_iter, weights)
    return _maximise_many(likelihood, groups, counts, p, tol, max_iter, weights)


@compiled
def log_likelihood(likelihood: Reals, p: Reals, weights: Reals | None = None) -> float:
    """Sum of w_j log(p . likelihood_j).

    Without weights, one logarithm is taken for several items, because logarithms cost most.
    """
    total, product = 0.0, 1.0
    for j in range(likelihood.shape[0]):
        mass = 0.0
        for k in range(likelihood.shape[1]):
            mass += p[k] * likelihood[j, k]
        if weights is not None:
            total += weights[j] * math.log(mass)
            continue
        following = product * mass
        if 1e-100 < following < 1e100:
            product = following
        else:
            total += math.log(product) + math.log(mass)
            product = 1.0
    return total + math.log(product)


@compiled
def _maximise_pair(
    likelihood: Reals, p: Reals, tol: float, max_iter: int, weights: Reals | None
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
    total = total_weight(weights, n)
    least = 1.0
    if weights is not None:
        for weight in weights:
            least = min(least, weight)
    accuracy = max(tol, 4 * np.finfo(np.float64).eps)
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
            if weights is None:
                up += pull_up
                up_square += pull_up * pull_up
                down += pull_down
                down_square += pull_down * pull_down
            else:
                up += weights[j] * pull_up
                up_square += weights[j] * pull_up * pull_up
                down += weights[j] * pull_down
                down_square += weights[j] * pull_down * pull_down
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
def _maximise_odds(
    likelihood: Reals,
    groups: Reals,
    counts: Reals | Ints,
    p: Reals,
    tol: float,
    max_iter: int,
    weights: Reals | None,
) -> tuple[int, bool]:
    """Two classes with groups: Newton on the log-odds of p within a bracket of the score's root.

    With u_j = p_1 r_j1 / (p . r_j), the score is sum_j u_j - sum_c n_c v_c, where v_c is the same
    for m_c. Its first two derivatives are at most sums of u (1 - u) and n v (1 - v), which bounds
    the error after a step. The quadratic model is valid up to a distance of about 2, which limits a
    step; while the maximum is not yet bracketed, the limit doubles with every step. A border is an
    infinite log-odds: it is tried once p is within 1e-2 of it and the score points there.
    """
    n, n_groups = likelihood.shape[0], groups.shape[0]
    total = total_weight(weights, n)
    accuracy = max(tol, 4 * np.finfo(np.float64).eps)
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
            if weights is not None:
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
    likelihood: Reals, groups: Reals, counts: Reals | Ints, absent: int, weights: Reals | None
) -> bool:
    """Whether the likelihood decreases if the odds of a class increase from zero."""
    score = 0.0
    for j in range(likelihood.shape[0]):
        pull = likelihood[j, absent] / likelihood[j, 1 - absent]
        score += pull if weights is None else weights[j] * pull
    for c in range(groups.shape[0]):
        if counts[c] > 0:
            score -= counts[c] * groups[c, absent] / groups[c, 1 - absent]
    return score <= 0.0


@compiled
def _maximise_many(
    likelihood: Reals,
    groups: Reals,
    counts: Reals | Ints,
    p: Reals,
    tol: float,
    max_iter: int,
    weights: Reals | None,
) -> tuple[int, bool]:
    """Any number of classes: Newton steps under the constraint p >= 0.

    A step goes to the maximum of the quadratic model over p >= 0 and is shortened until the
    likelihood rises. If a share is so small that Newton's step could at best double it (g_k > 2),
    an EM step is taken, which finds its size at once. If the likelihood is not concave (groups),
    every step is tried at twice the length of the previous one, because it may be flat as well. The
    likelihood does not depend on the scale of p, which is fixed.
    """
    n, n_classes = likelihood.shape
    if n == 0:
        return 0, True
    total = total_weight(weights, n)
    start = p.copy()
    now, gradient, curvature = p.copy(), np.empty(n_classes), np.empty((n_classes, n_classes))
    next_p, next_gradient = np.empty(n_classes), np.empty(n_classes)
    next_curvature = np.empty((n_classes, n_classes))
    factor, step = np.empty(n_classes), np.empty(n_classes)
    usable = np.full(n_classes, True)
    model, root = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes))
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
    found = False
    for k in range(len(p)):
        found = found or (p[k] == 0.0 and factor[k] > STEEPEST)
    return found


@compiled
def _derivatives(
    likelihood: Reals,
    groups: Reals,
    counts: Reals | Ints,
    p: Reals,
    gradient: Reals,
    factor: Reals,
    curvature: Reals,
    model: Reals,
    weights: Reals | None,
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
        if weights is not None:
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
