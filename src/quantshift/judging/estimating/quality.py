"""How one judge does: error rates and agreement with people, allowing for how items were chosen.

The table of classes by verdicts, T[y, v], is made of what the design shows: of random items it is
counted; by verdict it is share_v * P(y | v); by label or elsewhere p_y * P(v | y). Rates are the
table's rows over their sums, and kappa is Cohen's, with squares of the distances between ordered
classes as disagreement if they are ordered.

Limits of rates are those of counting where labelled items are random ones of their class. By
verdict, the odds of a rate are a ratio of two parts of the table that different labels show,

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
from numpy.typing import NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Prevalences, Reals
from quantshift.labelling.audit import count_interval
from quantshift.labelling.strata import UNSEEN
from quantshift.labelling.transfer import dirichlet, joint_draws, square

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

    def unknown_unless(self, seen: NDArray[np.bool_]) -> "Quality":
        """The same with anything possible of the rates of verdicts that no labelled item has."""
        return replace(
            self,
            rates_low=np.where(seen, self.rates_low, 0.0),
            rates_high=np.where(seen, self.rates_high, 1.0),
        )


def quality(
    F: Reals,
    N: Reals,
    prevalence: Prevalences,
    classes: Codes,
    *,
    design: str,
    alpha: Reals | None = None,
    ordered: bool = False,
    level: float,
    seed: int,
) -> Quality:
    """F: labelled items by class and verdict; N: all items by verdict; classes: what verdicts say.

    alpha: Dirichlet parameters of the rates, if they are not those of F.
    """
    K, V = F.shape
    rng = generator(seed, purpose="judge", side="quality")
    tails = [(1 - level) / 2, (1 + level) / 2]
    if alpha is None and design == "random":
        table, drawn = F, dirichlet(F.ravel(), N_DRAWS, rng).reshape(-1, K, V)
        low, high = _counted_limits(F, level)
        together = np.full_like(F, F.sum())
    elif alpha is None and design == "by-verdict":
        n = F.sum(axis=0)
        table = N / N.sum() * np.where(n > 0, F / np.where(n > 0, n, 1), prevalence[:, np.newaxis])
        shares = dirichlet(N, N_DRAWS, rng)
        a = np.where(n > 0, F, 1 / K)
        drawn = shares[:, np.newaxis] * np.swapaxes(dirichlet(a.T, N_DRAWS, rng), 1, 2)
        together = np.broadcast_to(a.sum(axis=0), F.shape)
        low, high = _melded_limits(F, shares, tails, rng)
    else:
        rows = F if alpha is None else alpha
        n = rows.sum(axis=1, keepdims=True)
        # Also of a class whose share is 0.
        rates = np.where(n > 0, rows / np.where(n > 0, n, 1), 1 / V)
        table = prevalence[:, np.newaxis] * rates
        a, counts, G = square(rows, N[np.newaxis], None)
        if alpha is None:
            a = np.pad(F, ((0, 0), (0, a.shape[1] - V))) + UNSEEN.weight / a.shape[1]
        else:
            a = alpha
        p, R = joint_draws(a, counts[0], G, N_DRAWS, seed)
        drawn = (p[:, :, np.newaxis] * R)[:, :, :V]
        together = np.broadcast_to(a.sum(axis=1, keepdims=True), F.shape)
        if alpha is None:
            low, high = _counted_limits(F, level)
        else:
            low, high = np.quantile(R[:, :, :V], tails, axis=0)
    if alpha is None and design in ("random", "by-verdict"):
        rates = _rates(table)
    low, high = np.minimum(low, rates), np.maximum(high, rates)
    if not (classes >= 0).all() or V < 2:
        return Quality(np.full(K, np.nan), rates, low, high, np.nan, np.nan, np.nan)
    votes = np.eye(K)[classes]
    axes = {"random": (-2, -1), "by-verdict": (-2,)}.get(design, (-1,))

    def kappa_of(tables: Reals) -> Reals:
        return cohens_kappa(tables @ votes, ordered)

    def with_one_more(cell: Cell) -> Reals:
        part = rng.beta(UNSEEN.weight, together[cell], size=N_DRAWS)
        return kappa_of(one_more(drawn, cell, part, axes))

    kappa = float(kappa_of(table))
    if alpha is None:
        least, most = (
            float(np.quantile(with_one_more(cell), t))
            for cell, t in zip(_extreme_cells(table, together, axes, kappa_of), tails, strict=True)
        )
    else:
        least, most = np.quantile(kappa_of(drawn), tails)
    return Quality(
        naive=N @ votes / N.sum(),
        rates=rates,
        rates_low=low,
        rates_high=high,
        kappa=kappa,
        kappa_low=min(float(least), kappa),
        kappa_high=max(float(most), kappa),
    )


def one_more(tables: Reals, cell: Cell, part: Reals, axes: tuple[int, ...]) -> Reals:
    """Tables with an item more in a cell; part: of the labels that are drawn together.

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
    """In which an item more lowers and raises kappa most; n: labels drawn together with a cell."""
    found = np.empty(table.shape)
    for cell in np.ndindex(*table.shape):
        part = np.array([UNSEEN.weight / (n[cell] + UNSEEN.weight)])
        found[cell] = kappa_of(one_more(table[np.newaxis], cell, part, axes))[0]
    lowest, highest = (np.unravel_index(at, found.shape) for at in (found.argmin(), found.argmax()))
    return (int(lowest[0]), int(lowest[1])), (int(highest[0]), int(highest[1]))


def _melded_limits(
    F: Reals, shares: Reals, tails: list[float], rng: np.random.Generator
) -> tuple[Reals, Reals]:
    """Of the rates of labels chosen by verdict; shares: draws of those of the verdicts."""
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
    # Of a verdict without labels all items may be of a class, or none.
    middle = np.where(n > 0, middle, np.nan)
    heavy = shares.mean(axis=0) / np.where(n > 0, n, np.nan)
    low, high = np.empty((2, K, V))
    for v in range(V):
        rest = np.arange(V) != v
        up = _summed(middle[..., rest], most[..., rest], np.where(n > F, heavy, 0.0)[:, rest])
        down = _summed(middle[..., rest], least[..., rest], np.where(F > 0, heavy, 0.0)[:, rest])
        low[:, v] = np.quantile(_part(least[..., v], up), tails[0], axis=0)
        high[:, v] = np.quantile(_part(most[..., v], down), tails[1], axis=0)
    return low, high


def _summed(middle: Reals, moved: Reals, heavy: Reals) -> Reals:
    """Over verdicts: the middle of each, but of the heaviest and of those without labels moved."""
    heaviest = np.nan_to_num(heavy).argmax(axis=-1)[:, np.newaxis] == np.arange(heavy.shape[-1])
    return np.asarray(np.where(heaviest | np.isnan(middle), moved, middle).sum(axis=-1))


def _part(one: Reals, rest: Reals) -> Reals:
    total = one + rest
    return np.asarray(np.divide(one, total, out=np.zeros_like(total), where=total > 0))


def _counted_limits(F: Reals, level: float) -> tuple[Reals, Reals]:
    """Of the rates of each class whose labelled items are random ones of it."""
    low, high = np.zeros_like(F), np.ones_like(F)
    for y, row in enumerate(F.astype(np.int64)):
        if row.any():
            found = count_interval(np.repeat(np.arange(len(row)), row), len(row), level=level)
            low[y], high[y] = found.low, found.high
    return low, high


def _rates(table: Reals) -> Reals:
    total = table.sum(axis=-1, keepdims=True)
    return np.asarray(
        np.where(total > 0, table / np.where(total > 0, total, 1), 1 / table.shape[-1])
    )


def cohens_kappa(table: Reals, ordered: bool) -> Reals:
    """Of tables (..., n_classes, n_classes). Of judges who agree in one class alone it is 0."""
    K = table.shape[-1]
    apart = np.subtract.outer(np.arange(K), np.arange(K))
    disagreement = apart**2.0 if ordered else (apart != 0).astype(np.float64)
    table = table / table.sum(axis=(-2, -1), keepdims=True)
    chance = table.sum(axis=-1)[..., :, np.newaxis] * table.sum(axis=-2)[..., np.newaxis, :]
    expected = (disagreement * chance).sum(axis=(-2, -1))
    found = (disagreement * table).sum(axis=(-2, -1))
    return np.asarray(np.where(expected > 0, 1 - found / np.where(expected > 0, expected, 1), 0.0))
