"""From sketches to prevalences: the answers of `quantify`, from counts instead of tables."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from quantshift.answers.conditions import check_conditions
from quantshift.answers.options import PRECISION
from quantshift.base.forks import uses_tables
from quantshift.base.options import suggests_arguments, taken
from quantshift.base.progress import OnProgress, silent
from quantshift.base.threads import in_one_thread
from quantshift.claims import Assumption
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.intervals.targets import ITEMS
from quantshift.quantifying.declaration import Declaration
from quantshift.quantifying.estimating.estimation import estimate_sample
from quantshift.quantifying.options import (
    AUTO,
    AuditOptions,
    BatchOptions,
    ColumnOptions,
    EstimationOptions,
    Request,
    Sources,
    TrainingOptions,
)
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.training.model import Model, column_order, without_training
from quantshift.sketches.estimating.audit import audited_items
from quantshift.sketches.estimating.count_sample import CountSample
from quantshift.sketches.estimating.fitting import (
    check_together,
    saved_model,
    trained_model,
)
from quantshift.sketches.options import SketchSources
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
    of: str = ITEMS,
    assume: str | None = None,
    columns: str | None = None,
    audit: Source | None = None,
    audit_columns: Mapping[str, str] | None = None,
    sequential: bool = False,
    precision: float = PRECISION,
    conditions: Sequence[str] = (),
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Quantification:
    """How common each class is in every batch of a sketch, with limits and what they rest on.

    Parameters
    ----------
    sample : Sketch or path
        The counts of the rows without labels.
    train_sketch : Sketch or path, optional
        One with labels, of scores by the same model, on items it was not trained on.
    model : Model or path, optional
        Instead: one that `train` has made from the same columns of scores, or its folder. Without
        either the scores are used as they are (PCC).
    positive : str, optional
        The class that the score is of (default: the second of two).
    method : str
        Any that sees posteriors alone.
    level, replicates, simultaneous, seed, progress
        As in `quantify`.
    of : {"items", "population"}
        Whose share the limits are for: that of the counted items, or that of the population they
        were drawn from.
    assume : {"auto", "prior"}, optional
        "prior" declares that only the shares of the classes have changed, which scores alone can
        contradict but not show.
    columns : {"causes", "effects"}, optional
        "effects" (of the label) declares the same.
    audit : path or data frame, optional
        Randomly chosen items with their scores and labels, and batches if the sketch has any.
    audit_columns : dict, optional
        The names of its columns `label` and `batch`, if they differ.
    sequential : bool
        Limits of the audit that hold at every look, for audits that go on until they are
        `precision` to either side; the column `place` has the order of labelling, from 1.
    precision : float
        See `sequential`.
    conditions : sequence of str
        On shares, such as "spam>5%"; one on an unknown class is refused before the work.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> from quantshift.sketches import quantify_sketch, sketch
    >>> def scored(spam: int, ham: int) -> pl.DataFrame:
    ...     y = np.repeat([1, 0], [spam, ham])
    ...     x = np.random.default_rng(spam).normal(2.0 * y)
    ...     return pl.DataFrame({"score": 1 / (1 + np.exp(2 - 2 * x)), "label": y})
    >>> known = sketch(scored(500, 500), score="score", label="label")
    >>> new = sketch(scored(200, 800), score="score")
    >>> answer = quantify_sketch(new, known, assume="prior", replicates=200)
    >>> share = answer.batches[0].shares[1]
    >>> share.label, bool(share.low < 0.2 < share.high)
    ('1', True)
    """
    arguments = locals()
    column_names = audit_columns or {}
    unknown = next((name for name in column_names if name not in ("label", "batch")), None)
    if unknown is not None:
        raise unknown_name("column of an audit", unknown, ("label", "batch"))
    request = Request(
        Sources(model=model),
        ColumnOptions(label=column_names.get("label"), positive=positive),
        TrainingOptions(method=method, seed=seed),
        BatchOptions(by=column_names.get("batch")),
        taken(AuditOptions, arguments),
        taken(EstimationOptions, arguments),
        conditions,
        taken(Declaration, arguments),
    )
    return quantify_counts(request, SketchSources(sample, train_sketch), progress or silent)


@in_one_thread
@uses_tables
def quantify_counts(
    request: Request, sketches: SketchSources, progress: OnProgress = silent
) -> Quantification:
    """The answer to a call for a sketch, with its options in groups.

    The columns of labels and batches are those of the audit.
    """
    if request.has_several_labels:
        raise UserError(
            "a sketch has one label; give the tables for several", arguments=["label", "sample"]
        )
    _check_only_scores(request)
    counted = _loaded(sketches.sketch)
    source = _source_name(sketches.sketch, "the sketch")
    if not counted.n_rows:
        raise DataError(f"{source}: the sketch has no rows; give one with items")
    model, positive = request.sources.model, request.columns.positive
    _check_combination(counted, sketches.train_sketch, model, positive)
    method, seed = request.training.method, request.training.seed
    names, trained = counted.about.classes, None
    if model is not None:
        fitted = saved_model(model, counted, method)
    elif sketches.train_sketch is None:
        fitted = without_training(names, method, cure="train_sketch")
    else:
        trained = _loaded(sketches.train_sketch)
        check_together(counted, trained)
        where = _source_name(sketches.train_sketch, "the training sketch")
        fitted = trained_model(trained, where, positive, method, seed)
    options = request.estimation_with(fitted.declared)
    if options.declared.assumption == Assumption.COVARIATE:
        raise UserError(
            "for a sketch only prior shift can be assumed; under covariate shift the method is PCC",
            arguments=["method"],
        )
    check_conditions(request.conditions, fitted)
    order = column_order(names, fitted.classes)
    batches = CountSample.of(counted, source, fitted, order, trained)
    audit = request.audit
    if audit.audit is not None:
        columns = {"label": request.columns.label, "batch": request.batches.by}
        labelled, n_skipped, findings = audited_items(
            audit.audit,
            counted,
            fitted,
            order,
            {name: column for name, column in columns.items() if column is not None},
            sequential=audit.sequential,
        )
        batches = batches.with_audit(labelled, n_skipped, findings, sequential=audit.sequential)
    return estimate_sample(batches, options, audit, seed, progress)


def _check_only_scores(request: Request) -> None:
    """Refuse options that need rows of tables."""
    columns, batches = request.columns, request.batches
    if request.audit.audit is None and (columns.label, batches.by) != (None, None):
        raise UserError(
            "with a sketch, the columns of labels and batches are those of the audit: name it",
            arguments=["audit"],
        )
    allowed = {"label", "positive", "by", "method", "seed"}
    groups = (request.sources, columns, request.training, batches)
    for_tables = {
        option.name
        for group in groups
        for option in fields(group)
        if option.name not in {*allowed, "model"} and getattr(group, option.name) != option.default
    }
    if for_tables:
        raise UserError(
            "a sketch contains only scores: remove the options for tables",
            arguments=sorted(for_tables, key=lambda name: (name != "sample", name)),
        )


def _source_name(source: Sketch | str | Path, otherwise: str) -> str:
    return str(source) if isinstance(source, str | Path) else otherwise


def _loaded(source: Sketch | str | Path) -> Sketch:
    return source if isinstance(source, Sketch) else load_sketch(source)


def _check_combination(
    sample: Sketch, train_sketch: object, model: object, positive: str | None
) -> None:
    """Refuse arguments that do not go together."""
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
