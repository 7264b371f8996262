"""Many logistic regressions on one sparse matrix, solved together.

Problem j minimises |w|^2 / 2 + C_j sum_i s_ij log(1 + exp(-y_i (x_i'w + b))) over w and b, with y_i
= -1 or 1: scikit-learn's objective, with an L2 penalty and a free intercept. Settings of C and of
class weights, and the folds of a cross-validation (weight 0 = held out), are then a table of
weights for one matrix; `quantshift.classify.logistic.newton` describes how they share the work. A
problem's solution does not depend, to the last bit, on the other problems of the call.

With more than two classes the model is multinomial, as scikit-learn's: every class has weights w_k
and an intercept b_k, the posteriors are the softmax of x_i'w_k + b_k, the loss is minus the log of
the posterior of the item's class, and the penalty is the sum of |w_k|^2 / 2 over all classes.

The tolerance means the same at every C. It bounds gap / (|w|^2 / 2 + loss / 10^4 - gap), where the
gap is that of a dual point, no less than the excess of the objective over its minimum. Two things
follow.

- The divisor is no more than the minimum: the relative excess is within the tolerance.
- The objective is strongly convex in w, so the distance of w from the solution is no more than
  sqrt(2 gap): about sqrt(tol) |w|. That is why the gap is compared with the penalty and not with
  the whole objective. At C = 0.01 the penalty may be 0.1% of the objective, and an excess of 1e-6
  would be an error of 3% in w, which a calibration of the scores would pass on to the estimates.
  The small share of the loss keeps the divisor positive where the solution is w = 0.

The gap. Let c_i = C s_i, and let r_i be the model's posterior of the class other than item i's.
Replace every r_i by some r'_i in [0, 1] such that u, with entries -y_i c_i r'_i, sums to zero. By
Fenchel duality the minimum is no less than the objective minus

    |w + X'u|^2 / 2 + sum_i c_i KL(r'_i, r_i),

where KL is the divergence of two Bernoulli distributions. At the best intercept r' = r is
sufficient, and the gap is half the squared norm of the gradient. Elsewhere r' is r moved by a
Newton step towards that intercept: with d_i = c_i r_i (1 - r_i) and e the sum of the slopes
-y_i c_i r_i, u_i is the slope minus d_i e / sum(d), and since KL is below the chi-squared
divergence the second term is no more than e^2 / sum(d).

The same holds for K classes, with vectors instead of numbers: p_i are the posteriors of item i, any
distributions q_i can replace the r'_i if the u_i = c_i (q_i - indicator of i's class) sum to the
zero vector, and the second term is sum_i c_i KL(q_i, p_i), since
logsumexp(z) >= q'z + entropy(q) with a difference of KL(q, softmax(z)). With
S_i = diag(p_i) - p_i p_i', M = sum_i c_i S_i, e the vector of the slopes' sums and M t = e, the
Newton step gives q_i = p_i - S_i t. These are distributions if the entries of t are within 1 of
each other, and the second term is no more than t'Mt = e't.

Scikit-learn bounds the largest entry of the gradient of the *mean* loss instead, which means
something different at every C: a bound of 1e-6 leaves an excess of 1e-10 at C = 0.01 and of 1e-2 at
C = 1000 (tf-idf of reviews, 1% positives; `benchmarks/logistic.py`).
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import expit, softmax

from quantshift.base.types import Codes, Indices, Posteriors, Reals
from quantshift.classify.logistic.multinomial import expand, feasible_slopes
from quantshift.classify.logistic.newton import LANES, LOSS_SHARE, Solutions, StoppingRules, solve
from quantshift.classify.logistic.sparse import Sparse, padded, product, sum_squares
from quantshift.errors import DataError, UserError

TOLERANCE = 1e-6
"""Default bound on the relative gap with two classes: w is within about 0.1% of the solution."""

TOLERANCE_OF_MANY = 1e-10
"""The same with more classes: the posteriors are within 1e-5 of the solution's."""

SINGLE_PRECISION_TOLERANCE = 1e-8
"""Down to this tolerance the products inside the solver may be in single precision."""

_MARGIN = 0.25
"""The share of the tolerance that the solver aims at: its gap ignores the intercept's part."""

_SINGLE_PRECISION_MARGIN = 0.95
"""The same in single precision, because of the rounding in its gap."""


@dataclass(frozen=True)
class LogisticModels:
    """Fitted models, one per problem.

    With two classes `coef` is (n_features, n_problems), `intercept` (n_problems,) and
    `training_scores`, of all rows of the training matrix, held out or not, (n_problems, n_items):
    log-odds of the second class. With more classes each has a last axis of n_classes.
    `iterations` counts products with the matrix and its transpose, `gap` is the relative duality
    gap, which bounds the relative excess of the objective over its minimum, recomputed in double
    precision from the coefficients, and `converged` says whether it is within the tolerance.
    """

    coef: Reals
    intercept: Reals
    iterations: NDArray[np.int64]
    gap: Reals
    converged: NDArray[np.bool_]
    training_scores: Reals

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return 2 if self.coef.ndim == 2 else self.coef.shape[2]

    def take(self, problems: Indices) -> Self:
        """The models of these problems, in this order."""
        return replace(
            self,
            coef=self.coef[:, problems],
            intercept=self.intercept[problems],
            iterations=self.iterations[problems],
            gap=self.gap[problems],
            converged=self.converged[problems],
            training_scores=self.training_scores[problems],
        )

    def scores(self, X: Any) -> Reals:
        """Scores of new items, with the axes of `training_scores`."""
        matrix = _csr(X)
        if matrix.shape[1] != self.coef.shape[0]:
            raise DataError(
                f"X has {matrix.shape[1]} features but the models were fitted on "
                f"{self.coef.shape[0]}: use the same vocabulary"
            )
        return _scores(_sparse(matrix, np.float64), self.coef, self.intercept)

    def posteriors(self, X: Any) -> Posteriors:
        """Posteriors of all classes, shape (n_problems, n_items, n_classes)."""
        return posteriors_of(self.scores(X), self.n_classes)

    @property
    def training_posteriors(self) -> Posteriors:
        """Posteriors of all rows of the training matrix, (n_problems, n_items, n_classes)."""
        return posteriors_of(self.training_scores, self.n_classes)


def posteriors_of(scores: Reals, n_classes: int = 2) -> Posteriors:
    """Posteriors (..., n_classes) from scores.

    With two classes the scores are log-odds of the second class, of shape (...); neither posterior
    is computed as one minus the other. With more classes they have one column per class already.
    """
    if n_classes > 2:
        return np.asarray(softmax(scores, axis=-1))
    return np.stack([expit(-scores), expit(scores)], axis=-1)


def balanced_weights(codes: Codes, member: NDArray[np.bool_], n_classes: int = 2) -> Reals:
    """Weights that give all classes the same total among the members, and 0 to other items.

    What scikit-learn calls class_weight="balanced", computed on the members only.

    >>> codes, member = np.array([0, 0, 0, 0, 1, 1]), np.array([1, 1, 1, 1, 1, 0], dtype=bool)
    >>> balanced_weights(codes, member).tolist()
    [0.625, 0.625, 0.625, 0.625, 2.5, 0.0]
    """
    counts = np.bincount(codes[member], minlength=n_classes)
    if counts.min() == 0:
        raise DataError(
            f"no member is of class {int(counts.argmin())}: balanced weights need every class"
        )
    return np.where(member, (counts.sum() / (n_classes * counts))[codes], 0.0)


def fit_logistic(
    X: Any,
    codes: Codes,
    C: ArrayLike,
    sample_weight: ArrayLike,
    *,
    n_classes: int = 2,
    tol: float | None = None,
    max_iter: int = 1000,
) -> LogisticModels:
    """Fit problem j with penalty 1 / C[j] and the weights sample_weight[j] on the rows of X.

    `X` is (n_items, n_features), sparse or dense; `codes` (n_items,) are below `n_classes`;
    `C` is (n_problems,) and `sample_weight` (n_problems, n_items). A weight of 0 leaves the item
    out; a problem without items of some class is refused.
    A problem ends when its relative duality gap is within `tol`, so that its objective exceeds the
    minimum by no more than `tol` times the minimum, or after `max_iter` products with the matrix,
    whichever comes first: check `converged`.
    """
    if tol is None:
        tol = TOLERANCE if n_classes == 2 else TOLERANCE_OF_MANY
    if not tol > 0 or max_iter < 1:
        raise UserError(f"tol and max_iter must be positive, got {tol} and {max_iter}")
    matrix = _csr(X)
    targets, weights = _check(matrix, codes, n_classes, C, sample_weight)
    distinct, which = _distinct(weights)
    models = _fit(matrix, targets, weights[distinct], tol, max_iter)
    return models if len(distinct) == len(weights) else models.take(which)


def _distinct(weights: Reals) -> tuple[Indices, Indices]:
    """Positions of the distinct rows, and which of these each row is equal to.

    If all classes have the same number of items, balanced weights equal the plain ones.
    """
    first: dict[bytes, int] = {}
    which = [first.setdefault(row.tobytes(), len(first)) for row in weights]
    chosen = np.unique(np.array(which, dtype=np.int64), return_index=True)[1]
    return chosen, np.array(which, dtype=np.int64)


def _fit(matrix: Any, targets: Reals, weights: Reals, tol: float, max_iter: int) -> LogisticModels:
    n_columns = max(1, targets.size // matrix.shape[0] - 1)
    transposed = csr_array(matrix.T)
    rows, columns = _sparse(matrix, np.float64), _sparse(transposed, np.float64)
    # Problems with large penalties are quick. They come last, so that no long problem runs alone.
    queue = np.argsort(-weights.max(axis=1), kind="stable")
    # With many classes a table is wider, so that less of its width is padding.
    n_lanes = min(LANES if n_columns == 1 else max(1, 2 * LANES // n_columns), len(queue))
    if tol < SINGLE_PRECISION_TOLERANCE:
        limits = _limits(matrix, _MARGIN * tol, max_iter)
        outcome = solve(rows, columns, targets, weights, queue, limits, n_lanes)
        return _models(rows, columns, targets, weights, outcome, tol)
    outcome = solve(
        _sparse(matrix, np.float32),
        _sparse(transposed, np.float32),
        targets,
        weights,
        queue,
        _limits(matrix, _SINGLE_PRECISION_MARGIN * tol, max_iter),
        n_lanes,
    )
    models = _models(rows, columns, targets, weights, outcome, tol)
    again = queue[~models.converged[queue]]
    if again.size == 0:
        return models
    # Single-precision rounding may be the reason, so solve these in double precision.
    limits = _limits(matrix, _MARGIN * tol, max_iter)
    exact = solve(rows, columns, targets, weights, again, limits, n_lanes)
    for in_double, in_single in zip(exact, outcome, strict=True):
        in_single[again] = in_double[again]
    return _models(rows, columns, targets, weights, outcome, tol)


def _limits(matrix: Any, tol: float, max_iter: int) -> StoppingRules:
    longest = float(np.sqrt((matrix.power(2) @ np.ones(matrix.shape[1])).max()))
    return StoppingRules(gap=tol, intercept=0.03 * tol**0.5, longest=longest, products=max_iter)


def _models(
    rows: Sparse, columns: Sparse, targets: Reals, weights: Reals, outcome: Solutions, tol: float
) -> LogisticModels:
    if targets.ndim == 1:
        coef = _times(columns, outcome.beta.T)
        intercept = np.ascontiguousarray(outcome.intercept[:, 0])
        scores = _scores(rows, coef, intercept)
        gap = _relative_gap(columns, targets, weights, coef, scores)
    else:
        coef, intercept = _class_coef(columns, outcome.beta, len(targets)), outcome.intercept
        scores = _scores(rows, coef, intercept)
        gap = _relative_gap_of_classes(columns, targets, weights, coef, scores)
    return LogisticModels(
        coef=coef,
        intercept=intercept,
        iterations=outcome.products,
        gap=gap,
        converged=gap <= tol,
        training_scores=scores,
    )


def _class_coef(columns: Sparse, beta: Reals, n_classes: int) -> Reals:
    """Coefficients (n_features, n_problems, n_classes), which sum to zero over the classes."""
    n_items = beta.shape[1] // (n_classes - 1)
    by_contrast = beta.reshape(-1, n_items)
    contrasts = _times(columns, by_contrast.T).reshape(-1, n_classes - 1)
    by_class = np.empty((n_classes, len(contrasts)))
    expand(np.ascontiguousarray(contrasts.T), by_class)
    return np.ascontiguousarray(by_class.T).reshape(len(columns.starts) - 1, len(beta), n_classes)


def _relative_gap_of_classes(
    columns: Sparse, members: Reals, weights: Reals, coef: Reals, scores: Reals
) -> Reals:
    n_problems, n_classes = coef.shape[1:]
    slopes = np.empty((n_problems, *members.shape))
    loss, added = np.empty(n_problems), np.empty(n_problems)
    for j in range(n_problems):
        logits = np.ascontiguousarray(scores[j].T)
        loss[j], added[j] = feasible_slopes(logits, members, weights[j], slopes[j])
    flat = coef.reshape(len(coef), n_problems * n_classes)
    gradient = flat + _times(columns, slopes.reshape(-1, members.shape[1]).T)
    shape = (n_problems, n_classes)
    gap = 0.5 * _squared_norms(gradient).reshape(shape).sum(axis=1) + added
    penalty = 0.5 * _squared_norms(flat).reshape(shape).sum(axis=1)
    return _relative(gap, penalty + LOSS_SHARE * loss)


def _relative_gap(
    columns: Sparse, positive: Reals, weights: Reals, coef: Reals, scores: Reals
) -> Reals:
    # Log-odds of the class other than the item's; its posterior is the slope of the loss.
    against = np.where(positive == 1, -scores, scores)
    odds = np.exp(-np.abs(against))
    loss = (weights * (np.maximum(against, 0) + np.log1p(odds))).sum(axis=1)
    posterior = np.where(against > 0, 1, odds) / (1 + odds)
    slopes = np.where(positive == 1, -weights, weights) * posterior
    curvatures = weights * odds / (1 + odds) ** 2
    excess, curvature = slopes.sum(axis=1), curvatures.sum(axis=1)
    shift = np.divide(excess, curvature, out=np.full(len(excess), np.inf), where=curvature > 0)
    # Beyond a shift of one, the posteriors might leave [0, 1], and the bound is not valid.
    proved = np.abs(shift) <= 1
    shift[~proved] = 0
    gradient = coef + _times(columns, (slopes - shift[:, np.newaxis] * curvatures).T)
    gap = 0.5 * _squared_norms(gradient) + np.where(proved, shift * excess, np.inf)
    return _relative(gap, 0.5 * _squared_norms(coef) + LOSS_SHARE * loss)


def _relative(gap: Reals, yardstick: Reals) -> Reals:
    relative = np.full(len(gap), np.inf)
    np.divide(gap, yardstick - gap, out=relative, where=gap < yardstick)
    return relative


def _squared_norms(table: Reals) -> Reals:
    out = np.empty(table.shape[1])
    sum_squares(table, out)
    return out


def _scores(rows: Sparse, coef: Reals, intercept: Reals) -> Reals:
    if coef.ndim == 2:
        return np.ascontiguousarray(_times(rows, coef).T) + intercept[:, np.newaxis]
    n_features, n_problems, n_classes = coef.shape
    by_item = _times(rows, coef.reshape(n_features, n_problems * n_classes))
    by_item = by_item.reshape(len(by_item), n_problems, n_classes)
    return np.ascontiguousarray(by_item.transpose(1, 0, 2)) + intercept[:, np.newaxis]


def _times(matrix: Sparse, right: Reals) -> Reals:
    # In blocks of the kernel's width; the rest of the last one is not used.
    n_columns = right.shape[1]
    widest = padded(max(1, min(LANES, n_columns)))
    out = np.empty((len(matrix.starts) - 1, n_columns))
    block, result = np.zeros((right.shape[0], widest)), np.empty((out.shape[0], widest))
    for start in range(0, n_columns, widest):
        width = min(widest, n_columns - start)
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
        raise DataError(f"X must have two axes and at least one row, got shape {matrix.shape}")
    if not np.all(np.isfinite(matrix.data)):
        raise DataError("X contains NaN or infinite values: replace them before fitting")
    return matrix


def _check(
    matrix: Any, codes: Codes, n_classes: int, C: ArrayLike, sample_weight: ArrayLike
) -> tuple[Reals, Reals]:
    """Memberships (only of the second class if there are two), and C times the weights."""
    n_items = matrix.shape[0]
    labels = np.asarray(codes)
    if n_classes < 2:
        raise UserError(f"n_classes must be at least 2, got {n_classes}")
    members = labels == np.arange(n_classes).reshape(-1, *[1] * labels.ndim)
    if labels.shape != (n_items,) or not members.any(axis=0).all():
        raise DataError(
            f"codes must be {n_items} whole numbers, from 0 to {n_classes - 1}, one for each row "
            "of X"
        )
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
    for code, of_class in enumerate(members):
        lacking = ~(weights[:, of_class] > 0).any(axis=1)
        if lacking.any():
            raise DataError(
                f"problem {int(lacking.argmax())} has no item of class {code} with a positive "
                "weight: a logistic regression needs every class"
            )
    targets = members[1] if n_classes == 2 else members
    return targets.astype(np.float64), np.ascontiguousarray(
        inverse_penalty[:, np.newaxis] * weights
    )
