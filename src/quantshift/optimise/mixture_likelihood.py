"""Maximum likelihood of a mixture, exact and compiled: the prevalence that explains a sample best.

An item j has likelihood r_jk under class k, known up to a factor per item. A sample of prevalence p
then has the log-likelihood sum_j log(p . r_j), which is concave. With w_jk = r_jk / (p . r_j) and
g_k the mean of w_jk over the sample, p is its maximum on the simplex if and only if

    g_k <= 1 for every class, and g_k = 1 wherever p_k > 0          (Karush, Kuhn and Tucker)

and `converged` means that this holds to 1e-7. EM, p_k <- p_k g_k, needs tens to thousands of steps;
a safeguarded Newton method needs about four (two classes) to ten.

The same solver handles a sample of several groups c of n_c items, in which the odds of the classes
are the known odds of the group, m_c, times common factors:
sum_j log(p . r_j) - sum_c n_c log(p . m_c). One group with m = (1, ..., 1) is the plain mixture.

Items may have weights: the terms of j in sums and means are then multiplied by w_j, and n_c is the
sum of the group's weights.

If the maximum is not unique (classes with equal likelihoods, fewer items than classes), the one
closest to the start is found. With two classes this is the start itself, because either all
prevalences are equally likely or one has the largest likelihood. With more,
NEARNESS / 2 |p - start|^2 is subtracted from the mean log-likelihood, which only matters if
likelihoods differ by less than 1e-10.

References: Y. Kim et al., "A fast algorithm for maximum likelihood estimation of mixture
proportions using sequential quadratic programming", JCGS 2020; Y. Nesterov, "Lectures on convex
optimization", 2018, section 5.2: the negative logarithm is self-concordant, so the error after a
Newton step is bounded before the step is taken.
"""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Ints, Reals
from quantshift.optimise.many_classes import MATRICES, maximise_many
from quantshift.optimise.mixture_newton import newton_mixtures
from quantshift.optimise.total_weights import array_of_weights, total_weight
from quantshift.optimise.two_classes import maximise_odds, maximise_pair


def maximise_mixtures(
    likelihoods: Reals,
    index: Ints,
    start: Reals,
    *,
    tol: float,
    max_iter: int,
    weights: Reals | None = None,
    added: Reals | None = None,
) -> tuple[Reals, Ints, NDArray[np.bool_]]:
    """Maximum likelihood prevalences of many samples, each solved independently.

    likelihoods: of the items of a pool, up to a factor per item, (n_classes, n_items); an item that
        is impossible under every class is left out of its sample. index: (n_samples, size).
    start: where every search begins, (n_classes,), no share of it zero.
    tol: largest error of a prevalence. max_iter: most passes over the items of a sample.
    weights: of the items of the pool, (n_items,); only their proportions in a sample matter.
    added: for the maximum a posteriori under a Dirichlet prior, how many items of each class the
        prior is equivalent to in each sample, alpha - 1, (n_samples,).
    Returns (prevalences (n_samples, n_classes), passes, converged).
    """
    # The same kind of array every time (a mapped file is read-only), to avoid recompilation.
    pool = np.require(likelihoods, np.float64, ["C", "W"])
    samples = np.require(index, np.int64, ["C", "W"])
    begin = np.require(start, np.float64, ["C", "W"])
    certain = None if added is None else np.require(added, np.float64, ["C", "W"])
    if len(pool) == 2:
        if certain is not None:
            return _by_certain_items(pool, samples, begin, certain, tol, max_iter, weights)
        return _maximised(pool, samples, begin, tol, max_iter, weights)
    item_weights = None if weights is None else np.require(weights, np.float64, ["C", "W"])
    solution = newton_mixtures(
        pool, samples, begin, certain, float(tol), int(max_iter), item_weights
    )
    unconverged = np.flatnonzero(~solution[2])
    if len(unconverged):
        hard = samples[unconverged]
        if certain is None:
            resolved = _maximised(pool, hard, begin, tol, max_iter, weights)
        else:
            resolved = _by_certain_items(
                pool, hard, begin, certain[unconverged], tol, max_iter, weights
            )
        for column, values in zip(solution, resolved, strict=True):
            column[unconverged] = values
    return solution


def _by_certain_items(
    likelihoods: Reals,
    index: Ints,
    start: Reals,
    added: Reals,
    tol: float,
    max_iter: int,
    weights: Reals | None,
) -> tuple[Reals, Ints, NDArray[np.bool_]]:
    """With a prior: add to each sample the items that it is equivalent to, whose class is certain.

    A prior Dirichlet(alpha) adds (alpha - 1) sum_k log p_k to the log-likelihood sum_j log(p . r_j)
    of a sample, and so do alpha - 1 additional items of each class whose class is certain.
    """
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


def room_for_classes(n_classes: int) -> Reals | None:
    """What compiled searches need besides their arguments; None with two classes.

    `None` is a type of its own: with it, what serves more classes is not even compiled.
    """
    return None if n_classes == 2 else np.empty((MATRICES, n_classes, n_classes))


def _maximised(
    likelihoods: Reals, index: Ints, start: Reals, tol: float, max_iter: int, weights: Reals | None
) -> tuple[Reals, Ints, NDArray[np.bool_]]:
    """Every sample by the safe search; all arrays but the weights as compiled loops take them."""
    n_classes, n_samples = len(likelihoods), len(index)
    p_hat, passes = np.empty((n_samples, n_classes)), np.empty(n_samples, dtype=np.int64)
    converged, item_weights = np.empty(n_samples, dtype=np.bool_), array_of_weights(weights)
    _maximise_each(
        likelihoods, index, start, float(tol), int(max_iter), item_weights,
        p_hat, passes, converged, room_for_classes(n_classes),
    )  # fmt: skip
    return p_hat, passes, converged


@compiled
def _maximise_each(
    likelihoods: Reals,
    index: Ints,
    start: Reals,
    tol: float,
    max_iter: int,
    weights: Reals,
    p_hat: Reals,
    passes: Ints,
    converged: NDArray[np.bool_],
    space: Reals | None,
) -> None:
    # Made here, because the compiler then knows that they share no memory with the arguments.
    rows = np.empty((index.shape[1], len(start)))
    row_weights = np.empty(index.shape[1] if len(weights) > 0 else 0)
    for s in range(len(index)):
        n = _gather(likelihoods, index[s], rows, weights, row_weights)
        for k in range(len(start)):
            p_hat[s, k] = start[k]
        passes[s], converged[s] = maximise_mixture(
            rows[:n], p_hat[s], tol, max_iter, row_weights[:n], space
        )


@compiled
def _gather(
    likelihoods: Reals, items: Ints, rows: Reals, weights: Reals, row_weights: Reals
) -> int:
    """Set the items' likelihoods and weights, row by row, and return how many there are.

    Items without weight, and items that no class explains, are left out.
    """
    n, weighted = 0, len(weights) > 0
    for item in items:
        if weighted and weights[item] <= 0.0:
            continue
        total = 0.0
        for k in range(len(likelihoods)):
            rows[n, k] = likelihoods[k, item]
            total += rows[n, k]
        if weighted:
            row_weights[n] = weights[item]
        if total > 0.0:
            n += 1
    return n


@compiled
def maximise_mixture(
    likelihood: Reals, p: Reals, tol: float, max_iter: int, weights: Reals, space: Reals | None
) -> tuple[int, bool]:
    """The p on the simplex that maximises sum_j w_j log(p . likelihood_j), in place, from p.

    likelihood: (n_items, n_classes), every row with a positive entry; weights: (n_items,), all
    positive, or none; space: `room_for_classes`. Returns (passes, converged).
    """
    if space is None:
        return maximise_pair(likelihood, p, tol, max_iter, weights)
    groups, counts = np.ones((1, len(p))), np.ones(1)
    counts[0] = total_weight(weights, len(likelihood))
    return maximise_many(likelihood, groups, counts, p, tol, max_iter, weights, space)


@compiled
def maximise_factors(
    likelihood: Reals,
    groups: Reals,
    counts: Reals,
    p: Reals,
    tol: float,
    max_iter: int,
    weights: Reals,
    space: Reals | None,
) -> tuple[int, bool]:
    """The p on the simplex, in place, at a maximum of the likelihood with groups.

    sum_j w_j log(p . likelihood_j) - sum_c counts_c log(p . groups_c) is not concave and may have
    several maxima: the one found is uphill from p. groups: (n_groups, n_classes); counts: items of
    each, or the sum of their weights.
    """
    if space is None:
        return maximise_odds(likelihood, groups, counts, p, tol, max_iter, weights)
    return maximise_many(likelihood, groups, counts, p, tol, max_iter, weights, space)


@compiled
def log_likelihood(likelihood: Reals, p: Reals, weights: Reals) -> float:
    """Sum of w_j log(p . likelihood_j).

    Without weights, one logarithm is taken for several items, because logarithms cost most.
    """
    total, product = 0.0, 1.0
    for j in range(likelihood.shape[0]):
        mass = 0.0
        for k in range(likelihood.shape[1]):
            mass += p[k] * likelihood[j, k]
        if len(weights) > 0:
            total += weights[j] * math.log(mass)
            continue
        following = product * mass
        if 1e-100 < following < 1e100:
            product = following
        else:
            total += math.log(product) + math.log(mass)
            product = 1.0
    return total + math.log(product)
