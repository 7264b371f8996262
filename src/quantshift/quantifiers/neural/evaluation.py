"""What learnt networks say: arrays in, arrays out, computed by PyTorch."""

from collections.abc import Sequence

import numpy as np
import torch

from quantshift.base.devices import one_thread, torch_device
from quantshift.base.types import Codes, Indices, Prevalences, Reals
from quantshift.quantifiers.neural.network import (
    NetworkWeights,
    Samples,
    as_tensors,
    class_hat_means,
    estimates,
    in_blocks,
    item_scores,
)


def corrected_scores(
    networks: Sequence[NetworkWeights], scores: Reals, features: Reals, device: str
) -> Reals:
    """Scores of items as each network corrects them, (n_networks, n_items, n_classes)."""
    where = torch_device(device)
    with torch.no_grad(), one_thread():
        seen = torch.from_numpy(scores).to(where), torch.from_numpy(features).to(where)
        corrected = [item_scores(as_tensors(weights, where), *seen) for weights in networks]
        return np.stack([one.cpu().numpy() for one in corrected])


def histograms_of(scores: Reals, codes: Codes, counts: Reals, device: str) -> Reals:
    """Histograms of training classes by a network's own scores, as the network compares them."""
    where = torch_device(device)
    with torch.no_grad(), one_thread():
        own, labels, weights = (
            torch.from_numpy(array).to(where) for array in (scores, codes, counts)
        )
        return np.asarray(class_hat_means(own, labels, weights).cpu().numpy())


def sample_estimates(
    weights: NetworkWeights,
    scores: Reals,
    index: Indices,
    counts: Reals | None,
    *,
    alpha: float,
    device: str,
) -> Prevalences:
    """The estimates of a network (without weights: of the likelihood) for samples of an index.

    scores: of all items of the pool, (n_items, n_classes), by this network; counts: their weights.
    """
    where = torch_device(device)
    tensors = as_tensors(weights, where)
    p_hat = []
    with torch.no_grad(), one_thread():
        pool = torch.from_numpy(scores).to(where)
        counted = (
            torch.ones_like(pool[:, 0]) if counts is None else torch.from_numpy(counts).to(pool)
        )
        for block in in_blocks(index, scores.shape[1]):
            rows = torch.from_numpy(block).to(where)
            samples = Samples(pool[rows], counted[rows])
            p_hat.append(estimates(tensors, samples, alpha).cpu().numpy())
    return np.concatenate(p_hat)
