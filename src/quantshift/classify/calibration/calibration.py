"""Calibration: posteriors that match observed frequencies, learnt from held-out items.

All calibrations work on posteriors only, so they apply to any model. The score of a class is its
log-odds (for logistic regression: the decision function). With more than two classes each class is
calibrated against the rest and the results are normalised; temperature scaling (TS) scales all
logits by one factor, and the related methods in `scaling` (BCTS, VS, NBVS) fit all classes at once.
"auto" takes the calibration with the smallest cross-entropy on held-out items, or a simpler one
that is not worse by more than a standard error of the difference.

Items may have weights: an item of weight w counts as w items. The sum of the weights is the number
of items (in Platt's targets, penalties and floors), so a common factor has an effect.

References: J. Platt, "Probabilistic outputs for support vector machines", 1999 (sigmoid, with his
targets); B. Zadrozny and C. Elkan, KDD 2002 (isotonic); C. Guo et al., "On calibration of modern
neural networks", ICML 2017 (temperature); M. Kull et al., AISTATS 2017 (beta).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, isotonic_regression
from scipy.special import softmax

from quantshift.base.types import Codes, Posteriors
from quantshift.classify.calibration.curves import (
    NEAR,
    Curve,
    fit_beta,
    fit_line,
    fit_penalised,
    fit_smooth,
    inverse,
    mean_of,
    reweighted,
)
from quantshift.classify.calibration.scaling import fit_bcts, fit_nbvs, fit_vs
from quantshift.classify.folds import stratified_folds, stratified_split
from quantshift.classify.scores import (
    FLOOR,
    class_scores,
    joined_scores,
    matched_columns,
    memberships,
    platt_targets,
)
from quantshift.prevalence.weights import Weights, present, total_of

AUTO: Final = "auto"

Calibration: TypeAlias = (
    Literal[
        "auto",
        "sigmoid",
        "beta",
        "smooth",
        "isotonic",
        "temperature",
        "bcts",
        "vs",
        "nbvs",
        "none",
    ]
    | None
)
"""The names of calibrations; None is "none"."""

AUTO_FOLDS = 5
"""The folds in which calibrations are compared; with fewer items of a class, the first is taken."""


_SCALES = (0.01, 100.0)
"""The smallest and the largest 1 / temperature."""


SAME_LOSS = 1e-9
"""Mean losses that differ by less are the same, such as those of a smooth curve that is a line: by
rounding, the simpler of the two could be the worse one."""

COMPARED = 5000
"""Items by which calibrations of more than two classes are compared. More would be able to tell
them apart where it hardly matters, and take long: the winner is fitted to all items."""

MOVED = 0.01
"""In that comparison, refits end this close. Farther from their minimum they would be nearer to the
fit of all items, which knows those of the fold, the more so the more parameters there are."""


class Calibrator(Protocol):
    """Posteriors (n_items, n_classes) in, calibrated posteriors out."""

    def __call__(self, posteriors: Posteriors) -> Posteriors: ...  # noqa: D102

    def refitter(
        self,
        posteriors: Posteriors,
        codes: Codes,
        weights: Weights | None = None,
        *,
        near: float = NEAR,
    ) -> Callable[[Weights], Self]:
        """The same kind of calibration for other weights of the items it was fitted on.

        weights: those it was fitted with. The weights of a refit replace them; they are not
            multiplied by them.
        near: a refit ends after a step below this part of a standard error, if it takes steps.
        """
        ...


class CalibrationFit(Protocol):
    """From held-out posteriors, codes and weights of the items to a calibration."""

    def __call__(  # noqa: D102
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> Calibrator: ...


@dataclass(frozen=True)
class NoCalibration:
    """Unchanged posteriors."""

    def __call__(self, posteriors: Posteriors) -> Posteriors:  # noqa: D102
        return posteriors

    def refitter(  # noqa: D102
        self,
        posteriors: Posteriors,
        codes: Codes,
        weights: Weights | None = None,
        *,
        near: float = NEAR,
    ) -> Callable[[Weights], Self]:
        return lambda _: self


@dataclass(frozen=True, eq=False)
class CurveCalibration:
    """P(k | x) proportional to a curve of the log-odds of k: sigmoid, beta or smooth."""

    curves: tuple[Curve, ...]

    def __call__(self, posteriors: Posteriors) -> Posteriors:  # noqa: D102
        scores = class_scores(posteriors)
        return joined_scores(
            np.column_stack([f(s) for f, s in zip(self.curves, scores.T, strict=True)])
        )

    def refitter(  # noqa: D102
        self,
        posteriors: Posteriors,
        codes: Codes,
        weights: Weights | None = None,
        *,
        near: float = NEAR,
    ) -> Callable[[Weights], Self]:
        targets = platt_targets(codes, posteriors.shape[1], weights).T
        designs = [f.shape(s) for f, s in zip(self.curves, class_scores(posteriors).T, strict=True)]
        breads = [
            inverse(fit_penalised(design, target, f.penalty, f.coefficients, weights)[1])
            for f, design, target in zip(self.curves, designs, targets, strict=True)
        ]

        def refit(new: Weights) -> Any:
            return replace(
                self,
                curves=tuple(
                    replace(
                        f,
                        coefficients=reweighted(
                            design, target, f.penalty, f.coefficients, bread, new, near
                        ),
                    )
                    for f, design, target, bread in zip(
                        self.curves, designs, targets, breads, strict=True
                    )
                ),
            )

        return refit


@dataclass(frozen=True, eq=False)
class MonotoneCurve:
    """A curve that rises, linear between points and level beyond them.

    x: of the points, ascending; y: (n_points,).
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]

    @classmethod
    def fit(
        cls, values: NDArray[np.float64], targets: NDArray[np.float64], weights: Weights
    ) -> "MonotoneCurve":
        """The isotonic regression of targets between 0 and 1 on values."""
        x, position = np.unique(values, return_inverse=True)
        total = np.bincount(position, weights)
        means = np.bincount(position, weights * targets) / total
        return cls(x, np.clip(isotonic_regression(means, weights=total).x, 0.0, 1.0))

    def __call__(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The height of the curve."""
        return np.interp(values, self.x, self.y)


@dataclass(frozen=True, eq=False)
class IsotonicCalibration:
    """P(k | x) proportional to a monotone step function of the posterior of k.

    floor: the smallest posterior that the fitted items support, 1 / (2 n_items + 2).
    """

    curves: tuple[MonotoneCurve, ...]
    floor: float

    def __call__(self, posteriors: Posteriors) -> Posteriors:  # noqa: D102
        columns = matched_columns(posteriors).T
        steps = [f(c) for f, c in zip(self.curves, columns, strict=True)]
        return joined_scores(np.clip(np.column_stack(steps), self.floor, 1 - self.floor))

    def refitter(  # noqa: D102
        self,
        posteriors: Posteriors,
        codes: Codes,
        weights: Weights | None = None,
        *,
        near: float = NEAR,
    ) -> Callable[[Weights], Self]:
        def refit(new: Weights) -> Any:
            rows = np.flatnonzero(new)
            curves = _isotonic_curves(posteriors[rows], codes[rows], new[rows])
            return replace(self, curves=curves)

        return refit


@dataclass(frozen=True)
class TemperatureCalibration:
    """Softmax of the logits divided by a temperature."""

    temperature: float

    def __call__(self, posteriors: Posteriors) -> Posteriors:  # noqa: D102
        logits = np.log(np.maximum(posteriors, FLOOR))
        return np.asarray(softmax(logits / self.temperature, axis=1))

    def refitter(  # noqa: D102
        self,
        posteriors: Posteriors,
        codes: Codes,
        weights: Weights | None = None,
        *,
        near: float = NEAR,
    ) -> Callable[[Weights], Self]:
        def refit(new: Weights) -> Any:
            return replace(self, temperature=_temperature(posteriors, codes, new))

        return refit


def fit_none(posteriors: Posteriors, codes: Codes, weights: Weights | None = None) -> NoCalibration:
    """No calibration."""
    return NoCalibration()


def fit_sigmoid(
    posteriors: Posteriors, codes: Codes, weights: Weights | None = None
) -> CurveCalibration:
    """Platt scaling with his smoothed targets."""
    return _fit_curves(fit_line, posteriors, codes, weights)


def fit_beta_curves(
    posteriors: Posteriors, codes: Codes, weights: Weights | None = None
) -> CurveCalibration:
    """Beta calibration: like the sigmoid, with a separate slope for each end of [0, 1]."""
    return _fit_curves(fit_beta, posteriors, codes, weights)


def fit_smooth_curves(
    posteriors: Posteriors, codes: Codes, weights: Weights | None = None
) -> CurveCalibration:
    """The sigmoid plus a penalised spline: any smooth curve that the items support."""
    return _fit_curves(fit_smooth, posteriors, codes, weights)


def fit_isotonic(
    posteriors: Posteriors, codes: Codes, weights: Weights | None = None
) -> IsotonicCalibration:
    """Isotonic regression of membership on the posterior."""
    rows, item_codes, item_weights = present(weights, posteriors, codes)
    return IsotonicCalibration(
        _isotonic_curves(
            rows, item_codes, np.ones(len(item_codes)) if item_weights is None else item_weights
        ),
        floor=1 / (2 * total_of(item_weights, len(item_codes)) + 2),
    )


def fit_temperature(
    posteriors: Posteriors, codes: Codes, weights: Weights | None = None
) -> TemperatureCalibration:
    """The maximum-likelihood temperature, between 1/100 and 100."""
    rows, item_codes, item_weights = present(weights, posteriors, codes)
    return TemperatureCalibration(
        _temperature(
            rows, item_codes, np.ones(len(item_codes)) if item_weights is None else item_weights
        )
    )


def fit_auto(posteriors: Posteriors, codes: Codes, weights: Weights | None = None) -> Calibrator:
    """The calibration that predicts held-out items best, or a simpler one that is nearly as good.

    An item is in one fold whatever its weight, whereas repeated items may be in several.
    """
    posteriors, codes, weights = present(weights, posteriors, codes)
    two = posteriors.shape[1] == 2
    rivals = _RIVALS if two else _RIVALS_OF_MANY
    if np.bincount(codes).min() < AUTO_FOLDS:
        return rivals[next(iter(rivals))](posteriors, codes, weights)
    best = _best_of_two if two else _best_of_many
    return rivals[best(posteriors, codes, weights)](posteriors, codes, weights)


_RIVALS: Mapping[str, CalibrationFit] = MappingProxyType(
    {
        "sigmoid": fit_sigmoid,
        "beta": fit_beta_curves,
        "smooth": fit_smooth_curves,
        "isotonic": fit_isotonic,
    }
)
"""The candidates of "auto" with two classes, the simplest first.

Temperature scaling is not among them: it has no offset, so that the mean of the calibrated
posteriors need not be the training prevalence, and SLD would take the difference for a shift. NBVS
has no offset either.
"""

_RIVALS_OF_MANY: Mapping[str, CalibrationFit] = MappingProxyType(
    {"bcts": fit_bcts, "vs": fit_vs, **_RIVALS}
)
"""The candidates of "auto" with more classes. With two classes, the sigmoid is BCTS."""

CALIBRATIONS: Mapping[str, CalibrationFit] = MappingProxyType(
    {
        AUTO: fit_auto,
        **_RIVALS,
        "temperature": fit_temperature,
        "bcts": fit_bcts,
        "vs": fit_vs,
        "nbvs": fit_nbvs,
        "none": fit_none,
    }
)
"""How to fit each calibration, by name."""


def calibrates(name: str | None) -> bool:
    """Whether a calibration of this name changes posteriors: any but "none", or None."""
    return name not in (None, "none")


def calibration_called(name: str | None) -> CalibrationFit:
    """How to fit the calibration of this name; None is "none"."""
    return CALIBRATIONS["none" if name is None else name]


def _simplest_of_the_best(
    losses: Mapping[str, NDArray[np.float64]], weights: Weights | None
) -> str:
    """The first whose loss exceeds the smallest one by at most a standard error."""
    if weights is None:
        least = min(losses.values(), key=np.sum)
        excess = {name: loss - least for name, loss in losses.items()}
        contenders = [
            name
            for name, d in excess.items()
            if d.sum() <= np.sqrt(len(d)) * d.std() + SAME_LOSS * len(d)
        ]
    else:
        least = min(losses.values(), key=lambda loss: float(weights @ loss))
        excess = {name: loss - least for name, loss in losses.items()}
        contenders = [
            name
            for name, d in excess.items()
            if weights @ d
            <= np.sqrt(weights @ (d - mean_of(d, weights)) ** 2) + SAME_LOSS * weights.sum()
        ]
    return contenders[0]


def _best_of_two(posteriors: Posteriors, codes: Codes, weights: Weights | None) -> str:
    folds = stratified_folds(codes, AUTO_FOLDS, seed=0)
    losses = {
        name: _held_out_loss(fit, posteriors, codes, weights, folds)
        for name, fit in _RIVALS.items()
    }
    return _simplest_of_the_best(losses, weights)


def _best_of_many(posteriors: Posteriors, codes: Codes, weights: Weights | None) -> str:
    """The name of the best calibration, or of a simpler one, by at most `COMPARED` items.

    Losses come from refits, which take a fifth of the time. Those of smooth curves are then too
    small, because their penalties were chosen with all items, so they are computed again if a
    smooth curve may win.
    """
    rows = _compared_items(codes)
    items = posteriors[rows], codes[rows], None if weights is None else weights[rows]
    folds = stratified_folds(items[1], AUTO_FOLDS, seed=0)
    losses = {
        name: (_held_out_loss if name == "isotonic" else _loss_of_refits)(fit, *items, folds)
        for name, fit in _RIVALS_OF_MANY.items()
    }
    if _simplest_of_the_best(losses, items[2]) == "smooth":
        losses["smooth"] = _held_out_loss(fit_smooth_curves, *items, folds)
    return _simplest_of_the_best(losses, items[2])


def _compared_items(codes: Codes) -> Any:
    """The items by which calibrations of many classes are compared: all, or a part of them."""
    if len(codes) <= COMPARED:
        return slice(None)
    part, _ = stratified_split(codes, COMPARED / len(codes), seed=0)
    return part if np.bincount(codes[part]).min() >= AUTO_FOLDS else slice(None)


def _held_out_loss(
    fit: CalibrationFit,
    posteriors: Posteriors,
    codes: Codes,
    weights: Weights | None,
    folds: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Minus the log posterior of each item's class, by a calibration fitted without its fold."""
    losses = np.empty(len(codes))
    for fold in range(AUTO_FOLDS):
        training, held_out = folds != fold, folds == fold
        item_weights = None if weights is None else weights[training]
        fitted = fit(posteriors[training], codes[training], item_weights)
        losses[held_out] = _losses(fitted, posteriors[held_out], codes[held_out])
    return losses


def _loss_of_refits(
    fit: CalibrationFit,
    posteriors: Posteriors,
    codes: Codes,
    weights: Weights | None,
    folds: NDArray[np.int64],
) -> NDArray[np.float64]:
    """The same for many classes: fitted once, and moved from there to the items of other folds.

    What is chosen besides the parameters (knots and penalties of smooth curves) stays.
    """
    losses = np.empty(len(codes))
    refit = fit(posteriors, codes, weights).refitter(posteriors, codes, weights, near=MOVED)
    item_weights = np.ones(len(codes)) if weights is None else weights
    for fold in range(AUTO_FOLDS):
        held_out = folds == fold
        fitted = refit(np.where(held_out, 0.0, item_weights))
        losses[held_out] = _losses(fitted, posteriors[held_out], codes[held_out])
    return losses


def _losses(calibration: Calibrator, posteriors: Posteriors, codes: Codes) -> NDArray[np.float64]:
    q = calibration(posteriors)[np.arange(len(codes)), codes]
    return np.asarray(-np.log(np.maximum(q, FLOOR)))


def _fit_curves(
    fit: Callable[[NDArray[np.float64], NDArray[np.float64], Weights | None], Curve],
    posteriors: Posteriors,
    codes: Codes,
    weights: Weights | None,
) -> CurveCalibration:
    rows, item_codes, item_weights = present(weights, posteriors, codes)
    scores, targets = class_scores(rows), platt_targets(item_codes, rows.shape[1], item_weights)
    return CurveCalibration(
        tuple(fit(s, t, item_weights) for s, t in zip(scores.T, targets.T, strict=True))
    )


def _isotonic_curves(
    posteriors: Posteriors, codes: Codes, weights: Weights
) -> tuple[MonotoneCurve, ...]:
    columns, members = matched_columns(posteriors), memberships(codes, posteriors.shape[1])
    return tuple(
        MonotoneCurve.fit(c, m, weights) for c, m in zip(columns.T, members.T, strict=True)
    )


def _temperature(posteriors: Posteriors, codes: Codes, weights: Weights) -> float:
    logits = np.log(np.maximum(posteriors, FLOOR))
    shifted = logits - logits.max(axis=1, keepdims=True)
    class_logits = shifted[np.arange(len(codes)), codes]

    def slope(scale: float) -> float:
        """The derivative of the loss, which rises with the scale, 1 / temperature."""
        odds = np.exp(shifted * scale)
        return float(weights @ ((odds * shifted).sum(axis=1) / odds.sum(axis=1) - class_logits))

    if slope(_SCALES[0]) >= 0:
        return 1 / _SCALES[0]
    if slope(_SCALES[1]) <= 0:
        return 1 / _SCALES[1]
    return 1 / float(brentq(slope, *_SCALES, xtol=1e-15, rtol=8.9e-16))
