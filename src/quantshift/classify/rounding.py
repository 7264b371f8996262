"""How far rows of posteriors may be from a sum of one."""

import numpy as np

SUM_TOLERANCE = 1e-3
"""Rows whose sum is this close to one count as rounded and are normalised; others are refused."""

ROUNDING = 2 * float(np.finfo(np.float64).eps)
"""Rows of K classes whose sum is within K - 2 times this of one have been normalised already."""
