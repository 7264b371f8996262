"""`quantshift audit-plan`: how many items to label for a precision, and which."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

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
from quantshift.own_data import draw_audit_sheet, write_audit_sheet
from quantshift.own_data.audit_sheet import check_sheet
from quantshift.own_data.classifiers import AUTO
from quantshift.own_data.words import percent


def audit_plan(
    sample: Annotated[Path, typer.Option("--sample", metavar="FILE", help="The unlabelled table.")],
    precision: Annotated[
        float,
        typer.Option("--precision", metavar="0.03", help="Half the width the interval may have."),
    ] = 0.05,
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
        bool, typer.Option("--overwrite", help="Replace a file that is there, labels and all.")
    ] = False,
) -> None:
    """Draw random items of a sample for people to label, as many as a precision needs.

    The file has the items in random order, with their number and an empty column for the label.
    Fill it in from the top (stopping early is fine) and give it to `quantify --audit`.

    Example:

        quantshift audit-plan --model model/ --sample new.csv --precision 0.03 --out audit.csv
    """
    if out is not None:
        check_sheet(out, inputs=[sample, train, model], overwrite=overwrite)
    with item_progress(Console(stderr=True)) as progress:
        sheet = draw_audit_sheet(
            sample,
            precision=precision,
            train_on=source(train),
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
            f"More cannot be had from {plan.n_items:,} items: with all of them labelled it is "
            f"about plus or minus {percent(plan.attainable)}."
        )
    typer.echo(f"items to label in {out}" if out else "Add --out FILE.csv to draw them.")
