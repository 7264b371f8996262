"""`quantshift audit-plan`: how many items to label for a given precision, and which."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.answers.words import percent
from quantshift.cli.progress import item_progress
from quantshift.cli.shared_options import (
    Classifier,
    Drop,
    Features,
    Id,
    Label,
    Lenient,
    Level,
    Missing,
    Model,
    Posteriors,
    Seed,
    Text,
    Train,
    missing_names,
    names,
    source,
)
from quantshift.quantifying import draw_audit_sheet, write_audit_sheet
from quantshift.quantifying.audits.audit_sheet import MORE_LABELS, check_sheet
from quantshift.quantifying.training.classifiers import AUTO


def audit_plan(
    sample: Annotated[Path, typer.Option("--sample", metavar="FILE", help="The unlabelled table.")],
    precision: Annotated[
        float | None,
        typer.Option(
            "--precision",
            metavar="0.03",
            help="Target half-width of the interval (margin of error; default: 0.05).",
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        int | None,
        typer.Option(
            "--labels", metavar="50", help="Instead of --precision: how many items to label."
        ),
    ] = None,
    sequential: Annotated[
        bool,
        typer.Option(
            "--sequential",
            help="Label some, check, label more: a longer sheet for `quantify --sequential`, whose "
            "interval is valid at every look.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE.csv", help="Write the items to label here."),
    ] = None,
    train: Train = None,
    model: Model = None,
    label: Label = None,
    text: Text = None,
    features: Features = None,
    posteriors: Posteriors = None,
    drop: Drop = None,
    id: Id = None,  # noqa: A002 - the option's name
    missing: Missing = None,
    lenient: Lenient = False,
    classifier: Classifier = AUTO,
    level: Level = 0.95,
    seed: Seed = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing file, including its labels.")
    ] = False,
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
    if out is not None:
        check_sheet(out, inputs=[sample, train, model], overwrite=overwrite)
    with item_progress(Console(stderr=True)) as progress:
        sheet = draw_audit_sheet(
            sample,
            precision=precision,
            labels=labels,
            sequential=sequential,
            train=source(train),
            model=model,
            label=label,
            text=names(text),
            features=names(features),
            posteriors=names(posteriors),
            drop=names(drop),
            id=id,
            missing=missing_names(missing),
            lenient=lenient,
            classifier=classifier,
            level=level,
            seed=seed,
            progress=progress,
        )
        if out is not None:
            write_audit_sheet(sheet, out, overwrite=overwrite)
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
    if sequential:
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
