"""`quantify`: from a model and unlabelled tables to prevalences with intervals and verdicts.

The work is the same for rows of tables and for counts of scores: `estimate_sample`. All batches
share the bootstrap's replicates of the training side.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from quantshift.answers.conditions import check_conditions
from quantshift.answers.options import PRECISION
from quantshift.base.forks import uses_tables
from quantshift.base.options import suggests_arguments, taken
from quantshift.base.progress import OnProgress, silent
from quantshift.base.threads import in_one_thread
from quantshift.errors import UserError
from quantshift.intervals.targets import ITEMS
from quantshift.quantifying.declaration import Declaration
from quantshift.quantifying.estimating.estimation import estimate_sample
from quantshift.quantifying.estimating.row_sample import RowSample
from quantshift.quantifying.options import (
    AUTO,
    AuditOptions,
    BatchOptions,
    ColumnOptions,
    EstimationOptions,
    Request,
    RowOptions,
    SeveralLabelOptions,
    Sources,
    TrainingOptions,
)
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.reading.audited import read_audit
from quantshift.quantifying.reading.pool import open_samples
from quantshift.quantifying.reading.spool import RowSpool
from quantshift.quantifying.rows.rows_file import check_rows_file, write_rows
from quantshift.quantifying.training.model import Model
from quantshift.quantifying.training.recipe import model_for
from quantshift.tables.reading import Source

if TYPE_CHECKING:
    from quantshift.answers.targets.answer import TargetAnswers


@uses_tables
@suggests_arguments
def quantify(
    sample: Source | Sequence[Source],
    *,
    train: Source | Sequence[Source] | None = None,
    model: Model | Source | None = None,
    label: str | Sequence[str] | None = None,
    separator: str | None = None,
    parents: Mapping[str, str] | Sequence[str] = (),
    text: str | Sequence[str] = (),
    features: str | Sequence[str] = (),
    categories: str | Sequence[str] = (),
    posteriors: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    id: str | None = None,  # noqa: A002
    weights: str | None = None,
    by: str | None = None,
    every: str | None = None,
    missing: str | Sequence[str] | None = None,
    positive: str | None = None,
    groups: str | None = None,
    time: str | None = None,
    lenient: bool = False,
    audit: Source | None = None,
    sequential: bool = False,
    precision: float = PRECISION,
    method: str = AUTO,
    classifier: str = AUTO,
    level: float = 0.95,
    replicates: int = 1000,
    simultaneous: bool = False,
    of: str = ITEMS,
    assume: str | None = None,
    columns: str | None = None,
    conditions: Sequence[str] = (),
    rows: str | Path | None = None,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> "Quantification | TargetAnswers[Quantification]":
    """The prevalence of each class in unlabelled tables, with intervals, verdicts and advice.

    sample: a path or a data frame, or several. train: the labelled table; only columns that all
    samples have are used. model: a `Model` or its folder, instead of a table. by: column that
    divides the sample into batches; every: day, week or month, if it holds dates. audit: table of
    randomly chosen items of the sample with labels. sequential: the limits of the audit hold at
    every look, for audits that continue until the interval is at most `precision` to either side.
    replicates: how many the bootstrap draws for the intervals. simultaneous: intervals that hold
    for all classes of a batch at once (not those of an audit). of: whose share the intervals are
    for, "items" (of the sample) or "population" (that they were drawn from). assume:
    "prior" (items of a class look as in training), "covariate" (items that look alike have the
    label as often as in training), or "auto": nothing is declared, and without evidence the answer
    is a range. columns: "causes" of the label (which declares covariate shift) or "effects" of it
    (prior shift). With neither, what was declared when the model was trained.
    conditions: on shares, such as "spam>5%", that the caller is going to check; one on an unknown
    class is refused before any sample is read. label: several columns, each of which says whether
    an item has a label, or one with all labels of an item and the `separator` between them: then
    the result has an answer for each label, and limits for all of them at once. parents: labels
    within others, such as {"hate": "abuse"}, whose shares they never exceed. rows: a CSV file with
    a line for every row, its probability as trained and corrected. The other arguments are those of
    `train`; with a model, `groups` and `time` are those it was trained with.
    """
    arguments = locals()
    request = Request(
        taken(Sources, arguments),
        taken(ColumnOptions, arguments),
        taken(TrainingOptions, arguments),
        taken(BatchOptions, arguments),
        taken(AuditOptions, arguments),
        taken(EstimationOptions, arguments),
        conditions,
        taken(Declaration, arguments),
        taken(RowOptions, arguments),
        taken(SeveralLabelOptions, arguments),
    )
    return quantify_tables(request, progress or silent)


@in_one_thread
@uses_tables
def quantify_tables(
    request: Request, progress: OnProgress = silent
) -> "Quantification | TargetAnswers[Quantification]":
    """The answer to a call, with its options in groups, for one label or for several."""
    if not has_several_labels(request):
        if request.label_options.parents:
            raise UserError(
                "parents are for several labels; name them, or leave the parents out",
                arguments=["parents", "label"],
            )
        return quantify_one_label(request, progress)
    from quantshift.quantifying.targets.job import quantify_targets

    return quantify_targets(request, progress)


def has_several_labels(request: Request) -> bool:
    """Whether a call is about several labels, by its options or by its model."""
    model = request.sources.model
    if request.has_several_labels or model is None or isinstance(model, Model):
        return request.has_several_labels
    # Imported here because most calls have one label.
    from quantshift.quantifying.targets.folder import is_target_models

    return is_target_models(model)


@uses_tables
def quantify_one_label(request: Request, progress: OnProgress = silent) -> Quantification:
    """The answer to a call with one label, with its options in groups."""
    file = request.row_file
    if file.rows is not None:
        check_rows_file(file.rows, inputs=request.inputs, overwrite=file.overwrite)
    tables = open_samples(request.sources.sample, lenient=request.columns.lenient)
    model = model_for(request.recipe, request.sources, tables, progress)
    check_conditions(request.conditions, model)
    audited = None
    if request.audit.audit is not None:
        audited = read_audit(
            request.audit.audit,
            model,
            tables,
            request.columns,
            sequential=request.audit.sequential,
        )
    options = request.estimation_with(model.declared)
    copied_columns = [request.columns.id] if request.columns.id is not None else []
    with nullcontext() if file.rows is None else RowSpool(model, copied_columns) as spool:
        sample = RowSample.read(tables, model, request, audited, progress, spool)
        answer = estimate_sample(sample, options, request.audit, request.training.seed, progress)
        if spool is not None and file.rows is not None:
            write_rows(
                spool,
                file.rows,
                corrections=sample.corrections,
                either=sample.either,
                inputs=request.inputs,
                overwrite=file.overwrite,
            )
    return answer
