"""The network: from what is seen of a task to the distribution of the sample's share.

A token for the whole task and one for each column pass through layers of attention. From the first
token a mixture of logistic densities is made, in the angle asin(sqrt(share)); half of them are
placed near classic estimates, so that the network can choose one. Labels known in the sample then
count as evidence: the density is multiplied by their likelihood.

Plain functions of arrays, in training and in use alike; see `summaries`.
"""

import math
from collections.abc import Mapping
from typing import Any

from quantshift.quantifiers.pretrained.summaries import ANCHORS, Summaries, sigmoid

CELLS = 256
"""Cells of equal width in the angle, over which the density is computed."""

COMPONENTS = 2 * len(ANCHORS)
SMALLEST_SCALE = 0.004
FARTHEST = 0.5
"""How far in angle a component may be from its anchor."""


def cell_shares(xp: Any, **options: Any) -> Any:
    """The shares in the middle of the cells, (CELLS,)."""
    return xp.sin((xp.arange(CELLS, **options) + 0.5) * (math.pi / 2 / CELLS)) ** 2


def sizes_of_head() -> int:
    """How many numbers the last layer gives."""
    return 3 * COMPONENTS + (COMPONENTS - len(ANCHORS)) * len(ANCHORS) + 2


def log_density(weights: Mapping[str, Any], seen: Summaries, xp: Any) -> Any:
    """Log-probabilities of the cells, (B, CELLS)."""
    overall = xp.clip((seen.overall - weights["centre"]) / weights["scale"], -5.0, 5.0)
    first = _two_layers(weights, "overall", overall, xp)[:, None, :]
    tokens = xp.concat([first, _two_layers(weights, "column", seen.columns, xp)], axis=1)
    present = xp.concat([xp.ones_like(seen.shown[:, :1]), seen.shown], axis=1)
    absent = (present - 1) * 1e9
    layer = 0
    while f"layer{layer}.query.weight" in weights:
        tokens = _attention(weights, f"layer{layer}", tokens, absent, xp)
        layer += 1
    head = _two_layers(weights, "head", _normalised(weights, "head.norm", tokens[:, 0], xp), xp)
    return _density_of(head, seen, xp)


def _linear(weights: Mapping[str, Any], name: str, x: Any) -> Any:
    return x @ weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _activated(x: Any, xp: Any) -> Any:
    return x * sigmoid(x, xp)


def _two_layers(weights: Mapping[str, Any], name: str, x: Any, xp: Any) -> Any:
    return _linear(weights, f"{name}.out", _activated(_linear(weights, f"{name}.in", x), xp))


def _normalised(weights: Mapping[str, Any], name: str, x: Any, xp: Any) -> Any:
    x = x - xp.mean(x, axis=-1, keepdims=True)
    x = x / xp.sqrt(xp.mean(x**2, axis=-1, keepdims=True) + 1e-5)
    return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _softmax(x: Any, xp: Any) -> Any:
    x = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return x / xp.sum(x, axis=-1, keepdims=True)


def _attention(weights: Mapping[str, Any], name: str, tokens: Any, absent: Any, xp: Any) -> Any:
    n_tasks, n_tokens, width = tokens.shape
    heads = weights[f"{name}.heads"].shape[0]
    x = _normalised(weights, f"{name}.norm1", tokens, xp)
    parts = []
    for part in ("query", "key", "value"):
        of_part = _linear(weights, f"{name}.{part}", x)
        of_part = xp.reshape(of_part, (n_tasks, n_tokens, heads, width // heads))
        parts.append(xp.permute_dims(of_part, (0, 2, 1, 3)))
    query, key, value = parts
    match = query @ xp.matrix_transpose(key) / math.sqrt(width // heads)
    mixed = _softmax(match + absent[:, None, None, :], xp) @ value
    mixed = xp.reshape(xp.permute_dims(mixed, (0, 2, 1, 3)), (n_tasks, n_tokens, width))
    tokens = tokens + _linear(weights, f"{name}.mixed", mixed)
    x = _normalised(weights, f"{name}.norm2", tokens, xp)
    return tokens + _two_layers(weights, f"{name}.change", x, xp)


def _density_of(head: Any, seen: Summaries, xp: Any) -> Any:
    """Log-probabilities of the cells: the mixture, times the likelihood of labels."""
    n_anchors = len(ANCHORS)
    log_weight, moved, log_scale = (
        head[:, i * COMPONENTS : (i + 1) * COMPONENTS] for i in range(3)
    )
    mixing = head[:, 3 * COMPONENTS : -2]
    mixing = xp.reshape(mixing, (head.shape[0], COMPONENTS - n_anchors, n_anchors))
    between = xp.sum(_softmax(mixing, xp) * seen.anchors[:, None, :], axis=2)
    centre = xp.concat([seen.anchors, between], axis=1) + FARTHEST * xp.tanh(moved)
    scale = SMALLEST_SCALE + xp.log1p(xp.exp(xp.clip(log_scale - 2, -20.0, 20.0)))
    borders = xp.arange(CELLS + 1, dtype=head.dtype, device=head.device) * (math.pi / 2 / CELLS)
    below = sigmoid((borders[None, :, None] - centre[:, None, :]) / scale[:, None, :], xp)
    cells = below[:, 1:] - below[:, :-1]
    cells = cells / xp.clip(xp.sum(cells, axis=1, keepdims=True), 1e-9, None)
    density = xp.sum(cells * _softmax(log_weight, xp)[:, None, :], axis=2)
    trust, strength = sigmoid(head[:, -2:-1], xp), sigmoid(head[:, -1:] + 2, xp)
    labels = strength * (trust * seen.tilt + (1 - trust) * seen.counts)
    total = xp.log(xp.clip(density, 1e-12, None)) + labels
    total = total - xp.max(total, axis=1, keepdims=True)
    return total - xp.log(xp.sum(xp.exp(total), axis=1, keepdims=True))
