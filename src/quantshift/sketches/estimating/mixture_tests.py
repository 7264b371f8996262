"""Tests of the batches of a sketch: is each a mixture of the training classes?"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from quantshift.base.types import Codes, Reals
from quantshift.claims import Explanation
from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.quantifying.result import TEST_LEVEL, Shift
from quantshift.quantifying.training.model import Model
from quantshift.sketches.about import BY, CELL, COUNT, LABEL
from quantshift.sketches.estimating.batches import OwnBatch
from quantshift.sketches.estimating.count_test import Predictions, ScoreGroups, mixture_p_value
from quantshift.sketches.sketch_table import Sketch

P_FLOOR = 1e-6
"""Smaller p-values are reported as this value: the approximation does not hold for them."""

Key = tuple[str | None, ...]


class MixtureTests:
    """Tests whether batches are mixtures of the training classes.

    predictions, codes, counts: those of the cells of training items. by: further columns whose mix
    is tested; keys: their values for each cell.
    """

    def __init__(
        self,
        predictions: Predictions,
        codes: Codes,
        counts: Reals,
        *,
        n_classes: int,
        seed: int,
        by: Sequence[str] = (),
        keys: Sequence[Key] = (),
    ) -> None:
        self.seed, self.by = seed, list(by)
        self.groups = ScoreGroups.of(predictions, counts, n_classes)
        self.strata = {key: i for i, key in enumerate(sorted(set(keys), key=str), start=1)}
        places = self._places(predictions, keys)
        self.training = np.stack(
            [
                np.bincount(places[codes == k], counts[codes == k], self.n_places)
                for k in range(n_classes)
            ]
        ).astype(np.float64)

    @classmethod
    def of_sketch(
        cls, training: Sketch, sample: Sketch, order: Sequence[int], model: Model, seed: int
    ) -> "MixtureTests":
        """From labelled items that were counted."""
        by = [name for name in training.about.by if name in sample.about.by]
        usable = training.usable().filter(pl.col(LABEL).is_not_null())
        return cls(
            _predictions(training, usable, order),
            np.array([model.classes.index(label) for label in usable[LABEL].to_list()]),
            usable[COUNT].to_numpy().astype(np.float64),
            n_classes=len(model.classes),
            seed=seed,
            by=by,
            keys=_keys(usable, by) if by else (),
        )

    @classmethod
    def of_model(cls, model: Model, seed: int) -> "MixtureTests":
        """From the held-out items of a model."""
        posteriors, codes = model.held_out
        n_classes = posteriors.shape[1]
        predictions = Predictions.of_posteriors(posteriors)
        return cls(predictions, codes, np.ones(len(codes)), n_classes=n_classes, seed=seed)

    @property
    def n_places(self) -> int:
        """Groups of scores times those of the further columns, plus one for other values."""
        return (len(self.strata) + 1) * self.groups.n_groups

    def of(self, batch: OwnBatch, interval: PrevalenceInterval) -> Shift | None:
        """The verdict on one batch; None if there are too few groups for a test."""
        predictions = _predictions(batch.sketch, batch.rows, batch.order)
        places = self._places(predictions, _keys(batch.rows, self.by) if self.by else ())
        sample = np.bincount(places, batch.counts, self.n_places).astype(np.float64)
        p_value = mixture_p_value(
            self.training, sample, interval.prevalence, name=batch.name, seed=self.seed
        )
        if p_value is None:
            return None
        rejected = p_value < TEST_LEVEL
        kind = Explanation.OUTSIDE if rejected else Explanation.PRIOR
        return Shift(rejected, kind, max(p_value, P_FLOOR), p_floor=P_FLOOR)

    def _places(self, predictions: Predictions, keys: Sequence[Key]) -> Codes:
        groups = self.groups(predictions)
        if not self.by:
            return groups
        strata = np.array([self.strata.get(key, 0) for key in keys], dtype=np.int64)
        return np.asarray(strata * self.groups.n_groups + groups)


def _predictions(sketch: Sketch, rows: pl.DataFrame, order: Sequence[int]) -> Predictions:
    """The predictions for rows of a sketch, in the order of the classes."""
    about, cell = sketch.about, rows[CELL].to_numpy()
    predictions = Predictions.of_posteriors(sketch.posteriors_of(rows)[:, list(order)])
    joint = cell >= about.n_classes
    if about.n_classes > 2 and not sketch.is_exact and joint.any():
        predictions.predicted[joint] = np.argsort(order)[about.joint.largest(cell[joint])]
        predictions.certainty[joint] = -about.joint.left_levels(cell[joint])
    return predictions


def _keys(rows: pl.DataFrame, by: Sequence[str]) -> list[Key]:
    return rows.select([BY + name for name in by]).rows()
