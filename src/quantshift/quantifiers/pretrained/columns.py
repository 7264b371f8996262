"""The columns that the network sees: at most 32 of them, standardised."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from quantshift.base.types import Codes, Indices, Reals
from quantshift.errors import DataError, UserError
from quantshift.prevalence.weights import Weights

N_COLUMNS = 32
"""The most columns that the network has been trained with."""

LARGEST = 5.0
"""Standardised values are cut off here, as in training."""


@dataclass(frozen=True, eq=False)
class RelevantColumns:
    """Chosen columns, standardised by the training items; empty cells are at the mean.

    chosen: positions of the columns whose means differ most between classes.
    """

    training: Reals
    chosen: Indices
    centre: Reals
    deviation: Reals
    n_columns: int

    def __call__(self, features: Any) -> Reals:
        """The chosen columns of other items, (n_items, at most N_COLUMNS)."""
        table = _numbers(features)
        if table.shape[1] != self.n_columns:
            raise DataError(f"{table.shape[1]} features, but {self.n_columns} in training")
        return _standardised(_dense(table, self.chosen), self.centre, self.deviation)

    @classmethod
    def learnt(cls, features: Any, codes: Codes, weights: Weights | None) -> "RelevantColumns":
        """Choose the columns and their scale from training items."""
        table = _numbers(features)
        chosen = _most_relevant(table, codes, weights)
        dense = _dense(table, chosen)
        there = np.isfinite(dense) * _ones(weights, len(codes))[:, np.newaxis]
        total = np.maximum(there.sum(axis=0), 1e-12)
        filled = np.where(np.isfinite(dense), dense, 0.0)
        centre = (there * filled).sum(axis=0) / total
        deviation = np.sqrt((there * (filled - centre) ** 2).sum(axis=0) / total)
        training = _standardised(dense, centre, deviation)
        return cls(training, chosen, centre, deviation, table.shape[1])


def _numbers(features: Any) -> Any:
    """A dense or sparse matrix of numbers, perhaps with gaps."""
    if issparse(features):
        return features.tocsr().astype(np.float64)
    try:
        table = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError):
        raise UserError(
            "PretrainedQuantifier needs numeric features: encode them first, e.g. in a pipeline "
            "with the classifier"
        ) from None
    if table.ndim != 2:
        raise DataError("PretrainedQuantifier needs a row of features per item")
    return table


def _ones(weights: Weights | None, n_items: int) -> Reals:
    return np.ones(n_items) if weights is None else np.asarray(weights)


def _dense(table: Any, chosen: Indices) -> Reals:
    part = table[:, chosen]
    return np.asarray(part.toarray() if issparse(part) else part)


def _standardised(dense: Reals, centre: Reals, deviation: Reals) -> Reals:
    scale = np.where(deviation > 1e-9, deviation, np.inf)
    values = np.clip((dense - centre) / scale, -LARGEST, LARGEST)
    return np.where(np.isfinite(dense), values, 0.0)


def _most_relevant(table: Any, codes: Codes, weights: Weights | None) -> Indices:
    """Positions of the columns whose means differ most between a class and all items."""
    if table.shape[1] <= N_COLUMNS:
        return np.arange(table.shape[1])
    item_weights = _ones(weights, len(codes))
    centre, variance = _moments(table, item_weights)
    scale = np.sqrt(np.maximum(variance, 1e-12))
    differences = [
        np.abs(_moments(table, item_weights * (codes == code))[0] - centre) / scale
        for code in np.unique(codes)
    ]
    relevance = np.max(differences, axis=0)
    return np.sort(np.argsort(-relevance, kind="stable")[:N_COLUMNS])


def _moments(table: Any, weights: Reals) -> tuple[Reals, Reals]:
    """Weighted means and variances of the columns, without empty cells."""
    if issparse(table):
        centre, variance = mean_variance_axis(table, axis=0, weights=weights)
        return np.asarray(centre), np.asarray(variance)
    there = np.isfinite(table) * weights[:, np.newaxis]
    total = np.maximum(there.sum(axis=0), 1e-12)
    filled = np.where(np.isfinite(table), table, 0.0)
    centre = (there * filled).sum(axis=0) / total
    return centre, (there * (filled - centre) ** 2).sum(axis=0) / total
