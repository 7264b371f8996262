"""Features as a matrix of numbers."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from quantshift.errors import DataError, UserError


def feature_matrix(X: Any) -> Any:
    """Features as a matrix of numbers, sparse ones as CSR; refused if they are not numeric."""
    if issparse(X):
        matrix = csr_array(X)
        values = matrix.data
    else:
        try:
            matrix = values = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            raise UserError(
                "clusters need numeric features: use a scikit-learn Pipeline whose first steps "
                "turn X into numbers as the classifier, or give a matrix (n_items, n_features) as X"
            ) from None
        if matrix.ndim != 2:
            raise DataError(
                "clusters need a row of numeric features per item, got an array of shape "
                f"{matrix.shape}. Reshape your data, as in X.reshape(-1, 1) for one feature"
            )
    if not np.isfinite(values).all():
        raise DataError("X contains NaN or infinite values: replace them before fitting")
    return matrix
