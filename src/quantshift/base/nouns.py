"""Numbers with their nouns, shares in percent and lists of names, for messages."""

from collections.abc import Sequence

RARE = 0.01
"""Shares below this get a second decimal."""

MOST_NAMED = 6
"""The most names of batches, labels or columns in a line; the others are counted."""


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """The number with its noun.

    plural: for a noun whose plural does not end in s or es.

    >>> counted(1, "cell"), counted(1200, "cell"), counted(0, "class"), counted(2, "axis", "axes")
    ('1 cell', '1,200 cells', '0 classes', '2 axes')
    """
    several = plural or (f"{noun}es" if noun.endswith("s") else f"{noun}s")
    return f"{count:,} {noun if count == 1 else several}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names as a part of a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def first_names(names: Sequence[str], most: int = MOST_NAMED, *, of: int | None = None) -> str:
    """The first names, and how many more there are. of: how many there are, if not all are given.

    >>> first_names(list("abcdefgh"))
    'a, b, c, d, e, f and 2 more'
    """
    n_more = (len(names) if of is None else of) - most
    text = ", ".join(names[:most])
    return f"{text} and {n_more:,} more" if n_more > 0 else text


def percent(share: float) -> str:
    """A share as a percentage with one decimal, or two where it is below one percent.

    >>> percent(0.4167), percent(0.0052)
    ('41.7%', '0.52%')
    """
    return f"{100 * share:.{2 if 0 < share < RARE else 1}f}%"


def whole_percent(share: float, digits: int | None = None) -> str:
    """A share in whole percent; below 1% with one decimal.

    >>> whole_percent(0.123), whole_percent(0.004), whole_percent(0.0)
    ('12%', '0.4%', '0%')
    """
    if digits is None:
        digits = 1 if 0 < share < 0.01 else 0
    return f"{100 * share:.{digits}f}%"


def short_number(number: float) -> str:
    """A number with four digits, or with all of those before the point.

    >>> short_number(41.23456), short_number(0.5), short_number(123456.7)
    ('41.23', '0.5', '123,457')
    """
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}"
