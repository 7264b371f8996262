"""What is reported about a model's training side."""

from collections.abc import Sequence

from quantshift.own_data.batches import histograms
from quantshift.own_data.model import NOT_DRAWN, Model
from quantshift.own_data.pool import Pool, is_much, row_warnings, undecodable_warning
from quantshift.own_data.result import TrainingSide


def training_side(model: Model) -> TrainingSide:
    """The numbers of training, and how held-out items of each class score."""
    told, (held_out, codes) = model.training, model.held_out
    scores: dict[str, dict[str, tuple[float, ...]]] = {label: {} for label in model.classes}
    if model.is_trained:
        for code, true_label in enumerate(model.classes):
            members = held_out[codes == code]
            for label, shares in zip(model.classes, histograms(members), strict=True):
                scores[label][true_label] = shares
    return TrainingSide(
        source=told.source,
        n_items=told.n_items,
        prevalence=_prevalence(model),
        classifier=told.classifier,
        accuracy=told.accuracy,
        scores=scores,
        rows=told.rows if model.is_trained else None,
    )


def _prevalence(model: Model) -> dict[str, float]:
    if not model.is_trained:
        return {}
    return dict(zip(model.classes, model.base.prior_.tolist(), strict=True))


def training_warnings(model: Model) -> list[str]:
    """What the user should know of the training table."""
    told = model.training
    warnings = list(undecodable_warning(told.source, told.undecodable))
    if told.accuracy is not None and told.accuracy <= max(_prevalence(model).values()):
        warnings.append(
            f"{told.source}: {told.classifier} is no more accurate than always predicting "
            f"{max(told.counts, key=lambda label: told.counts[label])!r}; the columns may say "
            "nothing about the label"
        )
    warnings += [f"{told.source}: {note}" for note in told.notes]
    warnings += row_warnings(told.rows)
    if NOT_DRAWN in told.rows.left_out:
        n_rows = told.n_items + told.rows.left_out[NOT_DRAWN]
        warnings.append(
            f"{told.source}: trained on {told.n_items:,} of {n_rows:,} rows, drawn at random"
        )
    return warnings


def all_warnings(model: Model, pool: Pool, others: Sequence[str]) -> tuple[str, ...]:
    """The warnings about training, samples and others; many rows left out come first."""
    tables = [*([model.training.rows] if model.is_trained else []), *pool.rows]
    first = [warning for rows in tables if is_much(rows) for warning in row_warnings(rows)]
    rest = [*training_warnings(model), *pool.warnings, *others]
    return (*first, *(warning for warning in rest if warning not in first))
