"""Two classes from ordered stars: positive above a cut point, negative below, dropped at it.

A cut point of 3 drops the neutral reviews; a half cut point such as 2.5 drops nothing. Moving the
cut point between training and test creates concept shift.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Codes, Indices
from quantshift.errors import DataError, UserError
from quantshift.prevalence.labels import column


def binarise(stars: ArrayLike, cut_point: float) -> tuple[Codes, Indices]:
    """Codes (1 above the cut point, 0 below) and the positions they belong to.

    Both have shape (n_kept,): `stars[kept]` are the stars that the codes stand for. Items whose
    stars equal the cut point are dropped.

    Parameters
    ----------
    stars : array
        The ordered column.
    cut_point : float
        Between two levels, or one of them.

    Examples
    --------
    >>> from quantshift.prevalence import binarise
    >>> codes, kept = binarise([1, 3, 5, 4], 3)
    >>> codes, kept
    (array([0, 1, 1]), array([0, 2, 3]))
    """
    if not math.isfinite(cut_point):
        raise UserError(f"cut point {cut_point} is not a finite number; give one such as 2.5")
    values = ordinal(stars)
    kept = np.flatnonzero(values != cut_point).astype(np.int64)
    return (values[kept] > cut_point).astype(np.int64), kept


def ordinal(stars: ArrayLike) -> NDArray[Any]:
    """The stars as a vector of finite numbers, refused if they are anything else."""
    values = column(stars, name="stars")
    if values.dtype.kind not in "if":
        raise DataError(
            f"stars must be numbers, got {values[0].item()!r} at position 0; convert them first"
        )
    return values
