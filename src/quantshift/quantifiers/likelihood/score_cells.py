"""Cells of scores: what a sample looks like to `score_test`.

With two classes cells are bins of the log-odds, each with as many items of the training classes,
which count alike. With more classes they are groups of similar log posteriors (k-means).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quantshift.base.seeding import seed_of
from quantshift.base.types import Codes, Posteriors, Reals

N_CELLS = 60
"""Bins for two classes; with more there are `CELLS_PER_CLASS` groups for each class."""

CELLS_PER_CLASS = 15

SMALLEST = 1e-6
"""Posteriors are at least this much."""

NEWTON_STEPS = 30


@dataclass(frozen=True, eq=False)
class Cells:
    """A division of posteriors into cells.

    log_posteriors: means of the training items in each cell, (n_cells, n_classes). edges: between
    bins of the log-odds of two classes, otherwise None. centres: of the groups, otherwise None.
    """

    log_posteriors: Reals
    edges: Reals | None
    centres: Reals | None

    @classmethod
    def of(cls, posteriors: Posteriors, weights: Reals, *, seed: int) -> "Cells":
        """From the posteriors of the training items, with weights that sum to 1 in each class."""
        logs = _logs(posteriors)
        if posteriors.shape[1] == 2:
            edges, centres = _edges(logs[:, 1] - logs[:, 0], weights), None
            n_cells = len(edges) + 1
        else:
            edges, centres = None, _centres(logs, weights, seed)
            n_cells = len(centres)
        unfilled = cls(np.zeros((n_cells, posteriors.shape[1])), edges, centres)
        codes = unfilled.place(posteriors)
        total = np.bincount(codes, weights, minlength=n_cells)
        sums = [np.bincount(codes, weights * column, minlength=n_cells) for column in logs.T]
        means = np.stack(sums, axis=1) / np.where(total > 0, total, 1.0)[:, np.newaxis]
        return cls(means, edges, centres)

    def __len__(self) -> int:
        return len(self.log_posteriors)

    def place(self, posteriors: Posteriors) -> Codes:
        """The number of the cell of each item."""
        logs = _logs(posteriors)
        if self.edges is not None:
            return np.searchsorted(self.edges, logs[:, 1] - logs[:, 0], side="right")
        assert self.centres is not None
        away = np.square(self.centres).sum(axis=1) - 2 * logs @ self.centres.T
        return np.asarray(away.argmin(axis=1))

    @property
    def orders(self) -> Sequence[Codes]:
        """The cells from the lowest to the highest posterior of every class, or only the second."""
        return orders(self.log_posteriors)


def orders(log_posteriors: Reals) -> list[Codes]:
    """The cells in the order of the posteriors of each class, or only of the second of two."""
    if log_posteriors.shape[1] == 2:
        return [np.argsort(log_posteriors[:, 1] - log_posteriors[:, 0], kind="stable")]
    return [np.argsort(column, kind="stable") for column in log_posteriors.T]


def cell_ranks(log_posteriors: Reals, shares: Reals) -> Reals:
    """Ranks of cells, 0 to 1, by the posterior of every class, (..., n_cells, n_ranked).

    shares: of the cells, (..., n_cells). The rank is the share of items with a lower posterior,
    and half of those in the cell.
    """
    ranks = []
    for order in orders(log_posteriors):
        in_order = shares[..., order]
        rank = np.empty_like(shares)
        rank[..., order] = np.cumsum(in_order, axis=-1) - in_order / 2
        ranks.append(rank)
    return np.stack(ranks, axis=-1)


def calibrated_cells(log_posteriors: Reals, joint: Reals) -> Posteriors:
    """Posteriors of the cells after calibration, (n_replicates, n_cells, n_classes).

    joint: shares of classes and cells, (n_replicates, n_classes, n_cells). The calibration is a
    logistic regression on the log posteriors with one slope and an intercept for each class, which
    with two classes is Platt's; the mean posterior is the share of the class.
    """
    n_replicates, n_classes, n_cells = joint.shape
    design = np.zeros((n_cells, n_classes, n_classes))
    design[:, :, 0] = log_posteriors - log_posteriors.mean(axis=1, keepdims=True)
    for k in range(1, n_classes):
        design[:, k, k] = 1.0
    total, by_cell = joint.sum(axis=1), np.swapaxes(joint, 1, 2)
    parameters = np.zeros((n_replicates, n_classes))
    parameters[:, 0] = 1.0
    q = _softmax(np.einsum("ckj,rj->rck", design, parameters))
    fit = _log_likelihood(by_cell, q)
    scale = np.ones((n_replicates, 1))
    for _ in range(NEWTON_STEPS):
        gradient = np.einsum("rck,ckj->rj", by_cell - total[..., np.newaxis] * q, design)
        mean = np.einsum("rck,ckj->rcj", q, design)
        curvature = np.einsum("rck,cki,ckj->rij", total[..., np.newaxis] * q, design, design)
        curvature -= np.einsum("rc,rci,rcj->rij", total, mean, mean)
        curvature += 1e-8 * np.eye(n_classes)
        step = scale * np.linalg.solve(curvature, gradient[..., np.newaxis])[..., 0]
        q_there = _softmax(np.einsum("ckj,rj->rck", design, parameters + step))
        fit_there = _log_likelihood(by_cell, q_there)
        better = fit_there >= fit
        parameters[better] += step[better]
        q[better], fit[better] = q_there[better], fit_there[better]
        scale = np.where(better[:, np.newaxis], np.minimum(2 * scale, 1.0), scale / 4)
        if np.abs(step).max() < 1e-7:
            break
    return q


def _log_likelihood(by_cell: Reals, q: Posteriors) -> Reals:
    return np.asarray(np.einsum("rck,rck->r", by_cell, np.log(np.maximum(q, 1e-300))))


def _softmax(logits: Reals) -> Posteriors:
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))


def _logs(posteriors: Posteriors) -> Reals:
    return np.asarray(np.log(np.clip(posteriors, SMALLEST, 1.0)))


def _edges(odds: Reals, weights: Reals) -> Reals:
    """Borders of bins that hold the same weight, as far as there are no ties."""
    order = np.argsort(odds, kind="stable")
    below = np.cumsum(weights[order])
    targets = below[-1] * np.arange(1, N_CELLS) / N_CELLS
    return np.unique(odds[order][np.minimum(np.searchsorted(below, targets), len(odds) - 1)])


def _centres(logs: Reals, weights: Reals, seed: int) -> Reals:
    from sklearn.cluster import KMeans

    n_cells = min(CELLS_PER_CLASS * logs.shape[1], 200, max(len(np.unique(logs, axis=0)) // 4, 2))
    state = seed_of(seed, purpose="cells of scores") % (1 << 32)
    means = KMeans(n_cells, n_init=1, max_iter=25, random_state=state)
    return np.asarray(means.fit(logs, sample_weight=weights).cluster_centers_)
