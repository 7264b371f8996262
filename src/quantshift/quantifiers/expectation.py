"""Maximum likelihood prevalence: the fixed point of Saerens' expectation maximisation.

Under prior shift the sample's likelihood as a function of its prevalence q is
prod_i sum_k q_k r_ik with r_ik = P(k | x_i) / P_train(k). The EM of Saerens et al. re-weights the
posteriors by new/old prior, averages them into a new prior, and repeats; its fixed point is the
maximum of this concave likelihood. In the binary case the same maximum is found by Newton's method
within a bracket: about six passes instead of tens to thousands, and exact where EM crawls
(prevalences near 0 or 1).

References: M. Saerens et al., "Adjusting the outputs of a classifier to new a priori
probabilities: a simple procedure", Neural Computation 14 (2002); A. Alexandari et al., "Maximum
likelihood with bias-corrected calibration is hard-to-beat at label shift adaptation", ICML 2020.
"""

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from quantshift.classify.calibration import AUTO, CALIBRATIONS, Calibrator
from quantshift.errors import unknown_name
from quantshift.prevalence import of_positive
from quantshift.quantifiers.estimator import AbstractQuantifier, Diagnostics
from quantshift.types import Codes, Indices, Posteriors, Prevalences


class SLD(AbstractQuantifier):
    """Saerens-Latinne-Decaestecker: the prevalence of maximum likelihood, by EM.

    calibration: how the classifier's posteriors are calibrated on out-of-fold ones (`cv` folds)
        before use: "sigmoid", "temperature", "beta", "smooth", "isotonic", "none", or "auto"
        (default), the one of them with the least cross-entropy on held-out items.
    tol: largest change of a prevalence in the last step for the estimate to count as converged.
    max_iter: after so many steps the estimate is given as it is, with `converged` False.
    """

    assumption: ClassVar[str] = (
        "P(X|Y) is the same in the sample (prior shift), posteriors calibrated"
    )

    calibrator_: Calibrator

    def __init__(
        self,
        classifier: BaseEstimator | None = None,
        *,
        calibration: str = AUTO,
        tol: float = 1e-6,
        max_iter: int = 1000,
        cv: int = 5,
        seed: int = 0,
    ) -> None:
        self.classifier = classifier
        self.calibration = calibration
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.seed = seed

    def needs_held_out_posteriors(self) -> bool:
        """Only calibration does."""
        return self.calibration != "none"

    def _fit_aggregation(self, posteriors: Posteriors, codes: Codes) -> None:
        if self.calibration not in CALIBRATIONS:
            raise unknown_name("calibration", self.calibration, CALIBRATIONS)
        self.calibrator_ = CALIBRATIONS[self.calibration](posteriors, codes)

    def refitter(self) -> Callable[[Indices], Self]:
        """The calibration keeps its kind and is fitted again from where it is."""
        check_is_fitted(self, "classes_")
        posteriors, codes = self.held_out_posteriors_, self.held_out_codes_
        recalibrate = self.calibrator_.refitter(posteriors, codes)

        def refit(rows: Indices) -> Any:
            again = copy(self)
            again._set_training(
                posteriors[rows] if len(posteriors) else posteriors, codes[rows], self.classes_
            )
            weights = np.bincount(rows, minlength=len(codes)).astype(np.float64)
            again.calibrator_ = recalibrate(weights)
            return again

        return refit

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        ratios = self.calibrator_(posteriors) / self.prior_
        # Only the proportions between the classes of an item matter.
        return np.ascontiguousarray((ratios / ratios.sum(axis=1, keepdims=True)).T)

    def _solve(
        self, representation: NDArray[Any], index: Indices
    ) -> tuple[Prevalences, Diagnostics]:
        if len(representation) == 2:
            p, iterations, converged = maximise_binary(
                representation[1][index], self.prior_[1], tol=self.tol, max_iter=self.max_iter
            )
            return of_positive(p), {"iterations": iterations, "converged": converged}
        p_hat, iterations, converged = expectation_maximisation(
            representation[:, index], self.prior_, tol=self.tol, max_iter=self.max_iter
        )
        return p_hat, {"iterations": iterations, "converged": converged}


def maximise_binary(
    ratio: NDArray[np.float64], start: float, *, tol: float, max_iter: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """The q in [0, 1] that maximises sum_i log(q a_i + (1 - q)(1 - a_i)) in each row.

    ratio: a, shape (n_samples, size), the second class's share of an item's likelihood ratios.
    Returns (q, iterations, converged), each of shape (n_samples,).

    The score (derivative of the mean log-likelihood) falls with q, so its sign brackets the
    maximum. A Newton step beyond 0 or 1 is first tried there; one that leaves the bracket becomes
    bisection.
    """
    n_samples = len(ratio)
    q = np.full(n_samples, start)
    iterations = np.full(n_samples, max_iter)
    converged = np.zeros(n_samples, dtype=bool)
    rows, now = np.arange(n_samples), q.copy()
    low, high = np.full(n_samples, -np.inf), np.full(n_samples, np.inf)
    negative, slope = 1 - ratio, 2 * ratio - 1
    for step in range(1, max_iter + 1):
        # At q = 0 an item with a = 1 (at q = 1, one with a = 0) is impossible: an infinite score.
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = slope / (negative + now[:, np.newaxis] * slope)
            score = terms.mean(axis=1)
            terms *= terms
            newton = now + score / terms.mean(axis=1)
        low, high = np.where(score > 0, now, low), np.where(score < 0, now, high)
        best_at_border = ((now == 0) & (score <= 0)) | ((now == 1) & (score >= 0))
        following = np.clip(newton, 0, 1)
        inside = (following > low) & (following < high)
        following = np.where(inside, following, (np.maximum(low, 0) + np.minimum(high, 1)) / 2)
        stay = best_at_border | (score == 0)
        following = np.where(stay, now, following)
        done = stay | (np.abs(following - now) <= tol)
        q[rows] = following
        iterations[rows[done]], converged[rows[done]] = step, True
        if done.all():
            break
        going = ~done
        rows, now, low, high = rows[going], following[going], low[going], high[going]
        negative, slope = negative[going], slope[going]
    return q, iterations, converged


def expectation_maximisation(
    ratios: NDArray[np.float64], prior: Prevalences, *, tol: float, max_iter: int
) -> tuple[Prevalences, NDArray[np.int64], NDArray[np.bool_]]:
    """EM over the prevalences of many samples; samples that have converged leave the batch.

    ratios: posterior / training prevalence, up to a factor per item, (n_classes, n_samples, size).
    Returns (prevalences (n_samples, n_classes), iterations, converged).
    """
    n_samples = ratios.shape[1]
    p_hat = np.tile(prior, (n_samples, 1))
    iterations = np.full(n_samples, max_iter)
    converged = np.zeros(n_samples, dtype=bool)
    rows, q = np.arange(n_samples), p_hat.T.copy()
    for step in range(1, max_iter + 1):
        weighted = q[:, :, np.newaxis] * ratios
        weighted /= weighted.sum(axis=0)
        following = weighted.mean(axis=2)
        done = np.abs(following - q).max(axis=0) <= tol
        p_hat[rows] = following.T
        iterations[rows[done]], converged[rows[done]] = step, True
        if done.all():
            break
        rows, q, ratios = rows[~done], following[:, ~done], ratios[:, ~done]
    return p_hat, iterations, converged
