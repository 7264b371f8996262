"""Compiled inner loops of the batched logistic regression: many problems solved in lanes.

A lane solves one problem by truncated Newton. The expensive part, the products with the sparse
matrix and its transpose, is done for all lanes at once: a *tick* is one such pair of products,
after which every lane advances independently, and a lane whose problem has ended takes the next one
from the queue. A row of the matrix is thus read once for all lanes, and no lane waits for another.

By the representer theorem the coefficients are w = X'u, where u has one entry per item, and so are
all vectors of the conjugate gradient. Storing (u, XX'u) instead of w keeps the work of a lane
proportional to the number of items, not of features, and the scores of all items, held out or not,
are always available. The intercept is not a variable of the Newton step: it is set to its best
value for the scores, exactly, whenever these change (variable projection), which leaves a
function of w with the Hessian I + X'(D - D11'D / 1'D1)X.

With K > 2 classes a problem has K - 1 columns instead of one
(`quantshift.classify.logistic.multinomial` describes them, and how the K intercepts are found). A
lane's vectors are then K - 1 columns laid end to end, and everything above applies to them
unchanged. The number of axes of `targets` decides between the two cases, so that only one of them
is compiled. The state of all lanes is four arrays: a compiled function is compiled in less time the
fewer arrays it takes.

A problem ends when its duality gap is small. Let g be the gradient in w and a_i the slope of item
i's loss at its score. If the a_i sum to zero, as they do at the best intercept, a is feasible for
the dual problem, and because a is the slope at the scores themselves (equality in Fenchel's
inequality) the gap is |w|^2 / 2 + |X'a|^2 / 2 + w'X'a = |g|^2 / 2, whatever C, the weights and X
are. So only the squared norm of the gradient matters. `quantshift.classify.logistic.models` says
what it is compared with, and what the slopes' sum adds to it.

Nothing here re-associates floating-point sums: a lane's arithmetic does not depend on the other
problems in progress, on the number of lanes or on the width of the processor's vectors.

References: R. S. Dembo and T. Steihaug, "Truncated-Newton algorithms for large-scale unconstrained
optimization", Mathematical Programming 26 (1983); C.-J. Lin, R. C. Weng and S. S. Keerthi, "Trust
region Newton method for large-scale logistic regression", JMLR 9 (2008); G. H. Golub and
V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
variables separate", SIAM Journal on Numerical Analysis 10 (1973).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Reals
from quantshift.classify.logistic.arithmetic import dot, pack, sum_up, unpack
from quantshift.classify.logistic.binomial import bend, fit_intercept, intercept_shift
from quantshift.classify.logistic.multinomial import bend_all, fit_intercepts, intercept_shifts
from quantshift.classify.logistic.sparse import STRIDE, Sparse, padded, product, sum_squares

LANES = 32
"""Columns in progress; (features x columns) should fit into the second-level cache."""

LOSS_SHARE = 1e-4
"""The gap is compared with the penalty |w|^2 / 2 plus this share of the loss."""

_FORCING, _AIM = 0.5, 0.9
"""A Newton system is solved until its residual has shrunk by half, or to the square root of the
relative gap once that is smaller, which makes the convergence superlinear; but not below the aim, a
share of the gradient that the tolerance allows."""

_ARMIJO, _ROUNDING = 1e-4, 1e-10
"""The share of the predicted decrease that a step must reach; the relative size of rounding."""

_HALVINGS = 40

_EMPTY, _GRADIENT, _CURVATURE = 0, 1, 2

_BETA, _SCORES, _SLOPE, _OUTGOING, _INCOMING = 0, 1, 2, 3, 4
_RESIDUAL, _K_RESIDUAL, _DIRECTION, _K_DIRECTION, _STEP, _K_STEP = 5, 6, 7, 8, 9, 10
_VECTORS = 11
"""The vectors of a lane, each of (columns x items) numbers: the coefficients u and XX'u, the slopes
of the losses, what goes into the next product and comes out of it, and those of the conjugate
gradient, each with its product by XX'."""

_PHASE, _PROBLEM, _PRODUCTS, _STALLED = 0, 1, 2, 3
_COUNTS = 4
"""The whole numbers of a lane."""

_LOSS, _SQUARED_RESIDUAL, _AIMED_AT, _ALONG, _INTERCEPT = 0, 1, 2, 3, 4
"""The real numbers of a lane; from _INTERCEPT on there is one for each target."""


class StoppingRules(NamedTuple):
    """When to stop: the relative duality gap, the accuracy of intercepts, products per problem.

    intercept, longest: `share` and `longest` of `binomial.fit_intercept` and
        `multinomial.fit_intercepts`.
    """

    gap: float
    intercept: float
    longest: float
    products: int


class Solutions(NamedTuple):
    """The solutions, by problem; the coefficients are X' beta.

    beta: (problems, columns x items); intercept: (problems, targets).
    """

    beta: Reals
    intercept: Reals
    products: NDArray[np.int64]


def solve(
    rows: Sparse,
    columns: Sparse,
    targets: Reals,
    weights: Reals,
    queue: NDArray[np.int64],
    limits: StoppingRules,
    n_lanes: int,
) -> Solutions:
    """Solve the problems in the queue; `weights` (problems, items) is C times the sample weight.

    `targets` is 1 for the items of a class and 0 for others: of the second class if there are two
    (items,), of every class if there are more (classes, items). The products have the precision of
    the matrix' values; everything else is in double precision.
    """
    n_problems, n = weights.shape
    n_targets = targets.size // n
    n_columns = max(1, n_targets - 1)
    n_features, size = len(columns.starts) - 1, n_columns * n
    full = padded(n_lanes * n_columns)
    beta, intercepts = np.empty((n_problems, size)), np.empty((n_problems, n_targets))
    products = np.empty(n_problems, np.int64)
    _run(
        rows, columns, targets, weights, queue, limits,
        np.zeros((n_lanes, _VECTORS, size)),
        # With two classes, the second derivatives of the losses; with more, the posteriors and the
        # links between the classes.
        np.zeros((n_lanes, n_targets, n)), np.zeros((n_lanes, n_targets, n_targets)),
        np.zeros((n_lanes, _INTERCEPT + n_targets)), np.zeros((n_lanes, _COUNTS), np.int64),
        np.empty(n * full, rows.values.dtype), np.empty(n_features * full, rows.values.dtype),
        np.empty(full), np.empty(n_lanes * n_columns, np.int64),
        beta, intercepts, products,
    )  # fmt: skip
    return Solutions(beta, intercepts, products)


@compiled
def _run(
    rows: Sparse,
    columns: Sparse,
    targets: Reals,
    weights: Reals,
    queue: NDArray[np.int64],
    limits: StoppingRules,
    vectors: Reals,
    curvatures: Reals,
    links: Reals,
    numbers: Reals,
    counts: NDArray[np.int64],
    items_space: Reals,
    features_space: Reals,
    squares: Reals,
    used: NDArray[np.int64],
    beta: Reals,
    intercepts: Reals,
    products: NDArray[np.int64],
) -> None:
    n, n_features, n_lanes = weights.shape[1], len(columns.starts) - 1, len(vectors)
    n_columns = vectors.shape[2] // n
    every_column = vectors.reshape((n_lanes * _VECTORS * n_columns, n))
    waiting = 0
    while True:
        n_used = 0
        for lane in range(n_lanes):
            count = counts[lane]
            if count[_PHASE] == _EMPTY and waiting < len(queue):
                count[_PROBLEM] = queue[waiting]
                waiting += 1
                _start(
                    vectors[lane], curvatures[lane], links[lane], numbers[lane], count,
                    targets, weights[count[_PROBLEM]], limits,
                )  # fmt: skip
            if count[_PHASE] != _EMPTY:
                for column in range(n_columns):
                    used[n_used] = (lane * _VECTORS + _OUTGOING) * n_columns + column
                    n_used += 1
        if n_used == 0:
            return
        width = (n_used + STRIDE - 1) // STRIDE * STRIDE
        by_item = items_space[: n * width].reshape((n, width))
        by_feature = features_space[: n_features * width].reshape((n_features, width))
        pack(every_column, used[:n_used], by_item)
        product(columns, by_item, by_feature)
        sum_squares(by_feature, squares[:width])
        product(rows, by_feature, by_item)
        # What comes out is the next vector of the lane.
        unpack(by_item, used[:n_used], n_columns, every_column)
        position = 0
        for lane in range(n_lanes):
            count, number = counts[lane], numbers[lane]
            if count[_PHASE] == _EMPTY:
                continue
            squared = squares[position]
            for column in range(1, n_columns):
                squared += squares[position + column]
            position += n_columns
            _advance(
                vectors[lane], curvatures[lane], links[lane], number, count,
                targets, weights[count[_PROBLEM]], squared, limits,
            )  # fmt: skip
            if count[_PHASE] == _EMPTY:
                problem = count[_PROBLEM]
                for i in range(beta.shape[1]):
                    beta[problem, i] = vectors[lane, _BETA, i]
                for target in range(intercepts.shape[1]):
                    intercepts[problem, target] = number[_INTERCEPT + target]
                products[problem] = count[_PRODUCTS]


@compiled
def _start(
    vectors: Reals,
    curvature: Reals,
    links: Reals,
    numbers: Reals,
    counts: NDArray[np.int64],
    targets: Reals,
    weight: Reals,
    limits: StoppingRules,
) -> None:
    beta, scores, slope, outgoing = (
        vectors[_BETA],
        vectors[_SCORES],
        vectors[_SLOPE],
        vectors[_OUTGOING],
    )
    for i in range(len(beta)):
        beta[i], scores[i] = 0.0, 0.0
    counts[_PHASE], counts[_PRODUCTS], counts[_STALLED] = _GRADIENT, 0, 0
    # Without features, the best intercepts follow from the classes' shares.
    if targets.ndim == 1:
        of_positive = dot(weight, targets)
        numbers[_INTERCEPT] = math.log(of_positive / (sum_up(weight) - of_positive))
    else:
        for k in range(len(targets)):
            numbers[_INTERCEPT + k] = math.log(dot(weight, targets[k]) / sum_up(weight))
    intercept = numbers[_INTERCEPT:]
    numbers[_LOSS] = _fit_intercept(
        scores, slope, curvature, links, targets, weight, intercept, limits
    )
    for i in range(len(beta)):
        outgoing[i] = beta[i] + slope[i]


@compiled
def _advance(
    vectors: Reals,
    curvature: Reals,
    links: Reals,
    numbers: Reals,
    counts: NDArray[np.int64],
    targets: Reals,
    weight: Reals,
    squared_gradient: float,
    limits: StoppingRules,
) -> None:
    """Take the product that has come out, and set what goes into the next, or end the problem."""
    outgoing, incoming = vectors[_OUTGOING], vectors[_INCOMING]
    residual, k_residual = vectors[_RESIDUAL], vectors[_K_RESIDUAL]
    direction, k_direction = vectors[_DIRECTION], vectors[_K_DIRECTION]
    step, k_step = vectors[_STEP], vectors[_K_STEP]
    counts[_PRODUCTS] += 1
    if counts[_PHASE] == _GRADIENT:
        penalty = 0.5 * dot(vectors[_BETA], vectors[_SCORES])
        yardstick = penalty + LOSS_SHARE * numbers[_LOSS]
        gap = 0.5 * squared_gradient
        squared = dot(outgoing, incoming)
        if (
            gap <= limits.gap * (yardstick - gap)
            or squared <= 0.0
            or counts[_STALLED] == 1
            or counts[_PRODUCTS] >= limits.products
        ):
            counts[_PHASE] = _EMPTY
            return
        for i in range(len(residual)):
            residual[i], direction[i], step[i] = -outgoing[i], -outgoing[i], 0.0
            k_residual[i], k_direction[i], k_step[i] = -incoming[i], -incoming[i], 0.0
        # No more accurate than the tolerance requires.
        relative = gap / yardstick
        enough = max(math.sqrt(relative), _AIM * math.sqrt(limits.gap / relative))
        shrink = min(_FORCING, enough)
        numbers[_AIMED_AT] = shrink * shrink * squared
        counts[_PHASE] = _CURVATURE
    else:
        length = numbers[_SQUARED_RESIDUAL] / numbers[_ALONG]
        for i in range(len(residual)):
            step[i] += length * direction[i]
            k_step[i] += length * k_direction[i]
            residual[i] -= length * (direction[i] + outgoing[i])
            k_residual[i] -= length * (k_direction[i] + incoming[i])
        squared = dot(residual, k_residual)
        if squared <= numbers[_AIMED_AT] or counts[_PRODUCTS] >= limits.products - 1:
            if not _search_line(vectors, curvature, links, numbers, targets, weight, limits):
                counts[_STALLED] = 1
            # The gradient is w + X'(loss slope) = X'(beta + loss slope).
            beta, slope = vectors[_BETA], vectors[_SLOPE]
            for i in range(len(outgoing)):
                outgoing[i] = beta[i] + slope[i]
            counts[_PHASE] = _GRADIENT
            return
        ratio = squared / numbers[_SQUARED_RESIDUAL]
        for i in range(len(direction)):
            direction[i] = residual[i] + ratio * direction[i]
            k_direction[i] = k_residual[i] + ratio * k_direction[i]
    numbers[_SQUARED_RESIDUAL] = squared
    # The loss part of the Hessian times the direction p is X'v with v = D(Xp - mean_D(Xp)).
    if targets.ndim == 1:
        bend(curvature[0], k_direction, outgoing)
    else:
        n = len(weight)
        bend_all(curvature, weight, links, k_direction.reshape((-1, n)), outgoing.reshape((-1, n)))
    # p'Hp = |p|^2 + (Xp)'v
    numbers[_ALONG] = dot(direction, k_direction) + dot(k_direction, outgoing)


@compiled
def _search_line(
    vectors: Reals,
    curvature: Reals,
    links: Reals,
    numbers: Reals,
    targets: Reals,
    weight: Reals,
    limits: StoppingRules,
) -> bool:
    """Move along the step as far as the objective falls; False, at the same place, if nowhere."""
    beta, scores, slope = vectors[_BETA], vectors[_SCORES], vectors[_SLOPE]
    step, k_step, trial = vectors[_STEP], vectors[_K_STEP], vectors[_INCOMING]
    intercept = numbers[_INTERCEPT:]
    # |w + t dw|^2 / 2 = |w|^2 / 2 + t cross + t^2 square / 2
    cross, square = dot(beta, k_step), dot(step, k_step)
    descent = cross + dot(slope, k_step)
    shift, guess = np.empty(len(intercept)), np.empty(len(intercept))
    if targets.ndim == 1:
        shift[0] = intercept_shift(curvature[0], k_step)
    else:
        intercept_shifts(curvature, weight, links, k_step.reshape((-1, len(weight))), shift)
    loss_before = numbers[_LOSS]
    length = 1.0
    for _ in range(_HALVINGS):
        for i in range(len(trial)):
            trial[i] = scores[i] + length * k_step[i]
        for target in range(len(guess)):
            guess[target] = intercept[target] + length * shift[target]
        loss = _fit_intercept(trial, slope, curvature, links, targets, weight, guess, limits)
        change = loss - loss_before + length * (cross + 0.5 * length * square)
        # Near the solution the decrease is lost in rounding, but not the slope along the step.
        drowned = abs(change) <= _ROUNDING * loss_before
        slope_there = cross + length * square + dot(slope, k_step)
        if change <= _ARMIJO * length * descent or (drowned and slope_there <= -0.5 * descent):
            for i in range(len(beta)):
                beta[i] += length * step[i]
                scores[i] = trial[i]
            for target in range(len(guess)):
                intercept[target] = guess[target]
            numbers[_LOSS] = loss
            return True
        length *= 0.5
    # No decrease was found: keep the point; the gap decides whether it is good enough.
    _fit_intercept(scores, slope, curvature, links, targets, weight, intercept, limits)
    return False


@compiled
def _fit_intercept(
    scores: Reals,
    slope: Reals,
    curvature: Reals,
    links: Reals,
    targets: Reals,
    weight: Reals,
    intercept: Reals,
    limits: StoppingRules,
) -> float:
    # The loss at the best intercept, which replaces the guess; updates slopes and curvatures.
    if targets.ndim == 1:
        loss, intercept[0] = fit_intercept(
            scores, targets, weight, intercept[0], limits.intercept, limits.longest, slope,
            curvature[0],
        )  # fmt: skip
        return loss
    n = len(weight)
    return fit_intercepts(
        scores.reshape((-1, n)), targets, weight, intercept, limits.intercept, limits.longest,
        slope.reshape((-1, n)), curvature, links,
    )  # fmt: skip
