"""An estimate of shares with all that goes with it, and items about which labels say nothing.

An estimate also has what every item adds to it, to first order (its influence). Two systems judged
on the same items are compared by it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from quantshift.base.types import Codes, Flags, Prevalences, Reals
from quantshift.claims.findings import Finding
from quantshift.intervals.counted import as_if_counted
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.items.clusters import LabelledClusters
from quantshift.judging.items.judged_items import JudgedItems
from quantshift.prevalence.bounded import BoundedShares

RARELY = 0.05
"""Chance of missing all items of a verdict below which it is not put down to chance."""


@dataclass(frozen=True, eq=False)
class Alternative:
    """Limits under another assumption, which is part of a sentence: "if ...", (n_classes,) each."""

    assumption: str
    low: Reals
    high: Reals


@dataclass(frozen=True, eq=False)
class MovedRate:
    """The shares if one rate of the judge is another: P(verdict of the class | class)."""

    of_class: int
    moved_by: float
    prevalence: Prevalences


@dataclass(frozen=True, eq=False)
class ShareEstimate(BoundedShares):
    """The shares of the classes among the items in question.

    prevalence, low, high: (n_classes,).
    by_labels, by_items: the parts of the variance that more labels and more items would reduce,
        (n_classes,).
    influence: what each item adds to the estimate, to first order, (n_items, n_classes);
        influence_external: the same of items labelled elsewhere.
    findings: what else the user should know.
    can_be_halved: whether more labels of the same kind make the limits narrower without end.
    no_estimate_reason: why nothing can be said about the items, which the limits then allow for;
        else empty.
    bounds: whether the limits are those of everything that is possible, and not of a confidence
        interval. settle: which labels would make an interval of it.
    alternatives: the limits under each of several assumptions.
    if_rates_move: how far the shares move if the judge errs a little more or less often.
    clusters: those that have labels, if the limits allow for clusters.
    assumption: what the estimate rests on, if it is not the assumption of the design.
    """

    by_labels: Reals
    by_items: Reals
    influence: Reals
    influence_external: Reals | None = None
    findings: tuple[Finding, ...] = ()
    can_be_halved: bool = True
    no_estimate_reason: str = ""
    bounds: bool = False
    alternatives: tuple[Alternative, ...] = ()
    settle: Finding | None = None
    if_rates_move: tuple[MovedRate, ...] = ()
    clusters: LabelledClusters | None = None
    assumption: str = ""

    def within_limits(self) -> "ShareEstimate":
        """The same with limits that allow for the estimate itself."""
        return replace(
            self,
            low=np.minimum(self.low, self.prevalence),
            high=np.maximum(self.high, self.prevalence),
        )

    def with_items_unlike(self, unlike: Flags, what: str, weights: Reals) -> "ShareEstimate":
        """The same for these items and others, about which nothing is known.

        unlike: which of all items in question are the others; what: in what they are unlike these,
        "verdicts" or "scores".
        """
        part = float(weights[unlike].sum() / weights.sum())
        influence = np.zeros((len(unlike), len(self.prevalence)))
        influence[~unlike] = self.influence
        found = JudgeFindings.ITEMS_UNLIKE_LABELLED.found(share=part, what=what)
        no_estimate_reason = self.no_estimate_reason and (
            f"{part:.1%} of the items have {what} that no labelled item has, and those of the "
            "others do not fit the labels; are they written alike in both tables?"
        )
        return replace(
            self,
            low=(1 - part) * self.low,
            high=(1 - part) * self.high + part,
            influence=influence,
            findings=(*self.findings, found),
            can_be_halved=False,
            no_estimate_reason=no_estimate_reason,
        )


def nothing_known(n_items: int, n_classes: int, no_estimate_reason: str) -> ShareEstimate:
    """The estimate for items that are all unlike labelled ones."""
    none = np.zeros(n_classes)
    return ShareEstimate(
        prevalence=np.full(n_classes, 1 / n_classes),
        low=none,
        high=none + 1,
        by_labels=none,
        by_items=none,
        influence=np.zeros((n_items, n_classes)),
        no_estimate_reason=no_estimate_reason,
    )


def allowing_for_unlike(
    items: JudgedItems, unlike: Flags, estimator: Callable[[JudgedItems], ShareEstimate]
) -> ShareEstimate:
    """The estimate of those items that are like labelled ones; anything may be true of the rest."""
    if not unlike.any():
        return estimator(items)
    return estimator(items.take(~unlike)).with_items_unlike(unlike, "verdicts", items.item_weights)


def missed_by_chance(items: JudgedItems, unlike: Flags) -> bool:
    """Whether labels of random items may well have missed the verdicts of these.

    The estimate and its limits then hold as they are.
    """
    return bool((1 - unlike.mean()) ** items.n_labelled > RARELY)


def no_narrower_than_counted(
    p: Prevalences, low: Reals, high: Reals, n_items: int, level: float
) -> tuple[Reals, Reals]:
    """Limits no narrower than if all items were labelled."""
    least, most = as_if_counted(p[np.newaxis], low[np.newaxis], high[np.newaxis], [n_items], level)
    return least[0], most[0]


def labelled_table(
    cell_of_label: Codes, y: Codes, n_cells: int, n_classes: int, weights: Reals | None = None
) -> Reals:
    """Labelled items by class and cell; with weights, the effective number of them (Kish)."""
    cells = y * n_cells + cell_of_label
    flat = np.bincount(cells, weights=weights, minlength=n_classes * n_cells)
    if weights is not None and weights.any():
        flat = flat * weights.sum() / (weights**2).sum()
    return np.asarray(flat.reshape(n_classes, n_cells), dtype=np.float64)


def item_counts(cells: Codes, n_cells: int, weights: Reals | None = None) -> Reals:
    """Items by cell; with weights, the effective number of them (Kish)."""
    counts = np.bincount(cells, weights=weights, minlength=n_cells)
    if weights is not None and weights.any():
        counts = counts * weights.sum() / (weights**2).sum()
    return np.asarray(counts, dtype=np.float64)
