"""Numbers written in ways that are not read, and how to write them instead.

A column of such cells looks like one of names. If it is left out for that reason, the reason says
what its cells look like.
"""

from typing import NamedTuple

import polars as pl

NEARLY_ALL = 0.8
"""The share of cells that must be numbers, written in the usual way or in odd ones."""

SOME = 0.02
"""The smallest share of cells in an odd way of writing that is named."""

MOST_NAMED = 2
"""The most ways of writing that are named."""

_PLAIN = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_GROUPED = "[0-9]{1,3}([,.'’ \u00a0\u202f\u2009][0-9]{3})+([.,][0-9]+)?"
_AMOUNT = rf"({_GROUPED}|[0-9]+([.,][0-9]+)?)"
_MONEY = (
    r"([$€£¥₹₽₩]|(?i:AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|INR|JPY|KRW|MXN|NOK|PLN|RUB|SEK|TRY|"
    r"USD|ZAR|kr|zł|fr)\.?)"
)


class Form(NamedTuple):
    """A way of writing numbers: its pattern, what they are, an example, how to write it instead."""

    pattern: str
    content: str
    example: str
    cure: str


FORMS = (
    Form(rf"^[+-]?{_GROUPED}$", "numbers with thousands separators", "1,234", "1234"),
    Form(rf"^[+-]?{_AMOUNT}\s?%$", "percentages", "12.5%", "12.5"),
    Form(
        rf"^[+-]?\s?{_MONEY}\s?[+-]?{_AMOUNT}$|^[+-]?{_AMOUNT}\s?{_MONEY}$",
        "amounts with the sign of a currency",
        "$12.50",
        "12.50",
    ),
    Form(
        rf"^[\x{{2212}}\x{{2010}}-\x{{2015}}\x{{FF0D}}]\s?{_AMOUNT}$",
        "numbers with a typographic minus",
        "\u22125",
        "-5",
    ),
    Form(rf"^\({_MONEY}?\s?{_AMOUNT}\)$", "negative numbers in brackets", "(12)", "-12"),
    Form(r"^[+-]?[0-9]+(_[0-9]+)+(\.[0-9]+)?$", "numbers with underscores", "1_000", "1000"),
    Form(
        r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)[dD][+-]?[0-9]+$",
        "numbers with exponents as in Fortran",
        "1.5D+03",
        "1.5e+03",
    ),
    Form(
        r"^[+-]?[\d.,\x{66B}\x{66C}]*[\p{Nd}--[0-9]][\d.,\x{66B}\x{66C}]*$",
        "numbers in other digits than 0 to 9",
        "\u0661\u0662",
        "12",
    ),
    Form(r"^#[A-Z/0]+[!?]?$", "numbers and errors of a spreadsheet", "#N/A", "an empty cell"),
)


def why_not_numbers(cells: pl.Series) -> str | None:
    """Why strings (none missing) that are numbers are not read as such; None if they are not.

    >>> why_not_numbers(pl.Series([f"{n},000" for n in range(100, 199)] + ["no"]))
    '99% of the cells look like numbers with thousands separators (1,234); write 1,234 as 1234'
    """
    words = cells.str.strip_chars()
    is_number = words.str.contains(_PLAIN)
    counts = {}
    for form in FORMS:
        is_odd = words.str.contains(form.pattern) & ~is_number
        is_number = is_number | is_odd
        counts[form] = int(is_odd.sum())
    share = int(is_number.sum()) / max(len(cells), 1)
    frequent = [form for form in FORMS if counts[form] > SOME * len(cells)]
    if share < NEARLY_ALL or not frequent:
        return None
    forms = sorted(frequent, key=lambda form: -counts[form])[:MOST_NAMED]
    contents = " or ".join(f"{form.content} ({form.example})" for form in forms)
    cures = " and ".join(f"{form.example} as {form.cure}" for form in forms)
    how_many = "all cells" if share == 1 else f"{share:.0%} of the cells"
    return f"{how_many} look like {contents}; write {cures}"


def form_of(cell: str) -> Form | None:
    """The odd way in which a number is written; None if it is not one.

    >>> form_of("12 %").cure, form_of("12")
    ('12.5', None)
    """
    words = pl.Series([cell.strip()])
    return next((form for form in FORMS if words.str.contains(form.pattern)[0]), None)
