"""From the evidence on a batch to what is said of it: shares, audit, change, verdict, advice."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

from quantshift.audit import (
    FEWEST_LABELS,
    AuditInterval,
    audit_interval,
    count_interval,
    reweigh,
)
from quantshift.intervals import PrevalenceInterval
from quantshift.own_data import words
from quantshift.own_data.evidence import Evidence
from quantshift.own_data.model import Model
from quantshift.own_data.result import Audited, Batch, Share
from quantshift.types import Posteriors, Prevalences

CHANGE_LEVEL = 0.99
"""How sure we want to be before we say that a share has changed from one batch to the next."""

SCORE_BINS = 20


def batch_of(
    name: str,
    model: Model,
    posteriors: Posteriors,
    evidence: Evidence,
    audited: Mapping[int, int],
    change: tuple[str, ...],
    *,
    n_items: int,
    asked: bool,
) -> Batch:
    """A batch in plain numbers and words.

    audited: codes of the labelled items by their position; asked: whether an audit was given.
    """
    untrained = not model.is_trained
    shift, assumptions = evidence.shift, evidence.assumptions
    unaudited = _shares(model.classes, evidence.interval)
    audit = _audit(model, posteriors, evidence.interval, audited)
    shares = unaudited if audit is None else audit.shares
    return Batch(
        name=name,
        n_items=n_items,
        shares=shares,
        unaudited=unaudited,
        assumptions=assumptions,
        shift=shift,
        audit=audit,
        change=change,
        scores=dict(zip(model.classes, histograms(posteriors), strict=True)),
        verdict=words.verdict(shift, assumptions, model.classes, untrained=untrained),
        warnings=tuple(
            words.batch_warnings(
                n_items=n_items,
                n_labelled=len(audited),
                asked=asked,
                audited=audit is not None,
                confused=_confused(model, evidence.interval),
            )
        ),
        advice=tuple(words.advice(shares, assumptions, shift, audit, untrained=untrained)),
    )


def _confused(model: Model, interval: PrevalenceInterval) -> list[str]:
    """Classes that the classifier does not tell from another."""
    told = zip(model.classes, interval.informative, strict=True)
    return [label for label, apart in told if not apart]


def empty_batch(name: str, classes: Sequence[str]) -> Batch:
    """A batch without items."""
    nothing = tuple(Share(label, None, 0.0, 1.0) for label in classes)
    return Batch(
        name=name,
        n_items=0,
        shares=nothing,
        unaudited=nothing,
        assumptions=(),
        shift=None,
        audit=None,
        change=(),
        scores={},
        verdict="Without items nothing can be said.",
        warnings=("no items: nothing can be estimated",),
        advice=("Give a sample with items.",),
    )


def _shares(
    classes: Sequence[str], interval: PrevalenceInterval | AuditInterval
) -> tuple[Share, ...]:
    return tuple(
        Share(label, float(p), float(low), float(high))
        for label, p, low, high in zip(
            classes, interval.prevalence, interval.low, interval.high, strict=True
        )
    )


def _audit(
    model: Model, posteriors: Posteriors, interval: PrevalenceInterval, audited: Mapping[int, int]
) -> Audited | None:
    if len(audited) < FEWEST_LABELS:
        return None
    items, codes = np.array(list(audited)), np.array(list(audited.values()))
    powered = audit_interval(
        adapted(model, posteriors, interval.prevalence), items, codes, level=interval.level
    )
    counted = count_interval(codes, len(model.classes), level=interval.level)
    outside = (interval.prevalence < powered.low) | (interval.prevalence > powered.high)
    return Audited(
        n_labelled=len(items),
        weight=powered.weight,
        shares=_shares(model.classes, powered),
        counted=_shares(model.classes, counted),
        contradicts=bool(outside.any()),
    )


def adapted(model: Model, posteriors: Posteriors, p_hat: Prevalences) -> Posteriors:
    """Posteriors as they would be at the estimated prevalence; the user's own as they are."""
    return reweigh(posteriors, model.base.prior_, p_hat) if model.is_trained else posteriors


def changed_classes(
    before: PrevalenceInterval | None, now: PrevalenceInterval | None, classes: Sequence[str]
) -> tuple[str, ...]:
    """Classes whose share differs between two batches by more than chance.

    Replicate by replicate both batches have the same training side, so that its error, which they
    have in common, is not counted.
    """
    if before is None or now is None:
        return ()
    error = (now.replicates - before.replicates).std(axis=0)
    # Bonferroni over the free shares.
    bound = float(stats.norm.ppf(1 - (1 - CHANGE_LEVEL) / 2 / (len(classes) - 1)))
    moved = np.abs(now.prevalence - before.prevalence) > bound * error
    return tuple(label for label, has_moved in zip(classes, moved, strict=True) if has_moved)


def histograms(posteriors: Posteriors) -> list[tuple[float, ...]]:
    """For each class the shares of items in bins of its posterior."""
    bins = np.minimum(posteriors * SCORE_BINS, SCORE_BINS - 1).astype(np.int64)
    counts = [np.bincount(column, minlength=SCORE_BINS) / max(len(column), 1) for column in bins.T]
    return [tuple(shares.tolist()) for shares in counts]
