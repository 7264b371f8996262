"""Tables that are named on the command line."""

from collections.abc import Sequence
from typing import Annotated

import typer

from quantshift.errors import UserError
from quantshift.tables.files.places import STANDARD_INPUT

JudgedTable = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A table with a verdict for every item: a file, a pattern such as 'part-*.csv', a "
        "folder of Parquet files, or - for standard input.",
    ),
]


def source(files: Sequence[str] | None) -> str | list[str] | None:
    """One file by itself, several as a list."""
    if not files:
        return None
    return files[0] if len(files) == 1 else list(files)


def check_standard_input(*files: object) -> None:
    """Refuse standard input for more than one table: it can be read only once."""
    tables = [name for file in files for name in (file if isinstance(file, list) else [file])]
    if tables.count(STANDARD_INPUT) > 1:
        raise UserError("only one table can come from standard input (-); name a file")
