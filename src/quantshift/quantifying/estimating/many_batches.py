"""What several batches of one call are to each other: their order, and tests of all of them."""

import datetime
import re
from collections.abc import Sequence
from dataclasses import replace

from quantshift.quantifying.columns import NO_GROUP
from quantshift.quantifying.estimating.evidence import Evidence
from quantshift.statistics.multiple_tests import holm

_DIGITS = re.compile(r"\d+")

_DATE = re.compile(r"(?<!\d)(?:(\d\d?)([/.-])(\d\d?)\2(\d{4})|(\d\d)([/.-])(\d\d)\6(\d\d))(?!\d)")
"""A date that does not begin with a year of four digits."""

_ORDERS = ((2, 1, 0), (2, 0, 1), (0, 1, 2))
"""The places of year, month and day in such a date: day first, month first, year first."""


def in_sequence(names: Sequence[str]) -> bool:
    """Whether batches follow one another: their names are alike except for numbers or dates.

    >>> in_sequence(["2026-W09", "2026-W10"]), in_sequence(["week-9.csv", "week-10.csv"])
    (True, True)
    >>> in_sequence(["north", "south"]), in_sequence(["1", "north"])
    (False, False)
    >>> in_sequence(["01-02-2026", "28-01-2026"])
    False
    """
    named = [name for name in names if name != NO_GROUP]
    patterns = {_DIGITS.sub("0", name) for name in named}
    if len(names) < 2:
        return True
    return len(patterns) == 1 and "0" in patterns.pop() and _in_order_of_time(named)


def _in_order_of_time(names: Sequence[str]) -> bool:
    """Whether dates in the names follow one another, however day, month and year are told apart.

    Names without such dates do.
    """
    for order in _ORDERS:
        dates = [_date(name, order) for name in names]
        known = [date for date in dates if date is not None]
        if len(known) == len(dates) and known != sorted(known):
            return False
    return True


def _date(name: str, order: Sequence[int]) -> datetime.date | None:
    match = _DATE.search(name)
    if match is None:
        return None
    parts = [int(part) for part in match.groups() if part is not None and part.isdigit()]
    year, month, day = (parts[place] for place in order)
    try:
        return datetime.date(year if year > 99 else 2000 + year, month, day)
    except ValueError:
        return None


def compared_batches(names: Sequence[str]) -> frozenset[str]:
    """The batches that are compared with the one before: those of a sequence.

    Rows without a batch are not part of it.
    """
    return frozenset(names) - {NO_GROUP} if in_sequence(names) else frozenset()


def with_adjusted_p_values(found: Sequence[Evidence]) -> list[Evidence]:
    """The evidence on all batches, with p-values of the shift test adjusted for their number."""
    tested = [i for i, evidence in enumerate(found) if evidence.shift is not None]
    p_values = [evidence.shift.p_value for evidence in found if evidence.shift is not None]
    evidence_of = list(found)
    for i, p_adjusted in zip(tested, holm(p_values), strict=True):
        shift = evidence_of[i].shift
        assert shift is not None
        evidence_of[i] = replace(
            evidence_of[i], shift=replace(shift, p_adjusted=p_adjusted, n_tested=len(tested))
        )
    return evidence_of
