"""From sketches to prevalences: what `quantify` says of tables, said of counts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from quantshift.base.forks import uses_tables
from quantshift.base.keywords import suggests_arguments
from quantshift.errors import DataError, UserError
from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.quantifiers.base.estimator import AbstractClassifying
from quantshift.quantifying.audits.audit_sheet import PRECISION
from quantshift.quantifying.estimating.batches import batch_of, changed_classes, empty_batch
from quantshift.quantifying.estimating.evidence import ALL_ALIKE, NO_BETTER_THAN_CHANCE, Evidence
from quantshift.quantifying.estimating.many_batches import (
    compared_batches,
    in_sequence,
    with_adjusted_p_values,
)
from quantshift.quantifying.output.conditions import check_conditions
from quantshift.quantifying.output.result import Assumption, Quantification, Rows, Shift
from quantshift.quantifying.training.classifiers import AUTO
from quantshift.quantifying.training.model import Model, column_order
from quantshift.quantifying.training.progress import OnProgress, silent
from quantshift.quantifying.training.summary import training_side, training_warnings
from quantshift.sketches.estimating.audit import LabelledItems, labelled_items, uncounted_items
from quantshift.sketches.estimating.batches import OwnBatch, batches_of, grouped, left_out_rows
from quantshift.sketches.estimating.counts import point_estimates
from quantshift.sketches.estimating.fitting import (
    check_together,
    saved_model,
    trained_model,
    untrained_model,
)
from quantshift.sketches.estimating.intervals import CountIntervals
from quantshift.sketches.estimating.mixture_tests import MixtureTests
from quantshift.sketches.sketch_table import Sketch, load_sketch
from quantshift.tables.reading import Source


@uses_tables
@suggests_arguments
def quantify_sketch(
    sample: Sketch | str | Path,
    train_sketch: Sketch | str | Path | None = None,
    *,
    model: Model | str | Path | None = None,
    positive: str | None = None,
    method: str = AUTO,
    level: float = 0.95,
    replicates: int = 1000,
    simultaneous: bool = False,
    audit: Source | None = None,
    audit_columns: Mapping[str, str] | None = None,
    sequential: bool = False,
    precision: float = PRECISION,
    conditions: Sequence[str] = (),
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Quantification:
    """The prevalence of each class in every batch of a sketch, with intervals and verdicts.

    sample: a `Sketch`, or the file of one. train_sketch: one with labels, of scores by the same
        model, on items it was not trained on; or model: one that `train` has made from the same
        columns of scores, or its folder. Without either the scores are taken at their word (PCC).
    positive: the class that the score is of (default: the second of two). method: any that sees
        posteriors alone.
    audit: table of randomly chosen items with their scores and labels, and batches if the sketch
        has any. audit_columns: the names of its columns `label` and `batch`, where others.
    sequential: limits of the audit that hold at every look, for audits that go on until they are
        `precision` to either side; the column `place` has the order of labelling, from 1.
    conditions: on shares, such as "spam>5%"; one on an unknown class is refused before the work.
    """
    report = progress or silent
    counted = _loaded(sample)
    if not counted.n_rows:
        where = str(sample) if isinstance(sample, str | Path) else "the sketch"
        raise DataError(f"{where}: the sketch has no rows; give one with items")
    _check_asked(counted, train_sketch, model, positive)
    _check_audit(audit, sequential=sequential, precision=precision)
    names, trained = counted.about.classes, None
    if model is not None:
        fitted = saved_model(model, counted, method)
    elif train_sketch is None:
        fitted = untrained_model(names, method)
    else:
        trained = _loaded(train_sketch)
        check_together(counted, trained)
        where = str(train_sketch) if isinstance(train_sketch, str | Path) else "the training sketch"
        fitted = trained_model(trained, where, positive, method, seed)
    check_conditions(conditions, fitted)
    order = column_order(names, fitted.classes) if len(names) > 1 else [0, 1]
    audited: dict[str, LabelledItems] = {}
    audit_warnings: list[str] = []
    if audit is not None:
        audited, audit_warnings = labelled_items(
            audit, counted, fitted, order, audit_columns or {}, sequential=sequential
        )
    report("estimating", 0, 0)
    batches = batches_of(counted, order)
    filled = [name for name, counts_of_batch in batches.items() if counts_of_batch.n_items]
    quantifier = fitted.quantifier
    assert isinstance(quantifier, AbstractClassifying)
    interval_of: dict[str, PrevalenceInterval] = {}
    alike: dict[str, bool] = {}
    if filled:
        intervals, all_alike = CountIntervals(
            quantifier,
            level=level,
            n_bootstrap=replicates,
            seed=seed,
            simultaneous=simultaneous,
            progress=report,
        ).of(filled, grouped(counted, batches, filled, order))
        interval_of = dict(zip(filled, intervals, strict=True))
        alike = dict(zip(filled, map(bool, all_alike), strict=True))
    report("testing for shift", 0, 0)
    tests = None
    if trained is not None:
        tests = MixtureTests.of_sketch(trained, counted, order, fitted, seed)
    elif fitted.is_trained:
        tests = MixtureTests.of_model(fitted, seed)
    left_out = left_out_rows(counted)
    examined = with_adjusted_p_values(
        [
            _evidence(
                fitted,
                batches[name],
                interval,
                None if tests is None else tests.of(batches[name], interval),
                alike=alike[name],
            )
            for name, interval in interval_of.items()
        ]
    )
    evidence = dict(zip(interval_of, examined, strict=True))
    compared = compared_batches(list(batches))
    results, before = [], None
    for name, counts_of_batch in batches.items():
        if name not in interval_of:
            results.append(empty_batch(name, fitted.classes, left_out=left_out.get(name, 0)))
            continue
        rows, counts = counts_of_batch.posteriors, counts_of_batch.counts
        codes: dict[int, int] = {}
        if name in audited:
            labelled = audited[name]
            rows, counts, codes = (
                labelled.among(counts_of_batch) if sequential else labelled.beside(counts_of_batch)
            )
        results.append(
            batch_of(
                name,
                fitted,
                rows,
                evidence[name],
                codes,
                changed_classes(
                    before if name in compared else None, interval_of[name], fitted.classes
                ),
                n_items=counts_of_batch.n_items,
                n_left_out=left_out.get(name, 0),
                asked=audit is not None,
                precision=precision if sequential else None,
                counts=counts,
            )
        )
        before = interval_of[name]
    unknown = sorted(set(audited) - set(batches))
    warnings = list(training_warnings(fitted)) if fitted.is_trained else []
    warnings += [*audit_warnings, *uncounted_items(audited, batches)]
    if unknown:
        warnings.append(f"the audit has labels of batches that the sketch has not: {unknown[0]!r}")
    source = str(sample) if isinstance(sample, str | Path) else "the sketch"
    n_out = sum(counted.left_out.values())
    return Quantification(
        classes=fitted.classes,
        level=level,
        simultaneous=simultaneous,
        method=fitted.method,
        reason=fitted.reason,
        assumption=quantifier.assumption,
        training=training_side(fitted),
        batches=tuple(results),
        warnings=tuple(warnings),
        label=fitted.columns.label,
        headline=fitted.headline,
        names=fitted.names,
        used=fitted.columns.used,
        left_out_columns=(),
        sample_rows=(Rows(source, counted.n_rows, counted.n_rows - n_out, counted.left_out),),
        in_sequence=in_sequence(list(batches)),
    )


def _loaded(given: Sketch | str | Path) -> Sketch:
    return given if isinstance(given, Sketch) else load_sketch(given)


def _check_asked(sample: Sketch, train_sketch: object, model: object, positive: str | None) -> None:
    """Refuse what does not go together."""
    if sample.about.labelled:
        raise UserError(
            "the sample is a sketch with labels: give it for training, or make one without",
            arguments=["train_sketch"],
        )
    if model is None:
        return
    if train_sketch is not None:
        raise UserError(
            "give a training sketch or a model, not both", arguments=["train_sketch", "model"]
        )
    if positive is not None:
        raise UserError("a model has its positive class already", arguments=["positive"])


def _check_audit(audit: object, *, sequential: bool, precision: float) -> None:
    if sequential and audit is None:
        raise UserError(
            "an audit with many looks needs its labels: give audit", arguments=["audit"]
        )
    if not 0 < precision < 1:
        raise UserError(f"a precision is between 0 and 1, got {precision}", arguments=["precision"])


def _evidence(
    model: Model,
    batch: OwnBatch,
    interval: PrevalenceInterval,
    shift: Shift | None,
    *,
    alike: bool,
) -> Evidence:
    """What the counts of a batch say."""
    why_not = ALL_ALIKE if alike else ""
    if model.is_trained and not interval.informative.any():
        why_not = why_not or NO_BETTER_THAN_CHANCE
    if why_not:
        return Evidence(interval, (), None, why_not)
    assumptions = _assumptions(model, batch, interval)
    if shift is not None and shift.rejected:
        interval = _spanning(interval, assumptions, model)
    return Evidence(interval, assumptions, shift)


def _assumptions(
    model: Model, batch: OwnBatch, interval: PrevalenceInterval
) -> tuple[Assumption, ...]:
    """The method's own estimate, and those of SLD and PCC, which stand for two kinds of shift."""
    posteriors, counts = batch.posteriors, batch.counts
    counted = counts @ posteriors / counts.sum()
    estimates = {"PCC": ("covariate shift", counted)}
    if model.is_trained:
        assert isinstance(model.base, AbstractClassifying)
        prior = interval.prevalence
        if model.quantifier is not model.base:
            prior = point_estimates(model.base, batch.sample)[0]
        estimates = {"SLD": ("prior shift", prior), **estimates}
        if model.method not in estimates:
            estimates = {
                model.method: (f"as {model.method} assumes", interval.prevalence),
                **estimates,
            }
    return tuple(
        Assumption(
            name,
            method,
            dict(zip(model.classes, map(float, p), strict=True)),
            for_comparison=method != model.method,
        )
        for method, (name, p) in estimates.items()
    )


def _spanning(
    interval: PrevalenceInterval, assumptions: Sequence[Assumption], model: Model
) -> PrevalenceInterval:
    """Limits that hold the estimates under all assumptions, none of which is confirmed."""
    points = np.array([[a.prevalence[label] for label in model.classes] for a in assumptions])
    return replace(
        interval,
        low=np.minimum(interval.low, points.min(axis=0)),
        high=np.maximum(interval.high, points.max(axis=0)),
    )
