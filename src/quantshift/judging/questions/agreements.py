"""Which judge agrees better with people, and what a judge adds to the labels.

Two judges are compared on the same labelled items: on each of them one agrees with people, or the
other, or both, or neither. With labels that count alike the p-value is that of McNemar's exact
test, and the limits are those of Bonett and Price, who add an item on which one judge alone agrees
and another on which the other does. Labels with weights, or in clusters, have the same limits by
the sums of what they add to the difference. For ordered classes, where a judge that always says the
middle is never far off, weighted kappas are compared, by what each label adds to their difference.

References: Q. McNemar, "Note on the sampling error of the difference between correlated proportions
or percentages", Psychometrika 12 (1947); D. Bonett and R. Price, "Adjusted Wald confidence interval
for a difference of binomial proportions based on paired data", Journal of Educational and
Behavioral Statistics 37 (2012).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.special import betainc, ndtri, stdtrit

from quantshift.base.types import Reals
from quantshift.judging.designs.design import Design, LabelsStandFor
from quantshift.judging.estimating.clustering import allowing_for_clusters
from quantshift.judging.estimating.differences import (
    LabelVariance,
    adjusted_for_number,
    labels_to_decide,
    p_value_of,
)
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.estimating.labelled_items import LabelledItems
from quantshift.judging.items.judged_items import JudgedItems, Settings
from quantshift.judging.items.meaning import Meaning
from quantshift.judging.result import JudgeComparison, LabelsAlone
from quantshift.labelling import strata

AGREEMENT, WEIGHTED_KAPPA = "agreement", "weighted kappa"
"""What judges are compared by."""
FEWEST_LABELS = 10
"""With fewer, judges are not compared."""


def compared_judges(
    labelled: LabelledItems, judges: Sequence[str], level: float
) -> tuple[JudgeComparison, ...]:
    """All pairs of judges, with p-values that allow for the number of pairs."""
    if labelled.verdicts is None or len(labelled) < FEWEST_LABELS:
        return ()
    comparable = [j for j in range(len(judges)) if _says_classes(labelled.meaning, j)]
    compared = _kappas_compared if labelled.meaning.ordered else _compared
    rows = [
        compared(labelled, (judges[i], judges[j]), (i, j), level)
        for i, j in combinations(comparable, 2)
    ]
    return tuple(adjusted_for_number(rows, level))


def _says_classes(meaning: Meaning, judge: int) -> bool:
    """Whether a judge can be compared: kappa needs verdicts that all say a class."""
    says = meaning.says[judge]
    return all(c >= 0 for c in says) if meaning.ordered else sum(c >= 0 for c in says) > 1


def _agreement(labelled: LabelledItems, judge: int) -> Reals:
    """On which items a judge agrees with people, (n,); a verdict without a class never does."""
    return np.asarray(labelled.says(judge) == labelled.labels, dtype=np.float64)


def kappa_and_parts(labelled: LabelledItems, judge: int) -> tuple[float, Reals]:
    """Weighted kappa of ordered classes, and what each label adds to it to first order, (n,)."""
    says, y, K = labelled.says(judge), labelled.labels, len(labelled.meaning.classes)
    w = labelled.weights / labelled.weights.sum()
    apart = np.subtract.outer(np.arange(K), np.arange(K)) ** 2.0
    by_judge, by_people = (np.bincount(codes, weights=w, minlength=K) for codes in (says, y))
    observed, expected = float(w @ apart[says, y]), float(by_judge @ apart @ by_people)
    if expected <= 0:
        return 0.0, np.zeros(len(y))
    by_chance = (apart @ by_people)[says] + (by_judge @ apart)[y] - 2 * expected
    moved = -(apart[says, y] - observed) / expected + observed / expected**2 * by_chance
    return 1 - observed / expected, np.asarray(w * moved)


def _kappas_compared(
    labelled: LabelledItems, names: tuple[str, str], judges: tuple[int, int], level: float
) -> JudgeComparison:
    (ours, part), (theirs, other) = (kappa_and_parts(labelled, j) for j in judges)
    sums = labelled.sums((part - other)[:, np.newaxis])[:, 0]
    m = len(sums)
    variance = float((sums**2).sum()) * m / max(m - 1, 1)
    margin = float(stdtrit(max(m - 1, 1), (1 + level) / 2)) * float(np.sqrt(variance))
    limits = ours - theirs - margin, ours - theirs + margin
    p_value = p_value_of(ours - theirs, *limits, level, 0.0)
    return _row(labelled, names, (ours, theirs), (*limits, variance), p_value, level)


def _compared(
    labelled: LabelledItems, names: tuple[str, str], judges: tuple[int, int], level: float
) -> JudgeComparison:
    ours, theirs = (_agreement(labelled, j) for j in judges)
    w = labelled.weights / labelled.weights.sum()
    apart = ours - theirs
    difference = float(w @ apart)
    low, high, variance = _limits(labelled, apart, level)
    p_value = p_value_of(difference, low, high, level, 0.0)
    if labelled.count_alike:
        better = int((apart > 0).sum())
        differ = better + int((apart < 0).sum())
        p_value = _sign_test(min(better, differ - better), differ)
    rates = float(w @ ours), float(w @ theirs)
    return _row(labelled, names, rates, (low, high, variance), p_value, level)


def _sign_test(fewer: int, differ: int) -> float:
    """The p-value of both judges being better equally often; fewer: at most half of `differ`."""
    # The lower tail of a binomial distribution (DLMF 8.17.5); bdtr has fewer digits for many items.
    return min(2 * float(betainc(differ - fewer, fewer + 1, 0.5)), 1.0) if differ else 1.0


def _row(
    labelled: LabelledItems,
    names: tuple[str, str],
    rates: tuple[float, float],
    limits: tuple[float, float, float],
    p_value: float,
    level: float,
) -> JudgeComparison:
    """The comparison as a row; limits: those of the difference, and its variance."""
    difference, (low, high, variance) = rates[0] - rates[1], limits
    n = len(labelled)
    distance = difference - low if difference > 0 else high - difference
    return JudgeComparison(
        judge=names[0],
        other=names[1],
        label=WEIGHTED_KAPPA if labelled.meaning.ordered else AGREEMENT,
        n_labels=n,
        agreement=rates[0],
        other_agreement=rates[1],
        estimate=difference,
        low=low,
        high=high,
        p_value=p_value,
        p_adjusted=p_value,
        more_than_chance=p_value < 1 - level,
        labels_to_decide=labels_to_decide(
            difference, distance, level, LabelVariance(variance, 0.0, n, None, of_items=False)
        ),
        of_labelled_alone=labelled.standing_for is LabelsStandFor.THEMSELVES,
    )


def _limits(labelled: LabelledItems, apart: Reals, level: float) -> tuple[float, float, float]:
    """Limits of a weighted mean of differences between -1 and 1, and its variance.

    Two items are added, of differences 1 and -1, each as heavy as labels are on average.
    """
    w = labelled.weights / labelled.weights.sum()
    more = float((w**2).sum())
    total = 1 + 2 * more
    middle = float(w @ apart) / total
    sums = labelled.sums((w * (apart - middle) / total)[:, np.newaxis])[:, 0]
    added = (more / total) ** 2 * ((1 - middle) ** 2 + (1 + middle) ** 2)
    variance = float((sums**2).sum()) + added
    quantile = float(ndtri((1 + level) / 2))
    if labelled.clusters is not None:
        quantile = float(stdtrit(max(len(sums) - 1, 1), (1 + level) / 2))
    margin = quantile * np.sqrt(variance)
    difference = float(w @ apart)
    return min(middle - margin, difference), max(middle + margin, difference), variance


def labels_alone(
    labellings: Sequence[JudgedItems], judged: Judged, lead: int, settings: Settings
) -> LabelsAlone | None:
    """What as many random labels would say about a class without the judge.

    labellings: the items, twice if people are undecided, with either label. None if labels say
    nothing without a judge, or too little. For labels that were chosen by verdict it is what random
    ones would be expected to say.
    """
    design, shares, k = judged.design, judged.shares, judged.n_labelled
    items = labellings[0]
    can_do_without = design.labelled_are_items and items.external is None
    if not can_do_without or k < FEWEST_LABELS or shares.no_estimate_reason:
        return None
    limits = [_limits_alone(one, judged, design, settings) for one in labellings]
    alone = [(low[lead], high[lead]) for low, high in filter(None, limits)]
    if len(alone) < len(limits):
        return None
    low, high = map(float, np.mean(alone, axis=0))
    width = float(shares.high[lead] - shares.low[lead])
    ratio = width / (high - low) if high > low else 1.0
    n = len(items)
    all_labelled = 1 / n if settings.of_items else 0.0
    rest = ratio**2 * (1 / k - all_labelled) + all_labelled
    worth = int(np.ceil(1 / rest)) - k if rest > 0 else None
    if worth is not None and k + worth > n:
        worth = None
    return LabelsAlone(low, high, max(1 - ratio, 0.0), worth if ratio < 1 else 0)


def _limits_alone(
    items: JudgedItems, judged: Judged, design: Design, settings: Settings
) -> tuple[Reals, Reals] | None:
    if design.labels_stand_for is LabelsStandFor.ALL_ITEMS:
        silent = replace(
            items, verdicts=np.zeros((len(items), 1), dtype=np.int64), score=None, raw_score=None
        )
        estimate = design.estimate(silent, settings).within_limits()
        estimate = allowing_for_clusters(estimate, silent, design, settings)
        return None if estimate.no_estimate_reason else (estimate.low, estimate.high)
    chosen = (LabelsStandFor.THEIR_VERDICT, LabelsStandFor.THEIR_STRATUM)
    if design.labels_stand_for not in chosen or items.clusters is not None:
        return None
    k, n = judged.n_labelled, len(items)
    counted = strata.stratified(
        np.ones(1),
        k * judged.shares.prevalence[np.newaxis],
        items.n_effective,
        level=settings.level,
        unseen=strata.UNSEEN_AT_RANDOM,
        covered=np.array([k / n]) if settings.of_items else None,
    )
    return counted.low, counted.high
