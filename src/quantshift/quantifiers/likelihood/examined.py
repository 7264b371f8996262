"""What `GuardedSLD` finds in samples: its estimates and tests, put together.

The tests of the scores and columns (`score_test`) take longer than an estimate. Those of columns
are part of it; those of signals, which do not change it, are made when samples are examined.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Flags, Prevalences, Reals
from quantshift.claims import AGREEING, Assumption, Facts, Reason, decide
from quantshift.quantifiers.base.estimator import Diagnostics
from quantshift.quantifiers.base.guarding import ExaminedSamples
from quantshift.quantifiers.likelihood.allowed_range import (
    half_width,
    joint_limits,
    on_the_way,
    range_limits,
)
from quantshift.quantifiers.likelihood.goodness_of_fit import LEAST_AUC, LEAST_Z
from quantshift.quantifiers.likelihood.score_test import LEVEL, ShiftEvidence
from quantshift.quantifiers.likelihood.two_intervals import agreed, around_mean, two_intervals

BY_SCORES, BY_FEATURES = ("score", "fit"), ("column", "columns")
"""The tests of `score_test` that can refute label shift."""

P_VALUES = (*BY_SCORES, *BY_FEATURES, "doubles")


def in_arrays(tests: Sequence[ShiftEvidence]) -> Diagnostics:
    """The results of tests, a row per sample: `p_values` has a column for each of `P_VALUES`."""
    return {
        "p_values": np.array([[getattr(test, name) for name in P_VALUES] for test in tests]),
        "power_against_doubles": np.array([[test.power] for test in tests]),
        "support": np.array([[test.support] for test in tests]),
        "prior_error": np.stack([test.error for test in tests]),
    }


def refuting(diagnostics: Diagnostics, names: Sequence[str]) -> Flags:
    """Whether one of the named tests refutes label shift, (n_samples,)."""
    columns = [P_VALUES.index(name) for name in names]
    return np.asarray(diagnostics["p_values"][:, columns].min(axis=1) < LEVEL)


def examined(
    p_hat: Prevalences,
    diagnostics: Diagnostics,
    rests_on: Sequence[Assumption],
    *,
    declared: Assumption | None,
    chosen: int,
    tested_prior: bool,
    informative: bool,
) -> ExaminedSamples:
    """What is known of samples, from their estimates, diagnostics and tests.

    chosen: the position of the classifier that is used. tested_prior: whether `refuted` is about
    prior shift, so that tests of columns count. informative: whether the classifier knows the
    classes.
    """
    covariate, refuted = diagnostics["covariate"], diagnostics["refuted"]
    prior = diagnostics["prior_by_classifier"][:, chosen]
    by_features = (diagnostics["auc"] > LEAST_AUC) & (diagnostics["z"] > LEAST_Z)
    if tested_prior:
        by_features |= refuting(diagnostics, BY_FEATURES)
    sizes = diagnostics["cell_counts"].sum(axis=1)
    low, high = range_limits(
        covariate,
        diagnostics["mixed"],
        (prior, diagnostics["prior_error"]),
        half_width(covariate, diagnostics["auc"], sizes),
        refuted=refuted,
        by_features=by_features,
    )
    if tested_prior:
        jointly = diagnostics["jointly_low"], diagnostics["jointly_high"]
        widened = joint_limits(covariate, jointly, sizes)
        low, high = (
            np.where(by_features[:, np.newaxis], new, old)
            for new, old in zip(widened, (low, high), strict=True)
        )
        is_refuted = (refuted | refuting(diagnostics, (*BY_SCORES, *BY_FEATURES)))[:, np.newaxis]
        narrower = on_the_way(covariate, diagnostics["auc"], sizes, (low, high))
        low, high = (
            np.where(is_refuted, new, old) for new, old in zip(narrower, (low, high), strict=True)
        )
    low, high = np.minimum(low, p_hat), np.maximum(high, p_hat)
    either = two_intervals(
        (prior, diagnostics["prior_error"]), covariate, around_mean(covariate, sizes)
    )
    p_values = dict(zip(P_VALUES, diagnostics["p_values"].T, strict=True))
    facts = facts_of(
        rests_on,
        declared=declared,
        refuted=refuted | refuting(diagnostics, (*BY_SCORES, *BY_FEATURES)),
        doubles=p_values["doubles"],
        apart=np.abs(prior - covariate).max(axis=1),
        width=(high - low).max(axis=1),
        length=(either[1] - either[0]).sum(axis=1).max(axis=1),
        sizes=sizes,
        informative=informative,
    )
    same = ("covariate", "mixed", "refuted", "in_doubt", "auc", "z", "explained")
    more = ("covariate_by_classifier", "members", "label_variance")
    return ExaminedSamples(
        facts=facts,
        estimate=agreed_estimates(facts, p_hat, (prior, diagnostics["prior_error"]), covariate),
        prior=prior,
        low=low,
        high=high,
        either_low=either[0],
        either_high=either[1],
        p_values=p_values,
        power=diagnostics["power_against_doubles"][:, 0],
        support=diagnostics["support"][:, 0],
        **{name: diagnostics[name] for name in (*same, *more)},
    )


def agreed_estimates(
    facts: NDArray[np.object_],
    p_hat: Prevalences,
    prior: tuple[Prevalences, Reals],
    covariate: Prevalences,
) -> Prevalences:
    """The estimates, which are between those of the two assumptions where these agree."""
    agree = np.array([decide(each).reason is Reason.AGREEMENT for each in facts], dtype=bool)
    return np.where(agree[:, np.newaxis], agreed(prior, covariate), p_hat)


def facts_of(
    rests_on: Sequence[Assumption],
    *,
    declared: Assumption | None,
    refuted: Flags,
    doubles: Reals,
    apart: Reals,
    width: Reals,
    length: Reals,
    sizes: Reals,
    informative: bool,
    agreeing: float = AGREEING,
) -> NDArray[np.object_]:
    """What the kinds of the answers about samples depend on; see `Facts`.

    Where an assumption is declared, it counts whatever the classifier knows.
    """
    facts = np.empty(len(rests_on), dtype=object)
    for i, assumption in enumerate(rests_on):
        facts[i] = Facts(
            rests_on=assumption,
            declared=declared,
            refuted=bool(refuted[i]),
            doubles=float(doubles[i]),
            apart=float(apart[i]),
            agreeing=agreeing,
            allowed=float(width[i]),
            width=float(width[i]),
            length=float(length[i]),
            n_items=round(float(sizes[i])),
            informative=informative or declared is not None,
        )
    return facts
