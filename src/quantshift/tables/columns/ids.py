"""Columns that number or name the rows: row numbers, counters and ids.

Integers are ids if the column's name says so, or if no value occurs twice although some should by
chance: n numbers drawn from a range of r have about n * n / 2r equal pairs, more if they are not
spread evenly. Salaries and populations have such pairs; numbers that were assigned one by one have
none.
"""

import re

import polars as pl

MOST_DISTINCT = 0.9
"""Strings with a larger share of different values are names or ids of the rows."""

FEWEST_DISTINCT = 20
"""Up to this many different values are not ids, whatever their share."""

NAMED_DISTINCT = 0.1
"""The share of different values from which a column whose name says id is treated as one."""

NEARLY_ALL = 0.95
"""The share of different numbers from which they may be ids, whatever the column's name."""

PAIRS_BY_CHANCE = 10
"""Only if at least this many equal pairs are expected does their absence indicate ids."""

LONG_NUMBER = 8
"""Different integers that all have at least this many digits are ids."""

_ID_NAME = re.compile(
    r"(?:(?:^|[\W_])(?:id|ids|ID|Id|key|Key|uuid|UUID|guid|GUID)|[a-z](?:Id|ID|Key)|"
    r"(?i:account|case|client|customer|employee|item|member|order|patient|person|product|record|"
    r"row|session|transaction|user)(?i:id))$"
)
_NUMBER_NAME = re.compile(
    r"(?:(?:^|[\W_])(?i:nr|no|num|number|index)|[a-z](?:Nr|No|Number|Index))$"
)


def why_names_are_ids(names: pl.Series) -> str | None:
    """Why the strings of a column (none missing) name the rows; None if they do not."""
    distinct = names.n_unique()
    share = _distinct_of_ids(names.name, MOST_DISTINCT)
    if distinct > max(FEWEST_DISTINCT, share * len(names)):
        return f"{distinct:,} different values in {len(names):,} rows, like names or ids"
    return None


def why_numbers_are_ids(numbers: pl.Series) -> str | None:
    """Why numbers (none missing) are row numbers, counters or ids; None if they are not."""
    n, distinct = len(numbers), numbers.n_unique()
    if not numbers.dtype.is_integer() or n <= FEWEST_DISTINCT:
        return None
    steps = numbers.cast(pl.Float64).diff().drop_nulls()
    if (steps > 0).all() or (steps < 0).all():
        by_one = (steps.abs() == 1).all()
        return "row numbers" if by_one else "a counter: it only rises or only falls from row to row"
    share = _distinct_of_ids(numbers.name, 1.0)
    if distinct > max(FEWEST_DISTINCT, share * n):
        return f"{distinct:,} different numbers in {n:,} rows, and its name says it is an id"
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    by_chance = n * (n - 1) / 2 / (high - low + 1)
    nearly_all = distinct > NEARLY_ALL * n
    if nearly_all and by_chance >= PAIRS_BY_CHANCE and n - distinct <= 0.1 * by_chance:
        return f"{distinct:,} different numbers in {n:,} rows, like ids"
    n_digits = len(str(int(low)))
    if distinct == n and low >= 10 ** (LONG_NUMBER - 1) and n_digits == len(str(int(high))):
        return f"{distinct:,} different numbers of {n_digits} digits, like ids"
    return None


def _distinct_of_ids(name: str, otherwise: float) -> float:
    """The share of different values above which a column of this name is an id."""
    if _ID_NAME.search(name):
        return NAMED_DISTINCT
    return min(MOST_DISTINCT, otherwise) if _NUMBER_NAME.search(name) else otherwise
