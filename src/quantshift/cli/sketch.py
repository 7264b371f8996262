"""`quantshift sketch`: reduce rows to counts of scores, close to where the rows are stored."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from quantshift.cli.progress import item_progress
from quantshift.cli.shared_options import OUTPUT, TABLES, Overwrite, names
from quantshift.errors import UserError
from quantshift.files import check_output
from quantshift.nouns import counted

MERGE = "merge"
"""As the first file: the others are sketches to merge."""


def sketch(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Tables: files, patterns such as 'day-*.parquet', folders, or a table in a "
            "database (duckdb:///scores.db?table=NAME, postgresql://HOST/DB?table=NAME). Or the "
            "word merge, followed by sketches to merge.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Sketch to write (Parquet).", rich_help_panel=OUTPUT
        ),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            "--score",
            metavar="COLUMN",
            help="Column with the probability of the second of two classes.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    posteriors: Annotated[
        str | None,
        typer.Option(
            "--posteriors",
            metavar="a,b,c",
            help="Instead of --score: a column of probabilities for each class.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="COLUMN",
            help="Column of days, sites or the like; each value is a separate sample.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="a,b",
            help="Also count by these columns, so that the test for shift can compare their mix.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="COLUMN",
            help="Column of the true classes, for a training sketch.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    bins: Annotated[
        bool,
        typer.Option(
            "--bins",
            help="Count in cells even if there are few different scores.",
            rich_help_panel=TABLES,
        ),
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="Dask scheduler whose workers do the counting; they need access to the files.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    sql: Annotated[
        str | None,
        typer.Option(
            "--sql",
            metavar="duckdb|postgres|bigquery|snowflake|spark",
            help="Print a query that computes the same counts in a database.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="NAME",
            help="With --sql: the name of the table.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Reduce scores to counts, a few kB per batch, which `quantify --sketch` works from.

    Every row is counted, including rows without a usable score. You can sketch parts of the data
    separately and merge the sketches; the result does not depend on the parts or their order.

    Examples:

        quantshift sketch 'scores/*.parquet' --score p_spam --batch day --out week.parquet

        quantshift sketch labelled.csv --score p_spam --label spam --out training.parquet

        quantshift sketch merge week-1.parquet week-2.parquet --out weeks.parquet

        quantshift sketch --sql snowflake --table scores --score p_spam --batch day

        quantshift quantify --sketch weeks.parquet --train-sketch training.parquet
    """
    inputs_given = list(files or ())
    columns: dict[str, Any] = {
        "score": score,
        "posteriors": names(posteriors),
        "batch": batch,
        "by": names(by),
        "label": label,
    }
    if sql is not None:
        _print_query(sql, table, inputs_given, columns)
        return
    if out is None:
        raise UserError("name the file to write the sketch to", arguments=["out"])
    if not inputs_given:
        raise UserError("name the tables to count")
    from quantshift.sketches.sketch_table import is_sketch, load_sketch

    merging = inputs_given[0] == MERGE
    inputs = inputs_given[1:] if merging else inputs_given
    if not inputs:
        raise UserError("name the sketches to merge")
    check_output(out, inputs=inputs, overwrite=overwrite, ours=is_sketch)
    if merging:
        if any(columns.values()):
            raise UserError("merge takes no columns: sketches have theirs already")
        first, *other_sketches = [load_sketch(name) for name in inputs]
        result = first.merge(*other_sketches)
    else:
        from quantshift.sketches.making import sketch as make

        with item_progress(Console(stderr=True)) as progress:
            result = make(inputs, bins=bins, cluster=cluster, progress=progress, **columns)
    result.save(out, overwrite=overwrite)
    typer.echo(f"{result.n_rows:,} rows in {counted(len(result.batches), 'batch', 'batches')}")
    for reason, n in result.left_out.items():
        typer.echo(f"Warning  {n:,} rows left out: {reason}")
    kind = "scores as they are" if result.is_exact else "cells"
    typer.echo(f"sketch in {out}: {result.table.height:,} {kind}, {out.stat().st_size:,} bytes")


def _print_query(
    dialect: str, table: str | None, files: list[str], columns: dict[str, Any]
) -> None:
    if files or table is None:
        raise UserError("a query is for a table in a database: name it", arguments=["table"])
    from quantshift.sketches.sql import sketch_sql

    typer.echo(sketch_sql(dialect, table, **columns))
