"""Dates of a table: the formats in which they are written, and the numbers derived from them.

Dates are used by their parts: month and weekday as sine and cosine, the hour if there are times.
The day itself is a number only if the training dates span more than five years and are not sorted:
otherwise the days of every new batch would lie outside the range of training.
"""

import math
from collections.abc import Iterator

import polars as pl

from quantshift.tables.columns.written_dates import OTHER_FORMATS

DATE_FORMATS = ("%Y-%m-%d", *OTHER_FORMATS)
TIME_FORMATS = (
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.fZ",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
)

DAYS_OF_USE = 5 * 365.25
"""Dates that span more days than this are also used as a number."""

DAY, MONTH, WEEKDAY, HOUR = "day", "month", "weekday", "hour"


def date_format(words: pl.Series, most_odd: float) -> str | None:
    """The format in which all strings but at most `most_odd` are dates."""
    first = words.head(100)
    for format_ in (*DATE_FORMATS, *TIME_FORMATS):
        # The first cells are enough to reject most formats.
        if moments(first, format_).null_count() > max(most_odd, 0):
            continue
        if moments(words, format_).null_count() <= most_odd:
            return format_
    return None


def moments(column: pl.Series, format_: str | None) -> pl.Series:
    """The cells as dates or times; null where they are neither."""
    if column.dtype in (pl.Date, pl.Datetime):
        return column
    if column.dtype != pl.String:
        return pl.Series(column.name, [None] * len(column), dtype=pl.Date)
    words = column.str.strip_chars()
    if format_ is None:
        # Training read the dates from a file with types, this file has none.
        dates = pl.Series(column.name, [None] * len(column), dtype=pl.Datetime("us"))
        for iso in (DATE_FORMATS[0], *TIME_FORMATS):
            dates = dates.fill_null(moments(words, iso).cast(pl.Datetime("us")))
        return dates
    if format_ in DATE_FORMATS:
        return words.str.to_date(format_, strict=False)
    return words.str.to_datetime(format_, strict=False, time_unit="us")


def used_parts(dates: pl.Series) -> tuple[str, ...]:
    """The parts of training dates that are features."""
    parts = [MONTH, WEEKDAY]
    if dates.dtype == pl.Datetime:
        clock = dates.dt.hour().drop_nulls()
        if clock.n_unique() > 1:
            parts.append(HOUR)
    days = _days(dates).drop_nulls()
    if len(days):
        spread = float(days.max()) - float(days.min())  # type: ignore[arg-type]
        ordered = days.is_sorted() or days.is_sorted(descending=True)
        if spread > DAYS_OF_USE and not ordered:
            parts.append(DAY)
    return tuple(parts)


def names_of_parts(name: str, parts: tuple[str, ...]) -> list[str]:
    """The names of the columns of numbers that a column of dates becomes."""
    return [
        f"{name}: {part}{wave}"
        for part in parts
        for wave in ((" (sine)", " (cosine)") if part != DAY else ("",))
    ]


def parts_of(dates: pl.Series, name: str, parts: tuple[str, ...]) -> Iterator[pl.Series]:
    """The numbers derived from dates."""
    names = iter(names_of_parts(name, parts))
    for part in parts:
        if part == DAY:
            yield _days(dates).alias(next(names))
            continue
        clock = part == HOUR and dates.dtype == pl.Datetime
        if part == HOUR and not clock:
            turn = pl.Series([None] * len(dates), dtype=pl.Float64)
        elif part == HOUR:
            turn = dates.dt.hour().cast(pl.Float64) / 24
        elif part == MONTH:
            turn = (dates.dt.month().cast(pl.Float64) - 1) / 12
        else:
            turn = (dates.dt.weekday().cast(pl.Float64) - 1) / 7
        yield (turn * 2 * math.pi).sin().alias(next(names))
        yield (turn * 2 * math.pi).cos().alias(next(names))


def _days(dates: pl.Series) -> pl.Series:
    """Days since 1970."""
    return dates.dt.epoch("s").cast(pl.Float64) / 86_400
