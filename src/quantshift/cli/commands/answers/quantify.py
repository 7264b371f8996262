"""`quantshift quantify`: prevalences in the user's own tables."""

from dataclasses import replace
from typing import Any

import typer
from rich.console import Console

from quantshift.answers.options import ConditionOptions, LengthOptions, PrintOptions
from quantshift.base.progress import OnProgress
from quantshift.cli.answering import Asked
from quantshift.cli.help_text import HelpAll, daily
from quantshift.cli.inputs import check_standard_input
from quantshift.cli.outputs import OutputFiles
from quantshift.cli.progress import item_progress
from quantshift.errors import UserError
from quantshift.history.watching.options import AlarmOptions, WatchOptions
from quantshift.quantifying.answering.job import has_several_labels, quantify_tables
from quantshift.quantifying.declaration import Declaration
from quantshift.quantifying.options import (
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
from quantshift.quantifying.rows.rows_file import check_rows_file
from quantshift.sketches.options import SketchSources


@daily(
    *("train", "model", "sample", "label", "text", "id", "by", "every", "columns"),
    *("groups", "audit", "history", "html", "as_json"),
)
def quantify(
    context: typer.Context,
    sources: Sources,
    sketches: SketchSources,
    audit: AuditOptions,
    batches: BatchOptions,
    columns: ColumnOptions,
    training: TrainingOptions,
    estimation: EstimationOptions,
    declared: Declaration,
    printing: PrintOptions,
    files: OutputFiles,
    length: LengthOptions,
    watching: WatchOptions,
    alarms: AlarmOptions,
    conditions: ConditionOptions,
    row_file: RowOptions,
    labels: SeveralLabelOptions,
    help_all: HelpAll = False,
) -> None:
    """Estimate how common each class is in new data, and whether to trust it.

    Tables: CSV, TSV, JSON lines, Parquet, Excel. All usable columns are used; the output says
    which, how, and which were left out and why.

    Exit code 0: fine; 2: invalid input, reported in one line; 3: a condition of --fail-on or
    --fail-if holds; 4: a batch cannot be estimated, or a range leaves a condition open.

    Examples:

        quantshift quantify --train labelled.csv --sample new.csv --label churned

        quantshift quantify --train labelled.csv --sample new.csv --label sentiment --text review

        quantshift quantify --model model/ --sample new.csv --by date --every week --html out.html

        quantshift quantify --model model/ --sample 'week-*.csv' --csv out.csv --fail-if 'spam>5%'

        zcat new.csv.gz | quantshift quantify --model model/ --sample - --json

        quantshift quantify --model model/ --sample new.csv --id customer --rows rows.csv

        quantshift quantify --model model/ --sample new.csv --audit audited.csv

        quantshift quantify --train labelled.csv --sample new.csv --label churned --groups region

        quantshift quantify --train labelled.csv --sample new.csv --label churned --time date

        quantshift quantify --model model/ --sample 2026-03-02.csv --history history/ --summary

        quantshift quantify --train labelled.csv --sample new.csv --label spam,abuse,hate

        quantshift quantify --train labelled.csv --sample new.csv --label tags --separator ';'

        quantshift quantify --sketch week.parquet --train-sketch training.parquet

        quantshift quantify --sketch week.parquet --model model/
    """
    row_file = replace(row_file, overwrite=files.overwrite)
    options = (columns, training, batches, audit, estimation, conditions.fail_if, declared)
    request = Request(sources, *options, row_file, labels)
    inputs = [*vars(sources).values(), *vars(sketches).values(), audit.audit]
    check_standard_input(sources.sample, sources.train)
    asked = Asked(
        context,
        printing.as_json,
        length.summary,
        files,
        inputs,
        watching,
        alarms,
        conditions.fail_if,
        has_several_labels(request),
        beside={"rows": row_file.rows},
    )
    _check_sources(sources, sketches)
    _check_rows(row_file, sketches, inputs)
    console = Console(stderr=True)
    # A scheduled job prints only its one line, which is sent on.
    console.quiet = length.summary and not console.is_terminal
    with item_progress(console) as progress:
        result = _result(request, sketches, progress)
    asked.tell(result, details=length.details)


def _result(request: Request, sketches: SketchSources, progress: OnProgress) -> Any:
    """The answer for tables or for a sketch."""
    if sketches.sketch is None:
        return quantify_tables(request, progress)
    # Imported here, since most calls have no sketch.
    from quantshift.sketches.estimating.job import quantify_counts

    return quantify_counts(request, sketches, progress)


def _check_rows(row_file: RowOptions, sketches: SketchSources, inputs: list[Any]) -> None:
    """Refuse a file of rows that cannot be written, before the work starts."""
    if row_file.rows is None:
        return
    if sketches.sketch is not None:
        raise UserError("a sketch has counts, no rows; give the sample", arguments=["sample"])
    check_rows_file(row_file.rows, inputs=inputs, overwrite=row_file.overwrite)


def _check_sources(sources: Sources, sketches: SketchSources) -> None:
    if sketches.sketch is not None:
        return
    if sketches.train_sketch is not None:
        raise UserError(
            "a sketch of labelled items needs a sketch of a sample", arguments=["sketch"]
        )
    if sources.sample is None:
        raise UserError(
            "give a sample (--sample), or a sketch of one (--sketch); quantshift quantify --help "
            "has examples"
        )
