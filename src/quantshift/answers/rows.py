"""How many rows of a table were used, and why others were not."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from quantshift.answers.findings import RowFindings
from quantshift.answers.text import headed, some
from quantshift.answers.words import shortened
from quantshift.claims.findings import Finding


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


def undecodable_cells(name: str, undecodable: int) -> Iterator[Finding]:
    """A finding if a table has cells that are not UTF-8."""
    if undecodable:
        yield RowFindings.UNDECODABLE_CELLS.found(table=name, n=undecodable)


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


def rows_left_out(rows: Rows) -> Iterator[Finding]:
    """A finding if rows were left out, except those left out on purpose."""
    reasons = {reason: n for reason, n in rows.left_out.items() if reason != NOT_DRAWN}
    n = sum(reasons.values())
    if n:
        is_much = n > MUCH * rows.read
        code = RowFindings.MANY_ROWS_LEFT_OUT if is_much else RowFindings.ROWS_LEFT_OUT
        yield code.found(table=rows.source, n=n, n_read=rows.read, reasons=reasons)


def much_left_out(findings: Iterable[Finding]) -> list[Finding]:
    """Those about tables of which so many rows were left out that it must come first."""
    return [f for f in findings if f.code is RowFindings.MANY_ROWS_LEFT_OUT]


def besides_rows(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that are not about rows left out, which are shown with their table."""
    about_rows = (RowFindings.ROWS_LEFT_OUT, RowFindings.MANY_ROWS_LEFT_OUT)
    return [finding for finding in findings if finding.code not in about_rows]
