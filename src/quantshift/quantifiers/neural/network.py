"""The set network in PyTorch: what it computes of the items of samples.

    items     scores of the classes (logarithms of likelihoods), corrected by what a layer sees of
              the features and by a piecewise linear function of the log-odds
    start     the maximum of the likelihood of these scores; its gradient is that of the maximum,
              by the implicit function theorem, whatever the number of passes that found it
    layer     a soft histogram (hat functions) of the log-odds of each class, and its difference to
              the histogram that the training classes would give at the start
    set       two layers that all classes share, the second of which also sees the mean over the
              classes; or, if monotone, an increasing function of the start
    estimate  the softmax of the logarithm of the start, corrected

All last layers begin as zero: an untrained network returns the likelihood estimate. The features
have one output per class; everything else treats the classes alike. Weights are arrays by name, and
nothing here draws random numbers or keeps a state.

Only NumPy and PyTorch are needed, and numbers are of double precision: samples in which items are
repeated and samples in which they are weighted then have the same estimates.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

NetworkWeights: TypeAlias = dict[str, NDArray[np.float64]]
"""Arrays by name, as they are stored."""

TensorWeights: TypeAlias = dict[str, Tensor]

FIXED = frozenset({"centre", "scale", "histograms"})
"""Weights that are set and not learnt."""

KNOTS = 10
WIDEST = 9.0
"""Hat functions, and the log-odds of the outermost ones."""

SMALLEST = 1e-4
"""Added to shares before their logarithm."""

RAMPS = 8
"""Pieces of the monotone function."""

PASSES, NEWTON_STEPS = 12, 8
"""Of the search for the maximum of the likelihood."""

RIDGE = 1e-3
"""Keeps the gradient of the maximum finite where the likelihood is flat."""

TINY = 1e-12

AT_ONCE = 1 << 18
"""Scores of items for which hat functions are computed at once."""


@dataclass(frozen=True)
class NetworkSizes:
    """The sizes of a network."""

    n_classes: int
    n_features: int
    width: int
    monotone: bool

    @property
    def n_inputs(self) -> int:
        """Numbers that the set network sees of a class."""
        return 3 + 3 * KNOTS

    def initial(self, rng: np.random.Generator) -> NetworkWeights:
        """Random layers, except for the last ones, which are zero."""

        def layer(n_in: int, n_out: int) -> NDArray[np.float64]:
            return np.asarray(rng.normal(size=(n_in, n_out)) * np.sqrt(2 / n_in))

        width = self.width
        weights = {"recalibrate": np.zeros(KNOTS)}
        if self.n_features:
            weights["features"] = layer(self.n_features, width)
            weights["features_bias"] = np.zeros(width)
            weights["features_out"] = np.zeros((width, self.n_classes))
        if self.monotone:
            return weights | {"log_slopes": np.zeros(RAMPS)}
        return weights | {
            "centre": np.zeros(self.n_inputs),
            "scale": np.ones(self.n_inputs),
            "first": layer(self.n_inputs, width),
            "first_bias": np.zeros(width),
            "second": layer(width, width) / np.sqrt(2),
            "second_mean": layer(width, width) / np.sqrt(2),
            "second_bias": np.zeros(width),
            "out": np.zeros(width),
        }


@dataclass(frozen=True, eq=False)
class Samples:
    """Items of samples: scores (n_samples, n_items, n_classes), counts (n_samples, n_items).

    scores: those that `item_scores` returns. counts: how many items each item stands for.
    """

    scores: Tensor
    counts: Tensor


def item_scores(weights: Mapping[str, Tensor], scores: Tensor, features: Tensor) -> Tensor:
    """Scores of items, (..., n_classes), corrected by their features, (..., n_features)."""
    if "features" in weights:
        seen = functional.relu(features @ weights["features"] + weights["features_bias"])
        scores = scores + seen @ weights["features_out"]
    return functional.log_softmax(scores, dim=-1)


def hats(scores: Tensor) -> Tensor:
    """Hat functions of the log-odds of the classes, (..., n_classes, KNOTS)."""
    rest = torch.clamp(-torch.expm1(scores), min=TINY)
    place = (scores - rest.log() + WIDEST) * ((KNOTS - 1) / (2 * WIDEST))
    knots = torch.arange(KNOTS, dtype=scores.dtype, device=scores.device)
    distance = torch.abs(torch.clamp(place, 0, KNOTS - 1).unsqueeze(-1) - knots)
    return functional.relu(1 - distance)


def class_hat_means(scores: Tensor, codes: Tensor, counts: Tensor) -> Tensor:
    """Mean hat functions among the items of each class, (n_classes, n_classes, KNOTS)."""
    members = functional.one_hot(codes, scores.shape[-1]).to(scores) * counts.unsqueeze(-1)
    sums = torch.einsum("ij,ikt->jkt", members, hats(scores))
    return sums / members.sum(dim=0)[:, None, None]


def likelihood_estimates(samples: Samples, alpha: float) -> Tensor:
    """The maximum of the likelihood of scores, (n_samples, n_classes), with its gradient.

    alpha: of a symmetric Dirichlet prior; 1 is none.
    """
    with torch.no_grad():
        search = _Search(samples.scores.exp(), samples.counts, alpha - 1)
        p = search.maximum()
    if not samples.scores.requires_grad:
        return p
    # p = F(p, scores), so that dp = (1 - dF/dp)^-1 dF/dscores: the value is that of the search,
    # and only the gradient that of the solution.
    passed = _Search(samples.scores.exp(), samples.counts, alpha - 1).passed(p)
    solved = torch.linalg.solve(search.left(p), passed.unsqueeze(-1)).squeeze(-1)
    return p + (solved - solved.detach())


@dataclass(frozen=True, eq=False)
class _Search:
    """The maximum of likelihoods: passes of expectation and maximisation, then Newton's steps.

    All samples have the same number of steps, so that none depends on those beside it. added: how
    many items the prior adds to each class.
    """

    likelihoods: Tensor
    counts: Tensor
    added: float

    def maximum(self) -> Tensor:
        n_classes = self.likelihoods.shape[-1]
        p = torch.full_like(self.likelihoods[:, 0], 1 / n_classes)
        for _ in range(PASSES):
            p = self.passed(p)
        for _ in range(NEWTON_STEPS):
            passed = self.passed(p)
            step = torch.linalg.solve(self.left(p), (passed - p).unsqueeze(-1)).squeeze(-1)
            # A step beyond the border goes most of the way.
            far = torch.maximum(p + step, p / 10)
            far = far / far.sum(dim=1, keepdim=True)
            p = torch.where(self._height(far) >= self._height(passed), far, passed)
        p = torch.clamp(p, min=TINY)
        return p / p.sum(dim=1, keepdim=True)

    def passed(self, p: Tensor) -> Tensor:
        """The prevalence after one pass."""
        return (p * self._pulls(p) + self.added) / self._total

    def left(self, p: Tensor) -> Tensor:
        """Unity minus the derivative of a pass, (n_samples, n_classes, n_classes)."""
        ratios = self.likelihoods / self._mixed(p).unsqueeze(-1)
        crossed = ratios.transpose(1, 2) @ (ratios * self.counts.unsqueeze(-1))
        slopes = torch.diag_embed(self._pulls(p)) - p.unsqueeze(-1) * crossed
        unity = torch.eye(p.shape[1], dtype=p.dtype, device=p.device)
        return (1 + RIDGE) * unity - slopes / self._total.unsqueeze(-1)

    @property
    def _total(self) -> Tensor:
        return self.counts.sum(dim=1, keepdim=True) + self.likelihoods.shape[-1] * self.added

    def _mixed(self, p: Tensor) -> Tensor:
        return (self.likelihoods @ p.unsqueeze(-1)).squeeze(-1).clamp(min=TINY)

    def _pulls(self, p: Tensor) -> Tensor:
        """By which factor the items would change the count of each class."""
        return ((self.counts / self._mixed(p)).unsqueeze(1) @ self.likelihoods).squeeze(1)

    def _height(self, p: Tensor) -> Tensor:
        """The logarithm of likelihood and prior, (n_samples, 1)."""
        prior = self.added * torch.log(p.clamp(min=TINY)).sum(dim=1, keepdim=True)
        return (self.counts * self._mixed(p).log()).sum(dim=1, keepdim=True) + prior


def estimates(weights: Mapping[str, Tensor], samples: Samples, alpha: float) -> Tensor:
    """Prevalences, (n_samples, n_classes); without weights those of the likelihood.

    The weights include `histograms`, those of the training classes.
    """
    if not weights:
        return likelihood_estimates(samples, alpha)
    of_items = hats(samples.scores)
    corrected = functional.log_softmax(samples.scores + of_items @ weights["recalibrate"], dim=-1)
    start = likelihood_estimates(Samples(corrected, samples.counts), alpha)
    # Where the start is at the border, its gradient may lead beyond it.
    log_start = torch.log(torch.clamp(start, min=0) + SMALLEST)
    if "log_slopes" in weights:
        return functional.softmax(_increasing(log_start, weights["log_slopes"]), dim=-1)
    seen = class_inputs(Samples(corrected, samples.counts), of_items, start, weights["histograms"])
    x = (seen - weights["centre"]) / weights["scale"]
    a = functional.relu(x @ weights["first"] + weights["first_bias"])
    pooled = (a.mean(dim=1) @ weights["second_mean"]).unsqueeze(1)
    c = functional.relu(a @ weights["second"] + pooled + weights["second_bias"])
    return functional.softmax(log_start + c @ weights["out"], dim=-1)


def class_inputs(samples: Samples, of_items: Tensor, start: Tensor, histograms: Tensor) -> Tensor:
    """What the set network sees of the classes, (n_samples, n_classes, n_inputs)."""
    shares = samples.counts / samples.counts.sum(dim=1, keepdim=True)
    seen = torch.einsum("si,sikt->skt", shares, of_items)
    explained = torch.einsum("sj,jkt->skt", start, histograms)
    own = histograms.diagonal(dim1=0, dim2=1).T.expand_as(seen)
    joint = samples.scores + torch.log(start + TINY).unsqueeze(1)
    chances = functional.softmax(joint, dim=-1)
    undecided = torch.einsum("si,sik->sk", shares, chances * (1 - chances))
    numbers = torch.stack([torch.log(start + SMALLEST), start, (undecided + TINY).sqrt()], dim=-1)
    return torch.cat([numbers, seen, seen - explained, own], dim=-1)


def _increasing(log_start: Tensor, log_slopes: Tensor) -> Tensor:
    """A piecewise linear function with positive slopes, the identity if they are one."""
    lowest = float(np.log(SMALLEST))
    step = -lowest / RAMPS
    starts = lowest + step * torch.arange(RAMPS, dtype=log_start.dtype, device=log_start.device)
    ramps = torch.clamp(log_start.unsqueeze(-1) - starts, 0, step)
    return ramps @ log_slopes.exp()


def in_blocks(index: NDArray[np.int64], n_classes: int) -> list[NDArray[np.int64]]:
    """Rows of an index matrix, so many at once as hat functions can be computed for."""
    at_once = max(1, AT_ONCE // (index.shape[1] * n_classes))
    return [index[start : start + at_once] for start in range(0, len(index), at_once)]


def as_tensors(weights: Mapping[str, NDArray[np.float64]], device: torch.device) -> TensorWeights:
    """The weights on a device."""
    return {name: torch.from_numpy(array).to(device) for name, array in weights.items()}


def as_arrays(weights: Mapping[str, Tensor]) -> NetworkWeights:
    """The weights as they are stored."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in weights.items()}
