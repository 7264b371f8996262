"""How one judge does: error rates and agreement with people, allowing for how items were chosen.

The table of classes by verdicts, T[y, v], is made of what the design shows: of random items it is
counted; by verdict it is share_v * P(y | v); by label or elsewhere p_y * P(v | y). Rates are the
table's rows over their sums, and kappa is Cohen's, with squares of the distances between ordered
classes as disagreement if they are ordered. Limits are quantiles of draws of the table.

Reference: J. Cohen, "Weighted kappa", Psychological Bulletin 70 (1968).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quantshift.judging.strata import jeffreys_limits
from quantshift.judging.transfer import dirichlet, joint_draws, square
from quantshift.seeding import generator
from quantshift.types import Codes, Prevalences

Reals = NDArray[np.float64]

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
    if alpha is None and design == "random":
        table, drawn = F, dirichlet(F.ravel() + 1 / F.size, N_DRAWS, rng).reshape(-1, K, V)
    elif alpha is None and design == "by-verdict":
        shares = N / N.sum()
        n = F.sum(axis=0)
        table = shares * np.where(n > 0, F / np.where(n > 0, n, 1), prevalence[:, np.newaxis])
        drawn = shares[:, np.newaxis] * dirichlet(F.T + 1 / K, N_DRAWS, rng)
        drawn = np.swapaxes(drawn, 1, 2)
    else:
        rows = F if alpha is None else alpha
        n = rows.sum(axis=1, keepdims=True)
        table = prevalence[:, np.newaxis] * np.where(n > 0, rows / np.where(n > 0, n, 1), 1 / V)
        a, counts, G = square(rows, N[np.newaxis], None)
        p, R = joint_draws(a if alpha is None else alpha, counts[0], G, N_DRAWS, seed)
        drawn = (p[:, :, np.newaxis] * R)[:, :, :V]
    rates = _rates(table)
    tails = [(1 - level) / 2, (1 + level) / 2]
    if alpha is None and design != "by-verdict":
        low, high = jeffreys_limits(F, F.sum(axis=1, keepdims=True), level)
    else:
        low, high = np.quantile(_rates(drawn), tails, axis=0)
    said = classes >= 0
    if not said.all() or V < 2:
        return Quality(np.full(K, np.nan), rates, low, high, np.nan, np.nan, np.nan)
    votes = np.eye(K)[classes]
    kappa = float(_kappa(table @ votes, ordered))
    least, most = np.quantile(_kappa(drawn @ votes, ordered), tails)
    return Quality(
        naive=N @ votes / N.sum(),
        rates=rates,
        rates_low=np.minimum(low, rates),
        rates_high=np.maximum(high, rates),
        kappa=kappa,
        kappa_low=min(float(least), kappa),
        kappa_high=max(float(most), kappa),
    )


def _rates(table: Reals) -> Reals:
    total = table.sum(axis=-1, keepdims=True)
    return np.asarray(
        np.where(total > 0, table / np.where(total > 0, total, 1), 1 / table.shape[-1])
    )


def _kappa(table: Reals, ordered: bool) -> Reals:
    """Of tables (..., n_classes, n_classes). Of judges who agree in one class alone it is 0."""
    K = table.shape[-1]
    apart = np.subtract.outer(np.arange(K), np.arange(K))
    disagreement = apart**2.0 if ordered else (apart != 0).astype(np.float64)
    table = table / table.sum(axis=(-2, -1), keepdims=True)
    chance = table.sum(axis=-1)[..., :, np.newaxis] * table.sum(axis=-2)[..., np.newaxis, :]
    expected = (disagreement * chance).sum(axis=(-2, -1))
    found = (disagreement * table).sum(axis=(-2, -1))
    return np.asarray(np.where(expected > 0, 1 - found / np.where(expected > 0, expected, 1), 0.0))
