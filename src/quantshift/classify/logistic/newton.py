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
is compiled.

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
from quantshift.classify.logistic.sparse import STRIDE, Sparse, product, sum_squares

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


class Lanes(NamedTuple):
    """The vectors of the problems in progress, each (lanes, columns x items); `k_u` is XX'u.

    loss_curvature: with two classes, the second derivatives of the losses (lanes, items); with
        more, the posteriors (lanes, classes x items), with `links` (lanes, classes, classes)
        between the classes.
    """

    beta: Reals
    scores: Reals
    loss_slope: Reals
    loss_curvature: Reals
    links: Reals
    residual: Reals
    k_residual: Reals
    direction: Reals
    k_direction: Reals
    step: Reals
    k_step: Reals
    outgoing: Reals
    incoming: Reals


class Progress(NamedTuple):
    """The scalars of the problems in progress, each (lanes,); intercepts are (lanes, targets)."""

    phase: NDArray[np.int64]
    problem: NDArray[np.int64]
    products: NDArray[np.int64]
    stalled: NDArray[np.bool_]
    intercept: Reals
    loss: Reals
    squared_residual: Reals
    target: Reals
    along: Reals


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


@compiled
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
    d = len(columns.starts) - 1
    size = n_columns * n
    lanes = Lanes(
        np.zeros((n_lanes, size)), np.zeros((n_lanes, size)), np.zeros((n_lanes, size)),
        np.zeros((n_lanes, n_targets * n)), np.zeros((n_lanes, n_targets, n_targets)),
        np.zeros((n_lanes, size)), np.zeros((n_lanes, size)), np.zeros((n_lanes, size)),
        np.zeros((n_lanes, size)), np.zeros((n_lanes, size)), np.zeros((n_lanes, size)),
        np.zeros((n_lanes, size)), np.zeros((n_lanes, size)),
    )  # fmt: skip
    progress = Progress(
        np.full(n_lanes, _EMPTY), np.zeros(n_lanes, np.int64), np.zeros(n_lanes, np.int64),
        np.zeros(n_lanes, np.bool_), np.zeros((n_lanes, n_targets)), np.zeros(n_lanes),
        np.zeros(n_lanes), np.zeros(n_lanes), np.zeros(n_lanes),
    )  # fmt: skip
    outcome = Solutions(
        np.empty((n_problems, size)), np.empty((n_problems, n_targets)),
        np.empty(n_problems, np.int64),
    )  # fmt: skip
    outgoing = lanes.outgoing.reshape((n_lanes * n_columns, n))
    incoming = lanes.incoming.reshape((n_lanes * n_columns, n))
    full = (n_lanes * n_columns + STRIDE - 1) // STRIDE * STRIDE
    items_space = np.empty(n * full, rows.values.dtype)
    features_space = np.empty(d * full, rows.values.dtype)
    squares = np.empty(full)
    busy = np.empty(n_lanes, np.int64)
    used = np.empty(n_lanes * n_columns, np.int64)
    waiting = 0
    while True:
        n_busy = 0
        for lane in range(n_lanes):
            if progress.phase[lane] == _EMPTY and waiting < len(queue):
                _start(lanes, progress, lane, queue[waiting], targets, weights, limits)
                waiting += 1
            if progress.phase[lane] != _EMPTY:
                busy[n_busy] = lane
                for column in range(n_columns):
                    used[n_busy * n_columns + column] = lane * n_columns + column
                n_busy += 1
        if n_busy == 0:
            return outcome
        n_used = n_busy * n_columns
        width = (n_used + STRIDE - 1) // STRIDE * STRIDE
        by_item = items_space[: n * width].reshape((n, width))
        by_feature = features_space[: d * width].reshape((d, width))
        pack(outgoing, used[:n_used], by_item)
        product(columns, by_item, by_feature)
        sum_squares(by_feature, squares[:width])
        product(rows, by_feature, by_item)
        unpack(by_item, used[:n_used], incoming)
        for position in range(n_busy):
            lane = busy[position]
            weight = weights[progress.problem[lane]]
            progress.products[lane] += 1
            if progress.phase[lane] == _GRADIENT:
                squared = squares[position * n_columns]
                for column in range(1, n_columns):
                    squared += squares[position * n_columns + column]
                _take_gradient(lanes, progress, lane, targets, weight, squared, limits, outcome)
            else:
                _take_curvature(lanes, progress, lane, targets, weight, limits)


@compiled
def _start(
    lanes: Lanes,
    progress: Progress,
    lane: int,
    problem: int,
    targets: Reals,
    weights: Reals,
    limits: StoppingRules,
) -> None:
    weight = weights[problem]
    lanes.beta[lane, :] = 0.0
    lanes.scores[lane, :] = 0.0
    progress.problem[lane] = problem
    progress.products[lane] = 0
    progress.stalled[lane] = False
    # Without features, the best intercepts follow from the classes' shares.
    intercept = progress.intercept[lane]
    if targets.ndim == 1:
        of_positive = dot(weight, targets)
        intercept[0] = math.log(of_positive / (sum_up(weight) - of_positive))
    else:
        for k in range(len(targets)):
            intercept[k] = math.log(dot(weight, targets[k]) / sum_up(weight))
    progress.loss[lane] = _fit_intercept(
        lanes, lane, lanes.scores[lane], targets, weight, intercept, limits
    )
    _ask_gradient(lanes, progress, lane)


@compiled
def _ask_gradient(lanes: Lanes, progress: Progress, lane: int) -> None:
    # The gradient is w + X'(loss slope) = X'(beta + loss slope).
    outgoing, beta, slope = lanes.outgoing[lane], lanes.beta[lane], lanes.loss_slope[lane]
    for i in range(len(outgoing)):
        outgoing[i] = beta[i] + slope[i]
    progress.phase[lane] = _GRADIENT


@compiled
def _take_gradient(
    lanes: Lanes,
    progress: Progress,
    lane: int,
    targets: Reals,
    weight: Reals,
    squared_gradient: float,
    limits: StoppingRules,
    outcome: Solutions,
) -> None:
    outgoing, incoming = lanes.outgoing[lane], lanes.incoming[lane]
    penalty = 0.5 * dot(lanes.beta[lane], lanes.scores[lane])
    yardstick = penalty + LOSS_SHARE * progress.loss[lane]
    gap = 0.5 * squared_gradient
    squared = dot(outgoing, incoming)
    if (
        gap <= limits.gap * (yardstick - gap)
        or squared <= 0.0
        or progress.stalled[lane]
        or progress.products[lane] >= limits.products
    ):
        problem = progress.problem[lane]
        outcome.beta[problem, :] = lanes.beta[lane]
        outcome.intercept[problem, :] = progress.intercept[lane]
        outcome.products[problem] = progress.products[lane]
        progress.phase[lane] = _EMPTY
        return
    residual, k_residual = lanes.residual[lane], lanes.k_residual[lane]
    direction, k_direction = lanes.direction[lane], lanes.k_direction[lane]
    for i in range(len(residual)):
        residual[i] = -outgoing[i]
        k_residual[i] = -incoming[i]
        direction[i] = -outgoing[i]
        k_direction[i] = -incoming[i]
    lanes.step[lane, :] = 0.0
    lanes.k_step[lane, :] = 0.0
    # No more accurate than the tolerance requires.
    relative = gap / yardstick
    enough = max(math.sqrt(relative), _AIM * math.sqrt(limits.gap / relative))
    shrink = min(_FORCING, enough)
    progress.squared_residual[lane] = squared
    progress.target[lane] = shrink * shrink * squared
    _ask_curvature(lanes, progress, lane, targets, weight)


@compiled
def _ask_curvature(
    lanes: Lanes, progress: Progress, lane: int, targets: Reals, weight: Reals
) -> None:
    # The loss part of the Hessian times the direction p is X'v with v = D(Xp - mean_D(Xp)).
    direction, k_direction = lanes.direction[lane], lanes.k_direction[lane]
    outgoing, curvature = lanes.outgoing[lane], lanes.loss_curvature[lane]
    if targets.ndim == 1:
        bend(curvature, k_direction, outgoing)
    else:
        n = len(weight)
        bend_all(
            curvature.reshape((-1, n)),
            weight,
            lanes.links[lane],
            k_direction.reshape((-1, n)),
            outgoing.reshape((-1, n)),
        )
    # p'Hp = |p|^2 + (Xp)'v
    progress.along[lane] = dot(direction, k_direction) + dot(k_direction, outgoing)
    progress.phase[lane] = _CURVATURE


@compiled
def _take_curvature(
    lanes: Lanes,
    progress: Progress,
    lane: int,
    targets: Reals,
    weight: Reals,
    limits: StoppingRules,
) -> None:
    residual, k_residual = lanes.residual[lane], lanes.k_residual[lane]
    direction, k_direction = lanes.direction[lane], lanes.k_direction[lane]
    step, k_step = lanes.step[lane], lanes.k_step[lane]
    outgoing, incoming = lanes.outgoing[lane], lanes.incoming[lane]
    length = progress.squared_residual[lane] / progress.along[lane]
    for i in range(len(residual)):
        step[i] += length * direction[i]
        k_step[i] += length * k_direction[i]
        residual[i] -= length * (direction[i] + outgoing[i])
        k_residual[i] -= length * (k_direction[i] + incoming[i])
    squared = dot(residual, k_residual)
    if squared <= progress.target[lane] or progress.products[lane] >= limits.products - 1:
        _search_line(lanes, progress, lane, targets, weight, limits)
        _ask_gradient(lanes, progress, lane)
        return
    ratio = squared / progress.squared_residual[lane]
    for i in range(len(direction)):
        direction[i] = residual[i] + ratio * direction[i]
        k_direction[i] = k_residual[i] + ratio * k_direction[i]
    progress.squared_residual[lane] = squared
    _ask_curvature(lanes, progress, lane, targets, weight)


@compiled
def _search_line(
    lanes: Lanes,
    progress: Progress,
    lane: int,
    targets: Reals,
    weight: Reals,
    limits: StoppingRules,
) -> None:
    beta, scores = lanes.beta[lane], lanes.scores[lane]
    step, k_step = lanes.step[lane], lanes.k_step[lane]
    slope, intercept = lanes.loss_slope[lane], progress.intercept[lane]
    trial = lanes.incoming[lane]
    # |w + t dw|^2 / 2 = |w|^2 / 2 + t cross + t^2 square / 2
    cross, square = dot(beta, k_step), dot(step, k_step)
    descent = cross + dot(slope, k_step)
    shift = _intercept_shift(lanes, lane, targets, weight)
    guess = np.empty(len(shift))
    loss_before = progress.loss[lane]
    length = 1.0
    for _ in range(_HALVINGS):
        for i in range(len(trial)):
            trial[i] = scores[i] + length * k_step[i]
        for target in range(len(guess)):
            guess[target] = intercept[target] + length * shift[target]
        loss = _fit_intercept(lanes, lane, trial, targets, weight, guess, limits)
        change = loss - loss_before + length * (cross + 0.5 * length * square)
        # Near the solution the decrease is lost in rounding, but not the slope along the step.
        drowned = abs(change) <= _ROUNDING * loss_before
        slope_there = cross + length * square + dot(slope, k_step)
        if change <= _ARMIJO * length * descent or (drowned and slope_there <= -0.5 * descent):
            for i in range(len(beta)):
                beta[i] += length * step[i]
                scores[i] = trial[i]
            intercept[:] = guess
            progress.loss[lane] = loss
            return
        length *= 0.5
    # No decrease was found: keep the point; the gap decides whether it is good enough.
    progress.stalled[lane] = True
    _fit_intercept(lanes, lane, scores, targets, weight, intercept, limits)


@compiled
def _intercept_shift(lanes: Lanes, lane: int, targets: Reals, weight: Reals) -> Reals:
    shift = np.empty(lanes.links.shape[1])
    k_step, curvature = lanes.k_step[lane], lanes.loss_curvature[lane]
    if targets.ndim == 1:
        shift[0] = intercept_shift(curvature, k_step)
    else:
        n = len(weight)
        intercept_shifts(
            curvature.reshape((-1, n)),
            weight,
            lanes.links[lane],
            k_step.reshape((-1, n)),
            shift,
        )
    return shift


@compiled
def _fit_intercept(
    lanes: Lanes,
    lane: int,
    scores: Reals,
    targets: Reals,
    weight: Reals,
    intercept: Reals,
    limits: StoppingRules,
) -> float:
    # The loss at the best intercept, which replaces the guess; updates slopes and curvatures.
    slope, curvature = lanes.loss_slope[lane], lanes.loss_curvature[lane]
    if targets.ndim == 1:
        loss, intercept[0] = fit_intercept(
            scores,
            targets,
            weight,
            intercept[0],
            limits.intercept,
            limits.longest,
            slope,
            curvature,
        )
        return loss
    n = len(weight)
    return fit_intercepts(
        scores.reshape((-1, n)),
        targets,
        weight,
        intercept,
        limits.intercept,
        limits.longest,
        slope.reshape((-1, n)),
        curvature.reshape((-1, n)),
        lanes.links[lane],
    )
