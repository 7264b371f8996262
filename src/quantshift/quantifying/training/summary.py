"""What is reported about the training of a model."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from quantshift.answers.rows import (
    NOT_DRAWN,
    much_left_out,
    row_warnings,
    undecodable_warning,
)
from quantshift.answers.shares import by_class
from quantshift.quantifying.estimating.batches import histograms
from quantshift.quantifying.output.result import TrainingSide
from quantshift.quantifying.reading.pool import Pool
from quantshift.quantifying.training.model import Model

LITTLE_SEPARATION = 0.55
"""A mean AUC below this leads to a warning."""


def training_side(model: Model) -> TrainingSide:
    """A summary of the training, with the scores of held-out items of each class."""
    training, (held_out, codes) = model.training, model.held_out
    scores: dict[str, dict[str, tuple[float, ...]]] = {label: {} for label in model.classes}
    if model.is_trained:
        for code, true_label in enumerate(model.classes):
            members = held_out[codes == code]
            for label, shares in zip(model.classes, histograms(members), strict=True):
                scores[label][true_label] = shares
    return TrainingSide(
        source=training.source,
        n_items=training.n_items,
        prevalence=_prevalence(model),
        classifier=training.classifier,
        accuracy=training.accuracy,
        scores=scores,
        rows=training.rows if model.is_trained else None,
    )


def _prevalence(model: Model) -> dict[str, float]:
    if not model.is_trained:
        return {}
    return by_class(model.classes, model.base.prior_)


def _separation(model: Model) -> float:
    """The mean AUC of the held-out posteriors, each class against all others.

    Unlike the accuracy, it does not depend on how common a class is.
    """
    posteriors, codes = model.held_out
    areas = []
    for k, scores in enumerate(posteriors.T):
        of_class = codes == k
        n, others = int(of_class.sum()), int((~of_class).sum())
        if n and others:
            ranks = rankdata(scores)
            areas.append((ranks[of_class].sum() - n * (n + 1) / 2) / (n * others))
    return float(np.mean(areas)) if areas else 0.5


def training_warnings(model: Model) -> list[str]:
    """Warnings about the training table."""
    training = model.training
    warnings = list(undecodable_warning(training.source, training.undecodable))
    if training.accuracy is not None:
        auc = _separation(model)
        if auc < LITTLE_SEPARATION:
            warnings.append(
                f"{training.source}: the columns say little about the label (AUC {auc:.2f}, where "
                "0.5 is chance)"
            )
    warnings += [f"{training.source}: {note}" for note in training.notes]
    warnings += row_warnings(training.rows)
    if NOT_DRAWN in training.rows.left_out:
        n_rows = training.n_items + training.rows.left_out[NOT_DRAWN]
        warnings.append(
            f"{training.source}: trained on {training.n_items:,} of {n_rows:,} rows, drawn at "
            "random"
        )
    return warnings


def all_warnings(model: Model, pool: Pool, others: Sequence[str]) -> tuple[str, ...]:
    """The warnings about training, samples and others; many rows left out come first."""
    tables = [*([model.training.rows] if model.is_trained else []), *pool.rows]
    urgent = list(much_left_out(tables))
    later = [*training_warnings(model), *pool.warnings, *others]
    return (*urgent, *(warning for warning in later if warning not in urgent))
