"""`quantshift probabilities`: a saved model's probabilities for every row of a table."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.answers.rows import rows_text
from quantshift.answers.text import finding_lines
from quantshift.base.options import COLUMNS, OUTPUT, split_names
from quantshift.cli.declared import Only
from quantshift.cli.inputs import source
from quantshift.cli.outputs import Overwrite
from quantshift.cli.progress import item_progress
from quantshift.quantifying.options import ColumnOptions
from quantshift.quantifying.rows.probabilities import probabilities as write_probabilities


def probabilities(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model made with `quantshift train`.")
    ],
    tables: Annotated[
        list[str], typer.Argument(metavar="TABLE...", help="Tables with the model's columns.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.csv",
            help="File for the probabilities.",
            rich_help_panel=OUTPUT,
        ),
    ],
    columns: Annotated[ColumnOptions, Only("lenient")],
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Columns to copy, such as an id or a date.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a model's probabilities for every row of a table, for other programs.

    Each line has the batch (the table), the number of the row, the columns of --keep, the
    probability of each class as trained, the predicted class, the cluster of similar rows and a
    flag for rows that are unlike training. Probabilities that are corrected to the shares of a
    sample are written by `quantshift quantify --rows`.

    Examples:

        quantshift probabilities model/ new.csv --out scores.csv --keep customer

        quantshift probabilities model/ 'week-*.csv' --out scores.csv --keep date

        quantshift sketch scores.csv --score 'probability yes' --batch date --out week.parquet
    """
    with item_progress(Console(stderr=True)) as progress:
        written = write_probabilities(
            source(tables) or [],
            out,
            model=model,
            keep=split_names(keep) if keep else (),
            lenient=columns.lenient,
            overwrite=overwrite,
            progress=progress,
        )
    for rows in written.rows:
        typer.echo(f"Rows     {rows_text(rows)}")
    for line in finding_lines(written.findings, 1):
        typer.echo(line)
    typer.echo(f"probabilities in {out}")
