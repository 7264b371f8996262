"""What is reported about the training of a model."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from quantshift.answers.rows import (
    NOT_DRAWN,
    much_left_out,
    rows_left_out,
    undecodable_cells,
)
from quantshift.answers.shares import by_class
from quantshift.claims.findings import Finding
from quantshift.quantifying.estimating.batches import histograms
from quantshift.quantifying.findings import TrainingFindings
from quantshift.quantifying.reading.pool import Pool
from quantshift.quantifying.result import TrainingSide
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


def training_findings(model: Model) -> list[Finding]:
    """What is found about the training table, which it names."""
    training = model.training
    own = list(training.findings)
    if training.accuracy is not None:
        auc = _separation(model)
        if auc < LITTLE_SEPARATION:
            own.insert(0, TrainingFindings.LITTLE_SEPARATION.found(auc=auc))
    if NOT_DRAWN in training.rows.left_out:
        n_rows = training.n_items + training.rows.left_out[NOT_DRAWN]
        own.append(TrainingFindings.TRAINED_ON_A_PART.found(n=training.n_items, n_rows=n_rows))
    return [
        *undecodable_cells(training.source, training.undecodable),
        *(finding.in_table(training.source) for finding in own),
        *rows_left_out(training.rows),
    ]


def all_findings(model: Model, pool: Pool, others: Sequence[Finding]) -> tuple[Finding, ...]:
    """What is found about training, samples and others; many rows left out come first."""
    findings = [*training_findings(model), *pool.findings, *others]
    urgent = much_left_out(findings)
    return (*urgent, *(finding for finding in findings if finding not in urgent))
