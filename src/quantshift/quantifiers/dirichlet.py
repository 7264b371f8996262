"""The likeliest prevalence under a Dirichlet prior: its maximum a posteriori.

A prior Dirichlet(alpha) adds (alpha - 1) sum_k log p_k to the log-likelihood sum_j log(p . r_j) of
a sample: as alpha - 1 further items of each class would, of which the class is certain. So the
solver of mixtures finds it with items of that weight added, and without (alpha = 1) it finds what
it found before.
"""

import numpy as np
from numpy.typing import NDArray

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
