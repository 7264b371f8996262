"""An estimate by one design, with what goes with it: checks, quality of the judges, findings."""

from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np

from quantshift.claims.findings import Finding
from quantshift.errors import UserError
from quantshift.judging.designs.design import Check, Design
from quantshift.judging.designs.guessing import check_design, guess_design, implied_design
from quantshift.judging.designs.parts.judge_quality import JudgeCounts, Quality
from quantshift.judging.designs.parts.share_estimate import ShareEstimate
from quantshift.judging.estimating.clustering import allowing_for_clusters
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.items.clusters import LabelledClusters
from quantshift.judging.items.judged_items import JudgedItems, Settings

MANY_TIMES = 1_000
"""No more labels from elsewhere are asked for than this many times those that exist."""


@dataclass(frozen=True, eq=False)
class Judged:
    """The shares of the classes among the items in question, and all that goes with them.

    judges: one `Quality` per judge, in the order given; none if there are scores alone.
    check: what the data say about the design; assumption: a sentence on what the estimate rests on.
    findings: what else the user should know.
    labels_for_half_width: labels in all for an interval of half the width; None if more labels of
        these items cannot do it. clusters_for_half_width: in how many clusters, if the limits allow
        for clusters. n_clusters: that of the labelled items, if some of them share a cluster.
    """

    shares: ShareEstimate
    level: float
    design: Design
    n_items: int
    n_labelled: int
    judges: tuple[Quality, ...]
    check: Check
    assumption: str
    findings: tuple[Finding, ...]
    labels_for_half_width: int | None
    clusters_for_half_width: int | None = None
    n_clusters: int | None = None


def estimate_by_design(items: JudgedItems, stated: Design | None, settings: Settings) -> Judged:
    """The estimate from one kind of labels, by the design that is stated, implied or guessed."""
    design, about = _design(items, stated)
    checked = check_design(design, items, settings)
    if not checked.ok and not settings.insist and not design.is_implied_by(items):
        like = "" if checked.looks_like is None else f"; it looks like {checked.looks_like}"
        raise UserError(
            f"the data contradict labels {design.chosen}: {checked.sentence}{like}",
            arguments=["labels"],
        )
    shares = design.estimate(items, settings).within_limits()
    shares = allowing_for_clusters(shares, items, design, settings)
    if shares.no_estimate_reason and checked.ok:
        # What prevents an estimate is in the data; nobody wants to read that nothing is.
        checked = replace(checked, sentence="")
    needed = _labels_for_half_width(shares, items, design, settings)
    return Judged(
        shares=shares,
        level=settings.level,
        design=design,
        n_items=int(design.in_sample(items).sum()),
        n_labelled=items.n_labelled,
        judges=_qualities(items, design, shares, settings),
        check=checked,
        assumption=shares.assumption or design.assumption,
        findings=(*about, *shares.findings, *(items.findings() if design.uses_labels else ())),
        labels_for_half_width=needed,
        clusters_for_half_width=_clusters_with(needed, shares, items),
        n_clusters=_n_shared(items),
    )


def _n_shared(items: JudgedItems) -> int | None:
    """The number of clusters of labelled items; None if no two items share one."""
    clusters = items.label_clusters
    n = 0 if clusters is None else len(np.unique(clusters))
    return n if 0 < n < items.n_labelled else None


def _design(items: JudgedItems, stated: Design | None) -> tuple[Design, tuple[Finding, ...]]:
    """The design to estimate with, and why if it was guessed."""
    implied = implied_design(items)
    if implied is None and stated is None:
        guess = guess_design(items)
        return guess.design, (
            JudgeFindings.DESIGN_GUESSED.found(design=guess.design.name, why=guess.why),
        )
    if implied is not None and stated is not None and stated is not implied:
        raise UserError(
            f"the design of these labels is {implied.name}, not {stated.name}: leave it out",
            arguments=["labels"],
        )
    design = implied or stated
    assert design is not None
    return design, ()


def _qualities(
    items: JudgedItems, design: Design, shares: ShareEstimate, settings: Settings
) -> tuple[Quality, ...]:
    """The quality of each judge by itself; none if labelled items have scores alone."""
    if items.verdicts is None or (items.external is not None and items.external.verdicts is None):
        return ()
    sample = design.in_sample(items)
    return tuple(
        design.quality(items, JudgeCounts.of(items, judge, sample, shares.prevalence), settings)
        for judge in range(items.verdicts.shape[1])
    )


def _labels_for_half_width(
    shares: ShareEstimate, items: JudgedItems, design: Design, settings: Settings
) -> int | None:
    """Labels in all; without an error among the labels the width falls as their number rises.

    For the share among these items, the square of the width falls with 1 / labels - 1 / items.
    """
    if not shares.can_be_halved or shares.no_estimate_reason:
        return None
    widest = int(np.argmax(shares.width))
    by_labels, by_items = float(shares.by_labels[widest]), float(shares.by_items[widest])
    factor = 2.0
    finite = settings.of_items and design.labelled_are_items and not by_items
    if shares.clusters is not None and by_labels > 0:
        n_items = len(items) if finite else None
        most = len(items) if design.labelled_are_items else MANY_TIMES * items.n_labelled
        width = _ClusteredWidth(
            shares.clusters, items.n_labelled, by_labels, by_items, settings.level, n_items
        )
        return width.labels_for_half(most)
    if finite:
        k, n = items.n_labelled, len(items)
        return int(np.ceil(4 / (1 / k + 3 / n))) if by_labels > 0 else min(2 * k, n)
    if by_labels > 0:
        rest = (by_labels + by_items) / 4 - by_items
        if rest <= 0:
            return None
        factor = max(by_labels / rest, 2.0)
    needed = int(np.ceil(factor * items.n_labelled))
    return needed if not design.labelled_are_items or needed <= len(items) else None


@dataclass(frozen=True)
class _ClusteredWidth:
    """How the width of an interval falls with labels in clusters like those there are.

    by_labels, by_items: parts of the variance with n_labels labels. n_items: the number of items
    if the share is that among them, which is known once all are labelled; else None.
    """

    clusters: LabelledClusters
    n_labels: int
    by_labels: float
    by_items: float
    level: float
    n_items: int | None

    def labels_for_half(self, most: int) -> int | None:
        """The fewest labels that halve the width; None if more than `most`."""
        half = self._width(self.n_labels) / 2
        if most <= self.n_labels or self._width(most) > half:
            return None
        return bisect_left(range(most + 1), -half, lo=self.n_labels, key=lambda k: -self._width(k))

    def _width(self, k: int) -> float:
        limit = 0.0 if self.n_items is None else 1 / self.n_items
        left = 1 / self.n_labels - limit
        part = (1 / k - limit) / left if left > 0 else 0.0
        n_clusters = self.clusters.n * k // self.n_labels
        student = LabelledClusters(n_clusters, self.clusters.size).student(self.level)
        return student * float(np.sqrt(self.by_labels * part + self.by_items))


def _clusters_with(needed: int | None, shares: ShareEstimate, items: JudgedItems) -> int | None:
    """How many clusters so many labels come from, if clusters matter."""
    if needed is None or shares.clusters is None:
        return None
    return int(np.ceil(needed * shares.clusters.n / items.n_labelled))
