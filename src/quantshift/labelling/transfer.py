"""Labels chosen by class, or from elsewhere: the joint posterior of prevalence and rates.

Such labels say how often a class gets each verdict, R[y, c] = P(c | y), and nothing about how
frequent classes are. The verdicts of the other items have the shares q = p R. For F[y, c] labelled
and N[c] unlabelled items, the posterior is

    Dir(R; F + 1/2) * |det R|^(1 + e) * prod_c q_c ^ N_c * prod_y p_y ^ (-1/2)    with q = p R.

The priors are Jeffreys's for p and for each row of R, times a power of the determinant: a judge
that separates the classes is more likely. With a flat prior of p intervals hold 85% of the time
for the rarest classes; without the determinant they are 10% wider where classes are equally
frequent and hold no more often. The power e is 1 while the labels do not show that the judge
separates the classes, and rises to 3 with the determinant's distance from 0 in standard deviations:
few draws of such rates are near 0, and they alone make a tail that costs up to a tenth of the
width. With a power of 3 from the start, intervals of weak judges (sensitivity and specificity
together 1.3, 50 labels) would hold 87% of the time. (These figures are of other settings of rates
and prevalence than those of `benchmarks/judge_coverage.py`.)

With as many verdicts as classes, q determines p, and a change of variables turns it into an
importance sample without a Markov chain, exact for any number of items: R ~ Dir(F + 1/2),
q ~ Dir(N + 1), p = q R^-1, of weight |det R|^e * prod_y p_y ^ (-1/2) if p is a distribution and 0
otherwise. The draws of R serve all batches. If hardly any p is a distribution, such verdicts cannot
come about with the rates of the labels, whatever the prevalence.

With more verdicts than classes (bins of a score, several judges), each verdict stands for a point
between the classes (`directions`, such as the share of the judges that vote for each), and the mean
point takes the place of the shares. It is R times the directions that is inverted, and the rest
is the same: the adjusted count of posteriors (PACC), with the posterior distribution it has.

This is the model of A. Ziegler and P. Czyz, "Bayesian quantification with black-box estimators",
2024; with bins of a score that of A. B. Igiraneza, C. Fraser and R. Hinch, "Estimating prevalence
with precision and accuracy", 2025; with one prevalence and two rates that of W. Rogan and B.
Gladen, "Estimating prevalence from the results of a screening test", 1978, whose interval by Z.
Lang and J. Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated
sensitivity and specificity", 2014, is an oracle of the tests.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Prevalences, Reals
from quantshift.errors import DataError
from quantshift.prevalence.bounded import BoundedShares

JEFFREYS = 0.5
BLOCK = 4_000
"""Draws at a time."""

MOST_BLOCKS = 6
SINGULAR = 1e-9
ENOUGH = 250.0
"""Effective number of draws at which quantiles are good enough."""
CONTRADICTED = 1e-3
"""Share of draws with a possible prevalence below which rates and verdicts do not fit together."""
BORDER = 1e-2
"""The prior is level below this share of the upper limit, so that no draw outweighs all others."""
UNCLEAR, CLEAR = 3.0, 7.0
"""Standard deviations of the determinant from 0 between which its power rises."""
LEAST_POWER, MOST_POWER = 1.0, 3.0
MOST_GAIN = 1e6
SMOOTHING = 10.0
"""Labels of each class, even over the verdicts, that are added to find directions."""


@dataclass(frozen=True, eq=False)
class Transferred(BoundedShares):
    """The prevalences of batches of verdicts.

    prevalence, low, high: (n_batches, n_classes).
    possible: share of the draws whose prevalence is a distribution, (n_batches,); `fits` where it
    is not so small that the rates cannot be those of the batch. negative: share of the draws in
    which a class would have a negative prevalence, (n_batches, n_classes).
    """

    possible: Reals
    negative: Reals

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Where verdicts and rates go together."""
        return self.possible > CONTRADICTED


def prevalences(
    labelled: ArrayLike,
    counts: ArrayLike,
    *,
    directions: ArrayLike | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Transferred:
    """The prevalences of batches, from their counts of verdicts and from labelled items elsewhere.

    labelled: items of each class (rows) by their verdict (columns), (n_classes, n_verdicts);
    counts: items by verdict, (n_batches, n_verdicts). The answer for a batch depends on its counts
    and the seed, not on the other batches.
    directions: what each verdict stands for, (n_verdicts, n_classes). By default they are learnt
    from the labelled items, if there are more verdicts than classes.
    """
    F, N = np.asarray(labelled, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if F.ndim != 2 or N.ndim != 2 or F.shape[1] != N.shape[1] or len(F) < 2:
        raise DataError(
            "counts of labelled items are a table of classes by verdicts and counts of batches "
            f"one of batches by the same verdicts, got shapes {F.shape} and {N.shape}"
        )
    finite = np.isfinite(F).all() and np.isfinite(N).all()
    if not finite or F.min(initial=0) < 0 or N.min(initial=0) < 0:
        raise DataError("counts of items are finite numbers, 0 or more")
    G = None if directions is None else np.asarray(directions, dtype=np.float64)
    alpha, N, G = square(F, N, G)
    return posterior(alpha, N, G, level=level, seed=seed)


def square(F: Reals, N: Reals, G: Reals | None) -> tuple[Reals, Reals, Reals | None]:
    """Dirichlet parameters of the rates, counts and directions that can be inverted.

    Verdicts that never occur are added until there are as many as classes.
    """
    K, C = F.shape
    if K > C:
        F, N = np.pad(F, ((0, 0), (0, K - C))), np.pad(N, ((0, 0), (0, K - C)))
        G = None
    elif K < C and G is None:
        G = learnt_directions(F)
    return F + JEFFREYS * min(1.0, K / F.shape[1]), N, G


def learnt_directions(F: Reals) -> Reals:
    """How much each verdict speaks for each class, if all classes are equally frequent."""
    smoothed = F + SMOOTHING / F.shape[1]
    rates = smoothed / smoothed.sum(axis=1, keepdims=True)
    return np.asarray((rates / rates.sum(axis=0)).T)


def posterior(
    alpha: Reals,
    counts: Reals,
    directions: Reals | None,
    *,
    level: float,
    seed: int,
    power: float | None = None,
) -> Transferred:
    """As `prevalences`, for rates whose rows have Dirichlet distributions alpha.

    power: of the determinant; by default as the distributions suggest.
    """
    rates = _Rates(alpha, directions, seed, power)
    tails = [(1 - level) / 2, (1 + level) / 2]
    shape = (len(counts), len(alpha))
    prevalence, low, high, negative = np.empty((4, *shape))
    possible = np.empty(len(counts))
    for i, N in enumerate(counts):
        p, w, _ = _draws(rates, N, seed)
        possible[i], negative[i] = (w > 0).mean(), (p < 0).mean(axis=0)
        if possible[i] <= CONTRADICTED:
            prevalence[i], low[i], high[i] = _projected(p, tails)
        else:
            low[i], high[i] = interpolated_quantiles(p, w, tails)
            prevalence[i] = w @ p / w.sum()
    return Transferred(prevalence, low, high, possible, negative)


def gain_of_known_items(alpha: Reals, directions: Reals | None, p: Prevalences) -> float:
    """How many times more a verdict says of the items that have it than of their population.

    The shares of verdicts vary because the classes of the items do and because the judge errs. For
    the shares among the items themselves only the latter counts: the variance of the shares p, by
    items, falls from v + p (1 - p) to v. With several classes it is the smallest gain.
    """
    R = alpha / alpha.sum(axis=1, keepdims=True)
    G = np.eye(R.shape[1]) if directions is None else directions
    points = G @ np.linalg.pinv(R @ G)
    by_errors = p @ (R @ points**2 - (R @ points) ** 2)
    return float(np.clip(1 + (p * (1 - p) / np.maximum(by_errors, 1e-12)).min(), 1.0, MOST_GAIN))


def power_of(determinants: Reals) -> float:
    """The power of the determinant by which draws are weighted."""
    spread = float(determinants.std())
    distance = float(determinants.mean()) / spread if spread > 0 else CLEAR
    return float(np.interp(distance, [UNCLEAR, CLEAR], [LEAST_POWER, MOST_POWER]))


def joint_draws(
    alpha: Reals, N: Reals, directions: Reals | None, size: int, seed: int
) -> tuple[Prevalences, Reals]:
    """Draws of prevalence and rates together, (size, n_classes) and (size, *alpha.shape).

    Limits of the rates themselves need no higher power of the determinant.
    """
    rates = _Rates(alpha, directions, seed, LEAST_POWER)
    p, w, n_blocks = _draws(rates, N, seed)
    R = np.concatenate([rates.draw(number) for number in range(n_blocks)])
    if not w.any():
        w, p = np.ones(len(p)), _onto_simplex(p)
    rng = generator(seed, purpose="judge", side="joint")
    rows = rng.choice(len(p), size=size, p=w / w.sum())
    return p[rows], R[rows]


class _Rates:
    """Blocks of draws of the rates and of their inverses, made when first asked for."""

    def __init__(
        self, alpha: Reals, directions: Reals | None, seed: int, power: float | None = None
    ) -> None:
        self.alpha, self.directions, self.seed = alpha, directions, seed
        self._blocks: list[tuple[Reals, Reals]] = []
        self._power = power

    def draw(self, number: int) -> Reals:
        rng = generator(self.seed, purpose="judge", side="rates", number=number)
        return dirichlet(self.alpha, BLOCK, rng)

    def inverse(self, number: int) -> tuple[Reals, Reals]:
        """Inverses (n_classes, n_classes, BLOCK), and weights by the determinants, (BLOCK,).

        The weights of matrices without an inverse are 0.
        """
        while len(self._blocks) <= number:
            R = self.draw(len(self._blocks))
            if self.directions is not None:
                R = R @ self.directions
            det = np.abs(np.linalg.det(R))
            regular = det > SINGULAR
            inverse = np.linalg.inv(np.where(regular[:, None, None], R, np.eye(R.shape[1])))
            by_draw = np.ascontiguousarray(np.moveaxis(inverse, 0, -1))
            if self._power is None:
                self._power = power_of(det)
            self._blocks.append((by_draw, np.where(regular, det**self._power, 0.0)))
        return self._blocks[number]


def _draws(rates: _Rates, N: Reals, seed: int) -> tuple[Reals, Reals, int]:
    """Prevalences of one batch and their weights, and the number of blocks they are from."""
    name = ",".join(f"{n:.10g}" for n in N)
    prior = min(1.0, len(rates.alpha) / len(N))
    drawn: list[Reals] = []
    weights: list[Reals] = []
    for number in range(MOST_BLOCKS):
        inverse, by_rates = rates.inverse(number)
        rng = generator(seed, purpose="judge", side="verdicts", counts=name, number=number)
        # Draws are the last axis: numpy is twice as fast as with a few classes last.
        q = np.stack([rng.standard_gamma(n + prior, size=BLOCK) for n in N])
        q /= np.maximum(q.sum(axis=0), 1e-300)
        if rates.directions is not None:
            q = rates.directions.T @ q
        p = np.einsum("in,ijn->jn", q, inverse)
        if number == 0:
            border = BORDER * np.quantile(np.clip(p, 0, 1), 0.975, axis=1, keepdims=True) + 1e-12
        inside = (p >= 0).all(axis=0)
        w = np.zeros(BLOCK)
        w[inside] = by_rates[inside] / np.sqrt(np.maximum(p[:, inside], border).prod(axis=0))
        drawn.append(p)
        weights.append(w)
        total, squares = sum(w.sum() for w in weights), sum((w * w).sum() for w in weights)
        if total**2 >= ENOUGH * squares > 0:
            break
        if number == 1 and max((w > 0).mean() for w in weights) <= CONTRADICTED:
            break
    return np.concatenate(drawn, axis=1).T, np.concatenate(weights), len(drawn)


def dirichlet(alpha: Reals, size: int, rng: np.random.Generator) -> Reals:
    """Draws from the distribution of each row of alpha, (size, *alpha.shape)."""
    drawn = rng.standard_gamma(alpha, size=(size, *alpha.shape))
    return np.asarray(drawn / np.maximum(drawn.sum(axis=-1, keepdims=True), 1e-300))


def _onto_simplex(p: Reals) -> Prevalences:
    p = np.maximum(p, 0.0)
    return np.asarray(p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300))


def _projected(p: Reals, tails: list[float]) -> tuple[Reals, Reals, Reals]:
    """Draws clipped and rescaled to prevalences; their limits at twice the distance."""
    p = _onto_simplex(p)
    middle = np.median(p, axis=0)
    low, high = np.quantile(p, tails, axis=0)
    estimate = middle / middle.sum()
    return (
        estimate,
        np.clip(estimate - 2 * np.abs(estimate - low), 0, 1),
        np.clip(estimate + 2 * np.abs(high - estimate), 0, 1),
    )


def interpolated_quantiles(values: Reals, weights: Reals, at: list[float]) -> Reals:
    """Weighted quantiles of each column of values, (len(at), n_columns)."""
    positive = weights > 0
    values, weights = values[positive], weights[positive]
    order = np.argsort(values, axis=0)
    cumulative = np.cumsum(weights[order], axis=0)
    cumulative /= cumulative[-1]
    return np.array(
        [np.interp(at, cumulative[:, j], values[order[:, j], j]) for j in range(values.shape[1])]
    ).T
