"""What an answer stands on where only posteriors are known.

Without features two of the tests of label shift remain, `score` and `fit`, and a change of features
that leaves the scores plausible goes unnoticed. So nothing that a sample shows is evidence for
label shift: an answer is a confidence interval if it is declared, or if the assumptions agree.
How well the sample could be separated from the training items is not known either, and the range
is that of a rather large difference.
"""

from collections.abc import Sequence

import numpy as np

from quantshift.base.types import Indices, Posteriors
from quantshift.errors import unknown_name
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.guarding import (
    AGREEING_SCORES,
    COVARIATE,
    DECLARATIONS,
    PRIOR,
    Grounds,
    kinds_of,
)
from quantshift.quantifiers.base.items import Items, effective_size
from quantshift.quantifiers.likelihood.allowed_range import half_width, range_limits
from quantshift.quantifiers.likelihood.score_test import LEVEL, ScoredTraining
from quantshift.quantifiers.likelihood.sld import SLD

UNKNOWN_AUC = 0.75
"""How well the sample may be separated from the training items, as far as is known."""


def posterior_grounds(
    quantifier: SLD,
    posteriors: Posteriors,
    samples: Sequence[Indices],
    *,
    assume: str | None = None,
    weights: Weights | None = None,
) -> Grounds:
    """Grounds of the answers about samples of items with known posteriors.

    quantifier: SLD, fitted with held-out posteriors of the training items. After a refutation the
    estimate is the mean posterior, as that of `GuardedSLD` for columns.
    """
    if assume not in DECLARATIONS:
        raise unknown_name("assumption", assume, [PRIOR, COVARIATE])
    held_out, codes = quantifier.held_out_posteriors_, quantifier.held_out_codes_
    no_features = np.empty((len(codes), 0))
    training = ScoredTraining.of(
        held_out, codes, no_features, weights=quantifier.held_out_.weights, seed=quantifier.seed
    )
    placed = training.place(posteriors[np.newaxis])
    sample_weights = [None if weights is None else weights[rows] for rows in samples]
    tests = [
        training.test(training.counts_of(placed[:, rows], w), np.empty(0))
        for rows, w in zip(samples, sample_weights, strict=True)
    ]
    prior = quantifier.estimate_items(Items(posteriors, weights=weights), list(samples)).prevalence
    q = quantifier.calibrator_(posteriors)
    covariate, variance = (
        np.stack(
            [
                np.average(v[rows], axis=0, weights=w)
                for rows, w in zip(samples, sample_weights, strict=True)
            ]
        )
        for v in (q, q * (1 - q))
    )
    sizes = np.array(
        [
            float(len(rows)) if w is None else effective_size(w)
            for rows, w in zip(samples, sample_weights, strict=True)
        ]
    )
    refuted = np.array([min(test.score, test.fit) < LEVEL for test in tests])
    auc = np.full(len(tests), UNKNOWN_AUC)
    low, high = range_limits(
        covariate,
        prior,
        (prior, np.stack([test.error for test in tests])),
        half_width(covariate, auc, sizes),
        refuted=refuted,
        by_features=np.zeros_like(refuted),
    )
    rests_on = (
        np.where(refuted, COVARIATE, PRIOR) if assume is None else np.full(len(tests), assume)
    )
    estimate = np.where((rests_on == COVARIATE)[:, np.newaxis], covariate, prior)
    kind, reason = kinds_of(
        assume,
        refuted=refuted,
        doubles=np.ones(len(tests)),
        apart=np.abs(prior - covariate).max(axis=1),
        width=(high - low).max(axis=1),
        informative=not quantifier.is_uninformative_,
        agreeing=AGREEING_SCORES,
    )
    unknown = np.full(len(tests), np.nan)
    return Grounds(
        kind=kind,
        reason=reason,
        rests_on=rests_on,
        estimate=estimate,
        prior=prior,
        covariate=covariate,
        mixed=prior,
        low=np.minimum(low, estimate),
        high=np.maximum(high, estimate),
        p_values={
            name: np.array([getattr(test, name) for test in tests])
            for name in ("score", "fit", "doubles")
        },
        power=np.array([test.power for test in tests]),
        support=np.array([test.support for test in tests]),
        refuted=refuted,
        in_doubt=np.zeros_like(refuted),
        auc=unknown,
        z=unknown,
        explained=unknown,
        covariate_by_classifier=covariate[:, np.newaxis],
        members=covariate[:, np.newaxis],
        label_variance=variance,
    )
