"""Records as a data frame."""

from collections.abc import Iterable, Mapping
from typing import Any

from quantshift.base.forks import TABLE_THREADS


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
