"""Run a fitted quantifier over the samples of a protocol: one row per sample, errors beside."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from quantshift import metrics, prevalence
from quantshift.errors import unknown_name
from quantshift.labels import encode_labels
from quantshift.quantifiers.estimator import AbstractQuantifier
from quantshift.shifts.sampling import AbstractShift, Draw
from quantshift.types import Prevalences

MEASURES = (*metrics.PLAIN, *metrics.SMOOTHED)


def evaluate(
    quantifier: AbstractQuantifier,
    protocol: AbstractShift,
    X: Any,
    y: Any,
    categories: Any = None,
    *,
    pool: Any = None,
    train: Mapping[str, float] | None = None,
    posteriors: bool = False,
    measures: Sequence[str] = MEASURES,
    smoothing: float | None = None,
) -> pl.DataFrame:
    """Estimates and errors of a fitted quantifier on every sample the protocol draws from (X, y).

    X is classified once, whatever the number of samples.

    categories: the category column, for protocols that need one.
    pool: positions that may be drawn (default: all); leave the training items out.
    train: coordinates of the training set, from which the degree of shift is computed; the
        training prevalence is known and need not be given.
    posteriors: X holds the posteriors of the items rather than their features.
    measures: names of error measures (`quantshift.metrics`).
    smoothing: for the measures that need it; default 1 / (2 * size of the sample).

    The frame has the protocol's coordinates, `degree`, `size`, `p_true` and `p_hat` (of the second
    class; with more classes one column each, `p_true:<class>`), a column per measure, and
    the diagnostics of the method.
    """
    known = {**_training_prevalence(quantifier), **(train or {})}
    draws = list(protocol.samples(y, categories, pool=pool, train=known))
    return evaluate_draws(
        quantifier, draws, X, posteriors=posteriors, measures=measures, smoothing=smoothing
    )


def evaluate_draws(
    quantifier: AbstractQuantifier,
    draws: Sequence[Draw],
    X: Any,
    *,
    posteriors: bool = False,
    measures: Sequence[str] = MEASURES,
    smoothing: float | None = None,
) -> pl.DataFrame:
    """The frame of `evaluate` for draws already made, e.g. those of `train_test`."""
    for name in measures:
        if name not in MEASURES:
            raise unknown_name("error measure", name, MEASURES)
    samples = [draw.indices for draw in draws]
    estimate = (
        quantifier.estimate_posteriors(X, samples)
        if posteriors
        else quantifier.estimate(X, samples)
    )
    sizes = np.array([len(draw.indices) for draw in draws])
    p_true = np.stack(
        [
            prevalence.from_codes(
                encode_labels(draw.labels, classes=quantifier.classes_)[1],
                len(quantifier.classes_),
            )
            for draw in draws
        ]
    )
    smooth = 1 / (2 * sizes) if smoothing is None else smoothing
    return pl.DataFrame(
        {
            **{name: [draw.coordinates[name] for draw in draws] for name in draws[0].coordinates},
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


def _training_prevalence(quantifier: AbstractQuantifier) -> dict[str, float]:
    return {
        k: float(v[0])
        for k, v in _per_class("p_train", quantifier.prior_[None], quantifier).items()
    }


def _per_class(
    name: str, prevalences: Prevalences, quantifier: AbstractQuantifier
) -> dict[str, Prevalences]:
    if prevalences.shape[1] == 2:
        return {name: prevalences[:, 1]}
    labels = quantifier.classes_.tolist()
    return {f"{name}:{label}": prevalences[:, k] for k, label in enumerate(labels)}
