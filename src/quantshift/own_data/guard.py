"""What is said of samples that no shift of the method's kinds explains.

`GuardedSLD` asks whether the kinds of shift that SubclassSLD allows for explain the features of a
sample. Where they do, nothing changes. Where they do not, nothing in the data says which assumption
is nearest to the truth: the number is the one that errs least on tables of that kind (the mean
posterior, where columns are causes of the label), with a range of what all of them allow.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from quantshift.errors import unknown_name
from quantshift.own_data.result import Assumption, Shift
from quantshift.quantifiers.guarded_sld import (
    ASSUMPTIONS,
    GuardedSLD,
    covariate_limits,
    training_deviations,
)
from quantshift.quantifiers.items import Items, effective_size
from quantshift.seeding import generator
from quantshift.types import Indices, Prevalences

Reals = NDArray[np.float64]

UNEXPLAINED = "unexplained"
"""The kind of shift of such a sample."""

IN_DOUBT = "in doubt"
"""The kind of shift if prior shift explains most of the difference, but not all of it."""

ASSUMED = "assumed"
"""The kind of shift where covariate shift is assumed, whatever the items say."""

HULL_LEVEL = 0.95
"""For which the hull of the assumptions is made."""

COVARIATE, PRIOR, BETWEEN, NOTHING = (
    "covariate shift",
    "prior shift",
    "between the two",
    "no change",
)


@dataclass(frozen=True, eq=False)
class Guarded:
    """What stands in the place of the method's own evidence on a sample.

    replicates: of the number, (n_bootstrap, n_classes).
    """

    prevalence: Prevalences
    low: Reals
    high: Reals
    replicates: Prevalences
    shift: Shift
    assumptions: tuple[Assumption, ...]


def check_assumption(assume: str) -> None:
    """Refuse a word for no assumption, before the work."""
    if assume not in ASSUMPTIONS:
        raise unknown_name("assumption", assume, ASSUMPTIONS)


def guarded(
    quantifier: GuardedSLD,
    items: Items,
    samples: Sequence[Indices],
    labels: Sequence[str],
    *,
    assume: str,
    level: float,
    n_bootstrap: int,
    seed: int,
) -> list[Guarded | None]:
    """For each sample what is to be said of it instead, None where SubclassSLD stands.

    assume: "auto", "prior" or "covariate", as of GuardedSLD.
    """
    if assume == "prior":
        return [None] * len(samples)
    own = copy(quantifier)
    own.assume = assume
    estimate = own.estimate_items(items, list(samples))
    told = estimate.diagnostics
    found: list[Guarded | None] = []
    for i, rows in enumerate(samples):
        if assume == "auto" and not told["refuted"][i]:
            found.append(None)
            continue
        p_hat, allowed = estimate.prevalence[i], told["allowed"][i]
        low, high = told["low"][i], told["high"][i]
        if assume == "covariate":
            # Neither the training prevalence nor SLD has to be considered.
            means = allowed[np.newaxis, 1 : 1 + len(own.learnt_)]
            size = len(rows) if items.weights is None else effective_size(items.weights[rows])
            limits = covariate_limits(means, told["members"][i : i + 1], np.array([float(size)]))
            low, high = (np.asarray(limit[0]) for limit in limits)
        found.append(
            Guarded(
                p_hat,
                *_at_level(p_hat, low, high, level),
                replicates_of(p_hat, told["members"][i], len(rows), n_bootstrap, seed),
                _shift({name: told[name][i] for name in own.diagnostics}, assume),
                _assumptions(
                    own,
                    told["covariate"][i],
                    told["prior"][i],
                    p_hat,
                    labels,
                    assume,
                    in_doubt=bool(told["in_doubt"][i]),
                ),
            )
        )
    return found


def _at_level(p_hat: Prevalences, low: Reals, high: Reals, level: float) -> tuple[Reals, Reals]:
    """The hull for another level: its distances in proportion to normal quantiles."""
    ratio = ndtri(0.5 + level / 2) / ndtri(0.5 + HULL_LEVEL / 2)
    return (
        np.maximum(p_hat - ratio * (p_hat - low), 0.0),
        np.minimum(p_hat + ratio * (high - p_hat), 1.0),
    )


def replicates_of(
    p_hat: Prevalences, members: Reals, size: int, n_bootstrap: int, seed: int
) -> Prevalences:
    """Replicates of the number, for the comparison of batches.

    What the training items add is the same in every batch of a replicate, as the classifier is.
    """
    rng = generator(seed, purpose="replicates of the mean posterior: training")
    deviations = training_deviations(members[np.newaxis])[0]
    training = rng.standard_normal((n_bootstrap, len(deviations))) @ deviations
    rng = generator(seed, purpose="replicates of the mean posterior", n_items=size)
    sampling = rng.multinomial(size, p_hat / p_hat.sum(), size=n_bootstrap) / size
    replicates = np.maximum(sampling + training, 0.0)
    return np.asarray(replicates / replicates.sum(axis=1, keepdims=True))


def _shift(test: Mapping[str, float], assume: str) -> Shift:
    if assume == "covariate":
        return Shift(rejected=False, kind=ASSUMED, p_value=1.0)
    return Shift(
        rejected=True,
        kind=IN_DOUBT if test["in_doubt"] else UNEXPLAINED,
        p_value=float(ndtr(-test["z"])),
        auc=float(test["auc"]),
        explained=float(test["explained"]),
    )


def _assumptions(
    quantifier: GuardedSLD,
    covariate: Prevalences,
    prior: Prevalences,
    p_hat: Prevalences,
    labels: Sequence[str],
    assume: str,
    *,
    in_doubt: bool,
) -> tuple[Assumption, ...]:
    def told(name: str, method: str, p: Prevalences, **marks: bool) -> Assumption:
        return Assumption(name, method, dict(zip(labels, map(float, p), strict=True)), **marks)

    if in_doubt:
        return (
            told(PRIOR, "SubclassSLD", prior),
            told(COVARIATE, "PCC", covariate),
            told(NOTHING, "training prevalence", quantifier.prior_),
        )
    others = assume == "covariate"
    found = [told(COVARIATE, "PCC", covariate)]
    if not np.allclose(p_hat, covariate):
        found.append(told(BETWEEN, "GuardedSLD", p_hat))
    found.append(told(PRIOR, "SubclassSLD", prior, refuted=not others, for_comparison=others))
    if not others:
        found.append(told(NOTHING, "training prevalence", quantifier.prior_))
    return tuple(found)
