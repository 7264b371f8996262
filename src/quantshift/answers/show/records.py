"""The records of an answer, one for each batch and class, as a data frame and as CSV."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from quantshift.base.forks import TABLE_THREADS
from quantshift.base.storage.csv_text import csv_text
from quantshift.base.storage.files import head
from quantshift.tables.files.spreadsheet_cells import escaped

NAMES = ("series", "batch", "class")
"""Columns of names that come from the user's tables."""

_HEADER = re.compile(rb"(series,date,)?batch,items,\w+,class,estimate,low,high,")
"""How the tables that `as_csv` writes begin."""


def as_csv(records: Iterable[Mapping[str, Any]]) -> str:
    """A line for each record; names that a spreadsheet would take for formulas are escaped."""
    return csv_text(_lines(records))


def _lines(records: Iterable[Mapping[str, Any]]) -> Iterator[list[Any]]:
    for number, record in enumerate(records):
        if not number:
            yield list(record)
        yield [escaped(value) if name in NAMES else value for name, value in record.items()]


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
        import polars as pl

        TABLE_THREADS.use()
        return pl.DataFrame(columns, infer_schema_length=None)
    return pd.DataFrame(columns)
