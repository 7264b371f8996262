"""`quantshift audit-plan`: how many items to label for a given precision, and which."""

from typing import Annotated

import typer
from rich.console import Console

from quantshift.answers.words import percent
from quantshift.cli.declared import Only
from quantshift.cli.outputs import OverwriteLabels, SheetFile
from quantshift.cli.progress import item_progress
from quantshift.errors import UserError
from quantshift.labelling.sheets.drawn import check_sheet
from quantshift.quantifying.audits.audit_sheet import MORE_LABELS, draw_sheet
from quantshift.quantifying.options import (
    ColumnOptions,
    EstimationOptions,
    ModelRecipe,
    SheetOptions,
    Sources,
    TrainingOptions,
)


def audit_plan(
    sources: Sources,
    sheet_options: SheetOptions,
    columns: Annotated[
        ColumnOptions,
        Only(
            *("label", "text", "features", "categories", "posteriors", "drop"),
            *("id", "missing", "lenient"),
        ),
    ],
    training: Annotated[TrainingOptions, Only("classifier", "seed")],
    estimation: Annotated[EstimationOptions, Only("level")],
    out: SheetFile = None,
    overwrite: OverwriteLabels = False,
) -> None:
    """Draw random items to label by hand, as many as a given precision needs.

    The output says what to run once they are labelled.

    The file has the items in random order, with their number and an empty column for the label.
    Fill it in from the top (stopping early is fine) and give it to `quantify --audit`.

    Examples:

        quantshift audit-plan --model model/ --sample new.csv --precision 0.03 --out audit.csv

        quantshift audit-plan --model model/ --sample new.csv --labels 50 --out audit.csv

        quantshift audit-plan --model model/ --sample new.csv --sequential --out audit.csv
    """
    if sources.sample is None:
        raise UserError("name the unlabelled table", arguments=["sample"])
    if out is not None:
        check_sheet(out, inputs=list(vars(sources).values()), overwrite=overwrite)
    with item_progress(Console(stderr=True)) as progress:
        sheet = draw_sheet(
            sources, ModelRecipe(columns, training), sheet_options, estimation.level, progress
        )
        if out is not None:
            sheet.write(out, overwrite=overwrite)
    plan = sheet.plan
    every = plan.n_labels == plan.n_items
    n_labels = "all" if every else f"about {plan.n_labels:,} of"
    typer.echo(
        f"Label {n_labels} the {plan.n_items:,} items for an interval of about plus or minus "
        f"{percent(plan.precision)}; counting labels alone would take about {plan.n_counting:,}."
    )
    if every and plan.attainable > plan.precision:
        typer.echo(
            f"{plan.n_items:,} items cannot give more precision: with all of them labelled it "
            f"is about plus or minus {percent(plan.attainable)}."
        )
    if sheet_options.sequential:
        likely, most = (
            f"{min(round(MORE_LABELS * n), plan.n_items):,}"
            for n in (plan.n_labels, plan.n_counting)
        )
        typer.echo(
            f"That is for a single look. If you check as you go, it takes about {likely} labels, "
            f"or {most} if the scores do not help: label 20 from the top, check, label more."
        )
    if out is None:
        typer.echo("Add --out FILE.csv to draw them.")
        return
    typer.echo(f"items to label in {out}")
    command = sheet.next_command(out)
    if command:
        typer.echo(f"Then run: {command}")
