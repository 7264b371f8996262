"""Rates of many small groups, each with what the others show (empirical Bayes).

With ten labels a group says little about itself. But verdicts are known for all of its items, and
what they say differs from the truth in much the same way in all groups. With f the share of a class
among the labelled items of a verdict in all groups together, the rate of a group is estimated by
the mean of f over its items plus the mean of what its labels are more than f, and is taken to be

    rate  =  a + b * mean of f  +  u,     u normal with a spread of tau between groups

(Fay and Herriot's model). The smaller tau is beside the error of a group's own labels, the more the
rate is drawn to the line of all groups. tau has a flat prior on a grid, a and b are integrated out,
and the limits are quantiles of draws: they allow for what the labels do not show of all three. They
hold on average over the groups, and not for each: one that is unlike the others is drawn to them.
So they stand beside the group's own.

Reference: R. Fay and R. Herriot, "Estimates of income for small places: an application of
James-Stein procedures to census data", Journal of the American Statistical Association 74 (1979).
"""

from dataclasses import dataclass

import numpy as np

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Reals

FEWEST_GROUPS = 5
"""With fewer groups nothing shows how alike they are."""

N_DRAWS = 2_000
SPREADS = np.concatenate([[0.0], np.geomspace(0.005, 0.5, 30)])
SMOOTHED = 2.0
"""Labels of the mean of all verdicts that are added to those of each, to find f."""


@dataclass(frozen=True, eq=False)
class Borrowed:
    """Rates of groups with their limits, (n_groups, n_classes)."""

    estimate: Reals
    low: Reals
    high: Reals


def borrowed(items: Reals, labelled: Reals, *, level: float, of_items: bool, seed: int) -> Borrowed:
    """The rates of all groups.

    items: by group and verdict, (n_groups, n_verdicts); labelled: by group, class and verdict,
    (n_groups, n_classes, n_verdicts), random ones of their group. of_items: whether the rates are
    those among these items, which labels of all of them would show.
    """
    rng = generator(seed, purpose="judge", side="groups")
    tails = [(1 - level) / 2, (1 + level) / 2]
    parts = []
    for seen in np.moveaxis(labelled, 1, 0):
        drawn = _drawn(items, seen, labelled.sum(axis=1), rng, of_items=of_items)
        parts.append(np.clip(drawn, 0, 1))
    estimate = np.stack([drawn.mean(axis=0) for drawn in parts], axis=1)
    low, high = (
        np.stack([np.quantile(drawn, t, axis=0) for drawn in parts], axis=1) for t in tails
    )
    return Borrowed(estimate / estimate.sum(axis=1, keepdims=True), low, high)


def _drawn(
    items: Reals, seen: Reals, n: Reals, rng: np.random.Generator, *, of_items: bool
) -> Reals:
    """Draws of the share of a class in all groups, (N_DRAWS, n_groups).

    seen: labels of the class by group and verdict, of n.
    """
    whole = seen.sum() / n.sum()
    f = (seen.sum(axis=0) + SMOOTHED * whole) / (n.sum(axis=0) + SMOOTHED)
    parts = items / items.sum(axis=1, keepdims=True)
    by_verdicts, n_labels = parts @ f, n.sum(axis=1)
    has = n_labels > 0
    own = by_verdicts + (seen - n * f).sum(axis=1) / np.maximum(n_labels, 1)
    # Of one label around f, by the verdicts of the group: its own labels are too few to show it.
    error = parts @ (f * (1 - f)) / np.maximum(n_labels, 1)
    if of_items:
        error *= 1 - n_labels / items.sum(axis=1)
    error = np.maximum(error, 1e-9)
    X = np.column_stack([np.ones_like(by_verdicts), by_verdicts - by_verdicts.mean()])
    tau, line = _lines_drawn(X[has], own[has], error[has], rng)
    middle = line @ X.T
    kept = np.where(has, tau[:, None] ** 2 / (tau[:, None] ** 2 + error), 0.0)
    spread = np.where(has, np.sqrt(kept * error), tau[:, None])
    return np.asarray(middle + kept * (own - middle) + spread * rng.normal(size=kept.shape))


def _lines_drawn(
    X: Reals, own: Reals, error: Reals, rng: np.random.Generator
) -> tuple[Reals, Reals]:
    """Draws of tau, (N_DRAWS,), and of the line, (N_DRAWS, 2)."""
    log_weight, lines, roots = [], [], []
    for tau in SPREADS:
        w = 1 / (tau**2 + error)
        precision = (X * w[:, np.newaxis]).T @ X + 1e-6 * np.eye(2)
        covariance = np.linalg.inv(precision)
        line = covariance @ (X.T @ (w * own))
        left = own - X @ line
        log_weight.append(
            0.5 * (np.log(w).sum() - np.linalg.slogdet(precision)[1] - (w * left**2).sum())
        )
        lines.append(line)
        roots.append(np.linalg.cholesky(covariance))
    # Flat in tau: the points of the grid are not equally far apart.
    weight = np.exp(np.array(log_weight) - max(log_weight)) * np.gradient(SPREADS)
    chosen = rng.choice(len(SPREADS), N_DRAWS, p=weight / weight.sum())
    noise = rng.normal(size=(N_DRAWS, 2, 1))
    drawn = np.array(lines)[chosen] + (np.array(roots)[chosen] @ noise)[..., 0]
    return SPREADS[chosen], drawn


def counts_of_groups(
    groups: Codes, cells: Codes, labels: Codes, n_classes: int
) -> tuple[Reals, Reals]:
    """Items by group and verdict, and labelled ones by group, class and verdict."""
    n_groups, n_cells = int(groups.max()) + 1, int(cells.max()) + 1
    items = np.zeros((n_groups, n_cells))
    np.add.at(items, (groups, cells), 1)
    has = labels >= 0
    labelled = np.zeros((n_groups, n_classes, n_cells))
    np.add.at(labelled, (groups[has], labels[has], cells[has]), 1)
    return items, labelled
