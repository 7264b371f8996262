"""Views: the features of items, fitted on one training set, on which classifiers are trained."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

BLOCK_ROWS = 1 << 16
"""The number of rows that are prepared at a time for scoring."""


class View(Protocol):
    """Features of any rows of a data set: `TfidfView` for text, `MatrixView` for matrices."""

    def transform(self, rows: ArrayLike) -> Any:
        """The feature matrix of the rows, (n_rows, n_features), sparse or dense."""

    def scores(self, rows: ArrayLike, coef: ArrayLike, intercept: ArrayLike) -> NDArray[np.float64]:
        """Scores of the rows under k linear models (n_features, k), shape (n_rows, k)."""


@dataclass(frozen=True, eq=False)
class MatrixView:
    """Features that are already a matrix: the same whatever the training set."""

    matrix: Any

    def transform(self, rows: ArrayLike) -> Any:
        """The rows of the matrix."""
        return self.matrix[rows]

    def scores(self, rows: ArrayLike, coef: ArrayLike, intercept: ArrayLike) -> NDArray[np.float64]:
        """Scores of the rows under k linear models, shape (n_rows, k)."""
        return scores_in_blocks(self, rows, coef, intercept)


def scores_in_blocks(
    view: View, rows: ArrayLike, coef: ArrayLike, intercept: ArrayLike
) -> NDArray[np.float64]:
    """Scores of the rows of a view under k linear models, computed in blocks of rows."""
    chosen, weights = np.asarray(rows), np.asarray(coef)
    scores = np.empty((len(chosen), weights.shape[1]))
    for start in range(0, len(chosen), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        scores[block] = view.transform(chosen[block]) @ weights + np.asarray(intercept)
    return scores
