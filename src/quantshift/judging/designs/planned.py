"""Labels drawn by a plan: the probability with which each item was chosen is known, or its stratum.

Items with one probability are a stratum; if there are many probabilities, items with similar ones
are. If all have the same, they are random items, and the verdicts help as they do there.
"""

import numpy as np

from quantshift.base.types import Flags, Reals
from quantshift.judging.designs.at_random import AtRandom
from quantshift.judging.designs.design import Check, Design, LabelsStandFor
from quantshift.judging.designs.parts.judge_quality import JudgeCounts, Quality, quality_by_verdict
from quantshift.judging.designs.parts.label_evidence import Clue, LabelEvidence
from quantshift.judging.designs.parts.plan_strata import SAME
from quantshift.judging.designs.parts.share_estimate import (
    ShareEstimate,
    allowing_for_unlike,
    missed_by_chance,
)
from quantshift.judging.designs.parts.verdict_strata import in_strata
from quantshift.judging.items.judged_items import JudgedItems, Settings
from quantshift.labelling import strata

MOST_STRATA = 12


class Planned(Design):
    """A sheet that `plan judge` has drawn."""

    name = "planned"
    chosen = "drawn by a plan"
    words = "drawn by a plan, with known probabilities"
    help = ""
    assumption = (
        "The labelled items were drawn with the probabilities of the plan; nothing is assumed of "
        "the judge."
    )
    source = "as the sheet says"
    cannot_be_stated = "the sheet of a plan shows it; give the sheet as the labelled table"
    cannot_be_planned = "say how the plan chooses items"
    labelled_are_items = True
    shares_labels = False
    uses_labels = True
    labels_stand_for = LabelsStandFor.THEIR_STRATUM

    def is_implied_by(self, items: JudgedItems) -> bool:
        """It is known how the labelled items were drawn."""
        return items.drawn is not None

    def clue(self, items: JudgedItems, evidence: LabelEvidence) -> Clue | None:
        """None: a plan comes with its probabilities."""
        return None

    def check(self, items: JudgedItems, evidence: LabelEvidence, settings: Settings) -> Check:
        """Nothing to check."""
        return Check(sentence="How likely each item was chosen is known.")

    def estimate(self, items: JudgedItems, settings: Settings) -> ShareEstimate:
        """The shares of the strata times their rates; with one stratum, that of random items."""
        drawn = items.inclusion_of_labels
        if drawn is not None and len(drawn) and drawn.max() <= drawn.min() * (1 + SAME):
            return AtRandom().estimate(items, settings)
        unlike = _unlike_labelled(items)
        return allowing_for_unlike(items, unlike, lambda part: _estimate(part, settings))

    def quality(self, items: JudgedItems, counts: JudgeCounts, settings: Settings) -> Quality:
        """By labels that are random within their verdict."""
        return quality_by_verdict(counts, settings)


def _unlike_labelled(items: JudgedItems) -> Flags:
    """Which items have a verdict that no labelled item has, unless it was missed by chance.

    Strata without labels are left to `in_strata`, which knows what to do with them.
    """
    drawn = items.inclusion_of_labels
    if drawn is not None:
        unlike = items.verdicts_without_labels()
        if drawn.max() > drawn.min() or not missed_by_chance(items, unlike):
            return unlike
    return np.zeros(len(items), dtype=bool)


def _estimate(items: JudgedItems, settings: Settings) -> ShareEstimate:
    pi = items.inclusion_of_labels
    if pi is not None:
        return _by_inclusion(items, pi, settings)
    assert items.drawn is not None
    codes = np.unique(np.asarray(items.drawn.strata), return_inverse=True)[1].ravel()
    return in_strata(items, codes, settings)


def _calibrated(items: JudgedItems, each: Reals) -> Reals:
    """What each label stands for, such that those of a verdict stand for its items by weight.

    Without weights they do already, apart from the rounding of probabilities on a sheet.
    """
    if items.weights is None or items.verdicts is None:
        return each
    codes = items.verdicts_together()
    labelled, total = items.is_labelled, np.bincount(codes, weights=items.weights)
    sums = np.bincount(codes[labelled], weights=each, minlength=len(total))
    factor = np.divide(total, sums, out=np.ones_like(total), where=sums > 0)
    return np.asarray(each * factor[codes[labelled]])


def _by_inclusion(items: JudgedItems, pi: Reals, settings: Settings) -> ShareEstimate:
    y, K, n = items.labels[items.is_labelled], items.n_classes, len(items)
    values, codes = np.unique(np.round(pi, 9), return_inverse=True)
    if len(values) > MOST_STRATA:
        edges = np.unique(np.quantile(pi, np.arange(1, MOST_STRATA) / MOST_STRATA))
        codes = np.unique(np.searchsorted(edges, pi, side="right"), return_inverse=True)[1]
    H = int(codes.max()) + 1
    each = _calibrated(items, items.label_weights / pi)
    sums = np.bincount(codes, weights=each, minlength=H)
    shares = np.asarray(sums / sums.sum(), dtype=np.float64)
    covered = np.bincount(codes, weights=pi, minlength=H) / np.bincount(codes, minlength=H)
    interval = strata.stratified(
        shares,
        strata.label_counts(codes, y, H, K, each),
        items.n_effective,
        level=settings.level,
        covered=covered if settings.of_items else None,
    )
    if settings.of_items:
        each = each * np.sqrt(1 - covered[codes])
    influence = np.zeros((n, K))
    moved = np.eye(K)[y] - (interval.rates[codes] if settings.of_items else interval.prevalence)
    influence[items.is_labelled] = n / sums.sum() * each[:, np.newaxis] * moved
    return ShareEstimate(
        prevalence=interval.prevalence,
        low=interval.low,
        high=interval.high,
        by_labels=interval.by_labels,
        by_items=interval.by_shares,
        influence=influence,
    )
