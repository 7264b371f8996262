"""Labels of random items: they show the rate by themselves, and the verdicts make it precise.

The verdicts of one judge are strata, if there are enough labels for that; else, and with scores or
several judges, the audit takes what they say as posteriors. Few labels are counted where that is
narrower, between limits with Jeffreys's prior: Clopper and Pearson's, which the audit has for few
labels, hold .98 of the time with ten and are wider than Wilson's. L. Brown, T. Cai and A. DasGupta,
"Interval estimation for a binomial proportion", Statistical Science 16 (2001).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from quantshift.base.types import Reals
from quantshift.judging.designs.design import Check, Design, LabelsStandFor, Plannable
from quantshift.judging.designs.parts.group_quotas import (
    groups_without_labels,
    weights_of_groups,
)
from quantshift.judging.designs.parts.judge_quality import JudgeCounts, Quality, counted_quality
from quantshift.judging.designs.parts.label_evidence import (
    Clue,
    LabelEvidence,
    Strength,
)
from quantshift.judging.designs.parts.plan_strata import (
    PlanStrata,
    strata_by_score,
    strata_by_verdict,
)
from quantshift.judging.designs.parts.share_estimate import (
    ShareEstimate,
    allowing_for_unlike,
    labelled_table,
    missed_by_chance,
)
from quantshift.judging.designs.parts.verdict_strata import in_strata
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.items.judged_items import JudgedItems, Settings
from quantshift.labelling import strata
from quantshift.labelling.audit import (
    FEWEST_LABELS,
    AuditInterval,
    audit_interval,
    labelled_shares,
)
from quantshift.labelling.strata import JEFFREYS

FEW_LABELS = 30
"""Up to so many labels are counted if that is narrower."""

LABELS_PER_VERDICT = 10
"""With so many on average, the verdicts are strata of random labels."""


class AtRandom(Design, Plannable):
    """A random sample of all items."""

    name = "random"
    chosen = "chosen at random"
    words = "chosen at random"
    help = "at random"
    assumption = (
        "The labelled items are a random sample of all items; nothing is assumed of the judge."
    )
    source = ""
    cannot_be_stated = ""
    cannot_be_planned = ""
    labelled_are_items = True
    shares_labels = False
    uses_labels = True
    labels_stand_for = LabelsStandFor.ALL_ITEMS
    plan_words = "at random"
    plan_needs = ()
    plans_together = True

    def is_implied_by(self, items: JudgedItems) -> bool:
        """Never."""
        return False

    def clue(self, items: JudgedItems, evidence: LabelEvidence) -> Clue | None:
        """It is guessed if nothing points to another design."""
        return Clue(self.name, Strength.NOTHING_ELSE, "the labelled items look like all items")

    def check(self, items: JudgedItems, evidence: LabelEvidence, settings: Settings) -> Check:
        """Contradicted if labelled items have other verdicts or scores than all items.

        A smaller difference is enough if there are also even numbers of something.
        """
        clues = evidence.other_clues
        even = [clue for clue in clues if clue.strength is Strength.EVEN_NUMBERS]
        like = " or ".join(clue.design for clue in even) or None
        contradicted = evidence.perhaps_not_random if even else evidence.not_random
        sentence = (
            "Labelled items have verdicts in about the same proportions as all items, as random "
            "ones would."
        )
        if contradicted:
            sentence = f"{evidence.difference}, as random items would not"
            strongest = max(clues, key=lambda clue: clue.strength, default=None)
            if even:
                sentence = f"{sentence}; {even[0].why}"
            elif strongest is not None and strongest.strength > Strength.DIFFERENT_ITEMS:
                sentence, like = f"{sentence}; {strongest.why}", strongest.design
        elif even:
            why = even[0].why
            sentence = (
                f"{why[0].upper()}{why[1:]}, which may be chance: the verdicts are those of all."
            )
        return Check(not contradicted, evidence.p_value, like, sentence)

    def estimate(self, items: JudgedItems, settings: Settings) -> ShareEstimate:
        """The estimate of strata or of the audit.

        Verdicts that no labelled item has may have been missed by chance; if that is unlikely,
        anything may be true of their items.
        """
        unlike = np.zeros(len(items), dtype=bool)
        if items.score is None:
            unlike = items.verdicts_without_labels()
            if missed_by_chance(items, unlike):
                unlike[:] = False
        unlike |= groups_without_labels(items)
        return allowing_for_unlike(items, unlike, lambda part: _estimate(part, settings))

    def quality(self, items: JudgedItems, counts: JudgeCounts, settings: Settings) -> Quality:
        """Counted."""
        return counted_quality(counts, settings)

    def plan_strata(self, items: JudgedItems, *, random_so_far: bool) -> PlanStrata:
        """Strata by verdict, else by score: they show how precise the answer will be."""
        if items.verdicts is None:
            return strata_by_score(items, random_so_far=random_so_far)
        return strata_by_verdict(items)

    def allocated(
        self, strata: PlanStrata, total: int, had: NDArray[np.int64], level: float
    ) -> Reals:
        """Labels in proportion to the items of each stratum."""
        return np.asarray(total * strata.sizes / strata.sizes.sum())


def _estimate(items: JudgedItems, settings: Settings) -> ShareEstimate:
    labelled, y, K = items.is_labelled, items.labels[items.is_labelled], items.n_classes
    of_groups = weights_of_groups(items)
    worth = items.label_weights if of_groups is None else of_groups * items.label_weights
    if items.score is None and items.verdicts is not None and items.verdicts.shape[1] == 1:
        verdicts = np.unique(items.verdicts[:, 0], return_inverse=True)[1].ravel()
        n_verdicts = int(verdicts.max()) + 1
        if len(y) >= LABELS_PER_VERDICT * n_verdicts:
            codes = strata.joined(verdicts, labelled, n_verdicts)
            return in_strata(
                items, codes, settings, weights=of_groups, unseen=strata.UNSEEN_AT_RANDOM
            )
    f = _posteriors(items)
    k, n = len(y), len(f)
    each = worth / worth.sum()
    interval = _counted(items, each, settings)
    if k >= FEWEST_LABELS:
        by_counting = interval
        interval = audit_interval(
            f,
            np.flatnonzero(labelled),
            y,
            level=settings.level,
            target="sample" if settings.of_items else "population",
            sample_weight=items.weights,
            label_weights=None if items.weights is None and of_groups is None else worth,
        )
        if k <= FEW_LABELS and _width(by_counting) < _width(interval):
            interval = by_counting
    residuals = np.eye(K)[y] - interval.weight * f[labelled]
    moved = n * each[:, np.newaxis] * (residuals - each @ residuals)
    spread = each @ (residuals - each @ residuals) ** 2
    Y = np.eye(K)[y]
    total = each @ (Y - each @ Y) ** 2
    influence = np.zeros((n, K))
    by_items = np.zeros(K)
    if settings.of_items:
        influence[labelled] = np.sqrt(1 - k / n) * moved
    else:
        influence = items.item_weights[:, np.newaxis] * interval.weight * f
        influence[labelled] += moved
        influence -= influence.mean(axis=0)
        by_items = np.maximum(total - spread, 0) / n
    return ShareEstimate(
        prevalence=interval.prevalence,
        low=interval.low,
        high=interval.high,
        by_labels=spread / k * (1 - k / n if settings.of_items else 1.0),
        by_items=by_items,
        influence=influence,
        findings=(JudgeFindings.COUNTED_ALONE.found(n=k),) if k < FEWEST_LABELS else (),
    )


def _width(interval: AuditInterval) -> float:
    return float(interval.width.sum())


def _counted(items: JudgedItems, each: Reals, settings: Settings) -> AuditInterval:
    """The labels counted, with Jeffreys's prior. each: what part of all labels each of them is."""
    Y = np.eye(items.n_classes)[items.labels[items.is_labelled]]
    p, k = each @ Y, float(1 / (each**2).sum())
    tail = (1 - settings.level) / 2
    seen, others = k * p + JEFFREYS, k * (1 - p) + JEFFREYS
    low = np.where(p > 0, betaincinv(seen, others, tail), 0.0)
    high = np.where(p < 1, betaincinv(seen, others, 1 - tail), 1.0)
    open_ = 1.0
    if settings.of_items:
        of_all = np.zeros(len(items), dtype=np.int64)
        open_ -= float(labelled_shares(of_all, items.is_labelled, items.item_weights)[0])
    part = np.sqrt(max(open_, 0.0))
    return AuditInterval(
        prevalence=p,
        low=p - part * (p - low),
        high=p + part * (high - p),
        level=settings.level,
        weight=0.0,
        n_labelled=len(Y),
        n_items=len(items),
    )


def _posteriors(items: JudgedItems) -> Reals:
    """What the judges say about each item, as a distribution over the classes."""
    cells, y = items.cells(), items.labels[items.is_labelled]
    if items.score is not None and items.n_classes == 2:
        f, of_labelled = items.score, items.score[items.is_labelled]
        # A score that falls with the class helps as much as one that rises.
        if y.any() and not y.all() and of_labelled[y == 1].mean() < of_labelled[y == 0].mean():
            f = 1 - f
        return np.column_stack([1 - f, f])
    if cells.directions is not None:
        return cells.directions[cells.codes]
    F = labelled_table(cells.codes[items.is_labelled], y, cells.n, items.n_classes)
    smoothed = F + F.sum(axis=1, keepdims=True) / max(F.sum(), 1) * 2
    return np.asarray((smoothed / smoothed.sum(axis=0)).T[cells.codes])
