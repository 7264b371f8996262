"""What the items of a sample show: the estimate and its limits, the estimate under each assumption,
whether there is a shift, and which kind of answer all this allows.

No data can prove an assumption; where the estimates agree, the reader need not choose. By default
the method tests itself (`guarded_evidence`). A method that the user has chosen is taken at its
word, unless the items contradict it. SubclassSLD weights several kinds of shift and reports the
estimate of each:

* An assumption is refuted if a test rejects it: prior shift by the shift test; a mixture of prior
  and covariate shift by the second stage of that test; pure covariate shift by the likelihood ratio
  to the mixture (less what noise in the training set explains).
* The estimate is based on assumptions that are not refuted.
* The limits contain the estimates under all of these. If prior shift is refuted, they span the
  intervals of the assumptions that have weight; outside the training support, of all of them.
* Assumptions that are neither tested nor allowed for are shown, and marked, for comparison.

If the held-out posteriors separate no class from all the others, or if all items of a sample look
the same although those of no training class do, or if the classifier is far surer of them than of
any in training, nothing can be estimated, and `no_estimate_reason` says why.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtri, softmax

from quantshift.answers.shares import by_class
from quantshift.base.progress import OnProgress, silent
from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices, Posteriors, Prevalences, Reals
from quantshift.claims import (
    Alternative,
    Assumption,
    Explanation,
    Kind,
    Reason,
    shares_by_assumption,
)
from quantshift.diagnosis.which_shift import shift_tests
from quantshift.intervals.fitted import Fitted
from quantshift.intervals.information import far_surer, indistinct, told_apart
from quantshift.intervals.prediction import Replicates, limits, stretched
from quantshift.items.items import Items
from quantshift.quantifiers.base.estimator import AbstractQuantifier, Estimate
from quantshift.quantifiers.likelihood.allowed_range import half_width
from quantshift.quantifiers.likelihood.shift_models import (
    AVERAGED,
    MODELS,
    OffersSubclasses,
    model_scores,
    training_evidence,
)
from quantshift.quantifying.declaration import makes_its_own_assumption
from quantshift.quantifying.estimating.guarded_evidence import GuardedSamples
from quantshift.quantifying.estimating.unlabelled import (
    Evidence,
    facts_of_chosen_method,
    facts_without_training,
)
from quantshift.quantifying.options import AUTO, EstimationOptions
from quantshift.quantifying.result import TEST_LEVEL, Shift
from quantshift.quantifying.training.methods import IF_COVARIATE_SHIFT
from quantshift.quantifying.training.model import Model
from quantshift.statistics.multiple_tests import holm

Limits = tuple[Reals, Reals]

KINDS = (Assumption.PRIOR, Assumption.COVARIATE, Assumption.BOTH, Assumption.LOCAL)
"""What the models of subclasses (`shift_models.MODELS`) assume."""

PRIOR_MODEL, COVARIATE_MODEL, MIXED_MODEL = (
    MODELS.index(name) for name in ("prior", "covariate", "mixed")
)

TEST_REPLICATES = 500

MOST_TESTED = 5_000
"""Larger samples are tested on this many random items; with more, trivial differences count."""

SOME_WEIGHT = 0.05
"""A kind of shift with less weight does not widen the interval."""

RESAMPLING = "resampling"
"""The step reported to `progress` while replicates are drawn."""

NO_BETTER_THAN_CHANCE = (
    "in cross-validation the classifier cannot tell the classes apart better than chance"
)
NONE_SEPARATED = (
    "in cross-validation the classifier can tell no class from all the others better than chance"
)
ALL_ALIKE = (
    "its items all look the same to the classifier, unlike those of any class in training, as if "
    "columns were empty or constant"
)
FAR_SURER = (
    "the classifier is far surer of most of its items than of any in training, as if a column came "
    "in another unit"
)
SAME_POSTERIORS = "all its items have the same posteriors"


def examine(
    model: Model,
    items: Items,
    samples: Sequence[Indices],
    options: EstimationOptions,
    *,
    seed: int,
    progress: OnProgress = silent,
    tested: GuardedSamples | None = None,
) -> list[Evidence]:
    """The evidence on every sample; all share the replicates of the training side.

    progress: called with the number of replicates done and in total. tested: the samples as
    `tested_samples` gives them, if they are tested and drawn already, for limits at another level.
    """
    if not samples:
        return []
    if model.tests_itself:
        if tested is None:
            tested = tested_samples(model, items, samples, options, seed, progress)
        found = zip(tested.evidence(options), samples, strict=True)
        examined = [_taught_by_groups(model, each, len(rows)) for each, rows in found]
        drawn, quantifier = tested.drawn, tested.drawn.quantifier
    elif options.declared.assumption != AUTO and not model.takes_posteriors_as_they_are:
        raise makes_its_own_assumption(model.method)
    else:
        quantifier = model.quantifier
        drawn, examined = _by_chosen_method(model, items, samples, options, seed, progress)
    decided = []
    for i, (rows, evidence) in enumerate(zip(samples, examined, strict=True)):
        no_estimate_reason = _no_estimate_reason(model, quantifier, items, rows, drawn, i)
        decided.append(evidence.refused(no_estimate_reason) if no_estimate_reason else evidence)
    return decided


def tested_samples(
    model: Model,
    items: Items,
    samples: Sequence[Indices],
    options: EstimationOptions,
    seed: int,
    progress: OnProgress,
) -> GuardedSamples:
    """The samples, tested and drawn again, for a method that tests itself."""
    tested = GuardedSamples.of(model, items, samples, options, seed)
    tested.resample(progress)
    return tested


def _by_chosen_method(
    model: Model,
    items: Items,
    samples: Sequence[Indices],
    options: EstimationOptions,
    seed: int,
    progress: OnProgress,
) -> tuple[Replicates, list[Evidence]]:
    """The evidence by a method that the user has chosen, whose assumption is thereby declared.

    Without labelled items, nobody has chosen: the estimate is the mean of the posteriors.
    """
    quantifier, level = model.quantifier, options.level
    subclasses = _subclasses(quantifier)
    drawn = Replicates(
        quantifier,
        items,
        samples,
        level=level,
        n_bootstrap=options.replicates,
        seed=seed,
        of=options.of,
        cross_fitted=model.scorer is not None,
    )
    p_hat = drawn.point.prevalence.copy()
    by_kind = np.empty((len(KINDS) if subclasses else 0, *drawn.values.shape))
    _resample(drawn, by_kind, progress)
    low, high = drawn.limits()
    progress("testing for shift", 0, 0)
    shifts = adjusted(_shifts(subclasses, items, samples, seed))
    alternatives = []
    for i, (rows, shift) in enumerate(zip(samples, shifts, strict=True)):
        if subclasses is None or shift is None:
            posteriors = model.posteriors(items)[rows]
            alternatives.append(_plain(model, posteriors, p_hat[i]))
            continue
        weighed = _Weighed.of(subclasses, drawn.point, i, int(drawn.sizes[i]), shift)
        p_hat[i] = weighed.best
        lows, highs = weighed.span(by_kind[:, i], int(drawn.sizes[i]), level, shift)
        low[i], high[i] = np.minimum(low[i], lows), np.maximum(high[i], highs)
        alternatives.append(weighed.alternatives(model))
    if options.simultaneous:
        low, high = stretched(p_hat, low, high, drawn.values, level)
    facts = [facts_of_chosen_method(shift) for shift in shifts]
    if model.takes_posteriors_as_they_are:
        facts = [facts_without_training(options.declared.assumption)] * len(samples)
        if facts[0].declared is None:
            low, high = np.zeros_like(low), np.ones_like(high)
    return drawn, [
        Evidence.of_sample(
            drawn,
            i,
            (p_hat[i], low[i], high[i]),
            simultaneous=options.simultaneous,
            alternatives=alternatives[i],
            shift=shift,
            facts=known,
        )
        for i, (shift, known) in enumerate(zip(shifts, facts, strict=True))
    ]


def wider_for_features(limits: Limits, covariate: Prevalences, sizes: Reals, auc: float) -> Limits:
    """Limits that allow for changes of features, of which scores show nothing.

    covariate: mean posteriors, (n_samples, n_classes); sizes: (n_samples,). auc: how well the
    samples may be separated from the training items.
    """
    low, high = limits
    h = half_width(covariate, np.full(len(sizes), auc), np.asarray(sizes, dtype=float))
    return (
        np.maximum(np.minimum(low, covariate - h), 0.0),
        np.minimum(np.maximum(high, covariate + h), 1.0),
    )


def _taught_by_groups(model: Model, evidence: Evidence, n_items: int) -> Evidence:
    """What the user's own groups teach.

    Where the answer is a range, they give the estimate and the range; if they are too few, or all
    unlike the sample, the range is widened to cover the errors on them. Where it is an interval
    because the assumptions agree, they say which share in it is the estimate. An interval that the
    items support becomes a range if the groups show that such support is no guarantee.
    """
    grounds, interval = evidence.grounds, evidence.interval
    if model.groups is None or grounds.reason is Reason.DECLARED:
        return evidence
    if grounds.kind is Kind.EITHER:
        # They show how far the truth may be from both.
        assert evidence.possible is not None
        low, high = evidence.possible
        facts = replace(evidence.facts, length=None)
        interval = replace(interval, low=low, high=high)
        evidence = replace(evidence, interval=interval, facts=facts)
        grounds = evidence.grounds
    untaught = _widened_by_groups(model, evidence) if grounds.kind.is_range else evidence
    # Imported here: most calls have no groups.
    from quantshift.quantifying.training.learnt_from_groups import GroupLesson, GroupShares

    by_prior, by_mean = type(model.base).__name__, IF_COVARIATE_SHIFT.__name__
    lesson = GroupLesson.of(model.groups, by_mean, by_prior)
    found = shares_by_assumption(evidence.alternatives)
    if lesson is None or not {Assumption.PRIOR, Assumption.COVARIATE} <= found.keys():
        return untaught
    covariate, prior = found[Assumption.COVARIATE], found[Assumption.PRIOR]
    training = np.asarray(model.base.prior_)
    shares = GroupShares(training, covariate, prior, interval.prevalence)
    if not lesson.applies(shares, grounds.reason):
        return untaught
    supported = grounds.reason is Reason.EVIDENCE
    p_hat = lesson.estimate(shares, supported=supported)
    if grounds.reason is Reason.AGREEMENT:
        low, high = np.minimum(interval.low, p_hat), np.maximum(interval.high, p_hat)
    else:
        low, high = lesson.limits(
            *(p_hat, interval.level, n_items, interval.low, interval.high),
            like_the_past=lesson.is_like_the_past(shares, grounds.reason),
        )
    taught_by = Assumption.PERIODS if lesson.in_time else Assumption.GROUPS
    learnt = Alternative(taught_by, model.method, by_class(model.classes, p_hat))
    return replace(
        evidence,
        interval=replace(interval, prevalence=p_hat, low=low, high=high),
        alternatives=(*evidence.alternatives, learnt),
        facts=replace(evidence.facts, rests_on=taught_by),
    )


def _widened_by_groups(model: Model, evidence: Evidence) -> Evidence:
    """The range, widened to cover the errors on the user's own groups."""
    interval = evidence.interval
    assert model.groups is not None
    # Imported here: most calls have no groups.
    from quantshift.quantifying.training.left_out_groups import reach

    by_mean = evidence.facts.rests_on is Assumption.COVARIATE
    method = IF_COVARIATE_SHIFT.__name__ if by_mean else model.method
    distance = reach(model.groups, method, interval.level)
    low = np.maximum(np.minimum(interval.low, interval.prevalence - distance), 0.0)
    high = np.minimum(np.maximum(interval.high, interval.prevalence + distance), 1.0)
    return replace(evidence, interval=replace(interval, low=low, high=high))


def _resample(drawn: Replicates, by_kind: Reals, progress: OnProgress) -> None:
    """Draw the replicates. by_kind: filled with those under each kind of shift, as in KINDS."""
    n_samples, n_bootstrap, _ = drawn.values.shape
    done = 0
    for columns, replicate in drawn.estimates():
        for kind in range(len(by_kind)):
            prevalence = replicate.diagnostics["model_prevalence"][:, kind]
            by_kind[kind][:, columns] = prevalence.reshape(n_samples, len(columns), -1)
        done += len(columns)
        progress(RESAMPLING, done, n_bootstrap)


def _subclasses(quantifier: AbstractQuantifier) -> OffersSubclasses | None:
    """The quantifier, if it can distinguish kinds of shift."""
    if isinstance(quantifier, OffersSubclasses) and len(quantifier.model_.shares) > 1:
        return quantifier
    return None


def _no_estimate_reason(
    model: Model,
    quantifier: Fitted,
    items: Items,
    rows: Indices,
    drawn: Replicates,
    i: int,
) -> str:
    """Why nothing can be estimated from a sample; empty if something can."""
    if not model.is_trained:
        return SAME_POSTERIORS if drawn.alike[i] else ""
    apart, alike = drawn.apart, bool(drawn.alike[i])
    held_out, codes = model.held_out
    if "posteriors" not in quantifier.tags.sees:
        # The method does not use a classifier; ask the one that was trained alongside it.
        apart = told_apart(held_out, codes, crisp=False, cross_fitted=model.scorer is not None)
        alike = items.posteriors is not None and indistinct(items.posteriors[rows], held_out, codes)
    if items.posteriors is not None and far_surer(items.posteriors[rows], held_out):
        return FAR_SURER
    if not apart.all(axis=1).any():
        n_groups, _ = connected_components(~apart, directed=False)
        return NO_BETTER_THAN_CHANCE if n_groups == 1 else NONE_SEPARATED
    return ALL_ALIKE if alike else ""


def _shifts(
    quantifier: OffersSubclasses | None,
    items: Items,
    samples: Sequence[Indices],
    seed: int,
) -> Sequence[Shift | None]:
    """The verdicts of the shift test; None if kinds of shift cannot be distinguished."""
    if quantifier is None:
        return [None] * len(samples)
    tests = shift_tests(
        quantifier,
        items,
        [_tested(rows, seed) for rows in samples],
        level=TEST_LEVEL,
        n_bootstrap=TEST_REPLICATES,
        random_state=seed,
    )
    return [
        Shift(
            rejected=test.p_value < TEST_LEVEL or test.out_of_support,
            kind=Explanation.OUTSIDE if test.out_of_support else Explanation(test.kind),
            p_value=test.p_value,
            p_floor=1 / (TEST_REPLICATES + 1),
        )
        for test in tests
    ]


def _tested(rows: Indices, seed: int) -> Indices:
    if len(rows) <= MOST_TESTED:
        return rows
    rng = generator(seed, purpose="shift test: items", n_items=len(rows))
    return rows[rng.choice(len(rows), MOST_TESTED, replace=False)]


@dataclass(frozen=True, eq=False)
class _Weighed:
    """The kinds of shift of one sample, in the order of `MODELS`.

    best: the estimate to show. unweighed: true outside the training support, or if the clusters do
    not define subclasses; then every kind of shift that is not refuted is possible.
    """

    prevalence: Prevalences
    weight: Reals
    refuted: Flags
    for_comparison: Flags
    unweighed: bool
    best: Prevalences

    @classmethod
    def of(
        cls, quantifier: OffersSubclasses, estimate: Estimate, i: int, size: int, shift: Shift
    ) -> "_Weighed":
        diagnostics = {name: values[i] for name, values in estimate.diagnostics.items()}
        by_model, fit = diagnostics["model_prevalence"], diagnostics["log_likelihood"]
        fitted = quantifier.model_, by_model[PRIOR_MODEL][np.newaxis]
        evidence = float(training_evidence(*fitted, size)[0, 0])
        ratio = 2 * evidence * (fit[MIXED_MODEL] - fit[COVARIATE_MODEL])
        refuted = np.zeros(len(MODELS), dtype=bool)
        refuted[COVARIATE_MODEL] = ratio > chdtri(by_model.shape[1] - 1, TEST_LEVEL)
        if shift.kind in (Explanation.COVARIATE, Explanation.LOCAL):
            refuted[PRIOR_MODEL] = True
        if shift.kind is Explanation.LOCAL:
            refuted[[COVARIATE_MODEL, MIXED_MODEL]] = True
        outside = shift.kind is Explanation.OUTSIDE or bool(diagnostics["fallback"])
        if outside:
            refuted[:] = False
        # Clusters that add nothing to the classifier cannot distinguish other shifts from prior
        # shift, which was not rejected.
        for_comparison = np.zeros(len(MODELS), dtype=bool)
        if not quantifier.divided_ and not shift.rejected:
            for_comparison[:] = np.arange(len(MODELS)) != PRIOR_MODEL
            refuted[:] = False
        best, weight = estimate.prevalence[i], diagnostics["model_weight"]
        if refuted[PRIOR_MODEL]:
            allowed = ~refuted & (AVERAGED if quantifier.divided_ else True)
            score = np.where(allowed, model_scores(*fitted, fit[np.newaxis], size)[0], -np.inf)
            weight = softmax(score)
            best = weight @ by_model
            best = best / best.sum()
        return cls(
            by_model,
            weight,
            refuted,
            for_comparison,
            outside or not quantifier.divided_,
            np.asarray(best),
        )

    def span(self, replicates: Prevalences, size: int, level: float, shift: Shift) -> Limits:
        """Limits that contain the estimates under all kinds of shift that are not refuted."""
        possible = ~(self.refuted | self.for_comparison)
        points = np.vstack([self.prevalence[possible], self.best])
        low, high = points.min(axis=0), points.max(axis=0)
        if shift.rejected:
            chosen = possible & ((self.weight >= SOME_WEIGHT) | self.unweighed)
            p_hat = self.prevalence[chosen]
            lows, highs = limits(p_hat, replicates[chosen], [size] * len(p_hat), level)
            low, high = np.minimum(low, lows.min(axis=0)), np.maximum(high, highs.max(axis=0))
        return low, high

    def alternatives(self, model: Model) -> tuple[Alternative, ...]:
        """The estimates under each assumption as they are reported."""
        return tuple(
            Alternative(
                kind,
                model.method,
                by_class(model.classes, self.prevalence[k]),
                float(self.weight[k]),
                refuted=bool(self.refuted[k]),
                for_comparison=bool(self.for_comparison[k]),
            )
            for k, kind in enumerate(KINDS)
        )


def _plain(model: Model, posteriors: Posteriors, p_hat: Prevalences) -> tuple[Alternative, ...]:
    """The method's own estimate, and those of two that stand for kinds of shift."""
    if not model.is_trained:
        return (Alternative(Assumption.POSTERIORS, model.method, by_class(model.classes, p_hat)),)
    estimates = {
        type(model.base).__name__: (Assumption.PRIOR, model.base.aggregate(posteriors)),
        IF_COVARIATE_SHIFT.__name__: (Assumption.COVARIATE, posteriors.mean(axis=0)),
    }
    if model.method not in estimates:
        estimates = {model.method: (Assumption.METHOD, p_hat), **estimates}
    return tuple(
        Alternative(
            assumption,
            method,
            by_class(model.classes, p),
            for_comparison=method != model.method,
        )
        for method, (assumption, p) in estimates.items()
    )


def with_adjusted_p_values(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence on all batches, with p-values of the shift test adjusted for their number."""
    shifts = adjusted([each.shift for each in evidence])
    return [replace(each, shift=shift) for each, shift in zip(evidence, shifts, strict=True)]


def adjusted(shifts: Sequence[Shift | None]) -> list[Shift | None]:
    """The verdicts of the shift test with p-values adjusted for the number of batches.

    Kinds of answers are decided afterwards: among many batches some are unlike training by chance.
    """
    p_values = iter(holm([shift.p_value for shift in shifts if shift is not None]))
    n_tested = sum(shift is not None for shift in shifts)
    return [
        None if shift is None else replace(shift, p_adjusted=next(p_values), n_tested=n_tested)
        for shift in shifts
    ]
