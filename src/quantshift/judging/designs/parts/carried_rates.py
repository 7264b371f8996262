"""Rates of the judge that are carried over from labelled items to the others.

Labels chosen by class, and those of other items, show how often a class gets each verdict. The
shares of the classes follow from the joint posterior of prevalence and rates; see
`quantshift.labelling.transfer`.
"""

import numpy as np

from quantshift.base.types import Codes, Flags, Prevalences, Reals
from quantshift.errors import DataError
from quantshift.judging.designs.parts.judge_quality import (
    N_DRAWS,
    JudgeCounts,
    Quality,
    RateTable,
    quality_generator,
    quality_of,
    rate_limits,
    rates_of,
)
from quantshift.judging.designs.parts.share_estimate import (
    ShareEstimate,
    item_counts,
    labelled_table,
    no_narrower_than_counted,
    nothing_known,
)
from quantshift.judging.items.judged_items import JudgedItems, Settings
from quantshift.judging.items.verdict_cells import VerdictCells
from quantshift.labelling import transfer
from quantshift.labelling.strata import UNSEEN

NO_FIT = (
    "their verdicts do not fit the labels, whatever the shares of the classes: the judge treats "
    "these items differently"
)
UNLIKE_ALL = "none of them has a verdict or a score that a labelled item has"


def carried_over(
    items: JudgedItems, sample: Flags, settings: Settings, *, labelled_are_items: bool
) -> ShareEstimate:
    """The shares among the items in question; anything may be true of those unlike labelled ones.

    sample: which items are in question. labelled_are_items: whether labelled items are among them.
    """
    scored = items.score is not None
    unlike = items.scores_without_labels() if scored else items.verdicts_without_labels()
    unlike &= sample
    if unlike.any() and unlike[~items.is_labelled & sample].all():
        return nothing_known(int(sample.sum()), items.n_classes, UNLIKE_ALL)
    if not unlike.any():
        return _estimate(items, settings, labelled_are_items=labelled_are_items)
    like = _estimate(items.take(~unlike), settings, labelled_are_items=labelled_are_items)
    return like.with_items_unlike(
        unlike[sample], "scores" if scored else "verdicts", items.item_weights[sample]
    )


def _estimate(items: JudgedItems, settings: Settings, *, labelled_are_items: bool) -> ShareEstimate:
    """The joint posterior for the items that are not labelled, and then for all in question."""
    cells, K, labelled = items.cells(), items.n_classes, items.is_labelled
    cell_of_label, y = items.labelled_cells(cells)
    rest = ~labelled if items.external is None else np.ones_like(labelled)
    w, of_labels = items.item_weights, items.label_weights
    weighted = items.weights is not None
    F = labelled_table(cell_of_label, y, cells.n, K, of_labels)
    N = item_counts(cells.codes[rest], cells.n, w[rest] if weighted else None)
    if N.sum() == 0:
        raise DataError("all items are labelled: there is nothing to estimate; count the labels")
    posterior = transfer.prevalences(
        F, N[np.newaxis], directions=cells.directions, level=settings.level, seed=settings.seed
    )
    gain = 1.0
    if settings.of_items:
        alpha, _, G = transfer.square(F, N[np.newaxis], cells.directions)
        gain = transfer.gain_of_known_items(alpha, G, posterior.prevalence[0])
        posterior = transfer.prevalences(
            F,
            gain * N[np.newaxis],
            directions=cells.directions,
            level=settings.level,
            seed=settings.seed,
        )
    p, low, high = posterior.prevalence[0], posterior.low[0], posterior.high[0]
    fits = bool(posterior.fits[0])
    if not fits:
        low, high = np.zeros(K), np.ones(K)
    # There may be none of a class, as where all items of it have been labelled.
    low = np.where(posterior.negative[0] > (1 - settings.level) / 2, 0.0, low)
    high = 1 - low[::-1] if K == 2 else high
    part = 1.0
    if labelled_are_items:
        n_y = np.bincount(y, weights=of_labels, minlength=K)
        part = float(w[rest].sum() / w.sum())
        p, low, high = (part * x + (1 - part) * n_y / n_y.sum() for x in (p, low, high))
    if not settings.of_items:
        w_all = w if labelled_are_items else w[rest]
        n_items = round(float(w_all.sum() ** 2 / (w_all**2).sum()))
        low, high = no_narrower_than_counted(p, low, high, n_items, settings.level)
    of_cells, label_influence, (by_labels, by_items) = _influences(cells, F, N, p, cell_of_label, y)
    influence = np.zeros((len(labelled), K))
    counting = part * w[rest] * len(labelled) / w[rest].sum() / np.sqrt(gain)
    influence[rest] = counting[:, np.newaxis] * of_cells[cells.codes[rest]]
    label_influence = (part * len(labelled) * of_labels)[:, np.newaxis] * label_influence
    if items.external is None and labelled_are_items:
        influence[labelled] = label_influence
    return ShareEstimate(
        prevalence=p,
        low=low,
        high=high,
        by_labels=part**2 * by_labels,
        by_items=part**2 * by_items / gain,
        influence=influence if labelled_are_items else influence[rest],
        influence_external=None if labelled_are_items else label_influence,
        no_estimate_reason="" if fits else NO_FIT,
    )


def _influences(
    cells: VerdictCells, F: Reals, N: Reals, p: Prevalences, cell_of_label: Codes, y: Codes
) -> tuple[Reals, Reals, tuple[Reals, Reals]]:
    """To first order, p = q R^-1 moves by (dq - p dR) R^-1: by cells of items and of labels."""
    alpha, counts, G = transfer.square(F, N[np.newaxis], cells.directions)
    if G is None:
        G = np.eye(alpha.shape[1])
    R = alpha / alpha.sum(axis=1, keepdims=True)
    q = counts[0] / counts[0].sum()
    inverse = np.linalg.pinv(R @ G)
    by_item = (G - q @ G) @ inverse
    n_y = np.maximum(F.sum(axis=1), 1)
    by_label = -(p / n_y)[:, None, None] * ((G[None] - (R @ G)[:, None]) @ inverse)
    by_items = q @ by_item**2 / counts[0].sum()
    by_labels = (n_y[:, None, None] * R[:, :, None] * by_label**2).sum(axis=(0, 1))
    return by_item, by_label[y, cell_of_label], (by_labels, by_items)


def carried_quality(counts: JudgeCounts, settings: Settings) -> Quality:
    """The quality of a judge whose labelled items are random ones of their class.

    The rates of verdicts that no labelled item has may be anything.
    """
    F, (K, V) = counts.labelled, counts.labelled.shape
    rates = rates_of(F)
    a, N, G = transfer.square(F, counts.items[np.newaxis], None)
    a = np.pad(F, ((0, 0), (0, a.shape[1] - V))) + UNSEEN.weight / a.shape[1]
    p, R = transfer.joint_draws(a, N[0], G, N_DRAWS, settings.seed)
    low, high = rate_limits(F, settings.level)
    seen = F.sum(axis=0) > 0
    rate_table = RateTable(
        table=counts.prevalence[:, np.newaxis] * rates,
        drawn=(p[:, :, np.newaxis] * R)[:, :, :V],
        rates=rates,
        low=np.where(seen, low, 0.0),
        high=np.where(seen, high, 1.0),
        axes=(-1,),
        together=np.broadcast_to(a.sum(axis=1, keepdims=True), (K, V)),
    )
    return quality_of(counts, rate_table, quality_generator(settings), settings)
