"""A training set's tf-idf as a view of term counts, without reading a text again.

Words in at least `min_df` of the training documents are the features; idf is smoothed,
ln((1 + n) / (1 + df)) + 1; term frequency is sublinear, 1 + ln(tf); rows have unit L2 norm. This is
`TfidfVectorizer(min_df=min_df, sublinear_tf=True)` of scikit-learn fitted on the same documents,
entry by entry (Salton and Buckley, Information Processing and Management 24, 1988, for the scheme).

A pool is scored under k linear models without its tf-idf matrix: with T = 1 + ln(tf),
scores = (T @ (idf * coef)) / sqrt(T^2 @ idf^2) + intercept.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from quantshift.errors import DataError, UserError
from quantshift.texts.counts import CountMatrix
from quantshift.texts.rows import Floats, Ints, Longs, document_frequency, linear_scores, tfidf_rows

TABLE_SIZE = 1024
"""The sublinear values of smaller term frequencies come from a table."""


@dataclass(frozen=True, eq=False)
class TfidfView:
    """Tf-idf features of any documents of `counts`, fitted on one training set."""

    counts: CountMatrix
    columns: Longs
    """The columns of `counts` that are features, ascending."""
    idf: Floats
    """Inverse document frequency of each feature."""

    @classmethod
    def fit(cls, counts: CountMatrix, rows: ArrayLike, *, min_df: int = 3) -> Self:
        """The view of the training documents at `rows`; a row given twice counts twice."""
        if min_df < 1:
            raise UserError(f"min_df must be at least 1, got {min_df}")
        chosen = counts.check_rows(rows)
        if len(chosen) == 0:
            raise DataError("no training documents: tf-idf of an empty set is undefined")
        frequency = document_frequency(counts.indptr, counts.indices, chosen, counts.n_words)
        columns = np.flatnonzero(frequency >= min_df)
        if len(columns) == 0:
            raise DataError(
                f"no word occurs in {min_df} of the {len(chosen)} training documents; "
                "lower min_df or take more documents"
            )
        idf = np.log((1.0 + len(chosen)) / (1.0 + frequency[columns])) + 1.0
        return cls(counts, columns, idf)

    @property
    def feature_names(self) -> NDArray[Any]:
        """The words that are features, in column order, an array of str."""
        return np.array(self.counts.vocabulary.take(self.columns).to_pylist(), dtype=object)

    def transform(self, rows: ArrayLike) -> csr_array:
        """Tf-idf of the documents at `rows`, (n_rows, n_features); zeros without known words."""
        chosen = self.counts.check_rows(rows)
        indptr, indices, data = tfidf_rows(
            self.counts.indptr,
            self.counts.indices,
            self.counts.data,
            chosen,
            self._features,
            self.idf,
            _sublinear_table(),
        )
        return csr_array((data, indices, indptr), shape=(len(chosen), len(self.columns)))

    def scores(self, rows: ArrayLike, coef: ArrayLike, intercept: ArrayLike) -> Floats:
        """Scores of the documents at `rows` under k linear models, (n_rows, k).

        `coef` has shape (n_features, k), `intercept` (k,). Equal to
        `transform(rows) @ coef + intercept` up to rounding; the score of a document under a model
        does not depend on the other documents and models of the call.
        """
        weights = np.asarray(coef, np.float64)
        offsets = np.asarray(intercept, np.float64)
        if offsets.ndim != 1 or weights.shape != (len(self.columns), len(offsets)):
            raise DataError(
                f"coef of shape {weights.shape} and intercept of shape {offsets.shape} do not "
                f"fit {len(self.columns)} features: (n_features, k) and (k,) are needed"
            )
        return linear_scores(
            self.counts.indptr,
            self.counts.indices,
            self.counts.data,
            self.counts.check_rows(rows),
            self._features,
            self.idf,
            _sublinear_table(),
            np.ascontiguousarray(self.idf[:, None] * weights),
            np.ascontiguousarray(offsets),
        )

    @cached_property
    def _features(self) -> Ints:
        features = np.full(self.counts.n_words, -1, np.int32)
        features[self.columns] = np.arange(len(self.columns), dtype=np.int32)
        return features


def _sublinear_table() -> Floats:
    # Entry 0 is never used, because counts are not zero.
    return 1.0 + np.log(np.maximum(np.arange(TABLE_SIZE), 1))
