"""Names for the arrays that are passed between subpackages."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Posteriors: TypeAlias = NDArray[np.float64]
"""P(y | x), shape (..., n_items, n_classes); every row is on the simplex."""

Prevalences: TypeAlias = NDArray[np.float64]
"""Class shares, shape (..., n_classes); every row is on the simplex."""

Codes: TypeAlias = NDArray[np.int64]
"""Labels as positions in a sorted array of classes, shape (n_items,)."""

Indices: TypeAlias = NDArray[np.int64]
"""Positions of items in a pool."""

Reals: TypeAlias = NDArray[np.float64]
"""Real numbers of any shape; the docstring of a function says which."""

Ints: TypeAlias = NDArray[np.int64]
"""Whole numbers of any shape."""

Flags: TypeAlias = NDArray[np.bool_]
"""Truth values of any shape."""
