"""P(class | score, cluster): one curve for all clusters, plus an offset and slope per cluster.

logit P(k | x) = curve(score) + a_c + b_c * score, with a curve that is a line or smooth
(`quantshift.classify.calibration.curves`) and a ridge penalty on a_c and b_c, scores in units of
their standard deviation. Both ridges, of the clusters and of the spline, maximise the evidence
(Laplace's approximation): they are strong where clusters do not differ or have few items of a
class, and weak where they do. With more than two classes it is one against the rest, normalised.

Reference: D. MacKay, "Bayesian interpolation", Neural Computation 4 (1992), for the ridges.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from quantshift.base.types import Codes, Posteriors, Reals
from quantshift.classify.calibration.curves import RIDGES as SPLINE_RIDGES
from quantshift.classify.calibration.curves import (
    Line,
    Spline,
    fit_penalised,
    inverse,
    log_determinant,
    mean_of,
    reweighted,
    spread_of,
)
from quantshift.classify.scores import (
    FLOOR,
    class_scores,
    farthest_score,
    joined_scores,
    platt_targets,
)
from quantshift.prevalence.weights import present, total_of

CLUSTER_RIDGES = (10.0, 100.0, 1000.0)
"""Candidates for the ridge that shrinks the clusters' offsets and slopes to the common ones."""

_ALONE = 1e6
"""The ridge with a single cluster, which removes its own offset and slope."""

_COMMON = 1e-6
"""The tiny ridge of the common coefficients keeps flat directions solvable."""


@dataclass(frozen=True, eq=False)
class SubclassCurve:
    """The curve of one class.

    theta: offset, slope, then offset and slope of each cluster, then those of the spline.
    penalty, bread: ridge of each coefficient, and the inverse Hessian.
    """

    line: Line
    spline: Spline | None
    theta: Reals
    penalty: Reals
    bread: Reals
    n_clusters: int

    def design(self, scores: Reals, clusters: Codes) -> Reals:
        """The columns of the regression, (n_items, n_coefficients)."""
        columns = np.zeros((len(scores), 2 + 2 * self.n_clusters))
        rows = np.arange(len(scores))
        columns[:, :2] = self.line(scores)
        columns[rows, 2 + 2 * clusters] = 1
        columns[rows, 3 + 2 * clusters] = columns[:, 1]
        return columns if self.spline is None else np.hstack([columns, self.spline(scores)])

    def log_odds(self, scores: Reals, clusters: Codes) -> Reals:
        """Calibrated log-odds, (n_items,): the same as design times theta, but faster."""
        end = 2 + 2 * self.n_clusters
        cluster_terms, spline_terms = self.theta[2:end], self.theta[end:]
        offsets, slopes = (
            self.theta[0] + cluster_terms[::2],
            (self.theta[1] + cluster_terms[1::2]) / self.line.unit,
        )
        linear = offsets[clusters] + slopes[clusters] * scores
        if self.spline is None:
            return np.asarray(linear)
        return np.asarray(linear + self.spline.height(scores, spline_terms))


@dataclass(frozen=True, eq=False)
class ClusterCalibration:
    """Calibrated posteriors of items in clusters; a single curve for two classes.

    farthest: scores are clipped there, because the items do not support more extreme ones.
    """

    curves: tuple[SubclassCurve, ...]
    farthest: float

    def __call__(self, posteriors: Posteriors, clusters: Codes) -> Posteriors:
        """Calibrated posteriors of items in the clusters."""
        scores = class_scores(posteriors, self.farthest)
        log_odds = [f.log_odds(s, clusters) for f, s in zip(self.curves, scores.T, strict=True)]
        return inside(expit(np.column_stack(log_odds)))

    def refitter(
        self, posteriors: Posteriors, codes: Codes, clusters: Codes, weights: Reals | None = None
    ) -> Callable[[Reals], "ClusterCalibration"]:
        """The calibration for other weights of the items it was fitted on, with the same ridges.

        weights: those it was fitted with. The weights of a refit replace them; they are not
            multiplied by them.
        """
        scores = class_scores(posteriors, self.farthest)
        targets = platt_targets(codes, posteriors.shape[1], weights).T
        designs = [f.design(s, clusters) for f, s in zip(self.curves, scores.T, strict=True)]

        def refit(new: Reals) -> ClusterCalibration:
            thetas = [
                reweighted(design, target, f.penalty, f.theta, f.bread, new)
                for f, design, target in zip(self.curves, designs, targets, strict=True)
            ]
            return replace(
                self,
                curves=tuple(
                    replace(f, theta=theta) for f, theta in zip(self.curves, thetas, strict=True)
                ),
            )

        return refit

    def one_step(
        self,
        posteriors: Posteriors,
        codes: Codes,
        clusters: Codes,
        replicates: NDArray[Any],
        weights: Reals | None = None,
    ) -> Reals:
        """Posteriors of the fitted items under many reweighted calibrations, to first order.

        replicates: weights of the items in each, (n_replicates, n_items); weights: those of the
        fit. Each takes one Newton step from the fitted calibration: minus the inverse Hessian times
        the change of the gradient. Shape (n_replicates, n_items, n_classes).
        """
        scores = class_scores(posteriors, self.farthest)
        targets = platt_targets(codes, posteriors.shape[1], weights)
        columns = np.empty((len(replicates), *scores.shape))
        for j, curve in enumerate(self.curves):
            design = curve.design(scores[:, j], clusters)
            linear = design @ curve.theta
            surprise = (expit(linear) - targets[:, j])[:, np.newaxis] * design
            change = -((replicates - (1 if weights is None else weights)) @ surprise) @ curve.bread
            columns[:, :, j] = expit(linear + change @ design.T)
        flat = columns.reshape(-1, scores.shape[1])
        return inside(flat).reshape(len(replicates), len(codes), -1)


def fit_cluster_calibration(
    posteriors: Posteriors,
    codes: Codes,
    clusters: Codes,
    n_clusters: int,
    weights: Reals | None = None,
) -> ClusterCalibration:
    """Penalised maximum likelihood on held-out posteriors, with Platt's targets.

    weights: of the items, as counts: the larger their sum, the weaker the penalties.
    """
    posteriors, codes, clusters, weights = present(weights, posteriors, codes, clusters)
    farthest = farthest_score(total_of(weights, len(codes)))
    scores = class_scores(posteriors, farthest)
    targets = platt_targets(codes, posteriors.shape[1], weights)
    return ClusterCalibration(
        tuple(
            _fit_curve(s, t, clusters, n_clusters, weights)
            for s, t in zip(scores.T, targets.T, strict=True)
        ),
        farthest,
    )


def inside(columns: Reals) -> Posteriors:
    """Posteriors from one-against-the-rest columns, never exactly 0 or 1."""
    return joined_scores(np.clip(columns, FLOOR, 1 - FLOOR))


def _fit_curve(
    scores: Reals, targets: Reals, clusters: Codes, n_clusters: int, weights: Reals | None
) -> SubclassCurve:
    """Chooses the ridge of the clusters first, without a spline; then that of the spline."""
    line, spline = Line(spread_of(scores, weights)), Spline.of(scores, weights)
    start = np.zeros(2 + 2 * n_clusters)
    start[0] = float(logit(mean_of(targets, weights)))
    plain = SubclassCurve(line, None, start, start, np.eye(len(start)), n_clusters)
    design = plain.design(scores, clusters)
    most, best = -np.inf, plain
    for ridge in sorted(CLUSTER_RIDGES if n_clusters > 1 else (_ALONE,), reverse=True):
        penalty = np.concatenate([[_COMMON, _COMMON], np.full(2 * n_clusters, ridge)])
        start, hessian, loss = fit_penalised(design, targets, penalty, start, weights)
        evidence = n_clusters * np.log(ridge) - loss - 0.5 * log_determinant(hessian)
        if evidence > most:
            most, best = float(evidence), _with_fit(plain, start, penalty, hessian)
    if spline is None:
        return best
    with_spline = replace(plain, spline=spline)
    design = with_spline.design(scores, clusters)
    n_spline = design.shape[1] - len(best.theta)
    start = np.concatenate([best.theta, np.zeros(n_spline)])
    without = best.penalty
    of_clusters = n_clusters * np.log(without[2])
    for ridge in sorted(SPLINE_RIDGES, reverse=True):
        penalty = np.concatenate([without, np.full(n_spline, ridge)])
        start, hessian, loss = fit_penalised(design, targets, penalty, start, weights)
        evidence = (
            of_clusters + 0.5 * n_spline * np.log(ridge) - loss - 0.5 * log_determinant(hessian)
        )
        if evidence > most:
            most, best = float(evidence), _with_fit(with_spline, start, penalty, hessian)
    return best


def _with_fit(curve: SubclassCurve, theta: Reals, penalty: Reals, hessian: Reals) -> SubclassCurve:
    return replace(curve, theta=theta, penalty=penalty, bread=inverse(hessian))
