"""Strata of items, within which the labelled ones are random: shares times rates.

The ideas are those of `quantshift.labelling.strata`.
"""

import numpy as np

from quantshift.base.types import Codes, Flags, Reals
from quantshift.claims.findings import Finding
from quantshift.judging.designs.parts.share_estimate import ShareEstimate
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.items.judged_items import JudgedItems, Settings
from quantshift.judging.items.verdict_cells import VerdictCells, pooled
from quantshift.labelling import strata
from quantshift.labelling.audit import Unseen, labelled_shares

POOLED_BELOW = 5
"""Cells of several judges with fewer labels are joined with a neighbour."""


def in_strata(
    items: JudgedItems,
    codes: Codes,
    settings: Settings,
    *,
    weights: Reals | None = None,
    unseen: Unseen = strata.UNSEEN,
) -> ShareEstimate:
    """The shares of strata times their rates.

    codes: the stratum of every item; weights: of the labelled items in their stratum, beside those
    that the items have.
    """
    labelled, y, K = items.is_labelled, items.labels[items.is_labelled], items.n_classes
    H, w = int(codes.max()) + 1, items.item_weights
    of_labels = items.label_weights if weights is None else weights * items.label_weights
    shares = np.bincount(codes, weights=w, minlength=H) / w.sum()
    counts = strata.label_counts(codes[labelled], y, H, K, of_labels)
    covered = labelled_shares(codes, labelled, w, H)
    interval = strata.stratified(
        shares,
        counts,
        items.n_effective,
        level=settings.level,
        unseen=unseen,
        covered=covered if settings.of_items else None,
    )
    total = np.bincount(codes[labelled], weights=of_labels, minlength=H)
    each = (len(codes) * shares / np.where(total > 0, total, 1))[codes[labelled]] * of_labels
    if settings.of_items:
        influence = np.zeros((len(codes), K))
        each = each * np.sqrt(1 - covered[codes[labelled]])
    else:
        influence = w[:, np.newaxis] * (interval.rates[codes] - interval.prevalence)
    influence[labelled] += each[:, np.newaxis] * (np.eye(K)[y] - interval.rates[codes[labelled]])
    empty = (shares > 0) & (counts.sum(axis=1) == 0)
    findings: tuple[Finding, ...] = ()
    if empty.any():
        findings = (JudgeFindings.STRATA_WITHOUT_LABEL.found(share=float(shares[empty].sum())),)
    return ShareEstimate(
        prevalence=interval.prevalence,
        low=interval.low,
        high=interval.high,
        by_labels=interval.by_labels,
        by_items=interval.by_shares,
        influence=influence,
        findings=findings,
    )


def pooled_cells(cells: VerdictCells, labelled: Flags) -> tuple[Codes, Reals]:
    """Cells joined until each has enough labels, and the weights that labelled items then have."""
    direction = (
        np.arange(cells.n)
        if cells.directions is None
        else (cells.directions @ np.arange(cells.directions.shape[1]))
    )
    rank = np.argsort(np.argsort(direction, kind="stable"), kind="stable")
    ordered = rank[cells.codes]
    group = pooled(ordered[labelled], cells.n, POOLED_BELOW)
    n = np.bincount(ordered[labelled], minlength=cells.n)
    weight = np.bincount(ordered, minlength=cells.n) / np.maximum(n, 1)
    return group[ordered], weight[ordered[labelled]]
