"""What is told of a model's training side."""

from quantshift.own_data.batches import histograms
from quantshift.own_data.model import Model
from quantshift.own_data.pool import reading_faults
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
        prevalence={label: n / told.n_items for label, n in told.counts.items()},
        classifier=told.classifier,
        accuracy=told.accuracy,
        scores=scores,
    )


def training_warnings(model: Model) -> list[str]:
    """What the user should know of the training table."""
    told = model.training
    warnings = list(reading_faults(told.source, told.undecodable, 0))
    if told.accuracy is not None and told.accuracy <= max(told.counts.values()) / told.n_items:
        warnings.append(
            f"{told.source}: {told.classifier} is right no more often than if it always said "
            f"{max(told.counts, key=lambda label: told.counts[label])!r}; the items may tell "
            "nothing of the label"
        )
    if told.n_left_out:
        warnings.append(
            f"{told.source}: {told.n_left_out} rows without label or content were left out"
        )
    if told.n_rows > told.n_items:
        warnings.append(
            f"{told.source}: trained on {told.n_items:,} of {told.n_rows:,} rows, drawn at random"
        )
    return warnings
