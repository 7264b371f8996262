"""Shares among items from labels of other sources, if rates and shares differ between sources.

A source is where items come from: a system, a topic, a month. From source to source the log-odds of
three things move: of the share of a class, of how well a judge tells the class from the others, and
of how readily it says the class. The last two are half the sum and half the difference of the
log-odds of sensitivity and specificity; a judge that is more lenient somewhere has more of one and
less of the other. Each of the three is normal between sources, with a spread that labels of several
sources show. Before that, spreads are those of real tables (`SPREADS`), which is all there is for
one source.

Draws of spreads, means and the rates of the new source give its share by its verdicts,

    p = (q - (1 - specificity)) / (sensitivity + specificity - 1),

and count as likely as such a share is between sources, times |dp/dq|. Labels of some random items
of the new source (probes) weigh the draws by their likelihood. With several classes or verdicts,
each class is estimated against all others, by whether a verdict speaks for it.

The limits are those of a range: how far this source moves is seen when it is labelled.
`benchmarks/judge_transfers.py` measures them between sources of real tables.

Reference: J. Higgins, S. Thompson and D. Spiegelhalter, "A re-evaluation of random-effects
meta-analysis", Journal of the Royal Statistical Society A 172 (2009): predictive distributions.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from quantshift.base.seeding import generator
from quantshift.base.types import Reals

SHARE, SHARPNESS, LENIENCE = range(3)
"""What moves between sources."""

SPREADS = ((0.8, 0.6), (0.3, 0.7), (0.6, 0.8))
"""Of each of the three the median of its spread and the standard deviation of the logarithm of it,
between the sources of the development tables (see `benchmarks/judge_transfers.py`)."""

TAILS = 4
"""Degrees of freedom of the shares of new sources."""

N_DRAWS, N_GRID = 20_000, 24
NO_PROBES = np.zeros((2, 2))


@dataclass(frozen=True, eq=False)
class Told:
    """What is known of the new source, for one class.

    positive, n: how many of its items have a verdict that speaks for the class, of how many.
    probes: labelled items of it by class and verdict, (2, 2).
    """

    positive: float
    n: float
    probes: Reals


def moving_shares(
    sources: Reals, verdicts: Reals, level: float, seed: int
) -> tuple[Reals, Reals, Reals]:
    """The shares of all classes, as medians that sum to one, and their limits.

    sources: labelled items by class and verdict of each source, (n_sources, n_classes, n_cells);
    verdicts: those of the new source. Anything may be true of items with verdicts that no labelled
    item has.
    """
    together = sources.sum(axis=0)
    known = together.sum(axis=0) > 0
    unlike = float(verdicts[~known].sum() / verdicts.sum())
    rows = []
    for of_class in range(len(together)):
        rate = together[of_class] / np.where(known, together.sum(axis=0), 1)
        speaks = known & (rate > together[of_class].sum() / together.sum())
        others = np.delete(sources, of_class, axis=1).sum(axis=1)
        pair = np.stack([others, sources[:, of_class]], axis=1)
        table = np.stack([pair[..., ~speaks].sum(axis=-1), pair[..., speaks].sum(axis=-1)], axis=-1)
        told = Told(float(verdicts[speaks].sum()), float(verdicts[known].sum()), NO_PROBES)
        rows.append(moving_share(table, told, level, seed) if speaks.any() else (0.0, 0.0, 1.0))
    middle, low, high = np.array(rows).T
    middle = middle / middle.sum() if middle.sum() > 0 else np.full(len(middle), 1 / len(middle))
    return middle, (1 - unlike) * low, (1 - unlike) * high + unlike


def moving_share(sources: Reals, told: Told, level: float, seed: int) -> tuple[float, float, float]:
    """The share of a class in the new source: the median and the limits of what is likely.

    sources: labelled items of each source by class and verdict, (n_sources, 2, 2).
    """
    rng = generator(seed, purpose="judge", side="sources")
    drawn = [
        _drawn(*seen, rng, spread) for seen, spread in zip(_seen(sources), SPREADS, strict=True)
    ]
    (mean, spread, _), (_, _, sharpness), (_, _, lenience) = drawn
    right, wrong = expit(sharpness + lenience), expit(lenience - sharpness)
    q = rng.beta(told.positive + 0.5, told.n - told.positive + 0.5, N_DRAWS)
    slope = right - wrong
    p = (q - wrong) / np.where(np.abs(slope) < 1e-9, 1e-9, slope)
    inside = (p > 0) & (p < 1)
    p = np.clip(p, 1e-9, 1 - 1e-9)
    odds = np.log(p / (1 - p))
    # Student's t: now and then a source is unlike all others.
    z = (odds - mean) / spread
    log_weight = -(TAILS + 1) / 2 * np.log1p(z**2 / TAILS) - np.log(spread * p * (1 - p))
    log_weight -= np.log(np.maximum(np.abs(slope), 1e-9))
    for verdict, of_all in ((1, q), (0, 1 - q)):
        speaks = right if verdict else 1 - right
        chance = np.clip(p * speaks / np.maximum(of_all, 1e-12), 0, 1)
        n_not, n_of = told.probes[:, verdict]
        log_weight += xlogy(n_of, chance) + xlog1py(n_not, -chance)
    log_weight = np.where(inside, log_weight, -np.inf)
    if not np.isfinite(log_weight).any():
        return 0.5, 0.0, 1.0
    weight = np.exp(log_weight - log_weight.max())
    low, middle, high = _quantiles(p, weight, [(1 - level) / 2, 0.5, (1 + level) / 2])
    return middle, low, high


def _seen(sources: Reals) -> list[tuple[Reals, Reals]]:
    """Estimates of the log-odds of each source, and their variances."""
    n = sources.sum(axis=2)
    share, of_share = _log_odds(n[:, 1], n[:, 0])
    right, of_right = _log_odds(sources[:, 1, 1], sources[:, 1, 0])
    other, of_other = _log_odds(sources[:, 0, 0], sources[:, 0, 1])
    variance = (of_right + of_other) / 4
    return [(share, of_share), ((right + other) / 2, variance), ((right - other) / 2, variance)]


def _log_odds(n: Reals, others: Reals) -> tuple[Reals, Reals]:
    n, others = n + 0.5, others + 0.5
    return np.log(n / others), 1 / n + 1 / others


def _drawn(
    seen: Reals, variance: Reals, rng: np.random.Generator, usual: tuple[float, float]
) -> tuple[Reals, Reals, Reals]:
    """Draws of the mean of all sources, of the spread around it, and of a new source."""
    median, scale = usual
    grid = median * np.exp(scale * np.linspace(-2.5, 2.5, N_GRID))
    precision = 1 / (grid[:, np.newaxis] ** 2 + variance)
    total = precision.sum(axis=1)
    means = (precision @ seen) / total
    log_weight = 0.5 * (np.log(precision).sum(axis=1) - np.log(total))
    log_weight -= 0.5 * (precision * (seen - means[:, np.newaxis]) ** 2).sum(axis=1)
    log_weight -= 0.5 * (np.log(grid / median) / scale) ** 2
    weight = np.exp(log_weight - log_weight.max())
    chosen = rng.choice(N_GRID, N_DRAWS, p=weight / weight.sum())
    mean = means[chosen] + rng.normal(size=N_DRAWS) / np.sqrt(total[chosen])
    return mean, grid[chosen], mean + grid[chosen] * rng.normal(size=N_DRAWS)


def _quantiles(values: Reals, weights: Reals, at: list[float]) -> list[float]:
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    positions = np.searchsorted(below, np.array(at) * below[-1])
    return [float(v) for v in values[order][np.minimum(positions, len(values) - 1)]]
