"""What samples show where only posteriors are known.

Without features two of the tests of label shift remain, `score` and `fit`, and a change of features
that leaves the scores plausible goes unnoticed. So nothing that a sample shows is evidence for
label shift: an answer is a confidence interval if it is declared, or if the assumptions agree.
How well the sample could be separated from the training items is not known either, and the range
is that of a rather large difference.
"""

from collections.abc import Sequence

import numpy as np

from quantshift.base.types import Indices, Posteriors
from quantshift.claims import AGREEING_SCORES, Assumption
from quantshift.errors import unknown_name
from quantshift.items.items import Items, effective_size
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.guarding import DECLARATIONS, ExaminedSamples
from quantshift.quantifiers.likelihood.allowed_range import half_width, range_limits
from quantshift.quantifiers.likelihood.examined import agreed_estimates, facts_of
from quantshift.quantifiers.likelihood.score_test import LEVEL, ScoredTraining
from quantshift.quantifiers.likelihood.sld import SLD
from quantshift.quantifiers.likelihood.two_intervals import two_intervals

UNKNOWN_AUC = 0.75
"""How well the sample may be separated from the training items, as far as is known."""


def examined_posteriors(
    quantifier: SLD,
    posteriors: Posteriors,
    samples: Sequence[Indices],
    *,
    assume: str | None = None,
    weights: Weights | None = None,
) -> ExaminedSamples:
    """What is known of samples of items with known posteriors.

    quantifier: SLD, fitted with held-out posteriors of the training items. After a refutation the
    estimate is the mean posterior, as that of `GuardedSLD` for columns.
    """
    if assume not in DECLARATIONS:
        raise unknown_name("assumption", assume, [Assumption.PRIOR, Assumption.COVARIATE])
    training = _scored_training(quantifier)
    placed = training.place(posteriors[np.newaxis])
    weighted = [(rows, None if weights is None else weights[rows]) for rows in samples]
    tests = [
        training.test(training.counts_of(placed[:, rows], w), np.empty(0)) for rows, w in weighted
    ]
    prior = quantifier.estimate_items(Items(posteriors, weights=weights), list(samples)).prevalence
    q = quantifier.calibrator_(posteriors)
    covariate, variance = (
        np.stack([np.average(v[rows], axis=0, weights=w) for rows, w in weighted])
        for v in (q, q * (1 - q))
    )
    sizes = np.array([float(len(rows)) if w is None else effective_size(w) for rows, w in weighted])
    refuted = np.array([min(test.score, test.fit) < LEVEL for test in tests])
    auc = np.full(len(tests), UNKNOWN_AUC)
    by_prior = prior, np.stack([test.error for test in tests])
    h = half_width(covariate, auc, sizes)
    low, high = range_limits(
        *(covariate, prior, by_prior, h),
        refuted=refuted,
        by_features=np.zeros_like(refuted),
    )
    either = two_intervals(by_prior, covariate, h)
    declared = None if assume is None else Assumption(assume)
    rests_on = [
        declared or (Assumption.COVARIATE if each else Assumption.PRIOR)
        for each in refuted.tolist()
    ]
    by_mean = np.array([each is Assumption.COVARIATE for each in rests_on])
    estimate = np.where(by_mean[:, np.newaxis], covariate, prior)
    facts = facts_of(
        rests_on,
        declared=declared,
        refuted=refuted,
        doubles=np.ones(len(tests)),
        apart=np.abs(prior - covariate).max(axis=1),
        width=(high - low).max(axis=1),
        length=(either[1] - either[0]).sum(axis=1).max(axis=1),
        sizes=sizes,
        informative=not quantifier.is_uninformative_,
        agreeing=AGREEING_SCORES,
    )
    unknown = np.full(len(tests), np.nan)
    return ExaminedSamples(
        facts=facts,
        estimate=agreed_estimates(facts, estimate, by_prior, covariate),
        prior=prior,
        covariate=covariate,
        mixed=prior,
        low=np.minimum(low, estimate),
        high=np.maximum(high, estimate),
        either_low=either[0],
        either_high=either[1],
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


def _scored_training(quantifier: SLD) -> ScoredTraining:
    """The training items, of which nothing is known but their held-out posteriors."""
    codes = quantifier.held_out_codes_
    return ScoredTraining.of(
        quantifier.held_out_posteriors_,
        codes,
        np.empty((len(codes), 0)),
        weights=quantifier.held_out_.weights,
        seed=quantifier.random_state,
    )
