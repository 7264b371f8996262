"""One estimator for each design; see the modules `audit`, `strata` and `transfer` for the ideas.

Each also says what every item adds to its estimate, to first order (its influence). Two systems
judged on the same items are compared by it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Codes, Prevalences, Reals
from quantshift.errors import DataError, UserError
from quantshift.intervals.prediction import as_if_counted
from quantshift.judging.estimating.cells import Cells, of_judges, pooled
from quantshift.judging.estimating.items import JudgedItems
from quantshift.labelling import strata, transfer
from quantshift.labelling.audit import FEWEST_LABELS, Unseen, audit_interval, count_interval

POOLED_BELOW = 5
"""Cells of several judges with fewer labels are joined with the next."""
LABELS_PER_VERDICT = 10
"""On average, from which on verdicts are strata of random labels."""
MOST_STRATA = 12


class Answer(NamedTuple):
    """What an estimator finds: the parts of the variance are those of `labels_for_half_width`.

    can_be_halved: whether more labels of the same kind make the limits narrower without end.
    why_not: why nothing can be said of the items, which the limits then allow for; else empty.
    """

    prevalence: Prevalences
    low: Reals
    high: Reals
    by_labels: Reals
    by_items: Reals
    influence: Reals
    influence_elsewhere: Reals | None = None
    notes: tuple[str, ...] = ()
    can_be_halved: bool = True
    why_not: str = ""

    def with_items_unlike(self, unlike: NDArray[np.bool_], what: str) -> "Answer":
        """The same for these items and others, of which nothing is known.

        unlike: which of all items in question are the others; what: they are, in words.
        """
        part = float(unlike.mean())
        influence = np.zeros((len(unlike), len(self.prevalence)))
        influence[~unlike] = self.influence
        note = (
            f"{part:.1%} of the items have {what} that no labelled item has: anything may be true "
            "of them, and the limits allow for it. Label some of them."
        )
        why_not = self.why_not and (
            f"{part:.1%} of the items have {what} that no labelled item has, and those of the "
            "others do not fit the labels; are they written alike in both tables?"
        )
        return self._replace(
            low=(1 - part) * self.low,
            high=(1 - part) * self.high + part,
            influence=influence,
            notes=(*self.notes, note),
            can_be_halved=False,
            why_not=why_not,
        )


def nothing_known(n_items: int, n_classes: int, why_not: str) -> Answer:
    """Of items that are all unlike labelled ones."""
    even, none = np.full(n_classes, 1 / n_classes), np.zeros(n_classes)
    influence = np.zeros((n_items, n_classes))
    return Answer(even, none, none + 1, none, none, influence, why_not=why_not)


def at_random(data: JudgedItems, level: float) -> Answer:
    """The verdicts of one judge as strata, if there are enough labels for that; else the audit.

    Counting, where there are too few labels for either.
    """
    known, y, K = data.known, data.labels[data.known], data.n_classes
    if data.score is None and data.verdicts is not None and data.verdicts.shape[1] == 1:
        verdicts = np.unique(data.verdicts[:, 0], return_inverse=True)[1].ravel()
        n_verdicts = int(verdicts.max()) + 1
        if len(y) >= LABELS_PER_VERDICT * n_verdicts:
            codes = strata.joined(verdicts, known, n_verdicts)
            return _in_strata(data, codes, None, level, unseen=strata.UNSEEN_AT_RANDOM)
    f = _posteriors(data)
    k, n = len(y), len(f)
    if k < FEWEST_LABELS:
        found = count_interval(y, K, level=level)
    else:
        found = audit_interval(f, np.flatnonzero(known), y, level=level)
    residuals = np.eye(K)[y] - found.weight * f[known]
    influence = found.weight * f
    influence[known] += n / k * (residuals - residuals.mean(axis=0))
    spread = residuals.var(axis=0)
    total = np.eye(K)[y].var(axis=0)
    notes = (
        (f"With {k} labels the interval is that of counting them.",) if k < FEWEST_LABELS else ()
    )
    return Answer(
        found.prevalence,
        found.low,
        found.high,
        spread / k,
        np.maximum(total - spread, 0) / n,
        influence - influence.mean(axis=0),
        notes=notes,
    )


def _posteriors(data: JudgedItems) -> Reals:
    """What the judges say of each item as a distribution over the classes."""
    cells, y = data.cells(), data.labels[data.known]
    if data.score is not None and data.n_classes == 2:
        f = data.score
        # A score that falls with the class helps as much as one that rises.
        if y.any() and not y.all() and f[data.known][y == 1].mean() < f[data.known][y == 0].mean():
            f = 1 - f
        return np.column_stack([1 - f, f])
    if cells.directions is not None:
        return cells.directions[cells.codes]
    F = table(cells.codes[data.known], y, cells.n, data.n_classes)
    smoothed = F + F.sum(axis=1, keepdims=True) / max(F.sum(), 1) * 2
    return np.asarray((smoothed / smoothed.sum(axis=0)).T[cells.codes])


def by_stratum(
    data: JudgedItems, given: ArrayLike | None, inclusion: ArrayLike | None, level: float
) -> Answer:
    """Strata that were given, those of equal probabilities of being chosen, or the verdicts."""
    known, K = data.known, data.n_classes
    weights = None
    if given is not None:
        codes = np.unique(np.asarray(given), return_inverse=True)[1].ravel()
    elif inclusion is not None:
        pi = np.asarray(inclusion, dtype=np.float64)
        if pi.shape != data.labels.shape or not ((pi[known] > 0) & (pi[known] <= 1)).all():
            raise DataError("every labelled item needs the probability, above 0, of its choice")
        return _by_inclusion(data, pi[known], level)
    else:
        if data.verdicts is None:
            raise UserError("labels by verdict need verdicts; by score, the plan's strata")
        cells = of_judges(data.verdicts, None, data.classes, K)
        codes = cells.codes
        if data.verdicts.shape[1] > 1:
            codes, weights = _pooled_cells(cells, known)
    return _in_strata(data, codes, weights, level)


def _in_strata(
    data: JudgedItems,
    codes: Codes,
    weights: Reals | None,
    level: float,
    unseen: Unseen = strata.UNSEEN,
) -> Answer:
    """The shares of strata times their rates; weights: of the labelled items in their stratum."""
    known, y, K = data.known, data.labels[data.known], data.n_classes
    H = int(codes.max()) + 1
    shares = np.bincount(codes, minlength=H) / len(codes)
    counts = strata.counted(codes[known], y, H, K, weights)
    found = strata.stratified(shares, counts, len(codes), level=level, unseen=unseen)
    influence = found.rates[codes] - found.prevalence
    each = shares / np.maximum(np.bincount(codes[known], minlength=H), 1)
    influence[known] += (len(codes) * each[codes[known]])[:, None] * (
        np.eye(K)[y] - found.rates[codes[known]]
    )
    empty = (shares > 0) & (counts.sum(axis=1) == 0)
    notes: tuple[str, ...] = ()
    if empty.any():
        notes = (f"{shares[empty].sum():.1%} of the items are in strata without a label.",)
    return Answer(
        found.prevalence,
        found.low,
        found.high,
        found.by_labels,
        found.by_shares,
        influence,
        notes=notes,
    )


def _pooled_cells(cells: Cells, known: NDArray[np.bool_]) -> tuple[Codes, Reals]:
    """Cells joined until each has labels enough, and the weights that items then have."""
    direction = (
        np.arange(cells.n)
        if cells.directions is None
        else (cells.directions @ np.arange(cells.directions.shape[1]))
    )
    rank = np.argsort(np.argsort(direction, kind="stable"), kind="stable")
    ordered = rank[cells.codes]
    group = pooled(ordered[known], cells.n, POOLED_BELOW)
    n = np.bincount(ordered[known], minlength=cells.n)
    weight = np.bincount(ordered, minlength=cells.n) / np.maximum(n, 1)
    return group[ordered], weight[ordered[known]]


def _by_inclusion(data: JudgedItems, pi: Reals, level: float) -> Answer:
    """Items of one probability are a stratum; of many probabilities, items of similar ones."""
    y, K, n = data.labels[data.known], data.n_classes, len(data.labels)
    values, codes = np.unique(np.round(pi, 9), return_inverse=True)
    if len(values) > MOST_STRATA:
        edges = np.unique(np.quantile(pi, np.arange(1, MOST_STRATA) / MOST_STRATA))
        codes = np.unique(np.searchsorted(edges, pi, side="right"), return_inverse=True)[1]
    H = int(codes.max()) + 1
    sums = np.bincount(codes, weights=1 / pi, minlength=H)
    shares = np.asarray(sums / sums.sum(), dtype=np.float64)
    found = strata.stratified(shares, strata.counted(codes, y, H, K, 1 / pi), n, level=level)
    influence = np.zeros((n, K))
    influence[data.known] = n / (1 / pi).sum() * (np.eye(K)[y] - found.prevalence) / pi[:, None]
    return Answer(
        found.prevalence, found.low, found.high, found.by_labels, found.by_shares, influence
    )


def transferred(data: JudgedItems, design: str, *, level: float, seed: int) -> Answer:
    """The joint posterior, for the items that are not labelled and then for all."""
    cells, K = data.cells(), data.n_classes
    known = data.known
    cell_of_label, y = data.labelled_cells(cells)
    rest = ~known if data.elsewhere is None else np.ones_like(known)
    F = table(cell_of_label, y, cells.n, K)
    N = np.bincount(cells.codes[rest], minlength=cells.n).astype(np.float64)
    if N.sum() == 0:
        raise DataError("all items are labelled: there is nothing to estimate; count the labels")
    found = transfer.prevalences(
        F, N[np.newaxis], directions=cells.directions, level=level, seed=seed
    )
    p, low, high = found.prevalence[0], found.low[0], found.high[0]
    why_not = ""
    if not found.fits[0]:
        low, high = np.zeros(K), np.ones(K)
        why_not = (
            "their verdicts do not fit the labels, whatever the shares of the classes: the judge "
            "treats these items differently"
        )
    part, n_y = 1.0, F.sum(axis=1)
    if design == "by-label":
        # All items of a class may have been labelled, so that the others have none of it.
        none = found.negative[0] > (1 - level) / 2
        low = np.where(none, 0.0, low)
        high = 1 - low[::-1] if K == 2 else high
        part = N.sum() / (N.sum() + n_y.sum())
        p, low, high = (part * x + (1 - part) * n_y / n_y.sum() for x in (p, low, high))
    low, high = no_narrower_than_counted(p, low, high, data.n_items(design), level)
    items, labelled, variances = _influences(cells, F, N, p, cell_of_label, y)
    influence = np.zeros((len(known), K))
    influence[rest] = part * items[cells.codes[rest]] * len(known) / rest.sum()
    labelled = part * labelled * len(known)
    if data.elsewhere is None:
        influence[known] = labelled
    return Answer(
        p,
        low,
        high,
        part**2 * variances[0],
        part**2 * variances[1],
        influence if design != "elsewhere" or data.elsewhere is not None else influence[rest],
        None if data.elsewhere is None else labelled,
        why_not=why_not,
    )


def no_narrower_than_counted(
    p: Prevalences, low: Reals, high: Reals, n_items: int, level: float
) -> tuple[Reals, Reals]:
    """Limits no narrower than if all items were labelled."""
    least, most = as_if_counted(p[np.newaxis], low[np.newaxis], high[np.newaxis], [n_items], level)
    return least[0], most[0]


def _influences(
    cells: Cells, F: Reals, N: Reals, p: Prevalences, cell_of_label: Codes, y: Codes
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


def calibrated_elsewhere(data: JudgedItems, level: float) -> strata.Stratified:
    """If what a verdict means is the same elsewhere and here."""
    cells = data.cells()
    rest = data.in_sample("elsewhere")
    cell_of_label, y = data.labelled_cells(cells)
    counts = table(cell_of_label, y, cells.n, data.n_classes).T
    N = np.bincount(cells.codes[rest], minlength=cells.n)
    return strata.stratified(N / N.sum(), counts, float(N.sum()), level=level)


def table(cell_of_label: Codes, y: Codes, n_cells: int, n_classes: int) -> Reals:
    """Labelled items by class and cell."""
    flat = np.bincount(y * n_cells + cell_of_label, minlength=n_classes * n_cells)
    return flat.reshape(n_classes, n_cells).astype(np.float64)
