"""Features with Gaussian noise: noisy copies of the rows of a data set, made on demand.

A copy is identified by a number: the row's number plus a multiple of the number of rows, one for
each strength of the noise. The noise of a copy depends only on the seed, the strength and the row,
so that it is the same in every sample and every call.
"""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack, issparse

from quantshift.base.seeding import generator
from quantshift.base.types import Indices
from quantshift.errors import DataError
from quantshift.lab.data.sets.dataset import Dataset
from quantshift.tables.preparation import TableColumns, TableView
from quantshift.texts.counts import CountMatrix
from quantshift.texts.view import MatrixView, View, scores_in_blocks


def check_noise_possible(dataset: Dataset) -> None:
    """Refuse data without numeric features."""
    features = dataset.features
    if isinstance(features, CountMatrix):
        content = "only texts"
    elif features is None:
        content = "posteriors but no features"
    elif isinstance(features, TableColumns) and not features.number_names:
        content = "no column of numbers"
    elif isinstance(features, MatrixView) and issparse(features.matrix):
        content = "a sparse matrix"
    else:
        return
    raise DataError(
        f"noise is added to numeric features, but {dataset.title} has {content}; use a table or a "
        "matrix of numbers"
    )


@dataclass(frozen=True, eq=False)
class NoisyView:
    """A view of rows and of their noisy copies.

    scales: standard deviations of the features that get noise, the first ones of the matrix; the
        others (levels of categories, indicators of missing values) stay.
    strengths: those of the copies so far, in the order of their numbers; the first, 0, is that of
        the rows themselves.
    """

    view: View
    n_rows: int
    scales: NDArray[np.float64]
    seed: int
    strengths: list[float] = field(default_factory=lambda: [0.0])

    @classmethod
    def fit(cls, view: View, rows: Indices, n_rows: int, *, seed: int) -> Self:
        """From the training rows of a data set of `n_rows`."""
        if isinstance(view, TableView):  # its numbers are standardised
            return cls(view, n_rows, np.ones(len(view.table.number_names)), seed)
        return cls(view, n_rows, np.asarray(view.transform(rows)).std(axis=0), seed)

    def copies(self, rows: Indices, strength: float) -> Indices:
        """The numbers of the copies of the rows with noise of this strength."""
        if strength not in self.strengths:
            self.strengths.append(strength)
        return rows + self.n_rows * self.strengths.index(strength)

    def transform(self, rows: ArrayLike) -> Any:
        """The feature matrix of the rows and copies, (n_rows, n_features)."""
        chosen = np.asarray(rows)
        plain = self.view.transform(chosen % self.n_rows)
        noise = self._noise(chosen)
        if noise is None:
            return plain
        if issparse(plain):
            unchanged = csr_array((noise.shape[0], plain.shape[1] - noise.shape[1]))
            return csr_array(plain + hstack([csr_array(noise), unchanged], format="csr"))
        noisy = np.array(plain, dtype=np.float64)
        noisy[:, : noise.shape[1]] += noise
        return noisy

    def scores(self, rows: ArrayLike, coef: ArrayLike, intercept: ArrayLike) -> NDArray[np.float64]:
        """Scores of the rows and copies under k linear models (n_features, k), (n_rows, k)."""
        return scores_in_blocks(self, rows, coef, intercept)

    def _noise(self, chosen: Indices) -> NDArray[np.float64] | None:
        """The noise of the first features of each row; None if there is none."""
        copies = np.flatnonzero(chosen >= self.n_rows)
        if not len(copies):
            return None
        noise = np.zeros((len(chosen), len(self.scales)))
        for position in copies.tolist():
            number, row = divmod(int(chosen[position]), self.n_rows)
            strength = self.strengths[number]
            rng = generator(self.seed, purpose="noise", strength=strength, row=row)
            noise[position] = strength * self.scales * rng.standard_normal(len(self.scales))
        if isinstance(self.view, TableView):
            is_missing = np.isnan(self.view.table.numbers[chosen % self.n_rows])
            noise[is_missing] = 0
        return noise
