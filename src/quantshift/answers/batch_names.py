"""The names of batches: their order, and whether they follow one another."""

import datetime
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from quantshift.answers.words import shortened
from quantshift.tables.columns.names import NO_NAME, natural
from quantshift.tables.columns.written_dates import dates_of_names
from quantshift.tables.reading import OpenTable

NO_GROUP = NO_NAME
"""The batch of the rows whose cell in the column of batches is empty."""


class HasName(Protocol):
    """What has the name of a batch."""

    @property
    def name(self) -> str:
        """The name."""
        ...


AnyBatch = TypeVar("AnyBatch", bound=HasName)


def title_of(table: OpenTable) -> str:
    """The name of the batch of a table: the last part of its path."""
    return Path(table.name).name


def batches_in_order(names: Iterable[str]) -> list[str]:
    """The names of batches in their order: that of time if all are dates, else `in_batch_order`.

    >>> batches_in_order(["01/02/2026", "28/01/2026"]), batches_in_order(["b", "10", "9"])
    (['28/01/2026', '01/02/2026'], ['9', '10', 'b'])
    """
    distinct = list(dict.fromkeys(names))
    names_in_time = {name: name for name in distinct}
    names_in_time |= dates_of_names(name for name in distinct if name != NO_GROUP)
    return sorted(distinct, key=lambda name: in_batch_order(names_in_time[name]))


def in_batch_order(name: str) -> tuple[object, ...]:
    """A sort key for the names of batches: numbers by their value, before words; gaps are last."""
    if name == NO_GROUP:
        return 2, 0.0, ()
    try:
        value = float(name)
    except ValueError:
        value = math.nan
    return (0, value, ()) if math.isfinite(value) else (1, 0.0, natural(name))


_DIGITS = re.compile(r"\d+")

_DATE = re.compile(r"(?<!\d)(?:(\d\d?)([/.-])(\d\d?)\2(\d{4})|(\d\d)([/.-])(\d\d)\6(\d\d))(?!\d)")
"""A date that does not begin with a year of four digits."""

_ORDERS = ((2, 1, 0), (2, 0, 1), (0, 1, 2))
"""The positions of year, month and day in such a date: day first, month first, year first."""


def in_sequence(names: Sequence[str]) -> bool:
    """Whether batches follow one another: their names are alike except for numbers or dates.

    >>> in_sequence(["2026-W09", "2026-W10"]), in_sequence(["week-9.csv", "week-10.csv"])
    (True, True)
    >>> in_sequence(["north", "south"]), in_sequence(["1", "north"])
    (False, False)
    >>> in_sequence(["01-02-2026", "28-01-2026"])
    False
    """
    with_names = [name for name in names if name != NO_GROUP]
    patterns = {_DIGITS.sub("0", name) for name in with_names}
    if len(names) < 2:
        return True
    return len(patterns) == 1 and "0" in patterns.pop() and _in_order_of_time(with_names)


def _in_order_of_time(names: Sequence[str]) -> bool:
    """Whether dates in the names follow one another, in whatever order day, month and year are.

    Names without such dates count as following one another.
    """
    for order in _ORDERS:
        dates = [_date(name, order) for name in names]
        complete = [date for date in dates if date is not None]
        if len(complete) == len(dates) and complete != sorted(complete):
            return False
    return True


def _date(name: str, order: Sequence[int]) -> datetime.date | None:
    match = _DATE.search(name)
    if match is None:
        return None
    parts = [int(part) for part in match.groups() if part is not None and part.isdigit()]
    year, month, day = (parts[position] for position in order)
    try:
        return datetime.date(year if year > 99 else 2000 + year, month, day)
    except ValueError:
        return None


def compared_batches(names: Sequence[str]) -> frozenset[str]:
    """The batches that are compared with the one before: those of a sequence.

    Rows without a batch are not part of a sequence.
    """
    return frozenset(names) - {NO_GROUP} if in_sequence(names) else frozenset()


def newest_batch(batches: Sequence[AnyBatch]) -> AnyBatch:
    """The last batch; rows without a batch are not the newest."""
    with_names = [batch for batch in batches if batch.name != NO_GROUP]
    return (with_names or batches)[-1]


def newest_name(batches: Sequence[HasName]) -> str:
    """The name of the newest batch, and of how many it is the last."""
    others = f" (last of {len(batches):,} batches)" if len(batches) > 1 else ""
    return f"{shortened(newest_batch(batches).name)}{others}"
