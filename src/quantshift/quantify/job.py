"""The job: a model and unlabelled tables in, prevalences with intervals and verdicts out.

All batches share the bootstrap's replicates of the training side.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from quantshift.audit import (
    FEWEST_LABELS,
    AuditInterval,
    audit_interval,
    count_interval,
    plan_audit,
    reweigh,
)
from quantshift.errors import DataError, UserError
from quantshift.intervals import PrevalenceInterval
from quantshift.quantify import words
from quantshift.quantify.auditing import AuditSheet, audited_codes, read_audit
from quantshift.quantify.columns import Grouping
from quantshift.quantify.evidence import Evidence, examine
from quantshift.quantify.folder import load_model
from quantshift.quantify.model import AUTO, LOGISTIC, Model, train, without_training
from quantshift.quantify.pool import (
    NOTHING,
    Progress,
    open_samples,
    read_pool,
    reading_faults,
)
from quantshift.quantify.reading import Source
from quantshift.quantify.result import Audited, Batch, Quantification, Share, TrainingSide
from quantshift.types import Posteriors, Prevalences

CHANGE_LEVEL = 0.99
"""How sure we want to be before we say that a share has changed from one batch to the next."""

SCORE_BINS = 20


def quantify(
    sample: Source | Sequence[Source],
    *,
    train_on: Source | None = None,
    model: Model | Source | None = None,
    label: str | None = None,
    text: str | None = None,
    features: Sequence[str] = (),
    posteriors: Sequence[str] = (),
    by: str | None = None,
    every: str | None = None,
    audit: Source | None = None,
    method: str = AUTO,
    classifier: str = LOGISTIC,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    simultaneous: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Quantification:
    """The prevalence of each class in unlabelled tables, with intervals, verdicts and advice.

    sample: a path or a data frame, or several. train_on: the labelled table; or model: a `Model`,
    or the folder of one. by: column that divides the sample into batches; every: day, week or
    month, if it holds dates. audit: table of randomly chosen items of the sample with labels.
    simultaneous: intervals that hold for all classes of a batch at once (not those of an audit).
    The other arguments are those of `train`.
    """
    report = progress or _silent
    grouping = _grouping(by, every)
    fitted = _model(
        train_on,
        model,
        label=label,
        text=text,
        features=features,
        posteriors=posteriors,
        method=method,
        classifier=classifier,
        without=[by] if by else [],
        seed=seed,
        progress=report,
    )
    tables = open_samples(sample)
    audited = None if audit is None else read_audit(audit, fitted, n_tables=len(tables))
    wanted = NOTHING if audited is None else audited.wanted
    pool = read_pool(tables, fitted, grouping, seed=seed, progress=report, wanted=wanted)
    codes = {} if audited is None else audited_codes(audited, pool)
    report("resampling", 0)
    filled = [rows for rows in pool.batches.values() if len(rows)]
    evidence = iter(
        examine(
            fitted,
            pool.items,
            filled,
            level=level,
            n_bootstrap=n_bootstrap,
            simultaneous=simultaneous,
            seed=seed,
        )
    )
    batches = []
    before: PrevalenceInterval | None = None
    for name, rows in pool.batches.items():
        if not len(rows):
            batches.append(_empty_batch(name, fitted.classes))
            continue
        found = next(evidence)
        change = _changed(before, found.interval, fitted.classes)
        labelled = {i: codes[row] for i, row in enumerate(rows.tolist()) if row in codes}
        batches.append(
            _batch(
                name,
                fitted,
                fitted.posteriors(pool.items[rows]),
                found,
                labelled,
                change,
                n_items=pool.sizes[name],
                asked=audit is not None,
            )
        )
        before = found.interval
    return Quantification(
        classes=fitted.classes,
        level=level,
        simultaneous=simultaneous,
        method=fitted.method,
        reason=fitted.reason,
        assumption=fitted.quantifier.assumption,
        training=_training_side(fitted),
        batches=tuple(batches),
        warnings=(
            *_training_warnings(fitted),
            *pool.warnings,
            *(() if audited is None else audited.warnings),
        ),
    )


def plan(
    sample: Source,
    *,
    precision: float,
    train_on: Source | None = None,
    model: Model | Source | None = None,
    label: str | None = None,
    text: str | None = None,
    features: Sequence[str] = (),
    posteriors: Sequence[str] = (),
    classifier: str = LOGISTIC,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> AuditSheet:
    """How many items of the sample to label for a precision, and which."""
    report = progress or _silent
    fitted = _model(
        train_on,
        model,
        label=label,
        text=text,
        features=features,
        posteriors=posteriors,
        method=AUTO,
        classifier=classifier,
        without=[],
        seed=seed,
        progress=report,
    )
    tables = open_samples(sample)
    pool = read_pool(tables, fitted, None, seed=seed, progress=report)
    if not len(pool.numbers):
        raise DataError(f"{tables[0].name}: no items to label")
    p_hat = fitted.quantifier.estimate_items(pool.items).prevalence
    held_out, codes = fitted.held_out
    found = plan_audit(
        _adapted(fitted, fitted.posteriors(pool.items), p_hat),
        precision,
        held_out=(_adapted(fitted, held_out, p_hat), codes) if fitted.is_trained else None,
        prevalence=p_hat if fitted.is_trained else None,
        level=level,
        seed=seed,
    )
    return AuditSheet(found, sample, fitted.columns, tuple(pool.numbers[found.items].tolist()))


def _silent(what: str, done: int) -> None:
    pass


def _model(
    train_on: Source | None,
    model: Model | Source | None,
    *,
    label: str | None,
    posteriors: Sequence[str],
    progress: Progress,
    **options: Any,
) -> Model:
    if model is not None:
        if train_on is not None:
            raise UserError("give a training table or a model, not both")
        fitted = model if isinstance(model, Model) else load_model(model)
        _check_options(fitted, label=label, posteriors=posteriors, **options)
        return fitted
    if train_on is None:
        if posteriors:
            return without_training(posteriors, label=label)
        raise UserError("give a training table (--train), a model (--model), or --posteriors")
    if label is None:
        raise UserError("name the column of the labels with --label")
    progress("training", 0)
    return train(train_on, label=label, posteriors=posteriors, **options)


def _check_options(
    model: Model,
    *,
    label: str | None,
    text: str | None,
    features: Sequence[str],
    posteriors: Sequence[str],
    method: str,
    classifier: str,
    **_: Any,
) -> None:
    """A model is what it was trained to be: options that say otherwise would go unheard."""
    columns = model.columns
    for option, given, own in (
        ("--label", label, columns.label),
        ("--text", text, columns.text),
        ("--features", tuple(features), columns.features),
        ("--posteriors", tuple(posteriors), columns.posteriors),
        ("--method", None if method == AUTO else method, model.method),
        ("--classifier", None if classifier == LOGISTIC else classifier, model.training.classifier),
    ):
        if given and given != own:
            raise UserError(
                f"the model was not trained with {option} {_listed(given)}; leave the option out, "
                "or train a model with it"
            )


def _listed(given: str | tuple[str, ...]) -> str:
    return given if isinstance(given, str) else ",".join(given)


def _grouping(by: str | None, every: str | None) -> Grouping | None:
    if by is None and every is not None:
        raise UserError("--every needs the column of the dates: add --by COLUMN")
    return None if by is None else Grouping(by, every)


def _batch(
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
        scores=dict(zip(model.classes, _histograms(posteriors), strict=True)),
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


def _confused(model: Model, found: PrevalenceInterval) -> list[str]:
    """Classes that the classifier does not tell from another."""
    return [label for label, told in zip(model.classes, found.informative, strict=True) if not told]


def _empty_batch(name: str, classes: Sequence[str]) -> Batch:
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


def _shares(classes: Sequence[str], found: PrevalenceInterval | AuditInterval) -> tuple[Share, ...]:
    return tuple(
        Share(label, float(p), float(low), float(high))
        for label, p, low, high in zip(
            classes, found.prevalence, found.low, found.high, strict=True
        )
    )


def _audit(
    model: Model, posteriors: Posteriors, found: PrevalenceInterval, audited: Mapping[int, int]
) -> Audited | None:
    if len(audited) < FEWEST_LABELS:
        return None
    items, codes = np.array(list(audited)), np.array(list(audited.values()))
    adapted = _adapted(model, posteriors, found.prevalence)
    powered = audit_interval(adapted, items, codes, level=found.level)
    counted = count_interval(codes, len(model.classes), level=found.level)
    outside = (found.prevalence < powered.low) | (found.prevalence > powered.high)
    return Audited(
        n_labelled=len(items),
        weight=powered.weight,
        shares=_shares(model.classes, powered),
        counted=_shares(model.classes, counted),
        contradicts=bool(outside.any()),
    )


def _adapted(model: Model, posteriors: Posteriors, p_hat: Prevalences) -> Posteriors:
    """Posteriors as they would be at the estimated prevalence; the user's own as they are."""
    return reweigh(posteriors, model.base.prior_, p_hat) if model.is_trained else posteriors


def _changed(
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


def _histograms(posteriors: Posteriors) -> list[tuple[float, ...]]:
    """For each class the shares of items in bins of its posterior."""
    bins = np.minimum(posteriors * SCORE_BINS, SCORE_BINS - 1).astype(np.int64)
    counts = [np.bincount(column, minlength=SCORE_BINS) / max(len(column), 1) for column in bins.T]
    return [tuple(shares.tolist()) for shares in counts]


def _training_side(model: Model) -> TrainingSide:
    told, (held_out, codes) = model.training, model.held_out
    scores: dict[str, dict[str, tuple[float, ...]]] = {label: {} for label in model.classes}
    if model.is_trained:
        for code, true_label in enumerate(model.classes):
            members = held_out[codes == code]
            for label, shares in zip(model.classes, _histograms(members), strict=True):
                scores[label][true_label] = shares
    return TrainingSide(
        source=told.source,
        n_items=told.n_items,
        prevalence={label: n / told.n_items for label, n in told.counts.items()},
        classifier=told.classifier,
        accuracy=told.accuracy,
        scores=scores,
    )


def _training_warnings(model: Model) -> list[str]:
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
