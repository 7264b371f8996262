"""The job: a model and unlabelled tables in, prevalences with intervals and verdicts out.

All batches share the bootstrap's replicates of the training side.
"""

from collections.abc import Sequence

from quantshift.data.reading import Source
from quantshift.errors import UserError
from quantshift.intervals import PrevalenceInterval
from quantshift.own_data.auditing import audited_codes, read_audit
from quantshift.own_data.batches import batch_of, changed_classes, empty_batch
from quantshift.own_data.columns import Columns, Grouping
from quantshift.own_data.evidence import examine
from quantshift.own_data.model import AUTO, LOGISTIC, Model
from quantshift.own_data.pool import NOTHING, OnProgress, open_samples, read_pool, silent
from quantshift.own_data.recipe import Recipe, model_for
from quantshift.own_data.result import Quantification
from quantshift.own_data.training_side import training_side, training_warnings


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
    progress: OnProgress | None = None,
) -> Quantification:
    """The prevalence of each class in unlabelled tables, with intervals, verdicts and advice.

    sample: a path or a data frame, or several. train_on: the labelled table; or model: a `Model`,
    or the folder of one. by: column that divides the sample into batches; every: day, week or
    month, if it holds dates. audit: table of randomly chosen items of the sample with labels.
    simultaneous: intervals that hold for all classes of a batch at once (not those of an audit).
    The other arguments are those of `train`.
    """
    report = progress or silent
    grouping = _grouping(by, every)
    columns = Columns(label, text, tuple(features), tuple(posteriors))
    recipe = Recipe(columns, method, classifier, without=(by,) if by else (), seed=seed)
    fitted = model_for(recipe, train_on, model, report)
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
            batches.append(empty_batch(name, fitted.classes))
            continue
        known = next(evidence)
        change = changed_classes(before, known.interval, fitted.classes)
        labelled = {i: codes[row] for i, row in enumerate(rows.tolist()) if row in codes}
        batches.append(
            batch_of(
                name,
                fitted,
                fitted.posteriors(pool.items.take(rows)),
                known,
                labelled,
                change,
                n_items=pool.sizes[name],
                asked=audit is not None,
            )
        )
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
        warnings=(
            *training_warnings(fitted),
            *pool.warnings,
            *(() if audited is None else audited.warnings),
        ),
    )


def _grouping(by: str | None, every: str | None) -> Grouping | None:
    if by is None and every is not None:
        raise UserError("`every` needs the column of the dates: give `by` too", arguments=["by"])
    return None if by is None else Grouping(by, every)
