"""How one judge does: error rates and agreement with people, allowing for how items were chosen.

The table of classes by verdicts, T[y, v], is made of what the design shows: for random items it is
counted; for items chosen by verdict it is share_v * P(y | v), and for those chosen by label or
labelled elsewhere p_y * P(v | y). Rates are the table's rows over their sums, and kappa is Cohen's,
with squares of the distances between classes as disagreement if they are ordered.

Limits of rates are those of counting where labelled items are random ones of their class. For items
chosen by verdict, the odds of a rate are a ratio of two parts of the table that different labels
show,

    P(v | y) / P(not v | y) = share_v P(y | v) / sum over u != v of share_u P(y | u),

and its upper limit is a quantile of draws of the upper confidence distribution of the one over the
lower of the other: the melded intervals of Fay, Proschan and Brittain. Half an item is added for
what may be unseen, as in the module `strata`. Limits of kappa are quantiles of draws of the table,
with half an item added to the cell in which it raises or lowers kappa most. With Jeffreys's prior
in every cell instead, judges seem the worse the more classes there are; by label or elsewhere,
where rates need some prior, half an item is spread over the verdicts of each class.

References: J. Cohen, "Weighted kappa", Psychological Bulletin 70 (1968); M. Fay, M. Proschan and
E. Brittain, "Combining one-sample confidence procedures for inference in the two-sample case",
Biometrics 71 (2015).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Flags, Prevalences, Reals
from quantshift.judging.designs.parts.share_estimate import item_counts, labelled_table
from quantshift.judging.items.clusters import UNSEEN as UNSEEN_ERROR
from quantshift.judging.items.clusters import LabelledClusters, cluster_sums
from quantshift.judging.items.judged_items import JudgedItems, Settings
from quantshift.labelling.audit import counted_limits
from quantshift.labelling.strata import UNSEEN
from quantshift.labelling.transfer import dirichlet

Cell = tuple[int, int]

N_DRAWS = 2_000


@dataclass(frozen=True, eq=False)
class Quality:
    """How one judge does, as far as the labels show.

    naive: shares of the classes by its verdicts, (n_classes,); NaN if its verdicts are not classes.
    rates, rates_low, rates_high: P(verdict | class), (n_classes, n_verdicts).
    kappa, kappa_low, kappa_high: Cohen's, with people; NaN if its verdicts are not classes.
    """

    naive: Prevalences
    rates: Reals
    rates_low: Reals
    rates_high: Reals
    kappa: float
    kappa_low: float
    kappa_high: float


@dataclass(frozen=True, eq=False)
class JudgeCounts:
    """What the quality of one judge is found from.

    labelled: labelled items by class and verdict, (n_classes, n_verdicts), effective numbers if
    items have weights or come in clusters; items: those in question by verdict; prevalence: shares
    of the classes among them. classes: the class that each verdict says, -1 for none; ordered:
    whether the classes are ordered.
    """

    labelled: Reals
    items: Reals
    prevalence: Prevalences
    classes: Codes
    ordered: bool = False

    @classmethod
    def of(
        cls, items: JudgedItems, judge: int, sample: Flags, prevalence: Prevalences
    ) -> "JudgeCounts":
        """The counts of a judge; sample: which items are in question."""
        assert items.verdicts is not None
        classes, (verdicts, y) = items.class_of_verdicts(judge), items.labelled(judge)
        assert verdicts is not None
        V = len(classes)
        weights = items.item_weights[sample] if items.weights is not None else None
        labelled = labelled_table(verdicts, y, V, items.n_classes, items.label_weights)
        return cls(
            labelled=labelled / _errors_together(items, verdicts, y, labelled),
            items=item_counts(items.verdicts[sample, judge], V, weights),
            prevalence=prevalence,
            classes=classes,
            ordered=items.meaning.ordered,
        )

    @property
    def say_classes(self) -> bool:
        """Whether every verdict says a class, and there are several."""
        return len(self.classes) > 1 and bool((self.classes >= 0).all())

    @property
    def votes(self) -> Reals:
        """The class that each verdict says as a point, (n_verdicts, n_classes)."""
        return np.eye(len(self.labelled))[self.classes]

    def naive(self) -> Prevalences:
        """The shares of the classes by the verdicts alone, (n_classes,); NaN if these say none."""
        if not self.say_classes:
            return np.full(len(self.labelled), np.nan)
        return np.asarray(self.items @ self.votes / self.items.sum())


@dataclass(frozen=True, eq=False)
class RateTable:
    """What labels show of the table of classes by verdicts, (n_classes, n_verdicts).

    table: its parts; drawn: draws of it, (n_draws, n_classes, n_verdicts). rates, low, high:
    P(verdict | class) and its limits.
    together: the number of labels that are drawn together with each cell, along `axes` of the
    table; None if no label is drawn, so that none can have been missed.
    """

    table: Reals
    drawn: Reals
    rates: Reals
    low: Reals
    high: Reals
    axes: tuple[int, ...]
    together: Reals | None


def quality_generator(settings: Settings) -> np.random.Generator:
    """The random numbers of the quality of a judge."""
    return generator(settings.seed, purpose="judge", side="quality")


def quality_of(
    counts: JudgeCounts, rate_table: RateTable, rng: np.random.Generator, settings: Settings
) -> Quality:
    """Rates that are within their limits, and kappa where all verdicts say a class."""
    without_kappa = Quality(
        naive=counts.naive(),
        rates=rate_table.rates,
        rates_low=np.minimum(rate_table.low, rate_table.rates),
        rates_high=np.maximum(rate_table.high, rate_table.rates),
        kappa=np.nan,
        kappa_low=np.nan,
        kappa_high=np.nan,
    )
    if not counts.say_classes:
        return without_kappa

    def kappa_of(tables: Reals) -> Reals:
        return cohens_kappa(tables @ counts.votes, counts.ordered)

    kappa = float(kappa_of(rate_table.table))
    least, most = _kappa_limits(rate_table, kappa_of, rng, tails(settings))
    return replace(
        without_kappa, kappa=kappa, kappa_low=min(least, kappa), kappa_high=max(most, kappa)
    )


def _kappa_limits(
    rate_table: RateTable,
    kappa_of: Callable[[Reals], Reals],
    rng: np.random.Generator,
    at: list[float],
) -> tuple[float, float]:
    if rate_table.together is None:
        low, high = np.quantile(kappa_of(rate_table.drawn), at)
        return float(low), float(high)
    limits = []
    cells = _extreme_cells(rate_table.table, rate_table.together, rate_table.axes, kappa_of)
    for cell, t in zip(cells, at, strict=True):
        part = rng.beta(UNSEEN.weight, rate_table.together[cell], size=N_DRAWS)
        moved = kappa_of(one_more(rate_table.drawn, cell, part, rate_table.axes))
        limits.append(float(np.quantile(moved, t)))
    return limits[0], limits[1]


def tails(settings: Settings) -> list[float]:
    """Quantiles that are the limits of an interval."""
    return [(1 - settings.level) / 2, (1 + settings.level) / 2]


def counted_quality(counts: JudgeCounts, settings: Settings) -> Quality:
    """The quality of a judge whose labelled items are random ones: the table is counted."""
    F, rng = counts.labelled, quality_generator(settings)
    low, high = rate_limits(F, settings.level)
    rate_table = RateTable(
        table=F,
        drawn=dirichlet(F.ravel(), N_DRAWS, rng).reshape(-1, *F.shape),
        rates=rates_of(F),
        low=low,
        high=high,
        axes=(-2, -1),
        together=np.full_like(F, F.sum()),
    )
    return quality_of(counts, rate_table, rng, settings)


def quality_by_verdict(counts: JudgeCounts, settings: Settings) -> Quality:
    """The quality of a judge whose labelled items are random ones of their verdict."""
    F, N, rng = counts.labelled, counts.items, quality_generator(settings)
    n = F.sum(axis=0)
    rates_of_classes = np.where(n > 0, F / np.where(n > 0, n, 1), counts.prevalence[:, np.newaxis])
    table = N / N.sum() * rates_of_classes
    shares = dirichlet(N, N_DRAWS, rng)
    a = np.where(n > 0, F, 1 / len(F))
    drawn = shares[:, np.newaxis] * np.swapaxes(dirichlet(a.T, N_DRAWS, rng), 1, 2)
    low, high = _melded_limits(F, shares, tails(settings), rng)
    rate_table = RateTable(
        table=table,
        drawn=drawn,
        rates=rates_of(table),
        low=low,
        high=high,
        axes=(-2,),
        together=np.broadcast_to(a.sum(axis=0), F.shape),
    )
    return quality_of(counts, rate_table, rng, settings)


def one_more(tables: Reals, cell: Cell, part: Reals, axes: tuple[int, ...]) -> Reals:
    """Tables with one more item in a cell; part: its part of the labels drawn together.

    axes: those of a table along which its labels are drawn together.
    """
    among = np.zeros(tables.shape[-2:], dtype=bool)
    among[tuple(slice(None) if axis in axes else cell[axis] for axis in (-2, -1))] = True
    part = part[:, np.newaxis, np.newaxis]
    total = (tables * among).sum(axis=(-2, -1))
    changed = tables * np.where(among, 1 - part, 1.0)
    changed[:, *cell] += part[:, 0, 0] * total
    return changed


def _extreme_cells(
    table: Reals, n: Reals, axes: tuple[int, ...], kappa_of: Callable[[Reals], Reals]
) -> tuple[Cell, Cell]:
    """The cells in which one more item lowers and raises kappa most.

    n: labels drawn together with each cell.
    """
    kappas = np.empty(table.shape)
    for cell in np.ndindex(*table.shape):
        part = np.array([UNSEEN.weight / (n[cell] + UNSEEN.weight)])
        kappas[cell] = kappa_of(one_more(table[np.newaxis], cell, part, axes))[0]
    lowest, highest = (
        np.unravel_index(at, kappas.shape) for at in (kappas.argmin(), kappas.argmax())
    )
    return (int(lowest[0]), int(lowest[1])), (int(highest[0]), int(highest[1]))


def _melded_limits(
    F: Reals, shares: Reals, at: list[float], rng: np.random.Generator
) -> tuple[Reals, Reals]:
    """Limits of rates if labels are chosen by verdict; shares: draws of those of the verdicts."""
    K, V = F.shape
    n = F.sum(axis=0)
    size = (len(shares), K, V)
    seen, others = rng.standard_gamma(F, size), rng.standard_gamma(n - F, size)
    unseen = rng.standard_gamma(UNSEEN.weight, size)
    weights = shares[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        middle = weights * seen / (seen + others)
    most = weights * (seen + unseen) / (seen + others + unseen)
    least = weights * seen / (seen + others + unseen)
    # All items of a verdict without labels may be of a class, or none.
    middle = np.where(n > 0, middle, np.nan)
    heavy = shares.mean(axis=0) / np.where(n > 0, n, np.nan)
    low, high = np.empty((2, K, V))
    for v in range(V):
        rest = np.arange(V) != v
        up = _summed(middle[..., rest], most[..., rest], np.where(n > F, heavy, 0.0)[:, rest])
        down = _summed(middle[..., rest], least[..., rest], np.where(F > 0, heavy, 0.0)[:, rest])
        low[:, v] = np.quantile(_part(least[..., v], up), at[0], axis=0)
        high[:, v] = np.quantile(_part(most[..., v], down), at[1], axis=0)
    return low, high


def _summed(middle: Reals, moved: Reals, heavy: Reals) -> Reals:
    """The sum over verdicts: of the moved values for the heaviest and those without labels.

    For the others it is that of the middle values. Without verdicts it is 0.
    """
    if heavy.shape[-1] == 0:
        return np.zeros(middle.shape[:-1])
    heaviest = np.nan_to_num(heavy).argmax(axis=-1)[:, np.newaxis] == np.arange(heavy.shape[-1])
    return np.asarray(np.where(heaviest | np.isnan(middle), moved, middle).sum(axis=-1))


def _part(one: Reals, rest: Reals) -> Reals:
    total = one + rest
    return np.asarray(np.divide(one, total, out=np.zeros_like(total), where=total > 0))


def rate_limits(F: Reals, level: float) -> tuple[Reals, Reals]:
    """Limits of the rates of each class whose labelled items are random ones of it."""
    low, high = np.zeros_like(F), np.ones_like(F)
    for y, row in enumerate(F):
        if row.any():
            low[y], high[y] = counted_limits(row / row.sum(), float(row.sum()), level=level)
    return low, high


def _errors_together(items: JudgedItems, verdicts: Codes, y: Codes, labelled: Reals) -> float:
    """How many labels count as one because errors of a cluster come together; 1 if none do."""
    clusters = items.label_clusters
    if clusters is None or not len(y):
        return 1.0
    together = LabelledClusters.of(clusters)
    rates = rates_of(labelled)
    errors = (np.eye(labelled.shape[1])[verdicts] - rates[y]) * items.label_weights[:, np.newaxis]
    by_class = (errors[:, np.newaxis] * np.eye(len(labelled))[y][..., np.newaxis]).reshape(
        len(y), -1
    )
    by_rows = float((by_class**2).sum()) + UNSEEN_ERROR
    by_clusters = float((cluster_sums(by_class, clusters) ** 2).sum())
    return max((by_clusters + UNSEEN_ERROR * together.size) / by_rows, 1.0)


def rates_of(table: Reals) -> Reals:
    """P(verdict | class) by a table of classes by verdicts; all alike for a class without any."""
    total = table.sum(axis=-1, keepdims=True)
    return np.asarray(
        np.where(total > 0, table / np.where(total > 0, total, 1), 1 / table.shape[-1])
    )


def cohens_kappa(table: Reals, ordered: bool) -> Reals:
    """Kappa of tables (..., n_classes, n_classes); 0 if judge and people know one class alone."""
    K = table.shape[-1]
    apart = np.subtract.outer(np.arange(K), np.arange(K))
    disagreement = apart**2.0 if ordered else (apart != 0).astype(np.float64)
    table = table / table.sum(axis=(-2, -1), keepdims=True)
    chance = table.sum(axis=-1)[..., :, np.newaxis] * table.sum(axis=-2)[..., np.newaxis, :]
    expected = (disagreement * chance).sum(axis=(-2, -1))
    observed = (disagreement * table).sum(axis=(-2, -1))
    return np.asarray(
        np.where(expected > 0, 1 - observed / np.where(expected > 0, expected, 1), 0.0)
    )
