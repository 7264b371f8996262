"""Calibration curves: the log-odds of a class as a penalised regression on its score.

Three shapes: a line (Platt's sigmoid), beta (two slopes, one for each end of [0, 1]) and smooth (a
line plus a natural cubic spline). The spline is orthogonal to the line on the training scores and
shrunk to zero by a ridge penalty; the ridge with the largest evidence is used (Laplace's
approximation), or no spline if that has more. A curve is a regression on few columns, so that it is
refitted on a resampled training set in a few cheap steps (`reweighted`).

Items may have weights, all positive. They are counts: the sum of the weights is the number of
items, and the more items, the weaker the penalties.

References: M. Kull et al., "Beta calibration", AISTATS 2017; T. Hastie et al., "The Elements of
Statistical Learning", 2009, section 5.2 (natural splines); D. MacKay, "Bayesian interpolation",
Neural Computation 4 (1992) (evidence).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit, logit

from quantshift.base.types import Reals
from quantshift.classify.scores import farthest_score
from quantshift.optimise.convex import newton_minimum
from quantshift.prevalence.weights import total_of, weighted_quantiles

RIDGES = (1.0, 10.0, 100.0)
"""Candidates for the ridge that shrinks the spline to zero; its columns have variance 1 or less."""

N_KNOTS = 7
OUTER_KNOTS = (0.03, 0.97)
"""The quantiles of the scores at the first and the last knot; beyond them the curve is a line."""

BLOCK = 1 << 16
"""Curves are evaluated for this many items at a time, which takes less memory."""

_TINY = 1e-12
"""The penalty of unpenalised coefficients: it keeps flat directions solvable."""

NEAR = 0.3
"""Steps of `reweighted` end below this part of a standard error; the rest is a tenth of that."""


class Shape(Protocol):
    """From scores (n_items,) to the columns of the regression (n_items, n_columns)."""

    def __call__(self, scores: Reals) -> Reals: ...  # noqa: D102


@dataclass(frozen=True)
class Line:
    """Offset and slope; `unit` keeps both of the same order."""

    unit: float

    def __call__(self, scores: Reals) -> Reals:  # noqa: D102
        return np.column_stack([np.ones_like(scores), scores / self.unit])


@dataclass(frozen=True)
class Beta:
    """Offset, slope of log p and slope of -log(1 - p); slopes that would be negative are left out.

    farthest: scores are clipped there; otherwise the tails would dominate the slopes.
    """

    farthest: float
    kept: tuple[bool, bool]

    def __call__(self, scores: Reals) -> Reals:  # noqa: D102
        cut = np.clip(scores, -self.farthest, self.farthest)
        ends = np.column_stack([-np.logaddexp(0, -cut), np.logaddexp(0, cut)])
        return np.column_stack([np.ones_like(scores), ends[:, list(self.kept)]])


@dataclass(frozen=True, eq=False)
class Spline:
    """The nonlinear part of a smooth curve: a natural cubic spline.

    knots: in units of `unit` from `centre`; mix: the coefficients that turn the cubes of the
    distances beyond them into the columns, (n_knots, n_columns); on_line: the line that is
    subtracted from the columns, (2, n_columns).
    """

    farthest: float
    centre: float
    unit: float
    knots: Reals
    on_line: Reals
    mix: Reals

    @classmethod
    def of(cls, scores: Reals, weights: Reals | None = None) -> "Spline | None":
        """The spline for these training scores; None if they take too few values."""
        n_items = total_of(weights, len(scores))
        farthest = farthest_score(n_items)
        cut = np.clip(scores, -farthest, farthest)
        centre, unit = mean_of(cut, weights), spread_of(cut, weights)
        position = (cut - centre) / unit
        knots = np.unique(_quantiles(position, np.linspace(*OUTER_KNOTS, N_KNOTS), weights))
        if len(knots) < 3:
            return None
        line = np.column_stack([np.ones_like(position), position])
        natural = _natural_mix(knots)
        splines = _cubes(position, knots) @ natural
        root_weights = 1.0 if weights is None else np.sqrt(weights)[:, np.newaxis]
        on_line = np.asarray(
            np.linalg.lstsq(root_weights * line, root_weights * splines, rcond=None)[0],
            dtype=np.float64,
        )
        residual = root_weights * (splines - line @ on_line)
        _, spread, axes = np.linalg.svd(residual / np.sqrt(n_items), full_matrices=False)
        if spread[0] < 1e-9:
            return None
        wide_enough = spread > 1e-3 * spread[0]
        # The widest column has variance 1; narrower (wiggly) ones are penalised more.
        rotation = axes[wide_enough].T / spread[0]
        return cls(farthest, centre, unit, knots, on_line @ rotation, natural @ rotation)

    def __call__(self, scores: Reals) -> Reals:  # noqa: D102
        cubes, position = self._cubes(scores)
        return np.asarray(cubes @ self.mix - self.on_line[0] - np.outer(position, self.on_line[1]))

    def height(self, scores: Reals, coefficients: Reals) -> Reals:
        """The columns times their coefficients, (n_items,), but faster."""
        offset, slope = self.on_line @ coefficients
        mixed, heights = self.mix @ coefficients, np.empty(len(scores))
        for start in range(0, len(scores), BLOCK):
            some = slice(start, start + BLOCK)
            cubes, position = self._cubes(scores[some])
            heights[some] = cubes @ mixed - offset - slope * position
        return heights

    def _cubes(self, scores: Reals) -> tuple[Reals, Reals]:
        cut = np.clip(scores, -self.farthest, self.farthest)
        position = (cut - self.centre) / self.unit
        return _cubes(position, self.knots), position


@dataclass(frozen=True, eq=False)
class Smooth:
    """A line plus a spline."""

    line: Line
    spline: Spline

    def __call__(self, scores: Reals) -> Reals:  # noqa: D102
        return np.column_stack([self.line(scores), self.spline(scores)])


@dataclass(frozen=True, eq=False)
class Curve:
    """A fitted curve: shape, coefficients (n_columns,) and the penalty of each."""

    shape: Shape
    coefficients: Reals
    penalty: Reals

    def __call__(self, scores: Reals) -> Reals:
        """P(class | score)."""
        return np.asarray(expit(self.shape(scores) @ self.coefficients))


def fit_line(scores: Reals, targets: Reals, weights: Reals | None = None) -> Curve:
    """The maximum-likelihood sigmoid."""
    return _fitted(Line(max(float(np.abs(scores).max()), 1.0)), scores, targets, weights)[0]


def fit_beta(scores: Reals, targets: Reals, weights: Reals | None = None) -> Curve:
    """The maximum-likelihood beta curve with slopes of at least zero."""
    farthest = farthest_score(total_of(weights, len(scores)))
    both, _ = _fitted(Beta(farthest, (True, True)), scores, targets, weights)
    if both.coefficients[1:].min() >= 0:
        return both
    # In the best curve, one of the two slopes is zero, or both are.
    faces = [
        _fitted(Beta(farthest, kept), scores, targets, weights)
        for kept in ((True, False), (False, True), (False, False))
    ]
    allowed = [(loss, curve) for curve, loss in faces if (curve.coefficients[1:] >= 0).all()]
    return min(allowed, key=lambda pair: pair[0])[1]


def fit_smooth(scores: Reals, targets: Reals, weights: Reals | None = None) -> Curve:
    """Line and spline, or just the line if that has more evidence."""
    spline = Spline.of(scores, weights)
    line = Line(spline.unit if spline else max(float(np.abs(scores).max()), 1.0))
    if spline is None:
        return _fitted(line, scores, targets, weights)[0]
    shape = Smooth(line, spline)
    design = shape(scores)
    n_spline = design.shape[1] - 2
    flat = np.full(2, _TINY)
    start = np.append(float(logit(mean_of(targets, weights))), 0.0)
    theta, hessian, loss = fit_penalised(design[:, :2], targets, flat, start, weights)
    best, most = Curve(line, theta, flat), -loss - 0.5 * log_determinant(hessian)
    theta = np.concatenate([theta, np.zeros(n_spline)])
    for ridge in sorted(RIDGES, reverse=True):
        penalty = np.concatenate([flat, np.full(n_spline, ridge)])
        theta, hessian, loss = fit_penalised(design, targets, penalty, theta, weights)
        evidence = 0.5 * n_spline * np.log(ridge) - loss - 0.5 * log_determinant(hessian)
        if evidence > most:
            best, most = Curve(shape, theta, penalty), evidence
    return best


def fit_penalised(
    design: Reals, targets: Reals, penalty: Reals, theta: Reals, weights: Reals | None = None
) -> tuple[Reals, Reals, float]:
    """Coefficients, Hessian and loss of a logistic regression, by Newton's method from theta.

    The loss is the cross-entropy (each item times its weight) plus penalty / 2 * theta^2.
    """
    item_weights = np.ones(len(targets)) if weights is None else weights
    columns, ridge = np.ascontiguousarray(design.T), np.diag(penalty)

    def loss(theta: Reals) -> float:
        linear = theta @ columns
        # log(1 + exp(linear)), by functions of whole arrays that are much faster than logaddexp.
        softplus = np.maximum(linear, 0.0) + np.log(1 + np.exp(-np.abs(linear)))
        fit = item_weights @ (softplus - targets * linear)
        return float(fit + 0.5 * np.sum(penalty * theta * theta))

    def derivatives(theta: Reals) -> tuple[Reals, Reals]:
        p = expit(theta @ columns)
        gradient = columns @ (item_weights * (p - targets)) + penalty * theta
        curvature = item_weights * p * (1 - p)
        return gradient, (columns * curvature) @ columns.T + ridge

    best = newton_minimum(loss, derivatives, theta)
    return best.theta, best.hessian, best.value


def reweighted(
    design: Reals,
    targets: Reals,
    penalty: Reals,
    theta: Reals,
    bread: Reals,
    weights: Reals,
    near: float = NEAR,
) -> Reals:
    """The coefficients if the items had these weights, starting from those of the fit.

    bread: the inverse Hessian at theta. Steps with it are Newton steps, except that the Hessian is
    not updated, and end when the next one would be a small part of a standard error. If they do not
    shrink (very few items of a class), Newton's method is used. near: how small a part.
    """
    unit = np.sqrt(np.maximum(np.diag(bread), np.finfo(float).tiny))
    coefficients, before = theta, np.inf
    for _ in range(10):
        p = expit(design @ coefficients)
        step = bread @ (design.T @ (weights * (p - targets)) + penalty * coefficients)
        length = float(np.abs(step / unit).max())
        if length > 0.7 * before:
            break
        coefficients, before = coefficients - step, length
        if length < near:
            return np.asarray(coefficients)
    return fit_penalised(design, targets, penalty, theta, weights)[0]


def inverse(hessian: Reals) -> Reals:
    """The inverse of a Hessian; the pseudo-inverse if rounding has made it singular."""
    try:
        return np.asarray(np.linalg.inv(hessian))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(hessian, hermitian=True))


def mean_of(values: Reals, weights: Reals | None = None) -> float:
    """Mean of the values."""
    return float(values.mean() if weights is None else np.average(values, weights=weights))


def spread_of(scores: Reals, weights: Reals | None = None) -> float:
    """Standard deviation of the scores, or 1 if they are equal up to rounding."""
    if weights is None:
        spread = float(np.std(scores))
    else:
        spread = float(np.sqrt(mean_of((scores - mean_of(scores, weights)) ** 2, weights)))
    return spread if spread > 1e-9 * max(1.0, float(np.abs(scores).max())) else 1.0


def log_determinant(hessian: Reals) -> float:
    """Log of the determinant of a positive definite matrix."""
    return float(np.linalg.slogdet(hessian)[1])


def _fitted(
    shape: Shape, scores: Reals, targets: Reals, weights: Reals | None
) -> tuple[Curve, float]:
    """The maximum-likelihood curve and its loss."""
    design = shape(scores)
    start = np.zeros(design.shape[1])
    start[0] = float(logit(mean_of(targets, weights)))
    penalty = np.full(design.shape[1], _TINY)
    theta, _, loss = fit_penalised(design, targets, penalty, start, weights)
    return Curve(shape, theta, penalty), loss


def _quantiles(values: Reals, shares: Reals, weights: Reals | None) -> Reals:
    if weights is None:
        return np.asarray(np.quantile(values, shares))
    return weighted_quantiles(values, shares, weights)


def _cubes(position: Reals, knots: Reals) -> Reals:
    """Cubes of the distance beyond each knot, (n_items, n_knots)."""
    beyond = np.maximum(position[:, np.newaxis] - knots, 0.0)
    return np.asarray(beyond * beyond * beyond)


def _natural_mix(knots: Reals) -> Reals:
    """Coefficients from cubes to natural splines, linear outside the knots."""
    chords = np.vstack([np.eye(len(knots) - 1), np.full(len(knots) - 1, -1.0)])
    chords = chords / (knots[-1] - knots[:-1])
    return np.asarray(chords[:, :-1] - chords[:, -1:])
