"""The likeliest prevalence under a Dirichlet prior: its maximum a posteriori.

A prior Dirichlet(alpha) adds (alpha - 1) sum_k log p_k to the log-likelihood sum_j log(p . r_j) of
a sample: as alpha - 1 further items of each class would, of which the class is certain. So the
solver of mixtures finds it with items of that weight added, and without (alpha = 1) it finds what
it found before.
"""

import numpy as np
from numpy.typing import NDArray

from quantshift.quantifiers.mixture_newton import newton_mixtures
from quantshift.quantifiers.solvers import maximise_mixtures

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]


def maximise_posteriors(
    likelihoods: Reals,
    index: Ints,
    start: Reals,
    added: Reals,
    *,
    tol: float,
    max_iter: int,
    weights: Reals | None = None,
) -> tuple[Reals, Ints, NDArray[np.bool_]]:
    """Like `maximise_mixtures`, with a prior for each sample.

    added: items of each class that the prior is worth in each sample, alpha - 1, (n_samples,).
    """
    if len(likelihoods) == 2:
        return _by_items(likelihoods, index, start, added, tol, max_iter, weights)
    found = newton_mixtures(
        np.require(likelihoods, np.float64, ["C", "W"]),
        np.require(index, np.int64, ["C", "W"]),
        np.require(start, np.float64, ["C", "W"]),
        np.require(added, np.float64, ["C", "W"]),
        float(tol),
        int(max_iter),
        None if weights is None else np.require(weights, np.float64, ["C", "W"]),
    )
    rest = np.flatnonzero(~found[2])
    if len(rest):
        again = _by_items(likelihoods, index[rest], start, added[rest], tol, max_iter, weights)
        for column, values in zip(found, again, strict=True):
            column[rest] = values
    return found


def _by_items(
    likelihoods: Reals,
    index: Ints,
    start: Reals,
    added: Reals,
    tol: float,
    max_iter: int,
    weights: Reals | None,
) -> tuple[Reals, Ints, NDArray[np.bool_]]:
    """By `solvers`, with the items that the prior is worth added to each sample."""
    n_classes, (n_samples, size) = len(likelihoods), index.shape
    items = index.ravel()
    certain = np.tile(np.eye(n_classes), n_samples)
    pool = np.concatenate([likelihoods[:, items], certain], axis=1)
    own = np.ones(len(items)) if weights is None else weights[items]
    rows = np.concatenate(
        [
            np.arange(len(items)).reshape(n_samples, size),
            len(items) + np.arange(n_samples * n_classes).reshape(n_samples, n_classes),
        ],
        axis=1,
    )
    heft = np.concatenate([own, np.repeat(added, n_classes)])
    return maximise_mixtures(pool, rows, start, tol=tol, max_iter=max_iter, weights=heft)
