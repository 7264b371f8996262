"""Posteriors of the prevalence from counts of items in cells.

A cell is a possible output of the classifier: a predicted class, or a bin of its score. F_yc
labelled items of class y and N_c items of a sample are in cell c. With p the prevalence of the
sample and R_y the shares of the cells in class y,

    F_y ~ Multinomial(R_y),    N ~ Multinomial(p R),    p ~ Dirichlet(alpha),    R_y ~ Dirichlet(1)

*Gibbs.* Given p and R, the N_c items of a cell are divided among the classes as p_y R_yc; given
that division A, p is Dirichlet(alpha + A) and R_y is Dirichlet(1 + F_y + A_y). The cost depends on
the number of cells, not of items. Every sample uses the same random numbers, and classes and cells
are sorted by their counts, so that an estimate depends neither on the other samples nor on the
names of the classes. If a cell has a fractional count (because of weights), the fraction goes to
one class.

If a sample is much larger than the training set, that division hardly moves R, and p moves little
with it. Each sweep therefore also proposes new rates of every class, drawn from its labelled items
alone, together with the p that keeps the expected counts unchanged (`_exchange`). If there are more
cells than classes, no p keeps them all unchanged. Then two classes exchange rates or shares in such
a way that p R stays the same in every cell (`_trade`): the larger the sample, the less else moves.

*Grid.* With two classes and two cells, the share q of the second cell is R_0 + p (R_1 - R_0). The
probability of each q given p depends only on the training items: a matrix that is computed once. A
sample's posterior is that matrix times the likelihoods of its counts at every q, without any
randomness.

Reference: A. Ziegler and P. Czyz, "Bayesian quantification with black-box estimators", TMLR 2024.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import xlogy

from quantshift.base.compiled import compiled
from quantshift.base.seeding import generator
from quantshift.base.types import Prevalences, Reals

BURN_IN = 200
"""Sweeps at the start that are discarded."""

TRADES = 8
"""Trades of shares and of rates in a sweep, for each class."""

LARGEST_STEP, ORDERS = 0.5, 7.0
"""Steps of trades: the largest standard deviation, and how many times smaller (as a power of e) the
smallest is. All orders of magnitude are tried, since the posterior may be of any width."""

SINGULAR = 1e-9
"""Pivot of pooled rates below which classes are indistinguishable."""

P_NODES, Q_NODES, RATE_NODES = 600, 1200, 64
"""Nodes of the grid: prevalences, shares of the second cell, and each of the two rates."""

TAIL = 1e-9
"""Probability of a rate beyond its nodes, on either side."""


@dataclass(frozen=True, eq=False)
class PosteriorDraws:
    """Draws of each sample's posterior, (n_samples, n_draws, n_classes), and its mean.

    p: the prevalence in the population; own: the share among the sample's own items. The means are
    averages of conditional means, which vary less than the draws.
    """

    p: Prevalences
    own: Prevalences
    p_mean: Prevalences
    own_mean: Prevalences


def gibbs(
    class_counts: Reals, counts: Reals, *, alpha: float, n_draws: int, seed: int
) -> PosteriorDraws:
    """Draws by Gibbs sampling.

    class_counts: items of each class in each cell, (n_classes, n_cells); counts: items of each
    sample in each cell, (n_samples, n_cells).
    """
    n_samples, n_classes = len(counts), len(class_counts)
    p, own = np.empty((2, n_samples, n_draws, n_classes))
    p_mean, own_mean = np.empty((2, n_samples, n_classes))
    squares = (class_counts * class_counts).sum(axis=1)
    for s, sample_counts in enumerate(counts):
        classes = np.lexsort((squares, class_counts @ sample_counts))
        cells = np.lexsort((*class_counts[classes], sample_counts))
        rng = generator(seed, purpose="posterior by Gibbs")
        drawn = _chain(
            rng,
            np.ascontiguousarray(class_counts[np.ix_(classes, cells)]),
            np.ascontiguousarray(sample_counts[cells]),
            float(alpha),
            int(n_draws),
        )
        for values, target in zip(drawn, (p, own, p_mean, own_mean), strict=True):
            target[s][..., classes] = values
    return PosteriorDraws(p, own, p_mean, own_mean)


@compiled
def _chain(
    rng: np.random.Generator, class_counts: Reals, counts: Reals, alpha: float, n_draws: int
) -> tuple[Reals, Reals, Reals, Reals]:
    n_classes, n_cells = class_counts.shape
    total = counts.sum()
    p_draws, own_draws = np.empty((n_draws, n_classes)), np.empty((n_draws, n_classes))
    p_mean, own_mean = np.zeros(n_classes), np.zeros(n_classes)
    p, share, split = np.full(n_classes, 1.0 / n_classes), np.empty(n_classes), np.empty(n_classes)
    rates, expected = np.empty((n_classes, n_cells)), np.empty(n_classes)
    division = np.zeros((n_classes, n_cells))
    pooling = np.empty((n_cells, n_classes))
    for c in range(n_cells):
        for y in range(n_classes):
            pooling[c, y] = (class_counts[y, c] + 0.1) / (
                class_counts[:, c].sum() + 0.1 * n_classes
            )
    for sweep in range(-BURN_IN, n_draws):
        for y in range(n_classes):
            # In the first sweep `division` is zero: rates are drawn from labelled items alone.
            _draw_shares(rng, class_counts[y] + division[y] + 1.0, rates[y])
            split[y], expected[y] = 0.0, 0.0
        _exchange(rng, class_counts, counts, pooling, alpha, p, rates)
        if n_cells > n_classes:
            for _ in range(TRADES * n_classes):
                _trade_shares(rng, class_counts, alpha, p, rates)
                _trade_rates(rng, class_counts, p, rates)
        for c in range(n_cells):
            mass = 0.0
            for y in range(n_classes):
                share[y] = p[y] * rates[y, c]
                mass += share[y]
            for y in range(n_classes):
                expected[y] += counts[c] * share[y] / mass
            whole = int(counts[c])
            left, rest = whole, mass
            for y in range(n_classes):
                taken = left
                if y < n_classes - 1 and left > 0:
                    part = min(max(share[y] / rest, 0.0), 1.0) if rest > 0.0 else 0.0
                    taken = rng.binomial(left, part)
                division[y, c] = taken
                left -= taken
                rest -= share[y]
            beyond = counts[c] - whole
            if beyond > 0.0:
                remaining, y = rng.random() * mass, 0
                while y < n_classes - 1 and remaining >= share[y]:
                    remaining -= share[y]
                    y += 1
                division[y, c] += beyond
            for y in range(n_classes):
                split[y] += division[y, c]
        _draw_shares(rng, split + alpha, p)
        if sweep >= 0:
            for y in range(n_classes):
                p_draws[sweep, y] = p[y]
                own_draws[sweep, y] = split[y] / total
                p_mean[y] += (split[y] + alpha) / (total + n_classes * alpha) / n_draws
                own_mean[y] += expected[y] / total / n_draws
    return p_draws, own_draws, p_mean, own_mean


@compiled
def _exchange(
    rng: np.random.Generator,
    class_counts: Reals,
    counts: Reals,
    pooling: Reals,
    alpha: float,
    p: Reals,
    rates: Reals,
) -> None:
    """Propose new rates of one class after another, with a matching p, and update both in place.

    Rates are drawn from the class's labelled items. p changes so that p . rates . pooling stays the
    same: with M = rates . pooling and v = (change of row y of M) times the inverse of M, p falls by
    p_y v / (1 + v_y), and the determinant of this map is 1 / (1 + v_y). The move is accepted by the
    Metropolis-Hastings rule.
    """
    n_classes, n_cells = class_counts.shape
    mixed, inverse = np.zeros((n_classes, n_classes)), np.empty((n_classes, n_classes))
    proposal, shares = np.empty(n_cells), np.zeros(n_cells)
    moved, change, v = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    for y in range(n_classes):
        for c in range(n_cells):
            shares[c] += p[y] * rates[y, c]
            for k in range(n_classes):
                mixed[y, k] += rates[y, c] * pooling[c, k]
    if not _invert(mixed, inverse):
        return
    for y in range(n_classes):
        _draw_shares(rng, class_counts[y] + 1.0, proposal)
        for k in range(n_classes):
            change[k] = 0.0
            for c in range(n_cells):
                change[k] += (proposal[c] - rates[y, c]) * pooling[c, k]
        for k in range(n_classes):
            v[k] = 0.0
            for i in range(n_classes):
                v[k] += change[i] * inverse[i, k]
        factor = 1.0 + v[y]
        allowed = factor != 0.0
        gain = -math.log(abs(factor)) - math.log(max(rng.random(), 1e-300))
        for k in range(n_classes):
            moved[k] = p[k] - p[y] * v[k] / factor
            if moved[k] <= 0.0:
                allowed = False
            elif alpha != 1.0:
                gain += (alpha - 1.0) * math.log(moved[k] / p[k])
        if not allowed:
            continue
        for c in range(n_cells):
            if counts[c] > 0.0:
                new = moved[y] * (proposal[c] - rates[y, c])
                for k in range(n_classes):
                    new += moved[k] * rates[k, c]
                gain += counts[c] * math.log(max(new, 1e-300) / shares[c])
        if gain <= 0.0:
            continue
        # The inverse after changing one row, by the Sherman-Morrison formula.
        for i in range(n_classes):
            p[i] = moved[i]
            along = inverse[i, y] / factor
            for k in range(n_classes):
                inverse[i, k] -= along * v[k]
        for c in range(n_cells):
            rates[y, c] = proposal[c]
            shares[c] = 0.0
            for k in range(n_classes):
                shares[c] += p[k] * rates[k, c]


@compiled
def _trade_shares(
    rng: np.random.Generator, class_counts: Reals, alpha: float, p: Reals, rates: Reals
) -> None:
    """Propose that one class gives a part of its share to another, and update both in place.

    The items that come with it have the rates of their former class, so p . rates is unchanged.
    The determinant of this map is (p_a / p_a')^(n_cells - 1).
    """
    n_classes, n_cells = class_counts.shape
    a, b = _two_of(rng, n_classes)
    step = _step(rng)
    moved, left = p[a] + step, p[b] - step
    if moved <= 0.0 or left <= 0.0:
        return
    gain = (alpha - 1.0) * math.log(moved / p[a] * left / p[b])
    gain += (n_cells - 1) * math.log(p[a] / moved)
    for c in range(n_cells):
        rate = (p[a] * rates[a, c] + step * rates[b, c]) / moved
        if rate <= 0.0:
            return
        gain += class_counts[a, c] * math.log(rate / rates[a, c])
    if math.log(max(rng.random(), 1e-300)) >= gain:
        return
    for c in range(n_cells):
        rates[a, c] = (p[a] * rates[a, c] + step * rates[b, c]) / moved
    p[a], p[b] = moved, left


@compiled
def _trade_rates(rng: np.random.Generator, class_counts: Reals, p: Reals, rates: Reals) -> None:
    """Propose that two classes exchange items of two cells, and update their rates in place."""
    n_classes, n_cells = class_counts.shape
    a, b = _two_of(rng, n_classes)
    c, d = _two_of(rng, n_cells)
    step = _step(rng) / math.sqrt(class_counts[a].sum() + 1.0)
    back = step * p[a] / p[b]
    gain = 0.0
    for y, change in ((a, step), (b, -back)):
        into, out = rates[y, c] + change, rates[y, d] - change
        if into <= 0.0 or out <= 0.0:
            return
        gain += class_counts[y, c] * math.log(into / rates[y, c])
        gain += class_counts[y, d] * math.log(out / rates[y, d])
    if math.log(max(rng.random(), 1e-300)) >= gain:
        return
    for y, change in ((a, step), (b, -back)):
        rates[y, c] += change
        rates[y, d] -= change


@compiled
def _two_of(rng: np.random.Generator, n: int) -> tuple[int, int]:
    """Two different numbers below n."""
    first = min(int(rng.random() * n), n - 1)
    second = min(int(rng.random() * (n - 1)), n - 2)
    return first, second + (second >= first)


@compiled
def _step(rng: np.random.Generator) -> float:
    return rng.standard_normal() * LARGEST_STEP * math.exp(-ORDERS * rng.random())


@compiled
def _invert(matrix: Reals, inverse: Reals) -> bool:
    """Invert by Gauss-Jordan elimination, overwriting the matrix; False if it is singular."""
    n = len(matrix)
    for i in range(n):
        for k in range(n):
            inverse[i, k] = 1.0 if i == k else 0.0
    for i in range(n):
        best = i
        for row in range(i + 1, n):
            if abs(matrix[row, i]) > abs(matrix[best, i]):
                best = row
        pivot = matrix[best, i]
        if not abs(pivot) > SINGULAR:
            return False
        for k in range(n):
            matrix[i, k], matrix[best, k] = matrix[best, k], matrix[i, k]
            inverse[i, k], inverse[best, k] = inverse[best, k], inverse[i, k]
        for k in range(n):
            matrix[i, k] /= pivot
            inverse[i, k] /= pivot
        for row in range(n):
            part = matrix[row, i]
            if row != i and part != 0.0:
                for k in range(n):
                    matrix[row, k] -= part * matrix[i, k]
                    inverse[row, k] -= part * inverse[i, k]
    return True


@compiled
def _draw_shares(rng: np.random.Generator, concentration: Reals, shares: Reals) -> None:
    """Draw from a Dirichlet distribution, in place."""
    total = 0.0
    for k in range(len(shares)):
        shares[k] = rng.standard_gamma(concentration[k])
        total += shares[k]
    for k in range(len(shares)):
        shares[k] /= total


@dataclass(frozen=True, eq=False)
class TwoByTwo:
    """The posterior of two classes and two cells on a grid.

    p, q: nodes, evenly spaced in arcsin sqrt; likelihood: of each q at each p times the prior of p,
    (n_p, n_q).
    """

    p: Reals
    q: Reals
    likelihood: Reals

    @classmethod
    def of(cls, class_counts: Reals, alpha: float) -> "TwoByTwo":
        """For items of each class in each cell, (2, 2), and a prior."""
        angle_p, angle_q = _angles(P_NODES), _angles(Q_NODES)
        p = np.sin(angle_p) ** 2
        (low, weight_of_low), (high, weight_of_high) = (
            _rate_nodes(row[1] + 1, row[0] + 1) for row in class_counts
        )
        node_weights = np.outer(weight_of_low, weight_of_high).ravel()
        table = np.zeros((P_NODES, Q_NODES))
        for i, share in enumerate(p):
            q = ((1 - share) * low[:, np.newaxis] + share * high).ravel()
            position = np.clip(
                np.arcsin(np.sqrt(q)) * Q_NODES * 2 / np.pi - 0.5, 0, Q_NODES - 1 - 1e-9
            )
            cell = position.astype(np.int64)
            part = position - cell
            table[i] += np.bincount(cell, node_weights * (1 - part), minlength=Q_NODES)
            table[i] += np.bincount(cell + 1, node_weights * part, minlength=Q_NODES)
        prior = (p * (1 - p)) ** (alpha - 0.5)  # with the width of a node, sin(2 angle)
        return cls(p, np.sin(angle_q) ** 2, table * prior[:, np.newaxis])

    def masses(self, counts: Reals) -> Reals:
        """Posterior of each node of p for each sample's counts (n_samples, 2), rows sum to one."""
        possible = self.likelihood.any(axis=0)
        q = self.q[possible]
        logs = xlogy(counts[:, :1], 1 - q) + xlogy(counts[:, 1:], q)
        likely = np.exp(logs - logs.max(axis=1, keepdims=True))
        masses = likely @ self.likelihood[:, possible].T
        return np.asarray(masses / masses.sum(axis=1, keepdims=True))

    def draws(self, masses: Reals, n_draws: int, seed: int) -> Prevalences:
        """Evenly spaced quantiles of p in random order, (n_samples, n_draws, 2).

        Independent draws would add random error to the limits of an interval.
        """
        levels = (np.arange(n_draws) + 0.5) / n_draws
        u = generator(seed, purpose="posterior by grid").permutation(levels)
        cumulated = np.cumsum(masses, axis=1)
        angles = [
            np.interp(u * cumulative[-1], np.append(0.0, cumulative), _borders())
            for cumulative in cumulated
        ]
        p = np.sin(np.array(angles)) ** 2
        return np.stack([1 - p, p], axis=2)


def _angles(n: int) -> Reals:
    return np.asarray((np.arange(n) + 0.5) / n * np.pi / 2)


def _rate_nodes(a: float, b: float) -> tuple[Reals, Reals]:
    """Nodes over nearly all of a Beta distribution, evenly spaced in arcsin sqrt, and weights."""
    ends = np.arcsin(np.sqrt(stats.beta.ppf([TAIL, 1 - TAIL], a, b)))
    steps = (np.arange(RATE_NODES) + 0.5) / RATE_NODES
    rates = np.sin(ends[0] + steps * (ends[1] - ends[0])) ** 2
    logs = xlogy(a - 0.5, rates) + xlogy(b - 0.5, 1 - rates)
    return rates, np.exp(logs - logs.max())


def _borders() -> Reals:
    return np.linspace(0, np.pi / 2, P_NODES + 1)
