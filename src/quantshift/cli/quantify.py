"""`quantshift quantify`: prevalences in the user's own tables."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.cli.outputs import Outputs, leave
from quantshift.cli.progress import item_progress
from quantshift.cli.shared_options import (
    ESTIMATE,
    SCRIPTS,
    TABLES,
    AsJson,
    Classifier,
    CsvTable,
    Drop,
    FailIf,
    Features,
    Groups,
    Html,
    Id,
    Label,
    Lenient,
    Level,
    Method,
    Missing,
    Model,
    Overwrite,
    Positive,
    Posteriors,
    Seed,
    Text,
    Train,
    Weights,
    check_standard_input,
    missing_names,
    names,
    source,
)
from quantshift.own_data import quantify as quantify_tables
from quantshift.own_data import render_csv, render_text
from quantshift.own_data.audit_sheet import PRECISION
from quantshift.own_data.classifiers import AUTO
from quantshift.own_data.conditions import EVENTS, Condition, check_events, failures
from quantshift.own_data.rendering import is_result_csv
from quantshift.own_data.result import Quantification


def quantify(
    sample: Annotated[
        list[str],
        typer.Option(
            "--sample",
            metavar="FILE",
            help="The unlabelled table: a file, several (repeat the option), a pattern such as "
            "'week-*.csv', a folder of Parquet files, or - for standard input. Every file is a "
            "batch.",
            rich_help_panel=TABLES,
        ),
    ],
    train: Train = None,
    model: Model = None,
    audit: Annotated[
        Path | None,
        typer.Option(
            "--audit",
            metavar="FILE",
            help="Random items of the sample with labels (see `quantshift audit-plan`).",
            rich_help_panel=TABLES,
        ),
    ] = None,
    sequential: Annotated[
        bool,
        typer.Option(
            "--sequential",
            help="The audit goes on, with a look now and then: limits that hold at every look, and "
            "how many more labels it takes.",
            rich_help_panel=TABLES,
        ),
    ] = False,
    precision: Annotated[
        float,
        typer.Option(
            "--precision",
            metavar="0.03",
            help="With --sequential: half the width at which to stop.",
            rich_help_panel=TABLES,
        ),
    ] = PRECISION,
    groups: Groups = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Divide the sample into batches by this column.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            metavar="day|week|month",
            help="If --by is a column of dates.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    lenient: Lenient = False,
    label: Label = None,
    text: Text = None,
    features: Features = None,
    posteriors: Posteriors = None,
    drop: Drop = None,
    id: Id = None,  # noqa: A002 - the option's name
    weights: Weights = None,
    missing: Missing = None,
    positive: Positive = None,
    method: Method = AUTO,
    classifier: Classifier = AUTO,
    level: Level = 0.95,
    replicates: Annotated[
        int,
        typer.Option(
            "--replicates", min=100, help="Bootstrap replicates.", rich_help_panel=ESTIMATE
        ),
    ] = 1000,
    simultaneous: Annotated[
        bool,
        typer.Option(
            "--simultaneous",
            help="Intervals that hold for all classes at once (three or more).",
            rich_help_panel=ESTIMATE,
        ),
    ] = False,
    assume: Annotated[
        str,
        typer.Option(
            "--assume",
            metavar="auto|prior|covariate",
            help="What is assumed. prior: items of a class look as in training (the label causes "
            "what is seen, as words of a review). covariate: items that look alike have the label "
            "as often as in training (an outcome is predicted from its causes). auto: prior, and "
            "changes of subgroups, unless the items refute it.",
            rich_help_panel=ESTIMATE,
        ),
    ] = AUTO,
    seed: Seed = 0,
    as_json: AsJson = False,
    html: Html = None,
    table: CsvTable = None,
    overwrite: Overwrite = False,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            metavar="shift,changed,unreliable",
            help="Exit code 3 if this holds for a batch. "
            + " ".join(f"{name}: {meaning}." for name, meaning in EVENTS.items()),
            rich_help_panel=SCRIPTS,
        ),
    ] = None,
    fail_if: FailIf = None,
) -> None:
    """How common is each class in new data? With an interval, and whether to believe it.

    Tables: CSV, TSV, JSON lines, Parquet, Excel. All columns that can be used are used, and the
    answer says which, how, and which were left out and why.

    Exit code 0: fine; 2: wrong input, told in one line; 3: a condition of --fail-on or --fail-if
    holds; 4: a batch cannot be estimated.

    Examples:

        quantshift quantify --train labelled.csv --sample new.csv --label churned

        quantshift quantify --train labelled.csv --sample new.csv --label sentiment --text review

        quantshift quantify --model model/ --sample new.csv --by date --every week --html out.html

        quantshift quantify --model model/ --sample 'week-*.csv' --csv out.csv --fail-if 'spam>5%'

        zcat new.csv.gz | quantshift quantify --model model/ --sample - --json

        quantshift quantify --model model/ --sample new.csv --audit audited.csv

        quantshift quantify --train labelled.csv --sample new.csv --label churned --groups region
    """
    events = names(fail_on)
    check_events(events)
    conditions = [Condition.parse(text) for text in fail_if or ()]
    check_standard_input(sample, train)
    outputs = Outputs(html, table, is_result_csv, [sample, train, model, audit], overwrite)
    outputs.check()
    with item_progress(Console(stderr=True)) as progress:
        result = quantify_tables(
            sample,
            train_on=source(train),
            model=model,
            label=label,
            text=names(text),
            features=names(features),
            posteriors=names(posteriors),
            drop=names(drop),
            id=id,
            weights=weights,
            by=by,
            every=every,
            missing=missing_names(missing),
            positive=positive,
            lenient=lenient,
            audit=audit,
            sequential=sequential,
            precision=precision,
            groups=groups,
            method=method,
            classifier=classifier,
            level=level,
            n_bootstrap=replicates,
            simultaneous=simultaneous,
            assume=assume,
            seed=seed,
            progress=progress,
        )
    # Before anything is written: a class that is not there is an error of the command.
    failed = failures(result, events, conditions)
    typer.echo(result.to_json() if as_json else render_text(result))
    for line in outputs.write(lambda: _page(result), lambda: render_csv(result)):
        if not as_json:
            typer.echo(line)
    leave(failed, can_be_estimated=all(batch.can_be_estimated for batch in result.batches))


def _page(result: Quantification) -> str:
    from quantshift.own_data.page import render_page

    return render_page(result)
