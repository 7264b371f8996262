"""What is reported for samples that none of the method's kinds of shift explains.

A guarded method, such as `GuardedSLD`, tests whether the kinds of shift that it allows for explain
the features of a sample. Where they do, nothing changes. Where they do not, nothing in the data
says which assumption is closest to the truth. The estimate is then the one with the smallest errors
on such tables (the mean posterior, where columns are causes of the label), with a range of what all
assumptions allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from quantshift.base.seeding import generator
from quantshift.base.types import Indices, Prevalences, Reals
from quantshift.errors import unknown_name
from quantshift.quantifiers.base.guarding import (
    ASSUMPTIONS,
    AUTO,
    BETWEEN,
    COVARIATE,
    PRIOR,
    AbstractGuarded,
    Grounds,
    training_deviations,
)
from quantshift.quantifiers.base.items import Items, effective_size
from quantshift.quantifying.output.result import Assumption, Shift
from quantshift.quantifying.training.methods import IF_COVARIATE_SHIFT

UNEXPLAINED = "unexplained"
"""The kind of shift of a sample that none of the method's kinds of shift explains."""

IN_DOUBT = "in doubt"
"""The kind of shift if prior shift explains most of the difference, but not all of it."""

ASSUMED = "assumed"
"""The kind of shift if covariate shift is assumed, whatever the items show."""

HULL_LEVEL = 0.95
"""Level of the limits that guarded methods report."""


@dataclass(frozen=True, eq=False)
class Guarded:
    """What replaces the method's own evidence on a sample.

    replicates: of the estimate, (n_bootstrap, n_classes). rests_on: as in `Grounds`.
    """

    prevalence: Prevalences
    low: Reals
    high: Reals
    replicates: Prevalences
    shift: Shift
    assumptions: tuple[Assumption, ...]
    rests_on: str


def check_assumption(assume: str) -> None:
    """Raise an error for an unknown assumption, before any work is done."""
    if assume not in ASSUMPTIONS:
        raise unknown_name("assumption", assume, ASSUMPTIONS)


def guarded(
    quantifier: AbstractGuarded,
    items: Items,
    samples: Sequence[Indices],
    labels: Sequence[str],
    *,
    assume: str,
    level: float,
    n_bootstrap: int,
    seed: int,
) -> list[Guarded | None]:
    """For each sample what to report instead; None where the method's assumption is not refuted.

    assume: "auto", "prior" or "covariate", as for the quantifier.
    """
    if assume == PRIOR:
        return [None] * len(samples)
    assuming = quantifier.assuming(None if assume == AUTO else assume)
    grounds = assuming.grounds(assuming.estimate_items(items, list(samples)))
    found: list[Guarded | None] = []
    for rows, allowed in zip(samples, grounds, strict=True):
        if assume == AUTO and not allowed.refuted:
            found.append(None)
            continue
        p_hat, low, high = allowed.estimate, allowed.low, allowed.high
        if assume == COVARIATE:
            weights = items.weights
            low, high = allowed.if_covariate(
                float(len(rows)) if weights is None else effective_size(weights[rows])
            )
        found.append(
            Guarded(
                p_hat,
                *_at_level(p_hat, low, high, level),
                replicates_of(p_hat, allowed.members, len(rows), n_bootstrap, seed),
                _shift(allowed, assume),
                _assumptions(assuming, allowed, labels),
                str(allowed.rests_on),
            )
        )
    return found


def _at_level(p_hat: Prevalences, low: Reals, high: Reals, level: float) -> tuple[Reals, Reals]:
    """The limits at another level: distances are scaled by the ratio of normal quantiles."""
    ratio = ndtri(0.5 + level / 2) / ndtri(0.5 + HULL_LEVEL / 2)
    return (
        np.maximum(p_hat - ratio * (p_hat - low), 0.0),
        np.minimum(p_hat + ratio * (high - p_hat), 1.0),
    )


def replicates_of(
    p_hat: Prevalences, members: Reals, size: int, n_bootstrap: int, seed: int
) -> Prevalences:
    """Replicates of the estimate, for comparing batches.

    Within a replicate the error of the training side is the same for all batches, because they
    share the classifier.
    """
    rng = generator(seed, purpose="replicates of the mean posterior: training")
    deviations = training_deviations(members[np.newaxis])[0]
    training = rng.standard_normal((n_bootstrap, len(deviations))) @ deviations
    rng = generator(seed, purpose="replicates of the mean posterior", n_items=size)
    sampling = rng.multinomial(size, p_hat / p_hat.sum(), size=n_bootstrap) / size
    replicates = np.maximum(sampling + training, 0.0)
    return np.asarray(replicates / replicates.sum(axis=1, keepdims=True))


def _shift(allowed: Grounds, assume: str) -> Shift:
    if assume == COVARIATE:
        return Shift(rejected=False, kind=ASSUMED, p_value=1.0)
    return Shift(
        rejected=True,
        kind=IN_DOUBT if allowed.in_doubt else UNEXPLAINED,
        p_value=float(ndtr(-allowed.z)),
        auc=float(allowed.auc),
        explained=float(allowed.explained),
    )


def _assumptions(
    quantifier: AbstractGuarded, allowed: Grounds, labels: Sequence[str]
) -> tuple[Assumption, ...]:
    """The estimates under each assumption, that of the estimate first."""

    def under(name: str, method: str, p: Prevalences, **marks: bool) -> Assumption:
        return Assumption(name, method, dict(zip(labels, map(float, p), strict=True)), **marks)

    by_prior = type(quantifier.unguarded_).__name__, allowed.mixed
    covariate = under("covariate shift", IF_COVARIATE_SHIFT.__name__, allowed.covariate)
    unchanged = under("no change", "training prevalence", quantifier.prior_)
    if allowed.rests_on == PRIOR:
        return under("prior shift", *by_prior), covariate, unchanged
    if quantifier.assume == COVARIATE:
        return covariate, under("prior shift", *by_prior, for_comparison=True)
    found = [covariate]
    if allowed.rests_on == BETWEEN:
        found.append(under("between the two", type(quantifier).__name__, allowed.estimate))
    return *found, under("prior shift", *by_prior, refuted=True), unchanged
