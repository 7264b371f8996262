"""`quantify`: from a model and unlabelled tables to prevalences with intervals and verdicts.

All batches share the bootstrap's replicates of the training side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from quantshift.answers.batch_names import compared_batches, in_sequence
from quantshift.answers.conditions import check_conditions
from quantshift.base.forks import uses_tables
from quantshift.base.keywords import suggests_arguments
from quantshift.errors import UserError
from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.quantifying.audits.audit_sheet import PRECISION
from quantshift.quantifying.audits.auditing import audited_codes, read_audit
from quantshift.quantifying.columns import ColumnOptions, Grouping
from quantshift.quantifying.estimating.accuracy import AccuracyOfBatches
from quantshift.quantifying.estimating.after_refutation import check_assumption
from quantshift.quantifying.estimating.batches import batch_of, changed_classes, empty_batch
from quantshift.quantifying.estimating.changes import with_changes
from quantshift.quantifying.estimating.evidence import RESAMPLING, examine, with_adjusted_p_values
from quantshift.quantifying.output.advice import FEW_LABELS
from quantshift.quantifying.output.commands import SHEET, audit_plan_command
from quantshift.quantifying.output.result import Quantification
from quantshift.quantifying.reading.levels import cure_of, why_unknown
from quantshift.quantifying.reading.pool import (
    NOTHING,
    open_samples,
    read_pool,
    sample_sources,
    unused_columns,
)
from quantshift.quantifying.training.classifiers import AUTO
from quantshift.quantifying.training.model import Model
from quantshift.quantifying.training.progress import OnProgress, silent
from quantshift.quantifying.training.recipe import Recipe, model_for
from quantshift.quantifying.training.summary import all_warnings, training_side
from quantshift.tables.reading import Source


@uses_tables
@suggests_arguments
def quantify(
    sample: Source | Sequence[Source],
    *,
    train: Source | None = None,
    model: Model | Source | None = None,
    label: str | None = None,
    text: str | Sequence[str] = (),
    features: Sequence[str] = (),
    posteriors: Sequence[str] = (),
    drop: Sequence[str] = (),
    id: str | None = None,  # noqa: A002
    weights: str | None = None,
    by: str | None = None,
    every: str | None = None,
    missing: Sequence[str] | None = None,
    positive: str | None = None,
    groups: str | None = None,
    lenient: bool = False,
    audit: Source | None = None,
    sequential: bool = False,
    precision: float = PRECISION,
    method: str = AUTO,
    classifier: str = AUTO,
    level: float = 0.95,
    replicates: int = 1000,
    simultaneous: bool = False,
    assume: str = AUTO,
    conditions: Sequence[str] = (),
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Quantification:
    """The prevalence of each class in unlabelled tables, with intervals, verdicts and advice.

    sample: a path or a data frame, or several. train: the labelled table; only columns that all
    samples have are used. model: a `Model` or its folder, instead of a table. by: column that
    divides the sample into batches; every: day, week or month, if it holds dates. audit: table of
    randomly chosen items of the sample with labels. sequential: the limits of the audit hold at
    every look, for audits that continue until the interval is at most `precision` to either side.
    replicates: how many the bootstrap draws for the intervals. simultaneous: intervals that hold
    for all classes of a batch at once (not those of an audit). assume: "prior" (items of a class
    look as in training), "covariate" (items that look alike have the label as often as in
    training), or "auto" (the first, with changes of subgroups, unless the items refute it).
    conditions: on shares, such as "spam>5%", that the caller is going to check; one on an unknown
    class is refused before any sample is read. The other arguments are those of `train`; with a
    model, `groups` are those it was trained with.
    """
    check_assumption(assume)
    if sequential and audit is None:
        raise UserError(
            "a sequential audit needs labels: give the audited table", arguments=["audit"]
        )
    if not 0 < precision < 1:
        raise UserError(
            f"precision must be between 0 and 1, got {precision}", arguments=["precision"]
        )
    report = progress or silent
    grouping = _grouping(by, every)
    options = ColumnOptions.of(
        label=label,
        text=text,
        features=features,
        posteriors=posteriors,
        drop=drop,
        id=id,
        weights=weights,
        missing=missing,
        positive=positive,
        groups=groups,
        lenient=lenient,
    )
    recipe = Recipe(options, method, classifier, by=by, seed=seed)
    tables = open_samples(sample, lenient=lenient)
    fitted = model_for(recipe, train, model, tables, report)
    check_conditions(conditions, fitted)
    audited = None
    if audit is not None:
        audited = read_audit(audit, fitted, tables, options, sequential=sequential)
    pool = read_pool(
        tables,
        fitted,
        grouping,
        seed=seed,
        progress=report,
        weights=weights or fitted.columns.weights,
        wanted=NOTHING if audited is None else audited.wanted,
    )
    commands = {}
    if grouping is None:
        commands = dict(zip(pool.batches, _commands(sample, train, model, recipe), strict=True))
    codes = {} if audited is None else audited_codes(audited, pool)
    report(RESAMPLING, 0, replicates)
    filled = [rows for rows in pool.batches.values() if len(rows)]
    found = examine(
        fitted,
        pool.items,
        filled,
        level=level,
        n_bootstrap=replicates,
        simultaneous=simultaneous,
        assume=assume,
        seed=seed,
        progress=report,
    )
    evidence = iter(with_adjusted_p_values(found))
    compared = compared_batches(list(pool.batches))
    accuracy = AccuracyOfBatches(fitted, level=level, n_bootstrap=replicates, seed=seed)
    batches = []
    before: PrevalenceInterval | None = None
    for name, rows in pool.batches.items():
        if not len(rows):
            batches.append(empty_batch(name, fitted.classes, left_out=pool.left_out[name]))
            continue
        known = next(evidence)
        if name in pool.unknown and not known.why_not:
            unknown = pool.unknown[name]
            known = known.refused(why_unknown(unknown), cure_of(unknown))
        change = changed_classes(
            before if name in compared else None, known.interval, fitted.classes
        )
        position = {row: i for i, row in enumerate(rows.tolist())}
        # The order of the sheet is the order of labelling, which a sequential audit relies on.
        labelled = {position[row]: code for row, code in codes.items() if row in position}
        batch = batch_of(
            name,
            fitted,
            fitted.posteriors(pool.items.take(rows)),
            known,
            labelled,
            change,
            n_items=pool.sizes[name],
            n_left_out=pool.left_out[name],
            asked=audit is not None,
            assume=assume,
            precision=precision if sequential else None,
            command=commands.get(name, ""),
        )
        accuracy_on_batch = accuracy.of(pool.items.take(rows), known, batch.audit)
        batch = replace(batch, accuracy=accuracy_on_batch)
        batches.append(with_changes(batch, fitted.profile, pool.compared.get(name)))
        before = known.interval
    return Quantification(
        classes=fitted.classes,
        level=level,
        simultaneous=simultaneous,
        method=fitted.method,
        reason=fitted.reason,
        assumption=fitted.quantifier.tags.assumption,
        plain_assumption=fitted.quantifier.tags.in_words,
        training=training_side(fitted),
        batches=tuple(batches),
        warnings=all_warnings(
            fitted,
            pool,
            (
                *unused_columns(tables, fitted, [by, id, weights]),
                *_divided_by_content(by, fitted),
                *(() if audited is None else audited.warnings),
            ),
        ),
        label=fitted.columns.label,
        headline=fitted.headline,
        names=fitted.names,
        used=fitted.columns.used,
        left_out_columns=fitted.columns.left_out,
        sample_rows=pool.rows,
        groups=fitted.groups,
        by=by,
        in_sequence=in_sequence(list(pool.batches)),
    )


def _divided_by_content(by: str | None, model: Model) -> Iterator[str]:
    if by in model.columns.content:
        yield (
            f"column {by!r} divides the sample, and the model was trained on it: differences "
            "between batches may come from it alone; consider training a model without it"
        )


def _commands(
    sample: Source | Sequence[Source], train: Source, model: Source, recipe: Recipe
) -> list[str]:
    """For every table of the sample the command that draws items of it to label."""
    sources = sample_sources(sample)
    return [
        audit_plan_command(
            source,
            train,
            model,
            recipe,
            n_labels=FEW_LABELS,
            out=SHEET if len(sources) == 1 else f"audit-{number}.csv",
        )
        for number, source in enumerate(sources, start=1)
    ]


def _grouping(by: str | None, every: str | None) -> Grouping | None:
    if by is None and every is not None:
        raise UserError("`every` needs the column of the dates: give `by` too", arguments=["by"])
    return None if by is None else Grouping(by, every)
