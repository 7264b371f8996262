"""Ranges: what remains possible where nothing shows how the labelled items were chosen.

Their coverage is not known, and no error rates of a judge follow from such labels.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from quantshift.base.types import Flags, Reals
from quantshift.claims.findings import Finding
from quantshift.judging.designs.parts.judge_quality import JudgeCounts, Quality
from quantshift.judging.designs.parts.share_estimate import (
    Alternative,
    ShareEstimate,
    missed_by_chance,
)
from quantshift.judging.designs.parts.verdict_strata import in_strata, pooled_cells
from quantshift.judging.findings import JudgeAdvice
from quantshift.judging.items.judged_items import JudgedItems, Settings

RANDOM_ITEMS = 100
"""Labels of random items to ask for where those there are do not settle anything."""
LABEL_AT_RANDOM = JudgeAdvice.LABEL_AT_RANDOM.found(n=RANDOM_ITEMS)


def within_cells(items: JudgedItems, settings: Settings) -> ShareEstimate:
    """The shares if labelled items are random ones of those with the same verdicts or scores.

    Anything may be true of items with verdicts or scores that no labelled item has.
    """
    unlike = cells_without_labels(items)
    if not unlike.any():
        return _in_cells(items, settings)
    what = "verdicts" if items.score is None else "scores"
    like = _in_cells(items.take(~unlike), settings)
    return like.with_items_unlike(unlike, what, items.item_weights)


def cells_without_labels(items: JudgedItems) -> Flags:
    """Items with verdicts (of all judges together) or a score that no labelled item has.

    None, if random labels may well have missed them.
    """
    codes = items.cells().codes
    unlike = ~np.isin(codes, codes[items.is_labelled])
    return np.zeros_like(unlike) if missed_by_chance(items, unlike) else unlike


def hull(
    estimates: Sequence[tuple[str, ShareEstimate]], settle: Finding | None, *, first: ShareEstimate
) -> ShareEstimate:
    """A range that holds the limits of all estimates, each with the assumption it rests on.

    first: the estimate that the range has the shares of.
    """
    lows, highs = (np.stack([getattr(e, side) for _, e in estimates]) for side in ("low", "high"))
    return replace(
        first,
        low=lows.min(axis=0),
        high=highs.max(axis=0),
        bounds=True,
        alternatives=tuple(Alternative(what, e.low, e.high) for what, e in estimates),
        settle=settle,
        can_be_halved=False,
    )


def range_from_labels(items: JudgedItems) -> ShareEstimate:
    """The shares of the labelled items, and anything for the others."""
    w, labelled, K = items.item_weights, items.is_labelled, items.n_classes
    counted = np.bincount(items.labels[labelled], weights=w[labelled], minlength=K) / w.sum()
    rest = float(w[~labelled].sum() / w.sum())
    none: Reals = np.zeros(K)
    return ShareEstimate(
        prevalence=counted / counted.sum(),
        low=counted,
        high=counted + rest,
        by_labels=none,
        by_items=none,
        influence=np.zeros((len(items), K)),
        can_be_halved=False,
        bounds=True,
    )


def unknown_quality(counts: JudgeCounts) -> Quality:
    """The naive rate alone: labels like these do not show the error rates of a judge."""
    unknown = np.full(counts.labelled.shape, np.nan)
    return Quality(counts.naive(), unknown, unknown, unknown, np.nan, np.nan, np.nan)


def _in_cells(items: JudgedItems, settings: Settings) -> ShareEstimate:
    codes, weights = pooled_cells(items.cells(), items.is_labelled)
    return in_strata(items, codes, settings, weights=weights)
