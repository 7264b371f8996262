"""`quantshift sketch`: reduce rows to counts of scores, close to where the rows are stored."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from quantshift.base.nouns import counted
from quantshift.base.options import OUTPUT, as_keywords
from quantshift.base.storage.files import check_output
from quantshift.cli.outputs import Overwrite
from quantshift.cli.progress import item_progress
from quantshift.errors import DataError, UserError
from quantshift.sketches.options import CountedColumns, CountingOptions, QueryOptions

if TYPE_CHECKING:
    from quantshift.sketches.sketch_table import Sketch

MERGE = "merge"
"""As the first file: the others are sketches to merge."""

MANY_BATCHES, FEW_ROWS = 1000, 20
"""More batches with fewer rows on average come from a column of identifiers."""


def sketch(
    columns: CountedColumns,
    counting: CountingOptions,
    query: QueryOptions,
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
    names = list(files or ())
    if query.sql is not None:
        _print_query(query, columns, counts_here=bool(names or out or counting.are_given))
        return
    if query.table is not None:
        raise UserError("a table is named for a query: choose its database", arguments=["sql"])
    if out is None:
        raise UserError("name the file to write the sketch to", arguments=["out"])
    if not names:
        raise UserError("name the tables to count")
    from quantshift.sketches.sketch_table import is_sketch
    from quantshift.tables.formats import format_of
    from quantshift.tables.formats.parquet import PARQUET
    from quantshift.tables.reading import files_of

    merging = names[0] == MERGE
    inputs = names[1:] if merging else names
    if not inputs:
        raise UserError("name the sketches to merge")
    if format_of(out) not in (None, PARQUET):
        raise UserError(f"{out}: sketches are Parquet files; name it {out.with_suffix('.parquet')}")
    # A pattern must not match the sketch of the day before, which would be counted again.
    input_files = [file for name in inputs for file in files_of(name)]
    check_output(
        out, inputs=input_files, overwrite=overwrite, ours=is_sketch, endings=("parquet", "pq")
    )
    if merging:
        if columns.are_named or counting.are_given:
            raise UserError("merge takes only sketches: remove the options for tables")
        result = _merged(input_files)
    else:
        from quantshift.sketches.counting.making import sketch as make

        with (
            item_progress(Console(stderr=True)) as progress,
            warnings.catch_warnings(record=True, action="always", category=UserWarning) as caught,
        ):
            result = make(inputs, progress=progress, **as_keywords(columns, counting))
        for warning in caught:
            typer.echo(f"Warning  {warning.message}")
    result.save(out, overwrite=overwrite)
    _tell(result, out)


def _merged(files: Sequence[Any]) -> "Sketch":
    """The sketches of parts as one of the whole."""
    from quantshift.sketches.copies import first_copy
    from quantshift.sketches.sketch_table import load_sketch
    from quantshift.tables.reading import check_once

    check_once(files)
    first, *others = [load_sketch(file) for file in files]
    for file, other in zip(files[1:], others, strict=True):
        if other.about != first.about:
            raise DataError(
                f"{file} is not a sketch of the same columns as {files[0]}: make them with the "
                "same options"
            )
    copy = first_copy(first.about, [first.table, *(other.table for other in others)])
    if copy is not None:
        copies = f"{files[copy.first]} and {files[copy.second]} {copy}"
        if copy.is_certain:
            raise DataError(f"{copies}: their rows would be counted twice; name one of them")
        typer.echo(f"Warning  {copies}: if one is a copy, its rows are counted twice")
    return first.merge(*others)


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
    if result.is_exact:
        size += " as it is" if result.table.height == 1 else " as they are"
    typer.echo(f"sketch in {out}: {size}, {out.stat().st_size:,} bytes")


def _print_query(query: QueryOptions, columns: CountedColumns, *, counts_here: bool) -> None:
    from quantshift.sketches.counting.sql import sketch_sql

    if query.sql is None or query.table is None:
        raise UserError("a query counts a table in a database: name it", arguments=["table"])
    if counts_here:
        raise UserError(
            "the query is only printed: redirect the output to a file, and remove the tables and "
            "options for counting here",
            arguments=["out", "bins", "cluster"],
        )
    typer.echo(sketch_sql(query.sql, query.table, **as_keywords(columns)))
