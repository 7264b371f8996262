"""How the dates of a column are written: as in ISO 8601, or all in another format.

Whether 03/04/2026 is in March or in April is decided by all cells together.
"""

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FIRST_YEAR = 1000
"""Earlier years are years of two digits."""

ISO = "YYYY-MM-DD"
DAY_FIRST, MONTH_FIRST = "%d/%m/%Y", "%m/%d/%Y"
OTHER_FORMATS = ("%Y/%m/%d", DAY_FIRST, MONTH_FIRST, "%d.%m.%Y")
"""Formats of dates other than that of ISO 8601."""


@dataclass(frozen=True)
class DateFormats:
    """What the cells of a column say about the format of its dates.

    best: the format that most cells have. wrong: the row and the content of the first cell that
    does not have it. unclear: those of the first cell that may be one of two dates, if the format
    is not decided.
    """

    best: str
    wrong: tuple[int, str] | None
    unclear: tuple[int, str] | None

    @property
    def decided(self) -> str | None:
        """The format of all cells, other than that of ISO; None if there is none."""
        if self.best == ISO or self.wrong is not None or self.unclear is not None:
            return None
        return self.best


def dates_of_names(names: Iterable[str]) -> dict[str, str]:
    """The names of batches that are dates, as in ISO 8601; empty unless all have one format.

    >>> dates_of_names(["01/02/2026", "28/01/2026"])
    {'01/02/2026': '2026-02-01', '28/01/2026': '2026-01-28'}
    >>> dates_of_names(["01/02/2026", "02/01/2026"]), dates_of_names(["north", "south"])
    ({}, {})
    """
    cells = list(names)
    format_ = date_formats([(1, cells)]).decided
    dates = {} if format_ is None else dates_in(cells, format_)
    return {name: date.isoformat() for name, date in dates.items() if date is not None}


def date_formats(parts: Iterable[tuple[int, Sequence[Any]]]) -> DateFormats:
    """The format of the dates in a column, given as its parts and the number of their first row."""
    formats = (ISO, *OTHER_FORMATS)
    n_wrong: Counter[str] = Counter()
    wrong_at: dict[str, tuple[int, str]] = {}
    unclear: tuple[int, str] | None = None
    for first, cells in parts:
        dates = {format_: dates_in(cells, format_) for format_ in formats}
        for format_ in formats:
            wrong = first_wrong(cells, dates[format_])
            if wrong is not None:
                format_dates = dates[format_]
                n_wrong[format_] += sum(c is not None and format_dates[c] is None for c in cells)
                wrong_at.setdefault(format_, (first + wrong, cells[wrong]))
        by_day, by_month = dates[DAY_FIRST], dates[MONTH_FIRST]
        for row, cell in enumerate(cells) if unclear is None else ():
            both = cell is not None and by_day[cell] is not None and by_month[cell] is not None
            if both and by_day[cell] != by_month[cell]:
                unclear = first + row, cell
                break
    best = min(formats, key=lambda format_: n_wrong[format_])
    is_decided = bool(n_wrong[DAY_FIRST] or n_wrong[MONTH_FIRST])
    return DateFormats(best, wrong_at.get(best), None if is_decided else unclear)


def dates_in(cells: Iterable[Any], format_: str) -> dict[Any, datetime.date | None]:
    """The date of each different cell, in their order; None if it is not one in this format."""
    values = dict.fromkeys(cell for cell in cells if cell is not None)
    texts = [] if format_ == ISO else [value for value in values if isinstance(value, str)]
    written = _written_dates(texts, format_)
    return {v: written[v] if v in written else _iso_date(v) for v in values}


def _written_dates(texts: Sequence[str], format_: str) -> dict[str, datetime.date | None]:
    if not texts:
        return {}
    import polars as pl

    words = pl.Series(texts, dtype=pl.String).str.strip_chars()
    dates = words.str.to_date(format_, strict=False).to_list()
    pairs = zip(texts, dates, strict=True)
    return {text: date if date and date.year >= FIRST_YEAR else None for text, date in pairs}


def first_wrong(cells: Sequence[Any], dates: Mapping[Any, datetime.date | None]) -> int | None:
    """The position of the first cell that is not missing and not a date."""
    # Different cells are in the order in which they occur.
    wrong = next((value for value, date in dates.items() if date is None and value == value), None)
    return None if wrong is None else cells.index(wrong)


def _iso_date(value: Any) -> datetime.date | None:
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    if isinstance(value, float) and math.isnan(value):
        return None
    try:
        return datetime.datetime.fromisoformat(str(value).strip()).date()
    except ValueError:
        return None
