"""How many rows of a table were used, and why others were not."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from quantshift.answers.text import headed, some
from quantshift.answers.words import shortened
from quantshift.base.nouns import counted


@dataclass(frozen=True)
class Rows:
    """How many rows of a table were read and used: read == used + all that were left out.

    left_out: the number of rows left out for each reason ("no label", "too many or too few cells").
    """

    source: str
    read: int
    used: int
    left_out: Mapping[str, int]


NO_LABEL, NO_CONTENT, RAGGED = "no label", "no content", "too many or too few cells"
"""Why rows are left out."""

NOT_DRAWN = "not drawn at random from a long table"
"""Why rows of a long table are left out."""

MUCH = 0.1
"""If a larger share of rows is left out, this is reported first."""


def undecodable_warning(name: str, undecodable: int) -> Iterator[str]:
    """A warning about cells that are not UTF-8."""
    if undecodable:
        yield (
            f"{name}: {counted(undecodable, 'cell')} with characters that are not UTF-8 and were "
            "replaced; save the file as UTF-8"
        )


def rows_text(rows: Rows) -> str:
    """How many rows of a table were read, used and left out."""
    read = f"{shortened(rows.source)}: {rows.read:,} read"
    if not rows.read:
        return f"{shortened(rows.source)}: no rows"
    if rows.read == rows.used:
        return f"{read}, all used"
    reasons = ", ".join(f"{reason}: {n:,}" for reason, n in rows.left_out.items())
    return f"{read}, {rows.used:,} used ({reasons})"


def rows_of_tables(tables: Iterable[Rows]) -> Iterator[str]:
    """How many rows of each table were read, used and left out."""
    # Only some of many tables are shown, so those with left-out rows come first.
    incomplete_first = sorted(tables, key=lambda rows: rows.read == rows.used)
    yield from headed("Rows", some(map(rows_text, incomplete_first)))


def row_warnings(rows: Rows) -> Iterator[str]:
    """Warnings about rows that were left out, except those left out on purpose."""
    reasons = {reason: n for reason, n in rows.left_out.items() if reason != NOT_DRAWN}
    n = sum(reasons.values())
    if n:
        counts = ", ".join(f"{reason}: {count:,}" for reason, count in reasons.items())
        yield f"{rows.source}: {n:,} of {rows.read:,} rows were left out ({counts})"


def besides_rows(warnings: Iterable[str], tables: Iterable[Rows]) -> list[str]:
    """The warnings that are not about rows left out, which are shown with their table."""
    about_rows = {warning for rows in tables for warning in row_warnings(rows)}
    return [warning for warning in warnings if warning not in about_rows]


def much_left_out(tables: Iterable[Rows]) -> Iterator[str]:
    """Warnings about the tables of which so many rows were left out that it must come first."""
    for rows in tables:
        if is_much(rows):
            yield from row_warnings(rows)


def is_much(rows: Rows) -> bool:
    """Whether so many rows were left out that this must be reported first."""
    n = sum(count for reason, count in rows.left_out.items() if reason != NOT_DRAWN)
    return n > MUCH * rows.read
