"""The job: a model and unlabelled tables in, prevalences with intervals and verdicts out.

All batches share the bootstrap's replicates of the training side.
"""

from collections.abc import Iterator, Sequence

from quantshift.data.reading import Source
from quantshift.errors import UserError
from quantshift.intervals import PrevalenceInterval
from quantshift.own_data.auditing import audited_codes, read_audit
from quantshift.own_data.batches import batch_of, changed_classes, empty_batch
from quantshift.own_data.changes import with_changes
from quantshift.own_data.classifiers import AUTO
from quantshift.own_data.columns import Asked, Grouping
from quantshift.own_data.evidence import RESAMPLING, examine
from quantshift.own_data.guard import check_assumption
from quantshift.own_data.model import Model
from quantshift.own_data.pool import NOTHING, open_samples, read_pool
from quantshift.own_data.progress import OnProgress, silent
from quantshift.own_data.recipe import Recipe, model_for
from quantshift.own_data.result import Quantification
from quantshift.own_data.training_side import all_warnings, training_side


def quantify(
    sample: Source | Sequence[Source],
    *,
    train_on: Source | None = None,
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
    lenient: bool = False,
    audit: Source | None = None,
    method: str = AUTO,
    classifier: str = AUTO,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    simultaneous: bool = False,
    assume: str = AUTO,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Quantification:
    """The prevalence of each class in unlabelled tables, with intervals, verdicts and advice.

    sample: a path or a data frame, or several. train_on: the labelled table, of which the columns
    are used that all samples have; or model: a `Model`, or the folder of one. by: column that
    divides the sample into batches; every: day, week or month, if it holds dates. audit: table of
    randomly chosen items of the sample with labels. simultaneous: intervals that hold for all
    classes of a batch at once (not those of an audit). assume: "prior" (items of a class look as in
    training), "covariate" (items that look alike have the label as often as in training), or "auto"
    (the first, with changes of subgroups, unless the items refute it). The other arguments are
    those of `train`.
    """
    check_assumption(assume)
    report = progress or silent
    grouping = _grouping(by, every)
    asked = Asked.of(
        label=label,
        text=text,
        features=features,
        posteriors=posteriors,
        drop=drop,
        id=id,
        weights=weights,
        missing=missing,
        positive=positive,
        lenient=lenient,
    )
    recipe = Recipe(asked, method, classifier, by=by, seed=seed)
    tables = open_samples(sample, lenient=lenient)
    fitted = model_for(recipe, train_on, model, tables, report)
    audited = None if audit is None else read_audit(audit, fitted, tables, asked)
    pool = read_pool(
        tables,
        fitted,
        grouping,
        seed=seed,
        progress=report,
        weights=weights or fitted.columns.weights,
        wanted=NOTHING if audited is None else audited.wanted,
    )
    codes = {} if audited is None else audited_codes(audited, pool)
    report(RESAMPLING, 0, n_bootstrap)
    filled = [rows for rows in pool.batches.values() if len(rows)]
    evidence = iter(
        examine(
            fitted,
            pool.items,
            filled,
            level=level,
            n_bootstrap=n_bootstrap,
            simultaneous=simultaneous,
            assume=assume,
            seed=seed,
            progress=report,
        )
    )
    batches = []
    before: PrevalenceInterval | None = None
    for name, rows in pool.batches.items():
        if not len(rows):
            batches.append(empty_batch(name, fitted.classes, left_out=pool.left_out[name]))
            continue
        known = next(evidence)
        change = changed_classes(before, known.interval, fitted.classes)
        labelled = {i: codes[row] for i, row in enumerate(rows.tolist()) if row in codes}
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
        )
        batches.append(with_changes(batch, fitted.profile, pool.compared.get(name)))
        before = known.interval
    return Quantification(
        classes=fitted.classes,
        level=level,
        simultaneous=simultaneous,
        method=fitted.method,
        reason=fitted.reason,
        assumption=fitted.quantifier.assumption,
        training=training_side(fitted),
        batches=tuple(batches),
        warnings=all_warnings(
            fitted,
            pool,
            (*_divided_by_content(by, fitted), *(() if audited is None else audited.warnings)),
        ),
        label=fitted.columns.label,
        headline=fitted.headline,
        names=fitted.names,
        used=fitted.columns.used,
        left_out_columns=fitted.columns.left_out,
        sample_rows=pool.rows,
    )


def _divided_by_content(by: str | None, model: Model) -> Iterator[str]:
    if by in model.columns.content:
        yield (
            f"column {by!r} divides the sample, and the model was trained on it: what batches "
            "differ by may be told by it alone; better train a model without it"
        )


def _grouping(by: str | None, every: str | None) -> Grouping | None:
    if by is None and every is not None:
        raise UserError("`every` needs the column of the dates: give `by` too", arguments=["by"])
    return None if by is None else Grouping(by, every)
