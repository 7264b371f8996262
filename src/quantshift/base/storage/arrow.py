"""Errors of pyarrow, which is imported when a table is read."""

import sys
from typing import Any


def with_arrow_errors(*others: type[BaseException]) -> tuple[type[BaseException], ...]:
    """These errors and those of pyarrow, to be caught; it raises none before it is imported."""
    arrow: Any = sys.modules.get("pyarrow")
    return others if arrow is None else (*others, arrow.ArrowException)
