"""A neural quantifier: a network over sets, trained on samples drawn from the training items.

As in the literature on neural quantification, samples of known prevalence are drawn from labelled
items, and a network learns to estimate the prevalence from all items of a sample at once, with the
error measure of interest as its loss. Ours starts from what is known: its first layer (`summaries`)
turns the items into a soft histogram for each class and a likelihood estimate, and the rest
(`network`) learns to correct that estimate. It treats all classes alike, and an untrained network
returns the likelihood estimate. How strong a Dirichlet prior that estimate has is learnt from the
same samples. Training takes seconds and needs NumPy alone.

Samples for training come from items whose posteriors have not been used to learn the first layer,
because on its own items a calibration is better than it is on others. Few training items are easily
learnt by heart, so the items are in five parts: five networks learn from samples of three parts
each, stop by those of the fourth and are judged by those of the fifth. If they are better than the
likelihood estimate, by more than chance, the estimate is their mean; otherwise it stays as it was.

References: O. Perez-Mon et al., "Quantification using permutation-invariant networks based on
histograms", Neural Computing and Applications 37 (2025); M. Zaheer et al., "Deep sets", NeurIPS
2017; L. Qi et al., "A framework for deep quantification learning", ECML-PKDD 2020.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences
from quantshift.errors import UserError, unknown_name
from quantshift.prevalence import simplex
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractAggregative, Diagnostics
from quantshift.quantifiers.base.items import drawn_weights
from quantshift.quantifiers.base.simulation import ClassMembers
from quantshift.quantifiers.base.tags import PRIOR_SHIFT, Reading, Tags
from quantshift.quantifiers.neural.learning import LabelledSamples, learn
from quantshift.quantifiers.neural.losses import LOSSES
from quantshift.quantifiers.neural.network import (
    AbstractNetwork,
    MonotoneNetwork,
    NetworkWeights,
    PooledNetwork,
    SampleInputs,
)
from quantshift.quantifiers.neural.summaries import ItemLayer

ALPHAS = (1.0, 2.0, 5.0, 10.0)
"""Dirichlet priors to choose from; 1 is none."""

PARTS = 5
"""Parts of the training items, with a network for each that is judged there."""

CERTAIN = 2.0
"""Networks are used if their relative improvement is at least so many standard errors."""


class SetNetwork(AbstractAggregative):
    """Set Network: a neural network that corrects the likelihood estimate of SLD.

    measure: the loss: "ae", "rae", "se" or "kld". Relative errors are smoothed by 1 / (2 *
        sample_size).
    monotone: learn only an increasing function of the likelihood estimate, the same for all
        classes, instead of a network that sees the histograms of the items.
    sample_size: items in a sample for training; best about the size of the samples to come.
    n_samples: samples for training, with prevalences uniform on the simplex.
    width: units in a layer.

    Fitted state: `alpha_`, the Dirichlet prior of the likelihood estimate; `weights_`, the
    arrays of each network, none if they are not used; `validation_errors_`, the mean loss on
    samples of each part, of the likelihood estimate and of the network that has not seen the part.
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, reads=Reading.JOINT, smooth=True)

    order_: Indices
    alpha_: float
    layer_: ItemLayer
    weights_: tuple[NetworkWeights, ...]
    validation_errors_: NDArray[np.float64]

    def __init__(
        self,
        classifier: BaseEstimator | None = None,
        *,
        measure: str = "ae",
        monotone: bool = False,
        sample_size: int = 500,
        n_samples: int = 2000,
        width: int = 32,
        cv: int = 5,
        seed: int = 0,
    ) -> None:
        self.classifier = classifier
        self.measure = measure
        self.monotone = monotone
        self.sample_size = sample_size
        self.n_samples = n_samples
        self.width = width
        self.cv = cv
        self.seed = seed

    @property
    def shrinks(self) -> bool:
        """True: the likelihood estimate may have a prior."""
        return True

    def refitter(self) -> Callable[[Indices], Self]:
        """The first layer is refitted; the network stays as it is."""
        self._check_fitted()
        items, codes = self.held_out_, self.held_out_codes_
        posteriors, own_codes = self._in_order(self.held_out_posteriors_, codes)
        of_layer = self.layer_.refitter(posteriors, own_codes, items.weights)

        def refit(rows: Indices) -> Any:
            replicate = copy(self)
            replicate._set_training(items.take(rows), codes[rows], self.classes_)
            replicate.layer_ = of_layer(drawn_weights(rows, items.weights, len(codes)))
            return replicate

        return refit

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        self._check_options()
        self.order_ = _by_first_item(codes, weights)
        own_posteriors, own_codes = self._in_order(posteriors, codes)
        self.layer_ = ItemLayer.learnt(own_posteriors, own_codes, weights)
        rng = generator(self.seed, purpose="set network", n_classes=posteriors.shape[1])
        loss, smoothing = LOSSES[self.measure], 1 / (2 * self.sample_size)

        def error(samples: LabelledSamples, p_hat: Prevalences) -> float:
            return float(loss.errors(samples.p_true, p_hat, smoothing).mean())

        by_alpha = self._drawn(own_posteriors, own_codes, weights, rng)
        means = {
            alpha: np.mean([error(samples, samples.seen.start) for samples in drawn] or [0.0])
            for alpha, drawn in by_alpha.items()
        }
        self.alpha_ = min(means, key=means.__getitem__)
        drawn = by_alpha[self.alpha_]
        learnt, errors = [], []
        for place, judged in enumerate(drawn):
            others = [*drawn[place + 1 :], *drawn[:place]]
            stopping, *training = others
            found = learn(
                self._network, _joined(training or others), stopping, loss, smoothing, rng
            )
            learnt.append(found)
            compared = (judged.seen.start, self._network.estimates(found, judged.seen))
            errors.append([error(judged, p_hat) for p_hat in compared])
        self.validation_errors_ = np.array(errors)
        is_better = _is_better(self.validation_errors_)
        self.weights_ = tuple(learnt) if is_better else ()

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return self.layer_.represent(posteriors[:, self.order_])

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        seen = self.layer_.inputs(representation, index, weights, alpha=self.alpha_)
        estimates = [self._network.estimates(weights, seen) for weights in self.weights_]
        p_hat = np.mean(estimates, axis=0) if estimates else seen.start
        return p_hat[:, np.argsort(self.order_)], {}

    @property
    def _network(self) -> AbstractNetwork:
        return MonotoneNetwork() if self.monotone else PooledNetwork(self.width)

    def _in_order(self, posteriors: Posteriors, codes: Codes) -> tuple[Posteriors, Codes]:
        """The same with the classes in the order of their first items, whatever their names."""
        return np.ascontiguousarray(posteriors[:, self.order_]), np.argsort(self.order_)[codes]

    def _drawn(
        self,
        posteriors: Posteriors,
        codes: Codes,
        weights: Weights | None,
        rng: np.random.Generator,
    ) -> dict[float, list[LabelledSamples]]:
        """Samples of each part of the items, as the layer learnt from the other parts sees them.

        With each alpha; no samples if there is only one part.
        """
        parts = _parts(posteriors, codes, weights, rng)
        n_parts = int(parts.max()) + 1
        n_classes = posteriors.shape[1]
        drawn: dict[float, list[LabelledSamples]] = {alpha: [] for alpha in ALPHAS}
        for part in range(n_parts if n_parts > 1 else 0):
            own, others = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
            layer = ItemLayer.learnt(posteriors[others], codes[others], _of(weights, others))
            p_drawn = simplex.uniform(self.n_samples // n_parts + 1, n_classes, rng)
            members = ClassMembers(codes[own], n_classes, _of(weights, own))
            # One by one, because samples that are drawn together share random numbers.
            index = np.concatenate(
                [members.draw(p[np.newaxis], self.sample_size, 1, rng) for p in p_drawn]
            )
            p_true = np.eye(n_classes)[codes[own][index]].mean(axis=1)
            representation = layer.represent(posteriors[own])
            for alpha, samples in drawn.items():
                seen = layer.inputs(representation, index, alpha=alpha)
                samples.append(LabelledSamples(seen, p_true))
        return drawn

    def _check_options(self) -> None:
        if self.measure not in LOSSES:
            raise unknown_name("loss", self.measure, LOSSES)
        for name in ("sample_size", "n_samples", "width"):
            if not getattr(self, name) >= 1:
                raise UserError(f"{name} must be at least 1, got {getattr(self, name)!r}")


def _is_better(errors: NDArray[np.float64]) -> bool:
    """Whether the relative improvement over the parts is larger than chance would make it."""
    if len(errors) < 2:
        return False
    gains = 1 - errors[:, 1] / np.maximum(errors[:, 0], np.finfo(float).tiny)
    return bool(gains.mean() > CERTAIN * gains.std(ddof=1) / np.sqrt(len(gains)))


def _of(weights: Weights | None, rows: Indices) -> Weights | None:
    return None if weights is None else weights[rows]


def _by_first_item(codes: Codes, weights: Weights | None) -> Indices:
    """The classes in the order of their first items."""
    counted = codes if weights is None else codes[weights > 0]
    return np.argsort(np.unique(counted, return_index=True)[1])


def _parts(
    posteriors: Posteriors, codes: Codes, weights: Weights | None, rng: np.random.Generator
) -> Indices:
    """The part of each item; copies of an item are in one part, and every part has all classes.

    Items of weight zero are in none (-1). A single part, if a class has only copies of one item.
    """
    counted = np.arange(len(codes)) if weights is None else np.flatnonzero(weights > 0)
    rows = np.column_stack([codes[counted], posteriors[counted]])
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    distinct_codes = distinct[:, 0].astype(np.int64)
    n_parts = max(1, min(PARTS, int(np.bincount(distinct_codes).min())))
    shuffled = rng.permutation(len(distinct))
    by_class = shuffled[np.argsort(distinct_codes[shuffled], kind="stable")]
    of_distinct = np.empty(len(distinct), dtype=np.int64)
    of_distinct[by_class] = np.arange(len(distinct)) % n_parts
    parts = np.full(len(codes), -1)
    parts[counted] = of_distinct[which.ravel()]
    return parts


def _joined(parts: list[LabelledSamples]) -> LabelledSamples:
    seen = SampleInputs(
        np.concatenate([part.seen.start for part in parts]),
        np.concatenate([part.seen.of_classes for part in parts]),
    )
    return LabelledSamples(seen, np.concatenate([part.p_true for part in parts]))
