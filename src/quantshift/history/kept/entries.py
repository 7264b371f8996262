"""What a history keeps of an answer of `quantify` or `judge`."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np

from quantshift import __version__
from quantshift.answers.batch_names import in_sequence
from quantshift.answers.rows import Rows
from quantshift.answers.show.answer import AboutOneTarget
from quantshift.base.types import Flags
from quantshift.claims import Quantity
from quantshift.history.kept.record import (
    ACCURACY,
    MEAN,
    BatchEntry,
    HistoryEntry,
    JudgedEntry,
    Limits,
    ModelSummary,
    charts_of_either,
)
from quantshift.judging.designs.design import LabelsStandFor
from quantshift.judging.designs.registry import design_named
from quantshift.judging.output.judgement import Judgement
from quantshift.judging.result import JudgedBatch, JudgeQuality
from quantshift.labelling import strata
from quantshift.quantifying.output.events import is_unreliable
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.result import Batch

JUDGE = "judge"
"""The method of calls of `judge`."""
_MODEL_DIGITS = 12
CLASS, VERDICT = "class", "verdict"
"""What labelled items are a random sample of: the items of their class, or of their verdict."""

_GIVEN = {
    LabelsStandFor.ALL_ITEMS: CLASS,
    LabelsStandFor.THEIR_CLASS: CLASS,
    LabelsStandFor.THEIR_VERDICT: VERDICT,
    LabelsStandFor.THEIR_STRATUM: VERDICT,
}


@dataclass(frozen=True)
class _Kept:
    """What only one of the commands can say of a call."""

    names: Mapping[str, str]
    model: ModelSummary
    batches: Iterable[BatchEntry]
    rows: tuple[Rows, ...]


def entry_of(
    result: AboutOneTarget,
    *,
    time: datetime,
    conditions: Sequence[str] = (),
    limits: Limits | None = None,
) -> HistoryEntry:
    """What is kept of an answer."""
    kept_of: Callable[[Any], _Kept] = _judged if result.asked_of == JUDGE else _quantified
    kept = kept_of(result)
    return HistoryEntry(
        time=time.isoformat(),
        version=__version__,
        classes=result.classes,
        headline=result.headline,
        names={**result.names, **kept.names},
        level=result.level,
        model=kept.model,
        batches=tuple(kept.batches),
        rows=kept.rows,
        conditions=tuple(conditions),
        limits=limits or Limits(),
    )


def _quantified(result: Quantification) -> _Kept:
    """Of `quantify`."""
    batches = map(_quantified_batch, result.batches)
    return _Kept(_names_of_either(result), _model(result), batches, result.sample_rows)


def _judged(result: Judgement) -> _Kept:
    """Of `judge`."""
    names = {}
    if result.judges:
        names[ACCURACY] = f"agreement of {result.judges[0]} with people"
    if result.ordered:
        names[MEAN] = "mean"
    return _Kept(names, _judges(result), _judged_batches(result), result.rows)


def _names_of_either(result: Quantification) -> dict[str, str]:
    """How charts of two intervals are shown, if a batch has any."""
    return {
        name: f"{result.names.get(share.label, share.label)}, {condition}"
        for batch in result.batches
        for share in batch.shares
        if share.either
        for condition, name in charts_of_either(share.label).items()
    }


def _model(result: Quantification) -> ModelSummary:
    training = result.training
    identity: dict[str, Any] = {
        "classes": result.classes,
        "label": result.label,
        "method": result.method,
        "columns": [asdict(column) for column in result.used],
        "classifier": training.classifier,
        "n_items": training.n_items,
        "prevalence": dict(training.prevalence),
        "accuracy": training.accuracy,
        "scores": {label: dict(shares) for label, shares in training.scores.items()},
    }
    return ModelSummary(
        digest=_digest(identity),
        method=result.method,
        classifier=training.classifier,
        trained_on=training.source,
        n_items=training.n_items,
        prevalence=dict(training.prevalence),
        accuracy=training.accuracy,
    )


def _judges(result: Judgement) -> ModelSummary:
    """The judges in place of a model: other judges count as another model."""
    identity = {"judges": result.judges, "score": result.score, "label": result.label}
    return ModelSummary(
        digest=_digest(identity),
        method=JUDGE,
        classifier=", ".join([*result.judges, *([result.score] if result.score else [])]),
        trained_on="",
        n_items=0,
        prevalence={},
        accuracy=None,
    )


def _judged_batches(result: Judgement) -> Iterator[BatchEntry]:
    follow = in_sequence([batch.name for batch in result.batches])
    before: JudgedBatch | None = None
    for batch in result.batches:
        yield _judged_batch(result, batch, before if follow else None)
        before = batch


def _judged_batch(result: Judgement, batch: JudgedBatch, before: JudgedBatch | None) -> BatchEntry:
    return BatchEntry(
        name=batch.name,
        n_items=batch.n_items,
        left_out=sum(result.rows[0].left_out.values()) if len(result.batches) == 1 else 0,
        shares=batch.shares,
        unaudited=batch.shares,
        grounds=batch.grounds,
        shift=None,
        changed=() if before is None else tuple(_changed(before, batch)),
        unreliable=not batch.can_be_estimated or batch.kind.is_range,
        audit=None,
        accuracy=_agreement(batch, result),
        judged=_judged_entry(batch),
        mean=batch.mean,
    )


def _digest(identity: Mapping[str, Any]) -> str:
    """A short name of what distinguishes a model, or judges in its place, from others."""
    text = json.dumps(identity, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_MODEL_DIGITS]


def _quantified_batch(batch: Batch) -> BatchEntry:
    accuracy = batch.accuracy
    return BatchEntry(
        name=batch.name,
        n_items=batch.n_items,
        left_out=batch.left_out,
        shares=batch.shares,
        unaudited=batch.unaudited,
        grounds=batch.grounds,
        shift=batch.shift,
        changed=batch.change,
        unreliable=is_unreliable(batch),
        audit=batch.audit,
        accuracy=None
        if accuracy is None
        else Quantity(accuracy.label, accuracy.estimate, accuracy.low, accuracy.high),
    )


def _changed(before: JudgedBatch, batch: JudgedBatch) -> Iterator[str]:
    """Classes whose intervals do not overlap."""
    for earlier, share in zip(before.shares, batch.shares, strict=True):
        if share.low > earlier.high or share.high < earlier.low:
            yield share.label


def _judged_entry(batch: JudgedBatch) -> JudgedEntry:
    given = _GIVEN.get(design_named(batch.labels.design).labels_stand_for, "")
    return JudgedEntry(
        n_labelled=batch.n_labelled,
        design=batch.labels.design,
        given=given,
        judges=batch.judges,
        n_clusters=batch.n_clusters,
    )


def _agreement(batch: JudgedBatch, result: Judgement) -> Quantity | None:
    """How often the first judge agrees with people, by how the labels were chosen."""
    stand_for = design_named(batch.labels.design).labels_stand_for
    if not batch.judges or stand_for not in _GIVEN or not batch.can_be_estimated:
        return None
    if batch.n_clusters is not None:
        return None  # The limits would treat the items of a cluster as independent.
    judge = batch.judges[0]
    counts = np.array(judge.counts, dtype=np.float64)
    if not counts.sum() or None in judge.says:
        return None
    right = agreeing(judge.says, result.classes)
    both = np.stack([counts * ~right, counts * right], axis=-1)
    if stand_for is LabelsStandFor.ALL_ITEMS:
        shares, table = np.ones(1), both.sum(axis=(0, 1))[np.newaxis]
    elif _GIVEN[stand_for] == VERDICT:
        shares, table = np.array(judge.items, dtype=np.float64), both.sum(axis=0)
    else:
        shares = np.array([share.estimate or 0.0 for share in batch.shares])
        table = both.sum(axis=1)
    estimated = strata.stratified(shares / shares.sum(), table, batch.n_items, level=result.level)
    estimate = float(estimated.prevalence[1])
    low, high = min(float(estimated.low[1]), estimate), max(float(estimated.high[1]), estimate)
    return Quantity("agreement", estimate, low, high)


def agreeing(says: Sequence[str | None], classes: Sequence[str]) -> Flags:
    """Which verdicts say which class, (n_classes, n_verdicts)."""
    return np.array([[verdict_class == label for verdict_class in says] for label in classes])


def rate_of(
    judge: JudgeQuality, judged: JudgedEntry, classes: Sequence[str], label: str
) -> float | None:
    """How often a judge is right about items of a class in one batch; None without labels of it."""
    counts = np.array(judge.counts, dtype=np.float64)
    if judged.given == VERDICT:
        # Each label stands for its part of the items with its verdict.
        n = counts.sum(axis=0)
        counts = counts * np.array(judge.items) / np.maximum(n, 1)
    row = counts[classes.index(label)]
    right = np.array([verdict_class == label for verdict_class in judge.says])
    return float(row[right].sum() / row.sum()) if judged.given and row.sum() else None
