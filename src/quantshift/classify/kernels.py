"""Compiled inner loops of the batched logistic regression: a machine with many lanes.

A lane solves one problem by truncated Newton. What is dear in that, the product with the sparse
matrix and its transpose, is done for all lanes at once: a *tick* is one such product pair, after
which every lane advances by itself, and a lane whose problem has ended takes the next one from the
queue. A row of the matrix is thus read once for all lanes, and no lane waits for another.

By the representer theorem the coefficients are w = X'u, u having one entry per item, and so are all
vectors of the conjugate gradient. Carrying (u, XX'u) instead of w keeps the work of a lane
proportional to the number of items, not of features, and the scores of all items, held out or not,
are there at any time. The intercept is not a variable of the Newton step: it is set to its best
value for the scores, exactly, whenever these change (variable projection), which leaves a
function of w with the Hessian I + X'(D - D11'D / 1'D1)X.

A problem ends when its duality gap is small. Let g be the gradient in w and a_i the slope of item
i's loss at its score. Where the a_i sum to zero, as they do at the best intercept, a is feasible
for the dual problem, and because a is the slope at the scores themselves (equality in Fenchel's
inequality) the gap is |w|^2 / 2 + |X'a|^2 / 2 + w'X'a = |g|^2 / 2, whatever C, the weights and X
are. So the squared norm of the gradient is all that has to be looked at. What it is compared with,
and what the slopes' sum adds to it, is said in `quantshift.classify.logistic`.

Nothing here re-associates floating-point sums: a lane's arithmetic is the same whichever other
problems are in flight, however wide the machine and the processor's vectors are.

References: R. S. Dembo and T. Steihaug, "Truncated-Newton algorithms for large-scale unconstrained
optimization", Mathematical Programming 26 (1983); C.-J. Lin, R. C. Weng and S. S. Keerthi, "Trust
region Newton method for large-scale logistic regression", JMLR 9 (2008); G. H. Golub and
V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
variables separate", SIAM Journal on Numerical Analysis 10 (1973).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quantshift.compiled import compiled

Reals = NDArray[np.float64]

LANES = 32
"""Problems in flight; (features x lanes) should stay within the second-level cache."""

_FEW, _STRIDE = 4, 16
"""More than a few lanes are padded to a multiple of the stride, the loops' natural width."""

LOSS_SHARE = 1e-4
"""The gap is compared with the penalty |w|^2 / 2 plus this share of the loss."""

_FORCING, _AIM = 0.5, 0.9
"""A Newton system is solved until its residual has shrunk by a half, or by the square root of the
relative gap once that is less, which makes the convergence superlinear; but by no more than to
the aim, as a share of the gradient that the tolerance allows."""

_ARMIJO, _ROUNDING = 1e-4, 1e-10
"""Share of the promised decrease that a step must keep; relative change that may be rounding."""

_HALVINGS, _INTERCEPT_STEPS = 40, 100

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01  # 32 leading bits: k times it is exact
_LN2_LOW = 1.90821492927058770002e-10
_ROUNDER = 1.5 * 2.0**52
_TAYLOR = tuple(1.0 / math.factorial(j) for j in range(13))

_EMPTY, _GRADIENT, _CURVATURE = 0, 1, 2


class Sparse(NamedTuple):
    """A matrix in compressed rows."""

    starts: NDArray[np.uint32]
    indices: NDArray[np.uint32]
    values: NDArray[np.floating[Any]]


class Lanes(NamedTuple):
    """The vectors of the problems in flight, each (lanes, items); `k_u` stands for XX'u."""

    beta: Reals
    scores: Reals
    loss_slope: Reals
    loss_curvature: Reals
    residual: Reals
    k_residual: Reals
    direction: Reals
    k_direction: Reals
    step: Reals
    k_step: Reals
    outgoing: Reals
    incoming: Reals


class Progress(NamedTuple):
    """The scalars of the problems in flight, each (lanes,)."""

    phase: NDArray[np.int64]
    problem: NDArray[np.int64]
    products: NDArray[np.int64]
    stalled: NDArray[np.bool_]
    intercept: Reals
    loss: Reals
    squared_residual: Reals
    target: Reals
    along: Reals


class Limits(NamedTuple):
    """When to stop: the relative duality gap, the tolerance in b, and products per problem.

    intercept, longest: the sum e of the slopes must be within `intercept` times the root of
        S min(D, 1 / longest^2), S and D being the sums of the positive items' slopes and of all
        curvatures, and `longest` the largest norm of a row of X. The loss is above S, which makes
        both e^2 / D and the square of e times a row, the two things that e adds to the gap, small
        compared with the loss.
    """

    gap: float
    intercept: float
    longest: float
    products: int


class Outcome(NamedTuple):
    """What the machine hands back, by problem; the coefficients are X' beta."""

    beta: Reals
    intercept: Reals
    products: NDArray[np.int64]


@compiled
def product(matrix: Sparse, right: Reals, out: Reals) -> None:
    """`out = matrix @ right`, `right` row-major with the lanes as columns."""
    indices, values = matrix.indices, matrix.values
    width = right.shape[1]
    for i in range(len(matrix.starts) - 1):
        row = out[i]
        for lane in range(width):
            row[lane] = 0.0
        k, end = matrix.starts[i], matrix.starts[i + 1]
        # Eight entries a turn: the row of results is read and written an eighth as often.
        while k + 8 <= end:
            r0, r1, r2, r3 = (
                right[indices[k]],
                right[indices[k + 1]],
                right[indices[k + 2]],
                right[indices[k + 3]],
            )
            r4, r5, r6, r7 = (
                right[indices[k + 4]],
                right[indices[k + 5]],
                right[indices[k + 6]],
                right[indices[k + 7]],
            )
            v0, v1, v2, v3 = values[k], values[k + 1], values[k + 2], values[k + 3]
            v4, v5, v6, v7 = values[k + 4], values[k + 5], values[k + 6], values[k + 7]
            for lane in range(width):
                row[lane] += (v0 * r0[lane] + v1 * r1[lane] + v2 * r2[lane] + v3 * r3[lane]) + (
                    v4 * r4[lane] + v5 * r5[lane] + v6 * r6[lane] + v7 * r7[lane]
                )
            k += 8
        while k < end:
            r0, v0 = right[indices[k]], values[k]
            for lane in range(width):
                row[lane] += v0 * r0[lane]
            k += 1


@compiled
def sum_squares(table: Reals, out: Reals) -> None:
    """`out = (table ** 2).sum(axis=0)`, added row by row however wide the table is."""
    out[:] = 0.0
    for i in range(table.shape[0]):
        for position in range(len(out)):
            out[position] += float(table[i, position]) * float(table[i, position])


@compiled
def solve(
    rows: Sparse,
    columns: Sparse,
    positive: Reals,
    weights: Reals,
    queue: NDArray[np.int64],
    limits: Limits,
    n_lanes: int,
) -> Outcome:
    """Solve the problems in the queue; `weights` (problems, items) is C times the sample weight.

    `positive` is 1 for the items of the second class and 0 for the others. The products have the
    precision of the matrix' values; everything else is in doubles.
    """
    n_problems, n = weights.shape
    d = len(columns.starts) - 1
    lanes = Lanes(
        np.zeros((n_lanes, n)), np.zeros((n_lanes, n)), np.zeros((n_lanes, n)),
        np.zeros((n_lanes, n)), np.zeros((n_lanes, n)), np.zeros((n_lanes, n)),
        np.zeros((n_lanes, n)), np.zeros((n_lanes, n)), np.zeros((n_lanes, n)),
        np.zeros((n_lanes, n)), np.zeros((n_lanes, n)), np.zeros((n_lanes, n)),
    )  # fmt: skip
    progress = Progress(
        np.full(n_lanes, _EMPTY), np.zeros(n_lanes, np.int64), np.zeros(n_lanes, np.int64),
        np.zeros(n_lanes, np.bool_), np.zeros(n_lanes), np.zeros(n_lanes), np.zeros(n_lanes),
        np.zeros(n_lanes), np.zeros(n_lanes),
    )  # fmt: skip
    outcome = Outcome(
        np.empty((n_problems, n)), np.empty(n_problems), np.empty(n_problems, np.int64)
    )  # fmt: skip
    full = (n_lanes + _STRIDE - 1) // _STRIDE * _STRIDE
    items_space = np.empty(n * full, rows.values.dtype)
    features_space = np.empty(d * full, rows.values.dtype)
    squares = np.empty(full)
    busy = np.empty(n_lanes, np.int64)
    waiting = 0
    while True:
        n_busy = 0
        for lane in range(n_lanes):
            if progress.phase[lane] == _EMPTY and waiting < len(queue):
                _start(lanes, progress, lane, queue[waiting], positive, weights, limits)
                waiting += 1
            if progress.phase[lane] != _EMPTY:
                busy[n_busy] = lane
                n_busy += 1
        if n_busy == 0:
            return outcome
        width = n_busy if n_busy <= _FEW else (n_busy + _STRIDE - 1) // _STRIDE * _STRIDE
        by_item = items_space[: n * width].reshape((n, width))
        by_feature = features_space[: d * width].reshape((d, width))
        _pack(lanes.outgoing, busy[:n_busy], by_item)
        product(columns, by_item, by_feature)
        sum_squares(by_feature, squares[:width])
        product(rows, by_feature, by_item)
        _unpack(by_item, busy[:n_busy], lanes.incoming)
        for position in range(n_busy):
            lane = busy[position]
            weight = weights[progress.problem[lane]]
            progress.products[lane] += 1
            if progress.phase[lane] == _GRADIENT:
                _take_gradient(lanes, progress, lane, squares[position], limits, outcome)
            else:
                _take_curvature(lanes, progress, lane, positive, weight, limits)


@compiled
def _start(
    lanes: Lanes,
    progress: Progress,
    lane: int,
    problem: int,
    positive: Reals,
    weights: Reals,
    limits: Limits,
) -> None:
    weight = weights[problem]
    lanes.beta[lane, :] = 0.0
    lanes.scores[lane, :] = 0.0
    of_positive = _dot(weight, positive)
    progress.problem[lane] = problem
    progress.products[lane] = 0
    progress.stalled[lane] = False
    loss, intercept = _fit_intercept(
        lanes.scores[lane],
        positive,
        weight,
        math.log(of_positive / (_total(weight) - of_positive)),
        limits,
        lanes.loss_slope[lane],
        lanes.loss_curvature[lane],
    )
    progress.intercept[lane] = intercept
    progress.loss[lane] = loss
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
    squared_gradient: float,
    limits: Limits,
    outcome: Outcome,
) -> None:
    outgoing, incoming = lanes.outgoing[lane], lanes.incoming[lane]
    penalty = 0.5 * _dot(lanes.beta[lane], lanes.scores[lane])
    yardstick = penalty + LOSS_SHARE * progress.loss[lane]
    gap = 0.5 * squared_gradient
    squared = _dot(outgoing, incoming)
    if (
        gap <= limits.gap * (yardstick - gap)
        or squared <= 0.0
        or progress.stalled[lane]
        or progress.products[lane] >= limits.products
    ):
        problem = progress.problem[lane]
        outcome.beta[problem, :] = lanes.beta[lane]
        outcome.intercept[problem] = progress.intercept[lane]
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
    # No more accurate than the tolerance asks for.
    relative = gap / yardstick
    enough = max(math.sqrt(relative), _AIM * math.sqrt(limits.gap / relative))
    shrink = min(_FORCING, enough)
    progress.squared_residual[lane] = squared
    progress.target[lane] = shrink * shrink * squared
    _ask_curvature(lanes, progress, lane)


@compiled
def _ask_curvature(lanes: Lanes, progress: Progress, lane: int) -> None:
    # The loss part of the Hessian times the direction p is X'v with v = D(Xp - mean_D(Xp)).
    outgoing, curvature = lanes.outgoing[lane], lanes.loss_curvature[lane]
    k_direction = lanes.k_direction[lane]
    total = _total(curvature)
    mean = _dot(curvature, k_direction) / total if total > 0.0 else 0.0
    for i in range(len(outgoing)):
        outgoing[i] = curvature[i] * (k_direction[i] - mean)
    # p'Hp = |p|^2 + (Xp)'v
    progress.along[lane] = _dot(lanes.direction[lane], k_direction) + _dot(k_direction, outgoing)
    progress.phase[lane] = _CURVATURE


@compiled
def _take_curvature(
    lanes: Lanes,
    progress: Progress,
    lane: int,
    positive: Reals,
    weight: Reals,
    limits: Limits,
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
    squared = _dot(residual, k_residual)
    if squared <= progress.target[lane] or progress.products[lane] >= limits.products - 1:
        _search_line(lanes, progress, lane, positive, weight, limits)
        _ask_gradient(lanes, progress, lane)
        return
    ratio = squared / progress.squared_residual[lane]
    for i in range(len(direction)):
        direction[i] = residual[i] + ratio * direction[i]
        k_direction[i] = k_residual[i] + ratio * k_direction[i]
    progress.squared_residual[lane] = squared
    _ask_curvature(lanes, progress, lane)


@compiled
def _search_line(
    lanes: Lanes,
    progress: Progress,
    lane: int,
    positive: Reals,
    weight: Reals,
    limits: Limits,
) -> None:
    beta, scores = lanes.beta[lane], lanes.scores[lane]
    step, k_step = lanes.step[lane], lanes.k_step[lane]
    slope, curvature = lanes.loss_slope[lane], lanes.loss_curvature[lane]
    trial = lanes.incoming[lane]
    # |w + t dw|^2 / 2 = |w|^2 / 2 + t cross + t^2 square / 2
    cross, square = _dot(beta, k_step), _dot(step, k_step)
    descent = cross + _dot(slope, k_step)
    total = _total(curvature)
    shift = -_dot(curvature, k_step) / total if total > 0.0 else 0.0
    loss_before = progress.loss[lane]
    length = 1.0
    for _ in range(_HALVINGS):
        for i in range(len(trial)):
            trial[i] = scores[i] + length * k_step[i]
        guess = progress.intercept[lane] + length * shift
        loss, intercept = _fit_intercept(trial, positive, weight, guess, limits, slope, curvature)
        change = loss - loss_before + length * (cross + 0.5 * length * square)
        # Near the solution the decrease drowns in rounding, but not the slope along the step.
        drowned = abs(change) <= _ROUNDING * loss_before
        slope_there = cross + length * square + _dot(slope, k_step)
        if change <= _ARMIJO * length * descent or (drowned and slope_there <= -0.5 * descent):
            for i in range(len(beta)):
                beta[i] += length * step[i]
                scores[i] = trial[i]
            progress.intercept[lane] = intercept
            progress.loss[lane] = loss
            return
        length *= 0.5
    # No decrease can be found: stay, and let the gap say whether that is good enough.
    progress.stalled[lane] = True
    _, intercept = _fit_intercept(
        scores, positive, weight, progress.intercept[lane], limits, slope, curvature
    )
    progress.intercept[lane] = intercept


@compiled
def _fit_intercept(
    scores: Reals,
    positive: Reals,
    weight: Reals,
    intercept: float,
    limits: Limits,
    slope: Reals,
    curvature: Reals,
) -> tuple[float, float]:
    # Root of the increasing function sum(slope) by Newton, held inside a bracket by bisection.
    odds = np.empty(len(scores))
    low, high = -math.inf, math.inf
    for _ in range(_INTERCEPT_STEPS):
        _odds(scores, intercept, odds)
        _slopes(scores, intercept, odds, positive, weight, slope, curvature)
        slope_sum = _total(slope)
        total = _total(curvature)
        least = -_dot(slope, positive) * min(total, 1.0 / limits.longest**2)
        if abs(slope_sum) <= limits.intercept * math.sqrt(least):
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
    return _loss(scores, intercept, odds, positive, weight), intercept


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
        # Posteriors of the likelier and of the other class, neither by subtraction from one.
        likely = 1.0 / (1.0 + odds[i])
        unlikely = odds[i] * likely
        above = scores[i] + intercept >= 0.0
        of_positive = likely if above else unlikely
        of_negative = unlikely if above else likely
        slope[i] = weight[i] * ((1.0 - positive[i]) * of_positive - positive[i] * of_negative)
        curvature[i] = weight[i] * likely * unlikely


@compiled
def _loss(scores: Reals, intercept: float, odds: Reals, positive: Reals, weight: Reals) -> float:
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
    return _dot(weight, each)


@compiled
def _odds(scores: Reals, intercept: float, out: Reals) -> None:
    # exp(-|score|) as 2^k e^r with |r| <= log(2)/2 and a Taylor polynomial; unlike the call of a
    # C library in a loop it uses vector instructions, and gives the same bits on every machine.
    power = np.empty(len(scores))
    bits = power.view(np.int64)
    for i in range(len(scores)):
        x = -abs(scores[i] + intercept)
        x = -700.0 if x < -700.0 else x
        # Adding 1.5 * 2^52 rounds to a whole number, left in the low bits of the sum.
        power[i] = x * _LOG2_E + _ROUNDER
        k = power[i] - _ROUNDER
        r = (x - k * _LN2_HIGH) - k * _LN2_LOW
        series = _TAYLOR[12]
        for j in range(11, -1, -1):
            series = series * r + _TAYLOR[j]
        out[i] = series
    for i in range(len(scores)):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(len(scores)):
        out[i] *= power[i]


@compiled
def _dot(a: Reals, b: Reals) -> float:
    # Eight partial sums in a fixed order: as fast as a re-associated loop, and always the same.
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = len(a) // 8 * 8
    for i in range(0, whole, 8):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        s4 += a[i + 4] * b[i + 4]
        s5 += a[i + 5] * b[i + 5]
        s6 += a[i + 6] * b[i + 6]
        s7 += a[i + 7] * b[i + 7]
    for i in range(whole, len(a)):
        s0 += a[i] * b[i]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@compiled
def _total(a: Reals) -> float:
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    whole = len(a) // 4 * 4
    for i in range(0, whole, 4):
        s0 += a[i]
        s1 += a[i + 1]
        s2 += a[i + 2]
        s3 += a[i + 3]
    for i in range(whole, len(a)):
        s0 += a[i]
    return (s0 + s1) + (s2 + s3)


@compiled
def _pack(vectors: Reals, busy: NDArray[np.int64], out: Reals) -> None:
    n_busy = len(busy)
    for i in range(out.shape[0]):
        for position in range(n_busy):
            out[i, position] = vectors[busy[position], i]
        for position in range(n_busy, out.shape[1]):
            out[i, position] = 0.0


@compiled
def _unpack(table: Reals, busy: NDArray[np.int64], out: Reals) -> None:
    for i in range(table.shape[0]):
        for position in range(len(busy)):
            out[busy[position], i] = table[i, position]
