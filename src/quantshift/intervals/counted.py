"""The limits of shares that are counted.

Reference: L. Brown, T. Cai and A. DasGupta, "Interval estimation for a binomial proportion",
Statistical Science 16 (2001).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from quantshift.base.types import Prevalences, Reals


def as_if_counted(
    p_hat: Prevalences, low: Reals, high: Reals, sizes: ArrayLike, level: float
) -> tuple[Reals, Reals]:
    """Limits around the estimate, no narrower than if the labels of the sample were known."""
    z = float(ndtri((1 + level) / 2))
    least, most = wilson_limits(p_hat, np.asarray(sizes, dtype=np.float64)[:, np.newaxis], z)
    low = np.clip(np.minimum(low, np.minimum(least, p_hat)), 0.0, 1.0)
    high = np.clip(np.maximum(high, np.maximum(most, p_hat)), 0.0, 1.0)
    return low, high


def wilson_limits(
    p: Prevalences, n: NDArray[np.float64] | float, z: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's limits of a share p counted among n items, z standard errors to either side."""
    shrunk = 1 + z * z / n
    middle = (p + z * z / (2 * n)) / shrunk
    half = z / shrunk * np.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
