"""Columns of numbers with a decimal comma: 34,3 or, with dots between thousands, 1.234,5.

Commas are also written between thousands (1,234) and in lists of codes (1,2). A column is taken to
have decimal commas only if its cells allow no other reading.
"""

import polars as pl

COMMA, COMMA_AND_DOTS = "1234,5", "1.234,5"
"""How numbers are written."""

FORMS = {
    COMMA: r"^[+-]?[0-9]+(,[0-9]+)?$",
    COMMA_AND_DOTS: r"^[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)(,[0-9]+)?$",
}
NO_THOUSANDS = r"^[+-]?([0-9]+,([0-9]{1,2}|[0-9]{4,})|0[0-9]*,[0-9]+|[0-9.]*\.[0-9]{3},[0-9]+)$"
"""Numbers whose comma cannot stand between thousands."""

SOME, HALF = 0.05, 0.5
"""The smallest share of cells that cannot be thousands, and of cells with a comma."""

FEWEST_DISTINCT = 20
"""Fewer different cells may be codes or lists of codes."""


def comma_format(cells: pl.Series, most_odd: float) -> str | None:
    """How the strings are written if they are numbers with a decimal comma; otherwise None.

    most_odd: the largest number of cells that may be something else.
    """
    with_comma = cells.filter(cells.str.contains(",", literal=True))
    if len(with_comma) < max(HALF * len(cells), 1) or cells.n_unique() <= FEWEST_DISTINCT:
        return None
    if with_comma.str.contains(NO_THOUSANDS).sum() < SOME * len(with_comma):
        return None
    for format_, form in FORMS.items():
        if (~cells.str.contains(form)).sum() <= most_odd:
            return format_
    return None


def comma_numbers(cells: pl.Series, format_: str) -> pl.Series:
    """The strings as numbers; null where they are written in another way.

    >>> comma_numbers(pl.Series(["34,3", "1.234,5", "7", "2.5"]), COMMA_AND_DOTS).to_list()
    [34.3, 1234.5, 7.0, None]
    """
    words = cells.str.strip_chars()
    plain = words.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    fits = words.str.contains(FORMS[format_]).fill_null(False)
    return plain.set(~fits, None).cast(pl.Float64, strict=False)


def is_comma_number(cell: str) -> bool:
    """Whether a cell is a number with a decimal comma.

    >>> is_comma_number("34,3"), is_comma_number("1,234"), is_comma_number("a,5")
    (True, False, False)
    """
    return bool(pl.Series([cell.strip()]).str.contains(NO_THOUSANDS)[0])
