"""Could this sample tell label shift from covariate shift, and does it refute label shift?

Under label shift the ratio of the densities of sample and training items is linear in the
posteriors: sum_k p_k q_k(x) / pi_k. Covariate shift allows any ratio. So a sample speaks for label
shift as far as it fits a linear ratio better than ratios which covariate shift would make plausible
(`doubles`): an exponential tilt e^(b rank) along the rank of a posterior; a step, where most items
of one side of a threshold are missing; and items picked in proportion to a posterior, or to one
minus it. The last looks like label shift to an extreme, with two classes like a sample in which all
items are of one class. "Not refuted" alone is no evidence, since a small sample, or a poor
classifier, refutes nothing.

Scores are divided into cells (bins; with more than two classes, groups of similar posteriors), and
a sample is its number of items in each cell. Tests:

    score     likelihood of the label shift that fits best, minus that of the tilt that fits best
    fit       smooth test of the shares of cells under the mixture of classes (Neyman)
    column    the largest difference between means of features and their expectation, in standard
              errors; `columns`, the sum of their squares
    doubles   likelihood of label shift minus that of the best tilt (or step, or pick) is as large
              in samples of this tilt (or step, or pick)

The first four refute label shift if their p-value is small. If that of the doubles is small, the
sample could tell label shift from its doubles, and shows that it is not a double. All null
distributions are simulated: training items are drawn again, class by class, and samples are drawn
from the classes in the estimated shares, or from the fitted double. What concerns the training
items is computed once and serves all samples.

The scores of the training items are out of fold. Those of a sample must be distributed alike:
each of the models of the folds scores it, and every score counts 1 / n_models.

References: J. Neyman, "Smooth test for goodness of fit", Skandinavisk Aktuarietidskrift 20 (1937);
D. Cox, "Tests of separate families of hypotheses", Berkeley Symposium 1 (1961), for likelihood
ratios of hypotheses neither of which contains the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.special import expit

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Posteriors, Prevalences, Reals
from quantshift.items.items import effective_size
from quantshift.items.simulation import ClassMembers
from quantshift.optimise.mixture_likelihood import maximise_mixtures
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.likelihood.score_cells import Cells, calibrated_cells, cell_ranks

LEVEL = 0.01
"""Level of each of the four tests that refute label shift. Together they refute it in .03 to .06 of
the samples that label shift has made."""

N_REPLICATES = 300
"""Simulated samples for each null distribution: p-values are multiples of 1 / 301."""

MOST_ITEMS = 3000
"""From a class with more training items, this many are drawn at random."""

MOST_DRAWN = 5000
"""Larger samples are drawn as counts of the training items."""

DEGREE = 6
"""Components of the smooth test."""

STEP_HEIGHT, STEP_WIDTH = 5.0, 0.03
"""A step multiplies the density by e^STEP_HEIGHT within a few STEP_WIDTH of the ranks."""

STEP_PLACES = np.linspace(0.1, 0.9, 9)
"""Ranks at which there may be a step, up or down."""

STEEPEST = 50.0
"""The largest coefficient of a tilt."""

RIDGE, LEAST_SHARE = 1e-6, 1e-6


@dataclass(frozen=True)
class ShiftEvidence:
    """What one sample shows about label shift; p-values as in the docstring of the module.

    prevalence: of the label shift that fits best, (n_classes,); error: the root of its mean squared
    error as an estimate of the shares among the items, in samples of label shift. power: the
    probability that `score` would refute label shift if the sample were the fitted tilt. support:
    log-likelihood of the label shift that fits best, minus that of the likeliest double.
    """

    prevalence: Prevalences
    error: Reals
    score: float
    fit: float
    column: float
    columns: float
    doubles: float
    power: float
    support: float


@dataclass(frozen=True, eq=False)
class ScoredTraining:
    """The training items by class and cell.

    position: standardised features, (n_items, n_features); prior: the training prevalence, also of
    items that are not among these.
    """

    cells: Cells
    codes: Codes
    cell_codes: Codes
    position: Reals
    weights: Weights | None
    prior: Prevalences
    seed: int

    @classmethod
    def of(
        cls,
        out_of_fold: Posteriors,
        codes: Codes,
        position: Reals,
        *,
        weights: Weights | None = None,
        seed: int = 0,
    ) -> "ScoredTraining":
        """From out-of-fold posteriors, classes and standardised features of the training items.

        position: (n_items, n_features); without features, (n_items, 0).
        """
        n_classes = out_of_fold.shape[1]
        totals = np.bincount(codes, weights, minlength=n_classes)
        rng = generator(seed, purpose="score test: items")
        rows = np.concatenate(
            [
                np.sort(rng.permutation(np.flatnonzero(codes == k))[:MOST_ITEMS])
                for k in range(n_classes)
            ]
        )
        posteriors, row_codes = out_of_fold[rows], codes[rows]
        row_weights = None if weights is None else weights[rows]
        cells = Cells.of(posteriors, _within_class(row_codes, n_classes, row_weights), seed=seed)
        prior = totals / totals.sum()
        placed = cells.place(posteriors)
        return cls(cells, row_codes, placed, position[rows], row_weights, prior, seed)

    @cached_property
    def drawn(self) -> "_Drawn":
        """The training items, and `N_REPLICATES` draws of them."""
        rng = generator(self.seed, purpose="score test: training")
        shares = _within_class(self.codes, len(self.prior), self.weights)
        counts, means = _drawn_again(
            self.codes, self.cell_codes, self.position, shares, len(self.cells), rng
        )
        class_cells = counts / counts.sum(axis=2, keepdims=True)
        # No cell is impossible: one item of a sample must not refute everything.
        class_cells = (class_cells + LEAST_SHARE) / (1 + LEAST_SHARE * len(self.cells))
        joint = class_cells * self.prior[:, np.newaxis]
        away = np.square(self.position - means[0, self.codes]) * shares[:, np.newaxis]
        return _Drawn(
            sizes=counts[0].sum(axis=1),
            ratios=calibrated_cells(self.cells.log_posteriors, joint) / self.prior,
            class_cells=class_cells,
            shares=joint.sum(axis=1),
            ranks=cell_ranks(self.cells.log_posteriors, joint.sum(axis=1)),
            prior=self.prior,
            means=means,
            variances=np.stack([away[self.codes == k].sum(axis=0) for k in range(len(self.prior))]),
        )

    def place(self, committee: Posteriors) -> Codes:
        """Cells of items by every model, (n_models, n_items), from their posteriors by each."""
        return np.stack([self.cells.place(posteriors) for posteriors in committee])

    def counts_of(self, placed: Codes, weights: Weights | None = None) -> Reals:
        """A sample, as returned by `place`, as (fractional) counts of cells.

        With weights, the counts add up to the effective number of items.
        """
        repeated = None if weights is None else np.tile(weights, len(placed))
        total = np.bincount(placed.ravel(), repeated, minlength=len(self.cells)).astype(np.float64)
        size = placed.shape[1] if weights is None else effective_size(weights)
        return np.asarray(total * (size / total.sum()))

    def test(self, counts: Reals, features: Reals) -> ShiftEvidence:
        """Test a sample: its counts of cells, and the means of its features, (n_features,)."""
        training = self.drawn
        observed = training.fitted(counts[np.newaxis], self, first=True)
        n = round(counts.sum())
        p_hat = observed.prevalence[0]
        rng = generator(self.seed, purpose="score test", n_items=n)
        drawn, p_drawn, drawn_means = self._draw(p_hat, n, rng)
        null = training.fitted(drawn, self)
        ratio = observed.over_tilt[0]
        tilted, stepped, picked = (
            training.fitted(rng.multinomial(n, shares, N_REPLICATES).astype(np.float64), self)
            for shares in (
                training.tilted(observed.tilt[0]),
                training.changed(training.steps[0, :, observed.step[0]]),
                training.changed(training.picks[0, :, observed.pick[0]]),
            )
        )
        z = training.deviations(features[np.newaxis], observed.prevalence, n, first=True)[0]
        null_z = training.deviations(drawn_means, null.prevalence, n)
        return ShiftEvidence(
            p_hat,
            np.sqrt(np.square(null.prevalence - p_drawn).mean(axis=0)),
            score=p_value(-null.over_tilt, -ratio),
            fit=p_value(null.smooth, observed.smooth[0]),
            column=p_value(np.abs(null_z).max(axis=1, initial=0.0), np.abs(z).max(initial=0.0)),
            columns=p_value(np.square(null_z).sum(axis=1), float(np.square(z).sum())),
            doubles=max(
                p_value(tilted.over_tilt, ratio),
                p_value(stepped.over_step, observed.over_step[0]),
                p_value(picked.over_pick, observed.over_pick[0]),
            ),
            power=float(np.mean(tilted.over_tilt < np.quantile(null.over_tilt, LEVEL))),
            support=float(min(ratio, observed.over_step[0], observed.over_pick[0])),
        )

    def _draw(
        self, p_hat: Prevalences, n: int, rng: np.random.Generator
    ) -> tuple[Reals, Prevalences, Reals]:
        """Samples of training items: counts of cells, shares of classes, means of features."""
        n_items, n_cells, n_classes = len(self.codes), len(self.cells), len(self.prior)
        if n <= MOST_DRAWN:
            members = ClassMembers(self.codes, n_classes, self.weights)
            rows = members.draw(p_hat[np.newaxis], n, N_REPLICATES, rng)
            counts = _counted(rows, n_items).astype(np.float64)
        else:
            shares = _within_class(self.codes, n_classes, self.weights) * p_hat[self.codes]
            counts = rng.multinomial(n, shares / shares.sum(), N_REPLICATES).astype(np.float64)
        by_cell = np.zeros((N_REPLICATES, n_cells))
        present = np.unique(self.cell_codes)
        order = np.argsort(self.cell_codes, kind="stable")
        starts = np.searchsorted(self.cell_codes[order], present)
        by_cell[:, present] = np.add.reduceat(counts[:, order], starts, axis=1)
        p_drawn = counts @ np.eye(n_classes)[self.codes] / n
        return by_cell, p_drawn, counts @ self.position / n


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Training items drawn again; the first axis is that of the draws, number 0 are the items.

    sizes: numbers of items of the classes. ratios: posteriors over training shares in each cell,
    (..., n_cells, n_classes). class_cells: shares of the cells in each class, (..., n_classes,
    n_cells); shares: among all items, (..., n_cells). ranks: of the cells, by every posterior,
    (..., n_cells, n_ranked). prior: the training prevalence. means: of features in each class,
    (..., n_classes, n_features); variances: within classes, (n_classes, n_features).
    """

    sizes: Reals
    ratios: Reals
    class_cells: Reals
    shares: Reals
    ranks: Reals
    prior: Prevalences
    means: Reals
    variances: Reals

    @cached_property
    def steps(self) -> Reals:
        """Log density ratios of the steps, (n_draws, n_cells, n_steps)."""
        away = (self.ranks[..., np.newaxis] - STEP_PLACES) / STEP_WIDTH
        up = STEP_HEIGHT * expit(away)
        height = np.concatenate([up, -up], axis=3).reshape(*self.ranks.shape[:2], -1)
        total = np.einsum("rc,rcg->rg", self.shares, np.exp(height))
        return np.asarray(height - np.log(total)[:, np.newaxis])

    @cached_property
    def picks(self) -> Reals:
        """Log density ratios of items picked by a posterior or one minus it, (..., 2 n_classes)."""
        posteriors = self.ratios * self.prior
        chances = np.concatenate([posteriors, 1 - posteriors], axis=2)
        total = np.einsum("rc,rcg->rg", self.shares, chances)
        return np.asarray(np.log(np.maximum(chances / total[:, np.newaxis], 1e-300)))

    def tilted(self, b: Reals) -> Reals:
        """Shares of the cells after a tilt of the training items."""
        linear = self.ranks[0] @ b
        tilted = self.shares[0] * np.exp(linear - linear.max())
        return np.asarray(tilted / tilted.sum())

    def changed(self, log_ratios: Reals) -> Reals:
        """Shares of the cells, given log density ratios, (n_cells,)."""
        changed = self.shares[0] * np.exp(log_ratios)
        return np.asarray(changed / changed.sum())

    def deviations(
        self, features: Reals, prevalence: Prevalences, n: int, *, first: bool = False
    ) -> Reals:
        """Means of features minus their expectation, in standard errors, (n_samples, d)."""
        means = self.means[:1] if first else self.means[1:]
        expected = np.einsum("sk,skd->sd", prevalence, means)
        centre = prevalence @ self.means[0]
        spread = prevalence @ (self.variances + np.square(self.means[0])) - np.square(centre)
        of_training = np.square(prevalence) @ (self.variances / self.sizes[:, np.newaxis])
        return np.asarray(
            (features - expected) / np.sqrt(np.maximum(spread, 0.0) / n + of_training + RIDGE)
        )

    def fitted(self, counts: Reals, training: ScoredTraining, *, first: bool = False) -> "_Fitted":
        """All models, fitted to one sample for each draw, or to one by the items themselves."""
        part = slice(0, 1) if first else slice(1, None)
        ratios = self.ratios[part]
        prevalence = mixture_maximum(counts, ratios, training.prior)
        mixed = np.einsum("sck,sk->sc", ratios, prevalence)
        prior = np.einsum("sc,sc->s", counts, np.log(np.maximum(mixed, 1e-300)))
        tilt, by_tilt = tilt_maximum(counts, self.ranks[part], self.shares[part])
        by_step = np.einsum("sc,scg->sg", counts, self.steps[part])
        by_pick = np.einsum("sc,scg->sg", counts, self.picks[part])
        expected = np.einsum("sk,skc->sc", prevalence, self.class_cells[part])
        return _Fitted(
            prevalence,
            tilt,
            by_step.argmax(axis=1),
            by_pick.argmax(axis=1),
            prior - by_tilt,
            prior - by_step.max(axis=1),
            prior - by_pick.max(axis=1),
            smooth_statistic(counts, expected, training.cells.orders),
        )


@dataclass(frozen=True, eq=False)
class _Fitted:
    """Models fitted to samples, one of each kind per sample."""

    prevalence: Prevalences
    tilt: Reals
    step: Codes
    pick: Codes
    over_tilt: Reals
    over_step: Reals
    over_pick: Reals
    smooth: Reals


def mixture_maximum(counts: Reals, ratios: Reals, start: Prevalences) -> Prevalences:
    """Prevalences of maximum likelihood, (n_samples, n_classes).

    counts: (n_samples, n_cells); ratios: of each sample, (n_samples, n_cells, n_classes).
    """
    n_samples, n_cells, n_classes = ratios.shape
    pool = ratios / ratios.sum(axis=2, keepdims=True)
    p_hat, _, _ = maximise_mixtures(
        np.ascontiguousarray(pool.reshape(-1, n_classes).T),
        np.arange(n_samples * n_cells).reshape(n_samples, n_cells),
        start,
        tol=1e-6,
        max_iter=200,
        weights=np.asarray(counts, dtype=np.float64).ravel(),
    )
    return p_hat


def tilt_maximum(counts: Reals, ranks: Reals, shares: Reals) -> tuple[Reals, Reals]:
    """Coefficients b of the tilt e^(b . rank) of maximum likelihood, and the log-likelihood.

    counts, shares: (n_samples, n_cells); ranks: (n_samples, n_cells, n_ranked). The likelihood
    is that of an exponential family, and concave. Newton's method; steps are limited.
    """
    n = counts.sum(axis=1)
    target = np.einsum("sc,scj->sj", counts, ranks) / n[:, np.newaxis]
    b = np.zeros_like(target)
    for _ in range(60):
        linear = np.einsum("scj,sj->sc", ranks, b)
        w = shares * np.exp(linear - linear.max(axis=1, keepdims=True))
        w /= w.sum(axis=1, keepdims=True)
        mean = np.einsum("sc,scj->sj", w, ranks)
        away = ranks - mean[:, np.newaxis]
        curvature = np.einsum("sc,sci,scj->sij", w, away, away)
        curvature += RIDGE * np.eye(b.shape[1])
        step = np.linalg.solve(curvature, (target - mean - RIDGE * b)[..., np.newaxis])[..., 0]
        moved = np.clip(b + np.clip(step, -4.0, 4.0), -STEEPEST, STEEPEST)
        settled = np.abs(moved - b).max() < 1e-7
        b = moved
        if settled:
            break
    linear = np.einsum("scj,sj->sc", ranks, b)
    top = linear.max(axis=1)
    total = np.einsum("sc,sc->s", shares, np.exp(linear - top[:, np.newaxis]))
    return b, n * (np.einsum("sj,sj->s", target, b) - top - np.log(total))


def smooth_statistic(counts: Reals, expected: Reals, orders: Sequence[Codes]) -> Reals:
    """Sum of the squared components of Neyman's smooth test, (n_samples,).

    counts, expected: (n_samples, n_cells), the latter shares; orders: of the cells, by each score.
    """
    total = np.zeros(len(counts))
    n = counts.sum(axis=1, keepdims=True)
    for order in orders:
        share = expected[:, order]
        position = 2 * (np.cumsum(share, axis=1) - share / 2) / share.sum(axis=1, keepdims=True) - 1
        components = legvander(np.clip(position, -1.0, 1.0), DEGREE)[..., 1:]
        components = components * np.sqrt(2 * np.arange(1, DEGREE + 1) + 1)
        surplus = counts[:, order] - n * share
        total += np.square(np.einsum("sc,scj->sj", surplus, components)).sum(axis=1) / n[:, 0]
    return total


def p_value(null: Reals, value: float) -> float:
    """Share of the null distribution that is as large as the value, itself included."""
    return float((np.sum(null >= value - 1e-9) + 1) / (len(null) + 1))


def _within_class(codes: Codes, n_classes: int, weights: Weights | None) -> Weights:
    """Weights of the items that add up to one in every class."""
    ones = np.ones(len(codes)) if weights is None else weights
    return np.asarray(ones / np.bincount(codes, ones, minlength=n_classes)[codes])


def _counted(rows: Codes, n_items: int) -> Codes:
    """How often each item was drawn, (n_samples, n_items). rows: (n_samples, size)."""
    flat = rows + np.arange(len(rows))[:, np.newaxis] * n_items
    return np.bincount(flat.ravel(), minlength=len(rows) * n_items).reshape(len(rows), n_items)


def _drawn_again(
    codes: Codes,
    cell_codes: Codes,
    position: Reals,
    shares: Reals,
    n_cells: int,
    rng: np.random.Generator,
) -> tuple[Reals, Reals]:
    """Counts of cells and means of features by class: of the items, then of draws of them."""
    counts, means = [], []
    for k in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes == k)
        size = round(effective_size(shares[rows]))
        drawn = rng.choice(len(rows), (N_REPLICATES, size), p=shares[rows] / shares[rows].sum())
        times = _counted(drawn, len(rows)).astype(np.float64)
        times = np.concatenate([shares[np.newaxis, rows] * size, times])
        in_cell = np.zeros((len(rows), n_cells))
        in_cell[np.arange(len(rows)), cell_codes[rows]] = 1.0
        counts.append(times @ in_cell)
        means.append(times @ position[rows] / size)
    return np.stack(counts, axis=1), np.stack(means, axis=1)
