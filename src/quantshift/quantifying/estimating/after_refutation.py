"""What is reported for samples that none of the method's kinds of shift explains.

`GuardedSLD` tests whether the kinds of shift that SubclassSLD allows for explain the features of a
sample. Where they do, nothing changes. Where they do not, nothing in the data says which assumption
is closest to the truth. The estimate is then the one with the smallest errors on such tables (the
mean posterior, where columns are causes of the label), with a range of what all assumptions allow.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from quantshift.base.seeding import generator
from quantshift.base.types import Indices, Prevalences, Reals
from quantshift.errors import unknown_name
from quantshift.quantifiers.base.items import Items, effective_size
from quantshift.quantifiers.likelihood.guarded_sld import (
    ASSUMPTIONS,
    GuardedSLD,
    covariate_limits,
    training_deviations,
)
from quantshift.quantifying.output.result import Assumption, Shift

UNEXPLAINED = "unexplained"
"""The kind of shift of a sample that none of the method's kinds of shift explains."""

IN_DOUBT = "in doubt"
"""The kind of shift if prior shift explains most of the difference, but not all of it."""

ASSUMED = "assumed"
"""The kind of shift if covariate shift is assumed, whatever the items show."""

HULL_LEVEL = 0.95
"""Level of the limits that GuardedSLD reports."""

COVARIATE, PRIOR, BETWEEN, NOTHING = (
    "covariate shift",
    "prior shift",
    "between the two",
    "no change",
)


@dataclass(frozen=True, eq=False)
class Guarded:
    """What replaces the method's own evidence on a sample.

    replicates: of the estimate, (n_bootstrap, n_classes).
    """

    prevalence: Prevalences
    low: Reals
    high: Reals
    replicates: Prevalences
    shift: Shift
    assumptions: tuple[Assumption, ...]


def check_assumption(assume: str) -> None:
    """Raise an error for an unknown assumption, before any work is done."""
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
    """For each sample what to report instead; None where SubclassSLD is not refuted.

    assume: "auto", "prior" or "covariate", as for GuardedSLD.
    """
    if assume == "prior":
        return [None] * len(samples)
    assuming = copy(quantifier)
    assuming.assume = assume
    estimate = assuming.estimate_items(items, list(samples))
    diagnostics = estimate.diagnostics
    found: list[Guarded | None] = []
    for i, rows in enumerate(samples):
        if assume == "auto" and not diagnostics["refuted"][i]:
            found.append(None)
            continue
        p_hat, allowed = estimate.prevalence[i], diagnostics["allowed"][i]
        low, high = diagnostics["low"][i], diagnostics["high"][i]
        if assume == "covariate":
            # Neither the training prevalence nor SLD has to be considered.
            means = allowed[np.newaxis, 1 : 1 + len(assuming.learnt_)]
            size = len(rows) if items.weights is None else effective_size(items.weights[rows])
            limits = covariate_limits(
                means, diagnostics["members"][i : i + 1], np.array([float(size)])
            )
            low, high = (np.asarray(limit[0]) for limit in limits)
        found.append(
            Guarded(
                p_hat,
                *_at_level(p_hat, low, high, level),
                replicates_of(p_hat, diagnostics["members"][i], len(rows), n_bootstrap, seed),
                _shift({name: diagnostics[name][i] for name in assuming.diagnostics}, assume),
                _assumptions(
                    assuming,
                    diagnostics["covariate"][i],
                    diagnostics["prior"][i],
                    p_hat,
                    labels,
                    assume,
                    in_doubt=bool(diagnostics["in_doubt"][i]),
                ),
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
    def under(name: str, method: str, p: Prevalences, **marks: bool) -> Assumption:
        return Assumption(name, method, dict(zip(labels, map(float, p), strict=True)), **marks)

    if in_doubt:
        return (
            under(PRIOR, "SubclassSLD", prior),
            under(COVARIATE, "PCC", covariate),
            under(NOTHING, "training prevalence", quantifier.prior_),
        )
    assumed = assume == "covariate"
    found = [under(COVARIATE, "PCC", covariate)]
    if not np.allclose(p_hat, covariate):
        found.append(under(BETWEEN, "GuardedSLD", p_hat))
    found.append(under(PRIOR, "SubclassSLD", prior, refuted=not assumed, for_comparison=assumed))
    if not assumed:
        found.append(under(NOTHING, "training prevalence", quantifier.prior_))
    return tuple(found)
