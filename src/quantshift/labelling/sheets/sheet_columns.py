"""What a sheet says of itself: its plan, and each row's item, place and check.

A sheet comes back from a spreadsheet program sorted, with rows or columns missing, or with rows of
another sheet. Hence every row names the plan it is of, with the number of its rows, the item and
the place in the order of labelling, and its check covers them: a row in which they no longer go
together is rejected, and rows that were sorted are put back into the order of the plan.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from quantshift.errors import DataError

ITEM = "item"
"""Column of the items' row numbers in the sample, from 1."""
PLAN = "plan"
"""Column of the name of the plan, the same in all rows; it ends with the number of rows."""
PLACE = "place"
"""Column of the items' places in the order of labelling, from 1."""
CHECK = "check"
"""Column of two short digests: of the item's content, and of the other columns of this list."""
PROBABILITY = "probability"
"""Column of some sheets: with what probability the item was chosen."""

OWN = (ITEM, PLAN, PLACE, CHECK)

Texts: TypeAlias = Mapping[str, Sequence[str | None]]
"""Columns of texts by their names."""

_PLAN = re.compile(r"x[0-9a-f]{8}-([1-9][0-9]*)")
_CHECK = re.compile(r"(x[0-9a-f]{10})-([0-9a-f]{6})")


def named_plan(rows: Iterable[Sequence[str]]) -> str:
    """The name of a plan: a digest of its rows and their number.

    The leading x keeps programs from reading a number.
    """
    keys = ["\x1f".join(row) for row in rows]
    return f"x{_digest(keys, 4)}-{len(keys)}"


def row_check(content: str, plan: str, item: int, place: int, probability: str | None) -> str:
    """The check of a row. content: the digest of the item's content."""
    rounded = "" if probability is None else f"{float(probability):.6g}"
    return f"{content}-{_digest([plan, str(item), str(place), rounded], 3)}"


def content_of(check: str | None) -> str:
    """The digest of the item's content that is part of a check."""
    match = _CHECK.fullmatch(check or "")
    return match[1] if match else ""


def number_from_one(cell: str | None) -> int | None:
    """A whole number from 1, perhaps written as 1.0; None for anything else.

    >>> [number_from_one(cell) for cell in ("12", "3.0", "1.7", None)]
    [12, 3, None, None]
    """
    try:
        number = float(cell or "")
    except ValueError:
        return None
    return int(number) if number.is_integer() and number >= 1 else None


def in_the_table(name: str) -> str:
    """The name on a sheet of a column of the table that is called like one of the sheet's."""
    return f"{name} (in the table)"


def is_sheet(columns: Iterable[str], cells: Texts, own: Iterable[str]) -> bool:
    """Whether a table is a sheet, perhaps one of which columns are missing.

    columns: its names; cells: some rows of it; own: the columns of the table that it may have been
    drawn from, which can have a column `item` of its own.
    """
    names = set(columns)
    if not names.isdisjoint(map(in_the_table, (*OWN, PROBABILITY))):
        return True
    present = names.intersection(OWN)
    if len(present) == len(OWN) or ITEM in present.difference(own):
        return True
    return any(
        cell is not None and pattern.fullmatch(cell)
        for name, pattern in ((PLAN, _PLAN), (CHECK, _CHECK))
        for cell in cells.get(name, ())
    )


def places_in_plan(
    name: str, numbers: Sequence[int], cells: Texts, *, drawn_by: str, needed: Sequence[str]
) -> tuple[list[int], int]:
    """Places of the rows of a sheet in the order of its plan, and the number of rows of the plan.

    numbers: of the rows in the file, for messages. needed: the columns that the sheet was written
    with. A sheet that is not as it was drawn is an error.
    """
    missing = [column for column in needed if column not in cells]
    if missing:
        present = [column for column in OWN if column in cells]
        rename = _columns(present) if present else f"columns that end with '{in_the_table('')}'"
        raise DataError(
            f"{name}: a sheet of {drawn_by} without its {_columns(missing)}: restore "
            f"{'it' if len(missing) == 1 else 'them'} (hide columns instead of deleting them); if "
            f"it is no such sheet, rename its {rename}"
        )
    places = []
    first: tuple[int, str] | None = None
    probabilities = cells[PROBABILITY] if PROBABILITY in needed else [None] * len(numbers)
    rows = zip(numbers, *(cells[column] for column in OWN), probabilities, strict=True)
    for number, item, plan, place, check, probability in rows:
        if first is not None and plan != first[1]:
            raise DataError(
                f"{name}: row {number} is of another plan ({plan}) than row {first[0]} "
                f"({first[1]}): give the rows of one sheet of {drawn_by} at a time"
            )
        first = first or (number, plan)
        if not _goes_together(plan, item, place, check, probability):
            columns = ", ".join(needed)
            raise DataError(
                f"{name}: row {number}: the cells in the columns {columns} do not go together: "
                f"restore them as {drawn_by} wrote them"
            )
        places.append(number_from_one(place) or 0)
    return places, 0 if first is None else _n_rows(first[1])


def _columns(names: Sequence[str]) -> str:
    noun = "column" if len(names) == 1 else "columns"
    return f"{noun} {', '.join(map(repr, names))}"


def _goes_together(
    plan: str | None,
    item: str | None,
    place: str | None,
    check: str | None,
    probability: str | None,
) -> bool:
    content, row, position = content_of(check), number_from_one(item), number_from_one(place)
    if not content or plan is None or row is None or position is None or not _n_rows(plan):
        return False
    try:
        return row_check(content, plan, row, position, probability) == check
    except ValueError:
        return False


def _n_rows(plan: str) -> int:
    match = _PLAN.fullmatch(plan)
    return 0 if match is None else int(match[1])


def _digest(parts: Sequence[str], size: int) -> str:
    return hashlib.blake2b("\x1e".join(parts).encode(), digest_size=size).hexdigest()
