"""pyarrow, where it and polars are installed: tables are also read without, more slowly."""

import importlib
import sys
from functools import cache
from typing import Any


@cache
def installed_arrow() -> Any:
    """The package pyarrow; None where it, or polars, which works on its tables, is missing."""
    try:
        importlib.import_module("polars")
        return importlib.import_module("pyarrow")
    except ModuleNotFoundError:
        return None


def with_arrow_errors(*others: type[BaseException]) -> tuple[type[BaseException], ...]:
    """These errors and those of pyarrow, to be caught; it raises none before it is imported."""
    arrow: Any = sys.modules.get("pyarrow")
    return others if arrow is None else (*others, arrow.ArrowException)
