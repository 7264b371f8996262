"""Many binary logistic regressions on one sparse matrix, solved together.

Problem j minimises |w|^2 / 2 + C_j sum_i s_ij log(1 + exp(-y_i (x_i'w + b))) over w and b, with
y_i = -1 or 1: scikit-learn's objective, with an L2 penalty and a free intercept. Settings of C and
of class weights, and the folds of a cross-validation (weight 0 = held out), are then a table of
weights over one matrix; `quantshift.classify.kernels` tells how they share the work. A problem's
solution does not depend, to the last bit, on the other problems of the call.

The tolerance means the same at every C. It bounds gap / (|w|^2 / 2 + loss / 10^4 - gap), where the
gap is that of a dual point, no less than the excess of the objective over its minimum. Two things
follow.

- The divisor is no more than the minimum: the relative excess is within the tolerance.
- The objective is strongly convex in w, so the distance of w from the solution is no more than
  sqrt(2 gap): about sqrt(tol) |w|. That is why the penalty and not the whole objective is the
  measure. At C = 0.01 the penalty may be 0.1% of the objective, and an excess of 1e-6 would be an
  error of 3% in w, which a calibration of the scores would pass on to the estimates. The small
  share of the loss keeps the divisor positive where the solution is w = 0.

The gap. Let c_i = C s_i, and let r_i be the model's posterior of the class that item i is not of.
Replace every r_i by some r'_i in [0, 1] such that u, with entries -y_i c_i r'_i, sums to zero. By
Fenchel duality the minimum is no less than the objective minus

    |w + X'u|^2 / 2 + sum_i c_i KL(r'_i, r_i),

KL being the divergence of one Bernoulli law from another. At the best intercept r' = r will do, and
the gap is half the squared norm of the gradient. Elsewhere r' is r moved by Newton's step towards
that intercept: with d_i = c_i r_i (1 - r_i) and e the sum of the slopes -y_i c_i r_i, u_i is the
slope less d_i e / sum(d), and since KL is below the chi-squared divergence the second term is
no more than e^2 / sum(d).

Scikit-learn bounds the largest entry of the gradient of the *mean* loss instead, which means
something else at every C: a bound of 1e-6 leaves an excess of 1e-10 at C = 0.01 and of 1e-2 at
C = 1000 (tf-idf of reviews, 1% positives; `benchmarks/logistic.py`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from quantshift.classify.kernels import (
    LANES,
    LOSS_SHARE,
    Limits,
    Outcome,
    Sparse,
    product,
    solve,
    sum_squares,
)
from quantshift.errors import DataError, UserError
from quantshift.types import Codes, Posteriors

Reals = NDArray[np.float64]

TOLERANCE = 1e-6
"""Default bound on the relative gap: w is then within about 0.1% of the solution."""

SINGLE_PRECISION_TOLERANCE = 1e-8
"""Down to this tolerance the products inside the solver may be in single precision."""

_MARGIN = 0.25
"""The solver aims at so much of the tolerance: its own gap leaves the intercept's part out."""

_SINGLE_PRECISION_MARGIN = 0.95
"""The solver aims a little lower then, because of the rounding in its own gap."""


@dataclass(frozen=True)
class LogisticModels:
    """Fitted models, one per problem.

    `coef` is (n_features, n_problems). `iterations` counts products with the matrix and its
    transpose, `gap` is the relative duality gap, which bounds the relative excess of the objective
    over its minimum, recomputed in double precision from the coefficients, and `converged` says
    whether it is within the tolerance. `training_scores` (n_problems, n_items) are the scores of
    all rows of the training matrix, held out or not.
    """

    coef: Reals
    intercept: Reals
    iterations: NDArray[np.int64]
    gap: Reals
    converged: NDArray[np.bool_]
    training_scores: Reals

    def scores(self, X: Any) -> Reals:
        """Log-odds of the second class, shape (n_problems, n_items)."""
        matrix = _csr(X)
        if matrix.shape[1] != self.coef.shape[0]:
            raise DataError(
                f"X has {matrix.shape[1]} features but the models were fitted on "
                f"{self.coef.shape[0]}: use the same vocabulary"
            )
        return _scores(_sparse(matrix, np.float64), self.coef, self.intercept)

    def posteriors(self, X: Any) -> Posteriors:
        """Posteriors of both classes, shape (n_problems, n_items, 2)."""
        return posteriors_of(self.scores(X))

    @property
    def training_posteriors(self) -> Posteriors:
        """Posteriors of all rows of the training matrix, shape (n_problems, n_items, 2)."""
        return posteriors_of(self.training_scores)


def posteriors_of(scores: Reals) -> Posteriors:
    """Posteriors (..., 2) from log-odds of the second class; neither by subtraction from one."""
    return np.stack([expit(-scores), expit(scores)], axis=-1)


def balanced_weights(codes: Codes, member: NDArray[np.bool_]) -> Reals:
    """Weights that give both classes the same total among the members, and 0 to the others.

    What scikit-learn calls class_weight="balanced", computed on the members only.

    >>> codes, member = np.array([0, 0, 0, 0, 1, 1]), np.array([1, 1, 1, 1, 1, 0], dtype=bool)
    >>> balanced_weights(codes, member).tolist()
    [0.625, 0.625, 0.625, 0.625, 2.5, 0.0]
    """
    counts = np.bincount(codes[member], minlength=2)
    if counts.min() == 0:
        raise DataError(
            f"no member is of class {int(counts.argmin())}: balanced weights need both classes"
        )
    return np.where(member, (counts.sum() / (2 * counts))[codes], 0.0)


def fit_logistic(
    X: Any,
    codes: Codes,
    C: ArrayLike,
    sample_weight: ArrayLike,
    *,
    tol: float = TOLERANCE,
    max_iter: int = 1000,
) -> LogisticModels:
    """Fit problem j with penalty 1 / C[j] and the weights sample_weight[j] on the rows of X.

    `X` is (n_items, n_features), sparse or dense; `codes` (n_items,) are 0 or 1; `C` is
    (n_problems,) and `sample_weight` (n_problems, n_items). A weight of 0 leaves the item out.
    A problem ends when its relative duality gap is within `tol`, and its objective thus above the
    minimum by no more than `tol` times the minimum, or after `max_iter` products with the matrix,
    whichever comes first: look at `converged`.
    """
    if not tol > 0 or max_iter < 1:
        raise UserError(f"tol and max_iter must be positive, got {tol} and {max_iter}")
    matrix = _csr(X)
    positive, weights = _check(matrix, codes, C, sample_weight)
    transposed = csr_array(matrix.T)
    rows, columns = _sparse(matrix, np.float64), _sparse(transposed, np.float64)
    # Large penalties are soon done with: last in the queue, lest a long problem runs alone.
    queue = np.argsort(-weights.max(axis=1), kind="stable")
    n_lanes = min(LANES, len(queue))
    if tol < SINGLE_PRECISION_TOLERANCE:
        limits = _limits(matrix, _MARGIN * tol, max_iter)
        outcome = solve(rows, columns, positive, weights, queue, limits, n_lanes)
        return _models(rows, columns, positive, weights, outcome, tol)
    outcome = solve(
        _sparse(matrix, np.float32),
        _sparse(transposed, np.float32),
        positive,
        weights,
        queue,
        _limits(matrix, _SINGLE_PRECISION_MARGIN * tol, max_iter),
        n_lanes,
    )
    models = _models(rows, columns, positive, weights, outcome, tol)
    again = queue[~models.converged[queue]]
    if again.size == 0:
        return models
    # The rounding of single precision may be the reason.
    limits = _limits(matrix, _MARGIN * tol, max_iter)
    exact = solve(rows, columns, positive, weights, again, limits, n_lanes)
    for in_double, in_single in zip(exact, outcome, strict=True):
        in_single[again] = in_double[again]
    return _models(rows, columns, positive, weights, outcome, tol)


def _limits(matrix: Any, tol: float, max_iter: int) -> Limits:
    longest = float(np.sqrt((matrix.power(2) @ np.ones(matrix.shape[1])).max()))
    return Limits(gap=tol, intercept=0.03 * tol**0.5, longest=longest, products=max_iter)


def _models(
    rows: Sparse, columns: Sparse, positive: Reals, weights: Reals, outcome: Outcome, tol: float
) -> LogisticModels:
    coef = _times(columns, outcome.beta.T)
    scores = _scores(rows, coef, outcome.intercept)
    gap = _relative_gap(columns, positive, weights, coef, scores)
    return LogisticModels(
        coef=coef,
        intercept=outcome.intercept,
        iterations=outcome.products,
        gap=gap,
        converged=gap <= tol,
        training_scores=scores,
    )


def _relative_gap(
    columns: Sparse, positive: Reals, weights: Reals, coef: Reals, scores: Reals
) -> Reals:
    # Log-odds of the class an item is not of; its posterior is the slope of the loss.
    against = np.where(positive == 1, -scores, scores)
    odds = np.exp(-np.abs(against))
    loss = (weights * (np.maximum(against, 0) + np.log1p(odds))).sum(axis=1)
    posterior = np.where(against > 0, 1, odds) / (1 + odds)
    slopes = np.where(positive == 1, -weights, weights) * posterior
    curvatures = weights * odds / (1 + odds) ** 2
    excess, curvature = slopes.sum(axis=1), curvatures.sum(axis=1)
    shift = np.divide(excess, curvature, out=np.full(len(excess), np.inf), where=curvature > 0)
    # Beyond a shift of one, the posteriors might leave [0, 1]: nothing is proved then.
    proved = np.abs(shift) <= 1
    shift[~proved] = 0
    gradient = coef + _times(columns, (slopes - shift[:, np.newaxis] * curvatures).T)
    gap = 0.5 * _squared_norms(gradient) + shift * excess
    yardstick = 0.5 * _squared_norms(coef) + LOSS_SHARE * loss
    proved &= gap < yardstick
    relative = np.full(len(gap), np.inf)
    np.divide(gap, yardstick - gap, out=relative, where=proved)
    return relative


def _squared_norms(table: Reals) -> Reals:
    out = np.empty(table.shape[1])
    sum_squares(table, out)
    return out


def _scores(rows: Sparse, coef: Reals, intercept: Reals) -> Reals:
    return np.ascontiguousarray(_times(rows, coef).T) + intercept[:, np.newaxis]


def _times(matrix: Sparse, right: Reals) -> Reals:
    # In blocks as wide as the kernel likes; what is left over in the last one is not used.
    n_columns = right.shape[1]
    n_lanes = min(LANES, n_columns)
    out = np.empty((len(matrix.starts) - 1, n_columns))
    block, result = np.zeros((right.shape[0], n_lanes)), np.empty((out.shape[0], n_lanes))
    for start in range(0, n_columns, LANES):
        width = min(LANES, n_columns - start)
        block[:, :width] = right[:, start : start + width]
        product(matrix, block, result)
        out[:, start : start + width] = result[:, :width]
    return out


def _sparse(matrix: Any, dtype: type[np.floating[Any]]) -> Sparse:
    return Sparse(
        matrix.indptr.astype(np.uint32),
        matrix.indices.astype(np.uint32),
        matrix.data.astype(dtype),
    )


def _csr(X: Any) -> Any:
    try:
        matrix = csr_array(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"X is not a matrix of numbers: {error}") from error
    if matrix.ndim != 2 or matrix.shape[0] == 0:
        raise DataError(f"X must have two axes and a row at least, got shape {matrix.shape}")
    if not np.all(np.isfinite(matrix.data)):
        raise DataError("X holds NaN or infinite values: replace them before fitting")
    return matrix


def _check(
    matrix: Any, codes: Codes, C: ArrayLike, sample_weight: ArrayLike
) -> tuple[Reals, Reals]:
    n_items = matrix.shape[0]
    labels = np.asarray(codes)
    if labels.shape != (n_items,) or not np.all((labels == 0) | (labels == 1)):
        raise DataError(f"codes must be {n_items} values, a 0 or a 1 for each row of X")
    inverse_penalty = np.asarray(C, dtype=np.float64)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if inverse_penalty.ndim != 1 or weights.shape != (len(inverse_penalty), n_items):
        raise DataError(
            "C must be (n_problems,) and sample_weight (n_problems, n_items), "
            f"got {inverse_penalty.shape} and {weights.shape} for {n_items} items"
        )
    if not (np.all(np.isfinite(inverse_penalty)) and np.all(inverse_penalty > 0)):
        raise UserError(f"every C must be positive and finite, got {inverse_penalty.tolist()}")
    if not (np.all(np.isfinite(weights)) and np.all(weights >= 0)):
        raise DataError("sample weights must be finite and not negative")
    for code in (0, 1):
        lacking = ~(weights[:, labels == code] > 0).any(axis=1)
        if lacking.any():
            raise DataError(
                f"problem {int(lacking.argmax())} has no item of class {code} with a positive "
                "weight: a logistic regression needs both classes"
            )
    return labels.astype(np.float64), np.ascontiguousarray(inverse_penalty[:, np.newaxis] * weights)
