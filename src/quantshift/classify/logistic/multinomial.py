"""The loss of more than two classes: cross-entropy after a softmax, and its best intercepts.

The scores of an item's classes sum to zero at the solution, so one column fewer than there are
classes is enough: scores and slopes are stored as *contrasts*, coordinates in an orthonormal basis
(Helmert's) of the vectors that sum to zero. Norms and inner products are the same in either form.

Intercepts. The Hessian of the loss in the intercepts, M = sum_i c_i (diag(p_i) - p_i p_i'), is the
Laplacian of a graph whose nodes are the classes and whose links are sum_i c_i p_ik p_il. Its linear
systems are solved by eliminating node after node without any subtraction (Grassmann, Taksar and
Heyman, Operations Research 33, 1985), accurately however small some posteriors are. A Newton step
of range r is scaled by log(1 + r) / r: the loss is self-concordant in the sense of F. Bach
(Electronic Journal of Statistics 4, 2010), so that it decreases without a line search; for r up to
1 a full step does too.
"""

import math

import numpy as np

from quantshift.base.compiled import compiled
from quantshift.base.types import Reals
from quantshift.classify.logistic.arithmetic import dot, small_exponentials, sum_up

_STEPS = 100
_ROUNDING = 4e-16


@compiled
def fit_intercepts(
    scores: Reals,
    members: Reals,
    weight: Reals,
    intercepts: Reals,
    share: float,
    longest: float,
    slope: Reals,
    posteriors: Reals,
    links: Reals,
) -> float:
    """The loss at the best intercepts, which replace the first guess.

    `scores` (n_classes - 1, n_items) are contrasts; `members` (n_classes, n_items) is 1 where an
    item is of the class and 0 elsewhere. The slopes of the items' losses (contrasts), the
    posteriors and the links of the classes are written to `slope`, `posteriors` and `links`.

    share, longest: with e the sums of the slopes by class, e'M^-1 e times the larger of 1 and
        longest^2 trace(M) must be within share^2 S, where S is the weighted sum of the posteriors
        of the wrong classes, and `longest` the largest norm of a row of X. The loss is above S, so
        that both e'M^-1 e and the squared norm of e's contribution to the gradient are small
        compared with the loss.
    """
    n_classes, n = members.shape
    logits, slopes = np.empty((n_classes, n)), np.empty((n_classes, n))
    losses, wrong = np.empty(n), np.empty(n)
    excess = np.empty(n_classes)
    expand(scores, logits)
    for turn in range(_STEPS):
        _softmax(logits, intercepts, members, posteriors, losses)
        _slopes(posteriors, members, weight, wrong, slopes)
        for k in range(n_classes):
            excess[k] = sum_up(slopes[k])
        trace = _link(posteriors, weight, links)
        step = _solve(links, excess)
        reach = step.max() - step.min()
        error = dot(excess, step) * max(1.0, longest**2 * trace)
        if (
            error <= share**2 * dot(weight, wrong)
            or reach <= _ROUNDING * (1.0 + np.abs(intercepts).max())
            or not reach < math.inf
            or turn == _STEPS - 1
        ):
            break
        length = 1.0 if reach <= 1.0 else math.log1p(reach) / reach
        for k in range(n_classes):
            intercepts[k] -= length * step[k]
    contract(slopes, slope)
    return dot(weight, losses)


@compiled
def intercept_shifts(
    posteriors: Reals, weight: Reals, links: Reals, change: Reals, out: Reals
) -> None:
    """The change of the best intercepts, to first order, if the scores (contrasts) change."""
    logits, slopes = np.empty(posteriors.shape), np.empty(posteriors.shape)
    expand(change, logits)
    _bend(posteriors, weight, logits, slopes)
    for k in range(len(out)):
        out[k] = -sum_up(slopes[k])
    out[:] = _solve(links, out)


@compiled
def bend_all(posteriors: Reals, weight: Reals, links: Reals, change: Reals, out: Reals) -> None:
    """The change of the slopes, to first order, if the scores change and intercepts follow.

    `change` and `out` are contrasts.
    """
    logits, slopes = np.empty(posteriors.shape), np.empty(posteriors.shape)
    totals = np.empty(len(posteriors))
    expand(change, logits)
    _bend(posteriors, weight, logits, slopes)
    for k in range(len(totals)):
        totals[k] = sum_up(slopes[k])
    shift = _solve(links, totals)
    for k in range(len(totals)):
        row = logits[k]
        for i in range(len(row)):
            row[i] -= shift[k]
    _bend(posteriors, weight, logits, slopes)
    contract(slopes, out)


@compiled
def feasible_slopes(
    logits: Reals, members: Reals, weight: Reals, out: Reals
) -> tuple[float, float]:
    """Slopes of the losses, one row per class, moved so that every row sums to zero.

    `logits` (n_classes, n_items) include the intercepts. Returns the loss, and the most that the
    move adds to the duality gap (infinity if it is too large for the bound).
    """
    n_classes, n = members.shape
    posteriors, links = np.empty((n_classes, n)), np.empty((n_classes, n_classes))
    losses, wrong = np.empty(n), np.empty(n)
    excess = np.empty(n_classes)
    _softmax(logits, np.zeros(n_classes), members, posteriors, losses)
    _slopes(posteriors, members, weight, wrong, out)
    _link(posteriors, weight, links)
    for k in range(n_classes):
        excess[k] = sum_up(out[k])
    shift = _solve(links, excess)
    loss = dot(weight, losses)
    # Beyond a range of one, the posteriors might leave [0, 1], and the bound is not valid.
    if not shift.max() - shift.min() <= 1.0:
        return loss, math.inf
    moved, change = np.empty((n_classes, n)), np.empty((n_classes, n))
    for k in range(n_classes):
        moved[k, :] = shift[k]
    _bend(posteriors, weight, moved, change)
    for k in range(n_classes):
        for i in range(n):
            out[k, i] -= change[k, i]
    return loss, dot(excess, shift)


@compiled
def expand(contrasts: Reals, out: Reals) -> None:
    """From contrasts (n_classes - 1, n) to one row per class (n_classes, n)."""
    n_classes, n = out.shape
    above = np.zeros(n)
    for j in range(n_classes - 1, 0, -1):
        scale = 1.0 / math.sqrt(j * (j + 1.0))
        for i in range(n):
            part = scale * contrasts[j - 1, i]
            out[j, i] = above[i] - j * part
            above[i] += part
    out[0, :] = above


@compiled
def contract(values: Reals, out: Reals) -> None:
    """From one row per class (n_classes, n) to contrasts (n_classes - 1, n).

    The mean of an item's rows is lost.
    """
    n_classes, n = values.shape
    below = np.zeros(n)
    for j in range(1, n_classes):
        scale = 1.0 / math.sqrt(j * (j + 1.0))
        for i in range(n):
            below[i] += values[j - 1, i]
            out[j - 1, i] = scale * (below[i] - j * values[j, i])


@compiled
def _bend(posteriors: Reals, weight: Reals, logits: Reals, out: Reals) -> None:
    # c_i (diag(p_i) - p_i p_i') times the logits of item i.
    n_classes, n = posteriors.shape
    mean = np.zeros(n)
    for k in range(n_classes):
        for i in range(n):
            mean[i] += posteriors[k, i] * logits[k, i]
    for k in range(n_classes):
        for i in range(n):
            out[k, i] = weight[i] * posteriors[k, i] * (logits[k, i] - mean[i])


@compiled
def _softmax(
    logits: Reals, intercepts: Reals, members: Reals, posteriors: Reals, losses: Reals
) -> None:
    n_classes, n = logits.shape
    top, best = np.full(n, -math.inf), np.zeros(n)
    for k in range(n_classes):
        for i in range(n):
            value = logits[k, i] + intercepts[k]
            best[i] = k if value > top[i] else best[i]
            top[i] = value if value > top[i] else top[i]
    # The largest term is exp(0); the others are summed separately, to avoid rounding them off.
    rest, shifted = np.zeros(n), np.empty(n)
    losses[:] = 0.0
    for k in range(n_classes):
        for i in range(n):
            shifted[i] = (logits[k, i] + intercepts[k]) - top[i]
            losses[i] -= members[k, i] * shifted[i]
        small_exponentials(shifted, 0.0, posteriors[k])
        for i in range(n):
            rest[i] += 0.0 if best[i] == k else posteriors[k, i]
    for i in range(n):
        losses[i] += math.log1p(rest[i])
        shifted[i] = 1.0 / (1.0 + rest[i])
    for k in range(n_classes):
        for i in range(n):
            posteriors[k, i] *= shifted[i]


@compiled
def _slopes(posteriors: Reals, members: Reals, weight: Reals, wrong: Reals, out: Reals) -> None:
    # The posterior of all classes except the item's, never computed as one minus another.
    n_classes, n = posteriors.shape
    wrong[:] = 0.0
    for k in range(n_classes):
        for i in range(n):
            wrong[i] += (1.0 - members[k, i]) * posteriors[k, i]
    for k in range(n_classes):
        for i in range(n):
            own = members[k, i]
            out[k, i] = weight[i] * ((1.0 - own) * posteriors[k, i] - own * wrong[i])


@compiled
def _link(posteriors: Reals, weight: Reals, links: Reals) -> float:
    # The weights of the graph, and the trace of its Laplacian.
    n_classes, n = posteriors.shape
    weighted = np.empty(n)
    trace = 0.0
    for k in range(n_classes):
        links[k, k] = 0.0
        for i in range(n):
            weighted[i] = weight[i] * posteriors[k, i]
        for other in range(k):
            link = dot(weighted, posteriors[other])
            links[k, other] = link
            links[other, k] = link
            trace += 2.0 * link
    return trace


@compiled
def _solve(links: Reals, right: Reals) -> Reals:
    # The Laplacian's system for a right-hand side that sums to zero; the first entry is 0, and so
    # is that of a class without links.
    n_classes = len(right)
    left, solution = links.copy(), right.copy()
    pivots = np.zeros(n_classes)
    for k in range(n_classes - 1, 0, -1):
        pivots[k] = left[k, :k].sum()
        if pivots[k] == 0.0:
            continue
        for row in range(k):
            share = left[row, k] / pivots[k]
            solution[row] += share * solution[k]
            for column in range(k):
                left[row, column] += share * left[k, column]
    solution[0] = 0.0
    for k in range(1, n_classes):
        for column in range(k):
            solution[k] += left[k, column] * solution[column]
        solution[k] = solution[k] / pivots[k] if pivots[k] > 0.0 else 0.0
    return solution
