"""The records of an answer, one for each batch and class, as a data frame and as CSV."""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from quantshift.base.forks import TABLE_THREADS
from quantshift.base.imports import extra_needed
from quantshift.base.storage.files import head
from quantshift.tables.spreadsheet_cells import escaped

NAMES = ("series", "batch", "class")
"""Columns of names that come from the user's tables."""

_HEADER = re.compile(rb"(series,date,)?batch,items,\w+,class,estimate,low,high,")
"""How the tables that `as_csv` writes begin."""


def as_csv(records: Iterable[Mapping[str, Any]]) -> str:
    """A line for each record; names that a spreadsheet would take for formulas are escaped."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, record in enumerate(records):
        if not number:
            writer.writerow(record)
        writer.writerow(
            escaped(value) if name in NAMES else value for name, value in record.items()
        )
    return text.getvalue()


def is_answer_csv(path: Path) -> bool:
    """Whether `as_csv` made this file."""
    return _HEADER.match(head(path)) is not None


def as_frame(records: Iterable[Mapping[str, Any]]) -> Any:
    """Rows with the same columns as a data frame: pandas if it is installed, otherwise polars."""
    rows = list(records)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    try:
        import pandas as pd
    except ImportError:
        with extra_needed("data frames"):
            import polars as pl

        TABLE_THREADS.use()
        return pl.DataFrame(columns, infer_schema_length=None)
    return pd.DataFrame(columns)
