"""Compiled loops over the rows of a matrix of counts: they gather, weight and score rows.

The loops release the GIL, so that threads can share the work, and use no threads themselves: each
row's sums are computed in a fixed order, whatever runs at the same time.
"""

from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.errors import DataError

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Counts = NDArray[np.uint16] | NDArray[np.int32]

DAMAGED = "damaged counts: a word number is outside the vocabulary; import the data again"


@compiled
def gather_rows(
    indptr: Longs, indices: Ints, data: Counts, rows: Longs
) -> tuple[Longs, Ints, Ints]:
    """The given rows of a CSR matrix, in this order, as indptr, indices and data."""
    bounds = np.zeros(len(rows) + 1, np.int64)
    for i in range(len(rows)):
        bounds[i + 1] = bounds[i] + indptr[rows[i] + 1] - indptr[rows[i]]
    columns = np.empty(bounds[-1], np.int32)
    counts = np.empty(bounds[-1], np.int32)
    for i in range(len(rows)):
        shift = bounds[i] - indptr[rows[i]]
        for entry in range(indptr[rows[i]], indptr[rows[i] + 1]):
            columns[entry + shift] = indices[entry]
            counts[entry + shift] = data[entry]
    return bounds, columns, counts


@compiled
def document_frequency(indptr: Longs, indices: Ints, rows: Longs, n_words: int) -> Ints:
    """The number of rows in which each word occurs, shape (n_words,)."""
    frequency = np.zeros(n_words, np.int32)
    for row in rows:
        for entry in range(indptr[row], indptr[row + 1]):
            column = indices[entry]
            if not 0 <= column < n_words:
                raise DataError(DAMAGED)
            frequency[column] += 1
    return frequency


@compiled
def _sublinear(count: int, table: Floats) -> float:
    return table[count] if count < len(table) else 1.0 + log(count)


@compiled
def tfidf_rows(
    indptr: Longs,
    indices: Ints,
    data: Counts,
    rows: Longs,
    features: Ints,
    idf: Floats,
    table: Floats,
) -> tuple[Longs, Ints, Floats]:
    """L2-normalised sublinear tf-idf rows as CSR: indptr, indices, data.

    `features` gives the feature of every word, -1 for words left out; `table` the values of
    1 + log(tf) for small tf.
    """
    bounds = np.zeros(len(rows) + 1, np.int64)
    for i in range(len(rows)):
        n_kept = 0
        for entry in range(indptr[rows[i]], indptr[rows[i] + 1]):
            column = indices[entry]
            if not 0 <= column < len(features):
                raise DataError(DAMAGED)
            n_kept += features[column] >= 0
        bounds[i + 1] = bounds[i] + n_kept
    columns = np.empty(bounds[-1], np.int32)
    values = np.empty(bounds[-1], np.float64)
    for i in range(len(rows)):
        position = bounds[i]
        squares = 0.0
        for entry in range(indptr[rows[i]], indptr[rows[i] + 1]):
            feature = features[indices[entry]]
            if feature >= 0:
                value = _sublinear(data[entry], table) * idf[feature]
                columns[position] = feature
                values[position] = value
                squares += value * value
                position += 1
        norm = sqrt(squares)
        for j in range(bounds[i], position):
            values[j] /= norm
    return bounds, columns, values


@compiled
def linear_scores(
    indptr: Longs,
    indices: Ints,
    data: Counts,
    rows: Longs,
    features: Ints,
    idf: Floats,
    table: Floats,
    weights: Floats,
    intercept: Floats,
) -> Floats:
    """Scores (n_rows, k) of tf-idf rows, without the rows; weights: idf * coef, (n_features, k).

    The norm of a row divides its score instead of its entries.
    """
    n_models = len(intercept)
    scores = np.empty((len(rows), n_models), np.float64)
    sums = np.empty(n_models, np.float64)
    for i in range(len(rows)):
        sums[:] = 0.0
        squares = 0.0
        for entry in range(indptr[rows[i]], indptr[rows[i] + 1]):
            column = indices[entry]
            if not 0 <= column < len(features):
                raise DataError(DAMAGED)
            feature = features[column]
            if feature >= 0:
                tf = _sublinear(data[entry], table)
                value = tf * idf[feature]
                squares += value * value
                for k in range(n_models):
                    sums[k] += tf * weights[feature, k]
        norm = sqrt(squares) if squares > 0 else 1.0
        for k in range(n_models):
            scores[i, k] = sums[k] / norm + intercept[k]
    return scores
