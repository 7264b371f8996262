"""Calibration: posteriors that mean what they say, learnt from held-out posteriors and labels.

All work on posteriors alone, so they serve any model. The score of a class is its log-odds (for
logistic regression: the decision function). With more than two classes sigmoid and isotonic
calibrate each class against the rest and normalise; temperature scales all logits by one factor.

References: J. Platt, "Probabilistic outputs for support vector machines", 1999 (sigmoid, with his
targets); B. Zadrozny and C. Elkan, KDD 2002 (isotonic); C. Guo et al., "On calibration of modern
neural networks", ICML 2017 (temperature).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit, softmax
from sklearn.isotonic import IsotonicRegression

from quantshift.types import Codes, Posteriors

FLOOR = 1e-12
"""Posteriors of exactly 0 or 1 have infinite log-odds; they are kept this far from the ends."""


class Calibrator(Protocol):
    """Posteriors (n_items, n_classes) in, calibrated posteriors out."""

    def __call__(self, posteriors: Posteriors) -> Posteriors: ...  # noqa: D102


@dataclass(frozen=True)
class NoCalibration:
    """Posteriors as they are."""

    def __call__(self, posteriors: Posteriors) -> Posteriors:  # noqa: D102
        return posteriors


@dataclass(frozen=True)
class SigmoidCalibration:
    """P(k | x) proportional to sigmoid(slope_k * log-odds_k + offset_k)."""

    slopes: NDArray[np.float64]
    offsets: NDArray[np.float64]

    def __call__(self, posteriors: Posteriors) -> Posteriors:  # noqa: D102
        return _from_one_vs_rest(expit(_scores(posteriors) * self.slopes + self.offsets))


@dataclass(frozen=True)
class IsotonicCalibration:
    """P(k | x) proportional to a monotone step function of the posterior of k."""

    curves: tuple[IsotonicRegression, ...]

    def __call__(self, posteriors: Posteriors) -> Posteriors:  # noqa: D102
        columns = _matched_columns(posteriors).T
        return _from_one_vs_rest(
            np.column_stack([f.predict(c) for f, c in zip(self.curves, columns, strict=True)])
        )


@dataclass(frozen=True)
class TemperatureCalibration:
    """Softmax of the logits divided by a temperature."""

    temperature: float

    def __call__(self, posteriors: Posteriors) -> Posteriors:  # noqa: D102
        logits = np.log(np.maximum(posteriors, FLOOR))
        return np.asarray(softmax(logits / self.temperature, axis=1))


def fit_none(posteriors: Posteriors, codes: Codes) -> NoCalibration:
    """No calibration."""
    return NoCalibration()


def fit_sigmoid(posteriors: Posteriors, codes: Codes) -> SigmoidCalibration:
    """Platt scaling with his smoothed targets, by Newton's method."""
    scores, members = _scores(posteriors), _members(posteriors, codes)
    fits = np.array([_fit_platt(s, m) for s, m in zip(scores.T, members.T, strict=True)])
    return SigmoidCalibration(slopes=fits[:, 0], offsets=fits[:, 1])


def fit_isotonic(posteriors: Posteriors, codes: Codes) -> IsotonicCalibration:
    """Isotonic regression of membership on the posterior."""
    columns, members = _matched_columns(posteriors), _members(posteriors, codes)
    return IsotonicCalibration(
        tuple(
            IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(c, m)
            for c, m in zip(columns.T, members.T, strict=True)
        )
    )


def fit_temperature(posteriors: Posteriors, codes: Codes) -> TemperatureCalibration:
    """The temperature of maximum likelihood, between 1/100 and 100."""
    logits = np.log(np.maximum(posteriors, FLOOR))
    own = logits[np.arange(len(codes)), codes]

    def loss(log_temperature: float) -> float:
        scaled = np.exp(-log_temperature)
        shifted = (logits - logits.max(axis=1, keepdims=True)) * scaled
        own_shifted = (own - logits.max(axis=1)) * scaled
        return float(np.mean(np.log(np.exp(shifted).sum(axis=1)) - own_shifted))

    bounds = (-np.log(100.0), np.log(100.0))
    best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-8})
    return TemperatureCalibration(float(np.exp(best.x)))


CALIBRATIONS: Mapping[str, Callable[[Posteriors, Codes], Calibrator]] = MappingProxyType(
    {
        "none": fit_none,
        "sigmoid": fit_sigmoid,
        "isotonic": fit_isotonic,
        "temperature": fit_temperature,
    }
)
"""How to fit each calibration, by name."""


def _matched_columns(posteriors: Posteriors) -> Posteriors:
    return posteriors[:, 1:] if posteriors.shape[1] == 2 else posteriors


def _scores(posteriors: Posteriors) -> NDArray[np.float64]:
    return np.asarray(logit(np.clip(_matched_columns(posteriors), FLOOR, 1 - FLOOR)))


def _members(posteriors: Posteriors, codes: Codes) -> NDArray[np.float64]:
    return _matched_columns(np.eye(posteriors.shape[1])[codes])


def _from_one_vs_rest(columns: NDArray[np.float64]) -> Posteriors:
    if columns.shape[1] == 1:
        return np.column_stack([1 - columns[:, 0], columns[:, 0]])
    total = columns.sum(axis=1, keepdims=True)
    uniform = np.full_like(columns, 1 / columns.shape[1])
    return np.asarray(np.divide(columns, total, out=uniform, where=total > 0))


def _fit_platt(scores: NDArray[np.float64], members: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and offset of the sigmoid, shape () each."""
    n_in, n_out = members.sum(), (1 - members).sum()
    # Platt's targets: a held-out item is never certain, which keeps separable data finite.
    targets = np.where(members == 1, (n_in + 1) / (n_in + 2), 1 / (n_out + 2))
    # The same unit for slope and offset keeps Newton's system well conditioned.
    scale = max(float(np.abs(scores).max()), 1.0)
    design = np.column_stack([scores / scale, np.ones_like(scores)])
    theta = np.array([0.0, float(np.log((n_in + 1) / (n_out + 1)))])
    loss = _cross_entropy(design @ theta, targets)
    for _ in range(100):
        p = expit(design @ theta)
        gradient = design.T @ (p - targets)
        hessian = (design * (p * (1 - p))[:, np.newaxis]).T @ design + 1e-12 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while (
            trial := _cross_entropy(design @ (theta - size * step), targets)
        ) > loss and size > 1e-10:
            size /= 2
        theta, loss = theta - size * step, min(trial, loss)
        if np.abs(size * step).max() < 1e-10:
            break
    return float(theta[0] / scale), float(theta[1])


def _cross_entropy(scores: NDArray[np.float64], targets: NDArray[np.float64]) -> float:
    return float(np.sum(np.logaddexp(0, scores) - targets * scores))
