"""Selections of items that could pass for changed shares of labels: the doubles of a joint shift.

A selection keeps items by their scores, so that only their mix changes and those that look alike
have a label as often as before. Two kinds are compared with a joint shift: an exponential tilt
e^(b . u) along the ranks u of the scores of all labels, and a step, where most items on one side of
a rank of one label are missing. See `quantifiers.likelihood.score_test`, which does this for one
label.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logsumexp

from quantshift.base.types import Indices, Posteriors, Reals
from quantshift.quantifiers.likelihood.score_test import (
    STEEPEST,
    STEP_HEIGHT,
    STEP_PLACES,
    STEP_WIDTH,
)

RIDGE = 0.05
"""Penalty of the squared coefficients of a tilt, so that there always is a best one."""

LONGEST_STEP, MOST_STEPS, NEGLIGIBLE = 5.0, 40, 1e-4
"""The longest step of the search for a tilt, the most steps, and the length of the last one."""


@dataclass(frozen=True, eq=False)
class SelectionFits:
    """The selections of both kinds that fit samples best, and their log-likelihoods.

    tilts: (n_samples, n_labels); steps: numbers, (n_samples,); by_tilt, by_step: (n_samples,).
    """

    tilts: Reals
    steps: Indices
    by_tilt: Reals
    by_step: Reals


@dataclass(frozen=True, eq=False)
class Selections:
    """Selections of the training items by their held-out posteriors, (n_items, n_labels).

    weights: of the items, adding up to one.
    """

    posteriors: Posteriors
    weights: Reals

    def ranks(self, posteriors: Posteriors) -> Reals:
        """The share of training items below each posterior, from 0 to 1; ties count half."""
        columns = []
        for training, others in zip(self.posteriors.T, posteriors.T, strict=True):
            order = np.argsort(training, kind="stable")
            total = np.concatenate([[0.0], np.cumsum(self.weights[order])])
            sides = (np.searchsorted(training[order], others, side) for side in ("left", "right"))
            columns.append(sum(total[side] for side in sides) / 2)
        return np.column_stack(columns)

    @cached_property
    def own_ranks(self) -> Reals:
        """The ranks of the training items."""
        return self.ranks(self.posteriors)

    @cached_property
    def own_steps(self) -> Reals:
        """Log density ratios of all steps at the training items, (n_items, n_steps)."""
        return _heights(self.own_ranks) - self._step_norms

    @cached_property
    def _step_norms(self) -> Reals:
        heights = _heights(self.own_ranks)
        return np.asarray(logsumexp(heights, axis=0, b=self.weights[:, np.newaxis]))

    def described(self, ranks: Reals, weights: Reals) -> tuple[Reals, Reals]:
        """Mean ranks and mean log density ratios of all steps of a sample."""
        shares = weights / weights.sum()
        return shares @ ranks, shares @ _heights(ranks) - self._step_norms

    def fits(self, mean_ranks: Reals, mean_steps: Reals, size: int) -> SelectionFits:
        """The best selections of samples of `size` items, from what `described` says of each."""
        tilts = self._best_tilts(mean_ranks, size)
        norms = logsumexp(tilts @ self.own_ranks.T, axis=1, b=self.weights)
        return SelectionFits(
            tilts,
            mean_steps.argmax(axis=1),
            size * ((tilts * mean_ranks).sum(axis=1) - norms),
            size * mean_steps.max(axis=1),
        )

    def tilted(self, tilt: Reals) -> Reals:
        """Weights of the training items under a tilt, up to a factor."""
        logs = self.own_ranks @ tilt
        return np.asarray(np.exp(logs - logs.max()))

    def stepped(self, step: int) -> Reals:
        """Weights of the training items under a step, up to a factor."""
        return np.asarray(np.exp(self.own_steps[:, step]))

    def _best_tilts(self, means: Reals, size: int) -> Reals:
        """Coefficients of maximum likelihood, which is that of an exponential family: concave."""
        u, n_labels = self.own_ranks, means.shape[1]
        pairs = (u[:, :, np.newaxis] * u[:, np.newaxis]).reshape(len(u), -1)
        tilts = np.zeros_like(means)
        for _ in range(MOST_STEPS):
            logs = tilts @ u.T
            p = np.exp(logs - logs.max(axis=1, keepdims=True)) * self.weights
            p /= p.sum(axis=1, keepdims=True)
            centre = p @ u
            spread = (p @ pairs).reshape(-1, n_labels, n_labels)
            spread -= centre[:, :, np.newaxis] * centre[:, np.newaxis]
            gradient = size * (means - centre) - RIDGE * tilts
            curvature = size * spread + RIDGE * np.eye(n_labels)
            steps = np.linalg.solve(curvature, gradient[:, :, np.newaxis])[:, :, 0]
            longest = np.abs(steps).max(axis=1, keepdims=True)
            steps *= LONGEST_STEP / np.maximum(longest, LONGEST_STEP)
            tilts = np.clip(tilts + steps, -STEEPEST, STEEPEST)
            if np.abs(steps).max() < NEGLIGIBLE:
                break
        return tilts


def _heights(ranks: Reals) -> Reals:
    """Log density ratios of the steps of every label, up and down, not normalised."""
    up = STEP_HEIGHT * expit((ranks[:, :, np.newaxis] - STEP_PLACES) / STEP_WIDTH)
    return np.concatenate([up, -up], axis=2).reshape(len(ranks), -1)
