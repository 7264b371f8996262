"""TODO."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from quantshift.tables.columns.kinds import names_of

MISSING_LABELS = ("NA", "N/A", "NaN", "NULL", "null", "None", "nan")
"""Cells that mean no label, in addition to empty ones."""


def label_names(column: pl.Series, missing: Sequence[str] | None = None) -> pl.Series:
    """Labels as strings, independent of the file format; null if missing.

    >>> label_names(pl.Series(["1.0", "1", " yes", "NA", ""])).to_list()
    ['1', '1', 'yes', None, None]
    """
    if column.dtype == pl.Boolean:
        names = column.replace_strict({True: "True", False: "False"}, return_dtype=pl.String)
    else:
        names = names_of(column)
    missing_names = list(MISSING_LABELS if missing is None else (m.strip() for m in missing))
    return names.set(names.is_in(missing_names).fill_null(False), None)


def label_name(value: Any) -> str | None:
    """One label as `label_names` writes it.

    >>> label_name(1.0), label_name("N/A")
    ('1', None)
    """
    name = label_names(pl.Series([value], strict=False))[0]
    return None if name is None else str(name)
