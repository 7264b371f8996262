"""Means of posteriors and other representations: of samples, and of classes in training."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes, Indices
from quantshift.errors import DataError
from quantshift.items.samples import gathered_means
from quantshift.prevalence.weights import Weights, checked_weights


def sample_means(
    representation: NDArray[Any], index: Indices, sample_weight: Weights | None = None
) -> NDArray[np.float64]:
    """Mean representation of each sample, shape (n_samples, n_features).

    Parameters
    ----------
    representation : array
        Means are taken of its rows.
    index : array
        Positions of the items of each sample, (n_samples, size).
    sample_weight : array, optional
        How many items each item of X stands for.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import sample_means
    >>> posteriors = np.array([[0.9, 0.7, 0.2], [0.1, 0.3, 0.8]])
    >>> sample_means(posteriors, np.array([[0, 1], [1, 2]]))
    array([[0.8 , 0.2 ],
           [0.45, 0.55]])
    """
    if sample_weight is None:
        return gathered_means(representation, np.ascontiguousarray(index))
    w = sample_weight[index]
    sums = np.stack([(row[index] * w).sum(axis=1) for row in representation], axis=1)
    return np.asarray(sums / w.sum(axis=1, keepdims=True))


def class_means(
    representation: NDArray[Any], codes: Codes, sample_weight: Weights | None = None
) -> NDArray[np.float64]:
    """Mean of column i among the items of class j, shape (n_features, n_classes) [i, j].

    each of which must have items, and with weights some that count.

    Parameters
    ----------
    representation : array
        (n_items, n_features), such as posteriors.
    codes : array
        0, 1, ... for the classes,.
    sample_weight : array, optional
        How many items each item of X stands for.

    Examples
    --------
    >>> from quantshift.quantifiers import class_means
    >>> posteriors = [[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]]
    >>> class_means(posteriors, [0, 0, 1])
    array([[0.8, 0.2],
           [0.2, 0.8]])
    >>> class_means(posteriors, [0, 0, 1], [3, 1, 1])
    array([[0.85, 0.2 ],
           [0.15, 0.8 ]])
    """
    representation, codes = np.asarray(representation), np.asarray(codes)
    n_items = len(representation) if representation.ndim == 2 else None
    if codes.dtype.kind not in "iu" or codes.shape != (n_items,) or codes.min(initial=0) < 0:
        raise DataError(
            f"codes must be whole numbers from 0, one for each row, got {codes.dtype} of shape "
            f"{codes.shape} for a representation of shape {representation.shape}"
        )
    sample_weight = checked_weights(sample_weight, len(codes))
    members = [codes == j for j in range(int(codes.max(initial=-1)) + 1)]
    for j, rows in enumerate(members):
        if not (rows.any() if sample_weight is None else sample_weight[rows].sum() > 0):
            raise DataError(
                f"class {j} has no items, or none that count; give items of every class"
            )
    if sample_weight is None:
        return np.stack([representation[rows].mean(axis=0) for rows in members], axis=1)
    return np.stack(
        [
            sample_weight[rows] @ representation[rows] / sample_weight[rows].sum()
            for rows in members
        ],
        axis=1,
    )
