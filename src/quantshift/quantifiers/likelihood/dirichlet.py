"""The maximum a posteriori prevalence under a Dirichlet prior.

A prior Dirichlet(alpha) adds (alpha - 1) sum_k log p_k to the log-likelihood sum_j log(p . r_j) of
a sample. So do alpha - 1 additional items of each class whose class is certain. The solver for
mixtures therefore finds the maximum with such items added; with alpha = 1 none are added, and the
solution is that without a prior.
"""

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Ints, Reals
from quantshift.optimise.mixture_newton import newton_mixtures
from quantshift.optimise.solvers import maximise_mixtures


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

    added: how many items of each class the prior is equivalent to, alpha - 1, (n_samples,).
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
    unconverged = np.flatnonzero(~found[2])
    if len(unconverged):
        resolved = _by_items(
            likelihoods, index[unconverged], start, added[unconverged], tol, max_iter, weights
        )
        for column, values in zip(found, resolved, strict=True):
            column[unconverged] = values
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
    """Solve with `solvers`, adding the items that the prior is equivalent to to each sample."""
    n_classes, (n_samples, size) = len(likelihoods), index.shape
    items = index.ravel()
    certain = np.tile(np.eye(n_classes), n_samples)
    pool = np.concatenate([likelihoods[:, items], certain], axis=1)
    item_weights = np.ones(len(items)) if weights is None else weights[items]
    rows = np.concatenate(
        [
            np.arange(len(items)).reshape(n_samples, size),
            len(items) + np.arange(n_samples * n_classes).reshape(n_samples, n_classes),
        ],
        axis=1,
    )
    all_weights = np.concatenate([item_weights, np.repeat(added, n_classes)])
    return maximise_mixtures(pool, rows, start, tol=tol, max_iter=max_iter, weights=all_weights)
