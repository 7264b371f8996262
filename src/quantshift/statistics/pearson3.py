"""Quantiles of the Pearson type III distribution: a gamma variable, standardised.

For a small skewness, the Cornish-Fisher expansion takes the place of SciPy's gamma quantiles, whose
mean would be subtracted from almost the same number. Reference: N. L. Johnson, S. Kotz and
N. Balakrishnan, "Continuous Univariate Distributions" 1, 1994, section 18.5.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainccinv, gammaincinv, ndtri

from quantshift.base.types import Reals

_SMALL = 0.005
"""For a smaller skewness the expansion is exact to rounding."""


def pearson3_quantile(p: ArrayLike, skewness: ArrayLike) -> Reals:
    """Quantiles of the distribution of mean 0 and variance 1 that has this skewness.

    >>> pearson3_quantile(0.975, [0.0, 2.0]).round(6).tolist()
    [1.959964, 2.688879]
    """
    p, s = np.broadcast_arrays(np.asarray(p, np.float64), np.asarray(skewness, np.float64))
    z, is_small = ndtri(p), np.abs(s) < _SMALL
    shape = 4 / np.where(is_small, 1.0, s) ** 2
    # Not 1 - p, which would round a small p away.
    gamma = np.where(s < 0, gammainccinv(shape, p), gammaincinv(shape, p))
    exact = np.sign(s) * (gamma - shape) / np.sqrt(shape)
    return np.asarray(np.where(is_small, _expansion(z, s), exact))


def _expansion(z: Reals, s: Reals) -> Reals:
    first, second = (z**2 - 1) / 6, (z**3 - 7 * z) / 144
    third, fourth = (16 - 7 * z**2 - 3 * z**4) / 6480, (9 * z**5 + 256 * z**3 - 433 * z) / 622080
    return np.asarray(z + s * (first + s * (second + s * (third + s * fourth))))
