"""What displays show: true and estimated prevalences of samples, and the degrees of shift."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Prevalences, Reals
from quantshift.classify.classifier import item_rows
from quantshift.errors import DataError, UserError
from quantshift.lab.experiments.evaluation import evaluate
from quantshift.lab.shifts.protocol import AbstractProtocol
from quantshift.lab.tuning.validation import draw_validation
from quantshift.prevalence.labels import encode_labels
from quantshift.prevalence.simplex import of_positive
from quantshift.quantifiers.base.estimator import AbstractQuantifier

SIZE, N_PREVALENCES, REPEATS = 100, 21, 20
"""Of the samples that are drawn if no protocol is given."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """True and estimated prevalences, (n_samples, n_classes), and degrees of shift, (n_samples,).

    name: of the quantifier, for legends.
    """

    p_true: Prevalences
    p_hat: Prevalences
    degree: Reals
    classes: tuple[Any, ...]
    name: str

    @classmethod
    def of_estimator(cls, fitted: AbstractQuantifier, X: Any, y: Any, random_state: int) -> Self:
        """On samples of 100 items, with shares on a grid (two classes) or uniform on the simplex.

        The degree is the share of the second class minus that in training, or the distance of the
        shares from those in training (total variation), to one decimal.
        """
        _, codes = encode_labels(y, classes=fitted.classes_)
        samples = draw_validation(
            codes,
            n_prevalences=N_PREVALENCES,
            repeats=REPEATS,
            size=SIZE,
            seed=random_state,
            n_classes=len(fitted.classes_),
        )
        p_hat = fitted.predict(item_rows(X), samples.index)
        moved = samples.p_true - fitted.prior_
        degree = moved[:, 1] if moved.shape[1] == 2 else np.abs(moved).sum(axis=1) / 2
        return cls(
            samples.p_true,
            p_hat,
            degree.round(1) + 0.0,
            tuple(fitted.classes_.tolist()),
            type(fitted).__name__,
        )

    @classmethod
    def of_protocol(
        cls, fitted: AbstractQuantifier, protocol: AbstractProtocol, X: Any, y: Any
    ) -> Self:
        """On the samples that a protocol draws."""
        frame = evaluate(fitted, protocol, X, y, measures=["ae"])
        labels = fitted.classes_.tolist()

        def shares(name: str) -> Prevalences:
            if len(labels) == 2:
                return of_positive(frame[name].to_numpy())
            return np.stack([frame[f"{name}:{label}"].to_numpy() for label in labels], axis=1)

        degree = frame["degree"].to_numpy().astype(np.float64)
        name = type(fitted).__name__
        return cls(shares("p_true"), shares("p_hat"), degree, tuple(labels), name)

    @classmethod
    def of_predictions(
        cls,
        p_true: ArrayLike,
        p_hat: ArrayLike,
        *,
        degree: ArrayLike | None = None,
        classes: Sequence[Any] | None = None,
        name: str = "",
    ) -> Self:
        """Given: shares of the second of two classes, or of all classes, (n_samples, n_classes)."""
        truth, estimates = (
            _as_shares(p, what) for p, what in ((p_true, "p_true"), (p_hat, "p_hat"))
        )
        if truth.shape != estimates.shape:
            raise DataError(
                f"p_true of shape {truth.shape} does not fit p_hat of shape {estimates.shape}"
            )
        degrees = np.zeros(len(truth)) if degree is None else np.asarray(degree, dtype=np.float64)
        if degrees.shape != (len(truth),):
            raise DataError(f"{degrees.shape} degrees do not fit {len(truth)} samples")
        labels = tuple(range(truth.shape[1])) if classes is None else tuple(classes)
        if len(labels) != truth.shape[1]:
            raise DataError(f"{len(labels)} classes do not fit {truth.shape[1]} shares")
        return cls(truth, estimates, degrees, labels, name)

    def column(self, label: Any) -> int:
        """The position of a class; None: the last."""
        return class_position(self.classes, label)


def class_position(classes: Sequence[Any], label: Any) -> int:
    """The position of a class; None: the last."""
    if label is None:
        return len(classes) - 1
    if label not in classes:
        listed = ", ".join(map(repr, classes[:10]))
        raise UserError(f"label={label!r} is not one of the classes ({listed})")
    return list(classes).index(label)


def _as_shares(p: ArrayLike, what: str) -> NDArray[np.float64]:
    shares = np.asarray(p, dtype=np.float64)
    if shares.ndim == 1:
        shares = of_positive(shares)
    if shares.ndim != 2 or not len(shares):
        raise DataError(
            f"{what} must have shape (n_samples,) or (n_samples, n_classes), got {shares.shape}"
        )
    return shares
