"""The shares that remain possible if the mix of items and the shares of classes both changed.

Under such a shift the ratio of the densities of sample and training items is

    r(x)  =  exp(a + theta . x)  sum_k exp(delta_k) q_k(x),

where q_k are posteriors in training. theta is how the mix of items changed along the features x,
delta how much more frequent each class became among items that look alike: delta = 0 is covariate
shift, theta = 0 label shift. The log of r is what a logistic regression of sample against training
items estimates. All parameters are fitted together, by Fisher scoring with normal priors that keep
them where the items say little. The posteriors of the sample's items are proportional to
exp(delta_k) q_k(x), and their mean is its prevalence.

A classifier that hardly separates the classes cannot tell delta from theta, and the limits are wide
then: they come from the curvature of the likelihood.

Reference: J. Anderson, "Separate sample logistic discrimination", Biometrika 59 (1972), for the
logistic regression of one sample against another.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, logsumexp

from quantshift.base.seeding import generator
from quantshift.base.types import Posteriors, Reals
from quantshift.items.items import effective_size
from quantshift.prevalence.bounded import BoundedShares
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.guarding import NORMAL

MOST_ITEMS = 4000
"""From a larger set, this many items are drawn at random."""

OF_FEATURES, OF_CLASSES = 1.0, 2.0
"""Prior variances of every theta, whose features are standardised, and every delta."""

SMALLEST = 1e-4
"""Posteriors are at least this much."""

MISFIT, OF_LIMITS = 2.5, 0.5
"""For the limits: what standard errors are multiplied by, since no mix of items changes exactly so,
and the prior variance of every delta. Of 600 settings that were tried on the development
tables of `benchmarks/worlds.py`, this is the one with the shortest range under natural shift
among those that hold .965 of the truths, and .95 at each size of the sample, if a feature and the
prevalence change together."""

MOST_STEPS = 50


@dataclass(frozen=True, eq=False)
class MixedItems:
    """Items with posteriors, (n_items, n_classes), standardised features and weights."""

    posteriors: Posteriors
    position: Reals
    weights: Weights

    @classmethod
    def of(
        cls, posteriors: Posteriors, position: Reals, weights: Weights | None, *, seed: int
    ) -> "MixedItems":
        """The items, or `MOST_ITEMS` of them; weights add up to the effective number."""
        chosen = np.ones(len(position)) if weights is None else weights
        if len(position) > MOST_ITEMS:
            rng = generator(seed, purpose="mixed shift", n_items=len(position))
            rows = np.sort(rng.permutation(np.flatnonzero(chosen))[:MOST_ITEMS])
            posteriors, position, chosen = posteriors[rows], position[rows], chosen[rows]
        return cls(posteriors, position, chosen * (effective_size(chosen) / chosen.sum()))


def mixed_shift(training: MixedItems, sample: MixedItems) -> BoundedShares:
    """Shares of the classes in the sample, if both the mix of items and the classes changed."""
    model = _Joint(training, sample)
    parameters = model.maximum()
    n_classes = model.posteriors.shape[1]
    covariance = np.linalg.inv(model.information(parameters))[-n_classes:, -n_classes:]
    prior = np.eye(n_classes)
    seen = np.linalg.inv(covariance) - prior / OF_CLASSES
    covariance = np.linalg.inv(seen / MISFIT**2 + prior / OF_LIMITS)
    q = model.adjusted(parameters)[len(training.position) :]
    shares = sample.weights / sample.weights.sum()
    p_hat = shares @ q
    slopes = np.diag(p_hat) - (q * shares[:, np.newaxis]).T @ q
    spread = np.sqrt(np.einsum("kj,ji,ki->k", slopes, covariance, slopes))
    inside = np.clip(p_hat, SMALLEST, 1 - SMALLEST)
    margin = NORMAL * spread / (inside * (1 - inside))
    return BoundedShares(p_hat, expit(logit(inside) - margin), expit(logit(inside) + margin))


class _Joint:
    """The logistic regression of sample against training items; parameters are a, theta, delta."""

    def __init__(self, training: MixedItems, sample: MixedItems) -> None:
        both = (training, sample)
        self.posteriors = np.concatenate([part.posteriors for part in both])
        self.log_posteriors = np.log(np.maximum(self.posteriors, SMALLEST))
        self.position = np.concatenate([part.position for part in both])
        self.weights = np.concatenate([part.weights for part in both])
        self.is_new = np.repeat([0.0, 1.0], [len(part.position) for part in both])
        self.n_features, self.n_classes = self.position.shape[1], self.posteriors.shape[1]
        self.start = np.zeros(1 + self.n_features + self.n_classes)
        self.start[0] = np.log(sample.weights.sum() / training.weights.sum())
        self.penalty = np.repeat(
            [1e-8, 1 / OF_FEATURES, 1 / OF_CLASSES], [1, self.n_features, self.n_classes]
        )

    def maximum(self) -> Reals:
        """The parameters that fit best. A step that does not improve the fit is halved."""
        parameters = self.start
        fit = self._fit(parameters)
        for _ in range(MOST_STEPS):
            design = self._design(parameters)
            surplus = self.weights * (self.is_new - expit(self._log_ratio(parameters)))
            gradient = design.T @ surplus - self.penalty * parameters
            step = np.linalg.solve(self.information(parameters), gradient)
            there = self._fit(parameters + step)
            while there < fit and np.abs(step).max() > 1e-6:
                step = step / 2
                there = self._fit(parameters + step)
            if there < fit + 1e-6:
                break
            parameters, fit = parameters + step, there
        return parameters

    def information(self, parameters: Reals) -> Reals:
        """Fisher information, with that of the priors."""
        design, p = self._design(parameters), expit(self._log_ratio(parameters))
        spread = self.weights * np.maximum(p * (1 - p), 1e-9)
        return np.asarray((design * spread[:, np.newaxis]).T @ design + np.diag(self.penalty))

    def adjusted(self, parameters: Reals) -> Posteriors:
        """Posteriors after the change of the classes, (n_items, n_classes)."""
        logs = self._logs(parameters)
        return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))

    def _logs(self, parameters: Reals) -> Reals:
        return np.asarray(self.log_posteriors + parameters[1 + self.n_features :])

    def _log_ratio(self, parameters: Reals) -> Reals:
        linear = parameters[0] + self.position @ parameters[1 : 1 + self.n_features]
        return np.asarray(linear + logsumexp(self._logs(parameters), axis=1))

    def _design(self, parameters: Reals) -> Reals:
        """Derivatives of the log ratio."""
        ones = np.ones((len(self.position), 1))
        return np.concatenate([ones, self.position, self.adjusted(parameters)], axis=1)

    def _fit(self, parameters: Reals) -> float:
        log_ratio = self._log_ratio(parameters)
        log_likelihood = self.weights @ (self.is_new * log_ratio - np.logaddexp(0.0, log_ratio))
        return float(log_likelihood - self.penalty @ np.square(parameters) / 2)
