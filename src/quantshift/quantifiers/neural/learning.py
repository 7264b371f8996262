"""Learning the weights of set networks: bags of a part of the items, until validation is worse.

The items are in parts. For each part a network learns from bags of the others, stops by the bags
of one of them, and is judged by bags of the part, which it has never seen. The histograms that a
bag is compared with are those of other parts, too. New bags are drawn for every step, so that no
bag can be learnt by heart.

D. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015; I. Loshchilov and
F. Hutter, "Decoupled weight decay regularization", ICLR 2019.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from quantshift.base.devices import one_thread, torch_device
from quantshift.base.types import Indices, Reals
from quantshift.quantifiers.neural.bags import Bags, BagSource, LearningItems
from quantshift.quantifiers.neural.losses import LOSSES
from quantshift.quantifiers.neural.network import (
    FIXED,
    NetworkSizes,
    NetworkWeights,
    Samples,
    TensorWeights,
    as_arrays,
    as_tensors,
    class_hat_means,
    class_inputs,
    estimates,
    hats,
    in_blocks,
    item_scores,
    likelihood_estimates,
)

ALPHAS = (1.0, 2.0, 5.0, 10.0)
"""Dirichlet priors of the likelihood estimate to choose from; 1 is none."""

BATCH = 32
JUDGED = 256
"""Bags of each part for validation."""

PATIENCE = 8
"""Learning ends after so many epochs without a smaller validation error."""

LEARNING_RATE = 3e-3
DECAY = 1e-3
LARGEST_GRADIENT = 1.0

ITEM_LOSS = 0.3
"""Weight of the cross-entropy of the items, from which a layer that sees features learns faster."""

MOST_OF_A_CLASS = 500
"""The most items of a class and part for the histograms of a step."""


@dataclass(frozen=True)
class LearningOptions:
    """How to learn; as in the constructor of SetNetwork."""

    measure: str
    sample_size: int
    n_samples: int
    epochs: int
    width: int
    concentration: float
    monotone: bool


@dataclass(frozen=True, eq=False)
class LearntNetworks:
    """alpha: the prior of the likelihood estimate. networks: their weights, one for each part.

    errors: mean loss on bags of each part, (n_parts, 2), of the likelihood estimate and of the
    network that has not seen the part.
    """

    alpha: float
    networks: list[NetworkWeights]
    errors: Reals


def learn_networks(
    items: LearningItems,
    options: LearningOptions,
    rng: np.random.Generator,
    device: str,
) -> LearntNetworks:
    """Choose the prior, and learn a network for each part."""
    with one_thread():
        return _Learning(items, options, rng, torch_device(device)).learnt()


class _Learning:
    """Items on a device, and the bags of their parts."""

    def __init__(
        self,
        items: LearningItems,
        options: LearningOptions,
        rng: np.random.Generator,
        device: torch.device,
    ) -> None:
        self.options, self.rng, self.device = options, rng, device
        n_classes = items.scores.shape[1]
        self.shape = NetworkSizes(
            n_classes, items.features.shape[1], options.width, options.monotone
        )
        self.scores, self.features, self.counts = (
            torch.from_numpy(np.ascontiguousarray(array, dtype=np.float64)).to(device)
            for array in (items.scores, items.features, items.counts)
        )
        self.codes = torch.from_numpy(items.codes).to(device)
        self.n_parts = int(items.parts.max()) + 1
        rows = [np.flatnonzero(items.parts == part) for part in range(self.n_parts)]
        self.sources = [BagSource(r, items.codes[r], items.counts[r], n_classes) for r in rows]
        self.shown = [_some_of_each_class(source) for source in self.sources]
        self.judging = [self._drawn(source, JUDGED) for source in self.sources]

    def learnt(self) -> LearntNetworks:
        priors = [
            [self._likelihood_error(part, alpha) for part in range(self.n_parts)]
            for alpha in ALPHAS
        ]
        best = int(np.argmin(np.mean(priors, axis=1)))
        alpha = ALPHAS[best]
        networks, errors = [], []
        for part in range(self.n_parts):
            weights = self._network(part, alpha)
            networks.append(as_arrays(weights))
            others = [other for other in range(self.n_parts) if other != part]
            errors.append([priors[best][part], self._error(weights, part, others, alpha)])
        return LearntNetworks(alpha, networks, np.array(errors))

    def _network(self, judged: int, alpha: float) -> TensorWeights:
        """The weights with the smallest error in validation, perhaps those to begin with."""
        stopping, *training = [(judged + k) % self.n_parts for k in range(1, self.n_parts)]
        training = training or [stopping]
        visible = [part for part in range(self.n_parts) if part != judged]
        weights = as_tensors(self.shape.initial(self.rng), self.device)
        self._set_scale(weights, training[0], visible, alpha)
        learnt = [weights[name].requires_grad_() for name in weights.keys() - FIXED]
        optimiser = torch.optim.AdamW(learnt, LEARNING_RATE, weight_decay=DECAY)
        steps = max(1, self.options.n_samples // BATCH)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
            optimiser, self.options.epochs * steps
        )
        best = {name: tensor.detach().clone() for name, tensor in weights.items()}
        smallest, best_epoch = self._error(weights, stopping, visible, alpha), 0
        for epoch in range(1, self.options.epochs + 1):
            for step in range(steps):
                part = training[(epoch * steps + step) % len(training)]
                optimiser.zero_grad()
                self._loss(weights, part, visible, alpha).backward()
                torch.nn.utils.clip_grad_norm_(learnt, LARGEST_GRADIENT)
                optimiser.step()
                schedule.step()
            error = self._error(weights, stopping, visible, alpha)
            if error < smallest:
                best = {name: tensor.detach().clone() for name, tensor in weights.items()}
                smallest, best_epoch = error, epoch
            if epoch - best_epoch >= PATIENCE:
                break
        return best

    def _loss(
        self, weights: TensorWeights, part: int, visible: Sequence[int], alpha: float
    ) -> Tensor:
        """The mean loss of new bags of a part, and the cross-entropy of their items."""
        bags = self._drawn(self.sources[part], BATCH)
        samples = self._samples(weights, bags.index)
        compared = {**weights, "histograms": self._histograms(weights, part, visible)}
        loss = self._errors(bags, estimates(compared, samples, alpha)).mean()
        if not self.shape.n_features:
            return loss
        log_p = torch.log(torch.from_numpy(bags.p_true).to(self.scores) + 1e-12).unsqueeze(1)
        of_items = functional.cross_entropy(
            (samples.scores + log_p).flatten(0, 1), self._at(self.codes, bags.index).flatten()
        )
        return loss + ITEM_LOSS * of_items

    def _error(
        self, weights: TensorWeights, part: int, visible: Sequence[int], alpha: float
    ) -> float:
        with torch.no_grad():
            compared = {**weights, "histograms": self._histograms(weights, part, visible)}
            return self._mean_error(part, compared, alpha)

    def _likelihood_error(self, part: int, alpha: float) -> float:
        with torch.no_grad():
            return self._mean_error(part, {}, alpha)

    def _mean_error(self, part: int, weights: TensorWeights, alpha: float) -> float:
        bags = self.judging[part]
        p_hat = [
            estimates(weights, self._samples(weights, rows), alpha)
            for rows in in_blocks(bags.index, self.shape.n_classes)
        ]
        return float(self._errors(bags, torch.cat(p_hat)).mean())

    def _errors(self, bags: Bags, p_hat: Tensor) -> Tensor:
        p_true = torch.from_numpy(bags.p_true).to(p_hat)
        return LOSSES[self.options.measure](p_true, p_hat, 1 / (2 * self.options.sample_size))

    def _drawn(self, source: BagSource, n: int) -> Bags:
        return source.draw(n, self.options.sample_size, self.options.concentration, self.rng)

    def _samples(self, weights: TensorWeights, index: Indices) -> Samples:
        scores = item_scores(weights, self._at(self.scores, index), self._at(self.features, index))
        return Samples(scores, torch.ones_like(scores[..., 0]))

    def _histograms(self, weights: TensorWeights, part: int, visible: Sequence[int]) -> Tensor:
        """Of the classes in all visible parts but this one, unless it is the only one."""
        others = [other for other in visible if other != part] or [part]
        rows = np.concatenate([self.shown[other] for other in others])
        scores = item_scores(weights, self._at(self.scores, rows), self._at(self.features, rows))
        return class_hat_means(scores, self._at(self.codes, rows), self._at(self.counts, rows))

    def _set_scale(
        self, weights: TensorWeights, part: int, visible: Sequence[int], alpha: float
    ) -> None:
        """Scale what the set network sees by how it varies over bags."""
        if "centre" not in weights:
            return
        with torch.no_grad():
            samples = self._samples(weights, self.judging[part].index[: 2 * BATCH])
            start = likelihood_estimates(samples, alpha)
            histograms = self._histograms(weights, part, visible)
            seen = class_inputs(samples, hats(samples.scores), start, histograms).flatten(0, 1)
            weights["centre"] = seen.mean(dim=0)
            weights["scale"] = seen.std(dim=0) + 1e-3

    def _at(self, tensor: Tensor, index: Indices) -> Tensor:
        return tensor[torch.from_numpy(index).to(self.device)]


def _some_of_each_class(source: BagSource) -> Indices:
    """Positions of the first items of each class, at most MOST_OF_A_CLASS; items are shuffled."""
    members = [np.flatnonzero(source.codes == code) for code in range(source.n_classes)]
    return np.asarray(source.rows[np.concatenate([rows[:MOST_OF_A_CLASS] for rows in members])])
