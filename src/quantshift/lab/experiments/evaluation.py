"""Run a fitted quantifier over the samples of a protocol: one row per sample, with its errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from quantshift import metrics
from quantshift.base.forks import uses_tables
from quantshift.base.types import Prevalences
from quantshift.classify.classifier import n_rows
from quantshift.errors import UserError
from quantshift.lab.shifts.parts.coordinate import Coordinates
from quantshift.lab.shifts.parts.coordinates import NOISE
from quantshift.lab.shifts.protocol import AbstractProtocol, Draw
from quantshift.prevalence.weights import checked_weights
from quantshift.quantifiers.base.estimator import AbstractClassifying, AbstractQuantifier
from quantshift.quantifiers.base.given import given_quantifier


@uses_tables
def evaluate(
    quantifier: AbstractQuantifier,
    protocol: AbstractProtocol,
    X: Any,
    y: Any,
    categories: Any = None,
    *,
    pool: Any = None,
    train: Coordinates | None = None,
    posteriors: bool = False,
    measures: Sequence[str] | None = None,
    smoothing: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> pl.DataFrame:
    """Estimates and errors of a fitted quantifier on every sample the protocol draws from (X, y).

    X is classified once, whatever the number of samples.

    The frame has the protocol's coordinates, `degree`, `size`, `p_true` and `p_hat` (of the second
    class; with more classes one column each, `p_true:<class>`), a column per measure, and the
    diagnostics of the method.

    Parameters
    ----------
    quantifier : quantifier
        Fitted.
    protocol : protocol
        Draws the samples.
    X : items
        The items.
    y : array
        Their labels.
    categories : array, optional
        The category column, for protocols that need one.
    pool : array, optional
        Positions that may be drawn (default: all); leave the training items out.
    train : dict, optional
        Coordinates of the training set, from which the degree of shift is computed; the training
        prevalence is known and need not be given.
    posteriors : bool
        X holds the posteriors of the items rather than their features.
    measures : sequence of str, optional
        Names of error measures (`quantshift.metrics`); default: all but those for ordered classes.
    smoothing : float, optional
        For the measures that need it; default 1 / (2 * size of the sample).
    sample_weight : array, optional
        How much each item counts, in the true prevalence of its sample and in the estimate; the
        protocol draws items without regard to it.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import PACC, PriorShift, evaluate
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = PACC().fit(X[::2], y[::2])
    >>> protocol = PriorShift(test_size=50, test_repeats=2, test_prevalences=[0.2, 0.5, 0.8])
    >>> frame = evaluate(fitted, protocol, X[1::2], y[1::2], measures=["ae"])
    >>> frame.height, frame["p_test"].unique().sort().to_list(), bool(frame["ae"].mean() < 0.1)
    (6, [0.2, 0.5, 0.8], True)
    """
    quantifier = given_quantifier(quantifier, "evaluate")
    check_is_fitted(quantifier, "classes_")
    if not isinstance(protocol, AbstractProtocol):
        raise UserError(
            "the second argument of evaluate is a protocol such as PriorShift(), got "
            f"{type(protocol).__name__}"
        )
    train_coordinates = {**_training_prevalence(quantifier), **(train or {})}
    draws = list(protocol.samples(y, categories, pool=pool, train=train_coordinates))
    return evaluate_draws(
        quantifier,
        draws,
        X,
        posteriors=posteriors,
        measures=measures,
        smoothing=smoothing,
        sample_weight=sample_weight,
    )


def evaluate_draws(
    quantifier: AbstractQuantifier,
    draws: Sequence[Draw],
    X: Any,
    *,
    posteriors: bool = False,
    measures: Sequence[str] | None = None,
    smoothing: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> pl.DataFrame:
    """The frame of `evaluate` for draws already made, e.g. those of `train_test`."""
    if measures is None:
        measures = [name for name, measure in metrics.MEASURES.items() if not measure.ordinal]
    for name in measures:
        metrics.measure_called(name)
    if any(draw.coordinates.get(NOISE.name) for draw in draws):
        raise UserError(
            "the protocol asks for noise on the features, which only experiments add (`quantshift "
            "run`); here, add the noise to X yourself and draw samples with another protocol"
        )
    samples = [draw.indices for draw in draws]
    if not posteriors:
        estimate = quantifier.estimate(X, samples, sample_weight=sample_weight)
    elif isinstance(quantifier, AbstractClassifying):
        estimate = quantifier.estimate_posteriors(X, samples, sample_weight=sample_weight)
    else:
        raise UserError(
            f"{type(quantifier).__name__} cannot be computed from posteriors: give features"
        )
    sizes = np.array([len(draw.indices) for draw in draws])
    item_weights = checked_weights(sample_weight, n_rows(X))
    p_true = np.stack(
        [
            draw.true_prevalence(
                quantifier.classes_, None if item_weights is None else item_weights[draw.indices]
            )
            for draw in draws
        ]
    )
    smooth = 1 / (2 * sizes) if smoothing is None else smoothing
    return pl.DataFrame(
        {
            **_coordinates(draws, quantifier),
            "degree": [draw.degree for draw in draws],
            "size": sizes,
            **_per_class("p_true", p_true, quantifier),
            **_per_class("p_hat", estimate.prevalence, quantifier),
            **{
                name: metrics.measure(name, p_true, estimate.prevalence, smoothing=smooth)
                for name in measures
            },
            **estimate.diagnostics,
        }
    )


def _training_prevalence(quantifier: AbstractQuantifier) -> Coordinates:
    shares = tuple(quantifier.prior_.tolist())
    return {"p_train": shares if len(shares) > 2 else shares[1]}


def _coordinates(draws: Sequence[Draw], quantifier: AbstractQuantifier) -> dict[str, Any]:
    """A column for each coordinate; a vector has one for each class."""
    columns: dict[str, Any] = {}
    for name, first in draws[0].coordinates.items():
        values = [draw.coordinates[name] for draw in draws]
        if isinstance(first, tuple):
            columns |= _per_class(name, np.array(values), quantifier)
        else:
            columns[name] = values
    return columns


def _per_class(
    name: str, prevalences: Prevalences, quantifier: AbstractQuantifier
) -> dict[str, Prevalences]:
    if prevalences.shape[1] == 2:
        return {name: prevalences[:, 1]}
    labels = quantifier.classes_.tolist()
    return {f"{name}:{label}": prevalences[:, k] for k, label in enumerate(labels)}
