"""Calibration by scaling logits: all classes at once, with few parameters.

With z = log s - mean log s the logits of an item's posteriors s, the calibrated posteriors are

    softmax(z / T)        temperature scaling (TS); `calibration` has it
    softmax(z / T + b)    "bcts": bias-corrected temperature scaling
    softmax(w z + b)      "vs": vector scaling, a slope for every class
    softmax(w z)          "nbvs": vector scaling without bias

with 1 / T and w at least zero, and the smallest cross-entropy on held-out items. This is convex in
1 / T, w and b, and Newton's method finds its minimum; slopes at zero stay there as long as they
would become negative. With an offset for every class the mean of the calibrated held-out posteriors
is the training prevalence, as SLD assumes; without one (TS, "nbvs") it need not be.

A weak penalty towards the unchanged posteriors (`PULL`) keeps the parameters finite if held-out
items are separated without error; with a few hundred items it is negligible.

References: A. Alexandari et al., "Maximum likelihood with bias-corrected calibration is
hard-to-beat at label shift adaptation", ICML 2020; C. Guo et al., "On calibration of modern neural
networks", ICML 2017.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from quantshift.base.types import Codes, Posteriors, Reals
from quantshift.classify.calibration.curves import NEAR
from quantshift.classify.scores import FLOOR
from quantshift.optimise.convex import newton_minimum
from quantshift.prevalence.weights import Weights, present

PULL = 1e-4
"""Penalty per squared distance of a parameter from its neutral value, in items."""


@dataclass(frozen=True, eq=False)
class ScalingCalibration:
    """Softmax of the logits times slopes plus offsets.

    parameters: (n_parameters,); design: the matrix of 0 and 1 that maps them to the slopes and,
    below these, the offsets, (2 * n_classes, n_parameters).
    """

    parameters: Reals
    design: Reals

    @property
    def slopes(self) -> Reals:
        """The factor of each class's logit, (n_classes,)."""
        return np.asarray((self.design @ self.parameters)[: len(self.design) // 2])

    @property
    def offsets(self) -> Reals:
        """The offset of each class's logit, (n_classes,); their sum is zero."""
        return np.asarray((self.design @ self.parameters)[len(self.design) // 2 :])

    def __call__(self, posteriors: Posteriors) -> Posteriors:  # noqa: D102
        return np.asarray(softmax(logits_of(posteriors) * self.slopes + self.offsets, axis=1))

    def refitter(  # noqa: D102
        self,
        posteriors: Posteriors,
        codes: Codes,
        weights: Weights | None = None,
        *,
        near: float = NEAR,
    ) -> Callable[[Weights], Self]:
        loss = _Loss(logits_of(posteriors), codes, self.design)
        item_weights = np.ones(len(codes)) if weights is None else weights
        free = ~_held(self.parameters, loss.gradient(self.parameters, item_weights), self.design)
        bread = np.zeros((len(free), len(free)))
        bread[np.ix_(free, free)] = np.linalg.inv(
            loss.hessian(self.parameters, item_weights)[np.ix_(free, free)]
        )
        unit = np.sqrt(np.maximum(np.diag(bread), np.finfo(float).tiny))

        def refit(new: Weights) -> Any:
            parameters, before = self.parameters, np.inf
            for _ in range(10):
                step = bread @ loss.gradient(parameters, new)
                length = float(np.abs(step / unit).max())
                if length > 0.7 * before:
                    break
                parameters, before = parameters - step, length
                if length < near:
                    if (parameters[_slopes(self.design)] >= 0).all():
                        return replace(self, parameters=parameters)
                    break
            return replace(self, parameters=_minimum(loss, self.parameters, new))

        return refit


def fit_bcts(
    posteriors: Posteriors, codes: Codes, weights: Weights | None = None
) -> ScalingCalibration:
    """Bias-corrected temperature scaling: one slope, an offset for every class."""
    n_classes = posteriors.shape[1]
    design = np.zeros((2 * n_classes, n_classes + 1))
    design[:n_classes, 0], design[n_classes:, 1:] = 1.0, np.eye(n_classes)
    return _fitted(design, posteriors, codes, weights)


def fit_vs(
    posteriors: Posteriors, codes: Codes, weights: Weights | None = None
) -> ScalingCalibration:
    """Vector scaling: a slope and an offset for every class."""
    return _fitted(np.eye(2 * posteriors.shape[1]), posteriors, codes, weights)


def fit_nbvs(
    posteriors: Posteriors, codes: Codes, weights: Weights | None = None
) -> ScalingCalibration:
    """Vector scaling without bias: a slope for every class."""
    n_classes = posteriors.shape[1]
    return _fitted(np.eye(2 * n_classes, n_classes), posteriors, codes, weights)


def logits_of(posteriors: Posteriors) -> Reals:
    """Log posteriors (at least log `FLOOR`) minus their mean over the classes."""
    logs = np.log(np.maximum(posteriors, FLOOR))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


class _Loss:
    """The cross-entropy of held-out items, summed, and its derivatives in the parameters."""

    def __init__(self, logits: Reals, codes: Codes, design: Reals) -> None:
        self.logits, self.codes, self.design = logits, codes, design
        self.n_classes = logits.shape[1]
        self.members = np.eye(self.n_classes)[codes]
        self.neutral = _slopes(design).astype(np.float64)

    def value(self, theta: Reals, weights: Weights) -> float:
        log_posteriors = log_softmax(self._scaled(theta), axis=1)[
            np.arange(len(self.codes)), self.codes
        ]
        return float(-weights @ log_posteriors + 0.5 * PULL * np.sum((theta - self.neutral) ** 2))

    def derivatives(self, theta: Reals, weights: Weights) -> tuple[Reals, Reals]:
        """Gradient and Hessian, of one softmax."""
        p = softmax(self._scaled(theta), axis=1)
        return self._gradient(p, theta, weights), self._hessian(p, theta, weights)

    def gradient(self, theta: Reals, weights: Weights) -> Reals:
        return self._gradient(softmax(self._scaled(theta), axis=1), theta, weights)

    def hessian(self, theta: Reals, weights: Weights) -> Reals:
        return self._hessian(softmax(self._scaled(theta), axis=1), theta, weights)

    def _gradient(self, p: Reals, theta: Reals, weights: Weights) -> Reals:
        excess = weights[:, np.newaxis] * (p - self.members)
        by_class = np.concatenate([(excess * self.logits).sum(axis=0), excess.sum(axis=0)])
        return np.asarray(by_class @ self.design + PULL * (theta - self.neutral))

    def _hessian(self, p: Reals, theta: Reals, weights: Weights) -> Reals:
        both = np.concatenate([p * self.logits, p], axis=1)
        heavy = weights[:, np.newaxis] * both
        k = self.n_classes
        full = -(both.T @ heavy)
        slope, mixed, offset = (
            np.diag(total)
            for total in (
                (heavy[:, :k] * self.logits).sum(axis=0),
                heavy[:, :k].sum(axis=0),
                heavy[:, k:].sum(axis=0),
            )
        )
        full += np.block([[slope, mixed], [mixed, offset]])
        return np.asarray(self.design.T @ full @ self.design + PULL * np.eye(len(theta)))

    def _scaled(self, theta: Reals) -> Reals:
        by_class = self.design @ theta
        return np.asarray(self.logits * by_class[: self.n_classes] + by_class[self.n_classes :])


def _fitted(
    design: Reals, posteriors: Posteriors, codes: Codes, weights: Weights | None
) -> ScalingCalibration:
    rows, item_codes, item_weights = present(weights, posteriors, codes)
    loss = _Loss(logits_of(rows), item_codes, design)
    item_weights = np.ones(len(item_codes)) if item_weights is None else item_weights
    return ScalingCalibration(_minimum(loss, loss.neutral, item_weights), design)


def _minimum(loss: _Loss, start: Reals, weights: Weights) -> Reals:
    """The parameters of smallest loss with slopes of at least zero."""
    return newton_minimum(
        lambda theta: loss.value(theta, weights),
        lambda theta: loss.derivatives(theta, weights),
        start,
        bounded=_slopes(loss.design),
    ).theta


def _held(theta: Reals, gradient: Reals, design: Reals) -> NDArray[np.bool_]:
    """Which parameters are slopes at zero that would become negative."""
    return np.asarray(_slopes(design) & (theta <= 0) & (gradient > 0))


def _slopes(design: Reals) -> NDArray[np.bool_]:
    """Which parameters are slopes."""
    return np.asarray(design[: len(design) // 2].any(axis=0))
