"""What the items say: estimate and interval, the estimate under each assumption, has it shifted?

No data can prove an assumption; where the estimates agree the reader need not choose. SubclassSLD
weighs several kinds of shift and tells each one's estimate. If the shift test finds more than a
change of prevalence, the interval spans those of all kinds of shift that have weight.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quantshift.diagnosis.which_shift import shift_tests
from quantshift.intervals import PrevalenceInterval, Replicates, limits, stretched
from quantshift.own_data.model import Model
from quantshift.own_data.result import Assumption, Shift
from quantshift.quantifiers.estimator import AbstractQuantifier, Estimate
from quantshift.quantifiers.items import Items
from quantshift.quantifiers.shift_models import OffersSubclasses
from quantshift.seeding import generator
from quantshift.types import Indices, Posteriors, Prevalences

KINDS = ("prior shift", "covariate shift", "prior and covariate shift", "local shift")
"""The models of subclasses (`shift_models.MODELS`) in words."""

OUTSIDE = "outside"
TEST_LEVEL, TEST_REPLICATES = 0.05, 500

MOST_TESTED = 5_000
"""Larger samples are tested on so many random items: with more, any trifle would be estimate."""

SOME_WEIGHT = 0.05
"""A kind of shift with less weight does not widen the interval."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """All about one sample that does not need labels."""

    interval: PrevalenceInterval
    assumptions: tuple[Assumption, ...]
    shift: Shift | None


def examine(
    model: Model,
    items: Items,
    samples: Sequence[Indices],
    *,
    level: float,
    n_bootstrap: int,
    seed: int,
    simultaneous: bool = False,
) -> list[Evidence]:
    """The evidence on every sample; they share the replicates of the training side."""
    if not samples:
        return []
    estimate = model.quantifier.estimate_items(items, list(samples))
    sizes = [len(rows) for rows in samples]
    weighs = isinstance(model.quantifier, OffersSubclasses)
    drawn = Replicates(
        model.quantifier, items, samples, estimate, level=level, n_bootstrap=n_bootstrap, seed=seed
    )
    by_kind = np.empty((len(KINDS) if weighs else 0, *drawn.values.shape))
    for columns, replicate in drawn.estimates():
        for kind in range(len(by_kind)):
            own = replicate.diagnostics["model_prevalence"][:, kind]
            by_kind[kind][:, columns] = own.reshape(len(samples), len(columns), -1)
    low, high = drawn.limits()
    shifts = _shifts(model.quantifier, items, samples, seed)
    for i, shift in enumerate(shifts):
        if shift is not None and shift.rejected:
            lows, highs = _span(model, estimate, i, by_kind[:, i], sizes[i], level)
            low[i], high[i] = np.minimum(low[i], lows), np.maximum(high[i], highs)
    if simultaneous:
        low, high = stretched(estimate.prevalence, low, high, drawn.values, level)
    return [
        Evidence(
            PrevalenceInterval(
                prevalence=estimate.prevalence[i],
                low=low[i],
                high=high[i],
                level=level,
                classes=estimate.classes,
                replicates=drawn.values[i],
                simultaneous=simultaneous,
                informative=drawn.informative,
            ),
            _weighed(model, estimate, i)
            if weighs
            else _plain(model, model.posteriors(items.take(rows)), estimate.prevalence[i]),
            shifts[i],
        )
        for i, rows in enumerate(samples)
    ]


def _shifts(
    quantifier: AbstractQuantifier,
    items: Items,
    samples: Sequence[Indices],
    seed: int,
) -> Sequence[Shift | None]:
    """The verdicts of the shift test; None where there is nothing to tell shifts apart by."""
    if not isinstance(quantifier, OffersSubclasses) or len(quantifier.model_.shares) < 2:
        return [None] * len(samples)
    tests = shift_tests(
        quantifier,
        items,
        [_tested(rows, seed) for rows in samples],
        level=TEST_LEVEL,
        n_bootstrap=TEST_REPLICATES,
        seed=seed,
    )
    return [
        Shift(
            rejected=test.p_value < TEST_LEVEL or test.out_of_support,
            kind=OUTSIDE if test.out_of_support else test.kind,
            p_value=test.p_value,
        )
        for test in tests
    ]


def _tested(rows: Indices, seed: int) -> Indices:
    if len(rows) <= MOST_TESTED:
        return rows
    rng = generator(seed, purpose="shift test: items", n_items=len(rows))
    return rows[rng.choice(len(rows), MOST_TESTED, replace=False)]


def _span(
    model: Model, estimate: Estimate, i: int, by_kind: Prevalences, size: int, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Limits of all kinds of shift that have weight in sample i."""
    assert isinstance(model.quantifier, OffersSubclasses)
    # Out of the training support, or with clusters that carry no subclasses, nothing is weighed:
    # every kind of shift is possible.
    unweighed = estimate.diagnostics["fallback"][i] or not model.quantifier.divided_
    chosen = (estimate.diagnostics["model_weight"][i] >= SOME_WEIGHT) | unweighed
    p_hat = estimate.diagnostics["model_prevalence"][i][chosen]
    low, high = limits(p_hat, by_kind[chosen], [size] * len(p_hat), level)
    return low.min(axis=0), high.max(axis=0)


def _weighed(model: Model, estimate: Estimate, i: int) -> tuple[Assumption, ...]:
    prevalences = estimate.diagnostics["model_prevalence"][i]
    weights = estimate.diagnostics["model_weight"][i]
    return tuple(
        Assumption(kind, model.method, _by_label(model, p), float(weight))
        for kind, p, weight in zip(KINDS, prevalences, weights, strict=True)
    )


def _plain(model: Model, posteriors: Posteriors, p_hat: Prevalences) -> tuple[Assumption, ...]:
    """The method's own estimate, and those of SLD and PCC, which stand for two kinds of shift."""
    if not model.is_trained:
        return (Assumption("covariate shift", "PCC", _by_label(model, p_hat)),)
    estimates = {
        "SLD": ("prior shift", model.base.aggregate(posteriors)),
        "PCC": ("covariate shift", posteriors.mean(axis=0)),
    }
    if model.method not in estimates:
        estimates = {model.method: (f"as {model.method} assumes", p_hat), **estimates}
    return tuple(
        Assumption(name, method, _by_label(model, p)) for method, (name, p) in estimates.items()
    )


def _by_label(model: Model, p: Prevalences) -> dict[str, float]:
    return dict(zip(model.classes, map(float, p), strict=True))
