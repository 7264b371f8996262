"""`quantshift sketch`: reduce rows to counts of scores, close to where the rows are stored."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from quantshift.base.files import check_output
from quantshift.base.nouns import counted
from quantshift.cli.progress import item_progress
from quantshift.cli.shared_options import OUTPUT, TABLES, Overwrite, names
from quantshift.errors import DataError, UserError

if TYPE_CHECKING:
    from quantshift.sketches.sketch_table import Sketch

MERGE = "merge"
"""As the first file: the others are sketches to merge."""

MANY_BATCHES, FEW_ROWS = 1000, 20
"""More batches with fewer rows on average come from a column of identifiers."""


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
            help="Count in cells even if different scores are few; labelled rows keep theirs.",
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
    """Reduce scores to counts (10 kB per batch of two classes) for `quantify --sketch`.

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
        if inputs_given or table is None:
            raise UserError("a query counts a table in a database: name it", arguments=["table"])
        if out is not None or bins or cluster is not None:
            raise UserError(
                "the query is only printed: redirect the output to a file, and remove the options "
                "for counting here",
                arguments=["out", "bins", "cluster"],
            )
        _print_query(sql, table, columns)
        return
    if table is not None:
        raise UserError("a table is named for a query: choose its database", arguments=["sql"])
    if out is None:
        raise UserError("name the file to write the sketch to", arguments=["out"])
    if not inputs_given:
        raise UserError("name the tables to count")
    from quantshift.sketches.copies import first_copy
    from quantshift.sketches.counting.making import sketch as make
    from quantshift.sketches.sketch_table import is_sketch, load_sketch
    from quantshift.tables.files import FORMATS, kind_of
    from quantshift.tables.reading import check_once, files_of

    merging = inputs_given[0] == MERGE
    inputs = inputs_given[1:] if merging else inputs_given
    if not inputs:
        raise UserError("name the sketches to merge")
    if kind_of(out, FORMATS) not in (None, "parquet"):
        raise UserError(f"{out}: sketches are Parquet files; name it {out.with_suffix('.parquet')}")
    # A pattern must not match the sketch of the day before, which would be counted again.
    read = [file for name in inputs for file in files_of(name)]
    check_output(out, inputs=read, overwrite=overwrite, ours=is_sketch, kind="parquet")
    if merging:
        if any(columns.values()) or bins or cluster is not None:
            raise UserError("merge takes only sketches: remove the options for tables")
        check_once(read)
        first, *other_sketches = [load_sketch(file) for file in read]
        for file, other in zip(read[1:], other_sketches, strict=True):
            if other.about != first.about:
                raise DataError(
                    f"{file} is not a sketch of the same columns as {read[0]}: make them with the "
                    "same options"
                )
        copy = first_copy([first, *other_sketches])
        if copy is not None:
            both = f"{read[copy.first]} and {read[copy.second]} {copy}"
            if copy.is_certain:
                raise DataError(f"{both}: their rows would be counted twice; name one of them")
            typer.echo(f"Warning  {both}: if one is a copy, its rows are counted twice")
        result = first.merge(*other_sketches)
    else:
        with (
            item_progress(Console(stderr=True)) as progress,
            warnings.catch_warnings(record=True, action="always", category=UserWarning) as told,
        ):
            result = make(inputs, bins=bins, cluster=cluster, progress=progress, **columns)
        for warning in told:
            typer.echo(f"Warning  {warning.message}")
    result.save(out, overwrite=overwrite)
    _tell(result, out)


def _tell(result: "Sketch", out: Path) -> None:
    """Print what was counted, and what is odd about it."""
    batches = counted(len(result.batches), "batch", "batches")
    typer.echo(f"{counted(result.n_rows, 'row')} in {batches}")
    for reason, n in result.left_out.items():
        typer.echo(f"Warning  {counted(n, 'row')} left out: {reason}")
    if not result.n_rows:
        typer.echo("Warning  the tables have no rows")
    elif sum(result.left_out.values()) == result.n_rows:
        typer.echo("Warning  no row can be used: scores are probabilities from 0 to 1")
    elif len(result.batches) > MANY_BATCHES and result.n_rows < FEW_ROWS * len(result.batches):
        typer.echo("Warning  batches have only a few rows each: is their column the right one?")
    size = counted(result.table.height, "score" if result.is_exact else "cell")
    kept = f"{size} as {'it is' if result.table.height == 1 else 'they are'}"
    kind = kept if result.is_exact else size
    typer.echo(f"sketch in {out}: {kind}, {out.stat().st_size:,} bytes")


def _print_query(dialect: str, table: str, columns: dict[str, Any]) -> None:
    from quantshift.sketches.counting.sql import sketch_sql

    typer.echo(sketch_sql(dialect, table, **columns))
