"""Parts of an answer as text for a terminal: tables of shares, headed lines, lists of names."""

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len

from quantshift.answers.kinds import limits_head
from quantshift.answers.merging import merged, unless_about_all
from quantshift.answers.shares import Answer, HasClasses, Share, SharesOfBatch, headline_share
from quantshift.answers.words import estimates_and_limits, limits, shortened, some_names
from quantshift.base.nouns import counted, percent
from quantshift.claims import Kind
from quantshift.claims.findings import Finding, Severity

BAR = 24
"""Characters of a bar for 100%."""

MOST_LINES = 8
"""The most lines of one kind; the rest are counted, and the JSON has all of them."""

LONGEST_LABEL = 30
LONGEST_COLUMN = 24
"""Longer names of classes and columns are shortened in the middle."""


def estimate_in_a_line(result: Answer, batch: SharesOfBatch, *, weighted: str = "") -> str:
    """The share of the headline class in a batch, in one line.

    weighted: how items count, if they do not all count the same, as the end of a clause.
    """
    share = headline_share(result, batch)
    lead = shown(result, share.label)
    of_items = f"of the {counted(batch.n_items, 'item')} in {shortened(batch.name)}{weighted}"
    if share.either:
        first, second = (f"{limits(c.low, c.high)}, {c.condition}" for c in share.either)
        found, condition = first.split(", ", 1)
        return f"{lead}: {found} {of_items}, {condition}; or {second}"
    kind, bounds = batch.grounds_of(share.label).kind, limits(share.low, share.high)
    if kind is Kind.RANGE:
        return f"{lead}: {bounds} {of_items} (a range, not a confidence interval)"
    return (
        f"{lead}: {estimate_text(share)} {of_items}{conditionally(batch)} "
        f"({limits_head(kind, result.level)} {bounds})"
    )


def conditionally(batch: SharesOfBatch) -> str:
    """The condition of an answer, as the end of a clause; empty if there is none."""
    return f", {batch.condition}" if batch.condition else ""


def shown(result: HasClasses, label: str) -> str:
    """The displayed name of a class."""
    return shortened(result.names.get(label, label), LONGEST_LABEL)


def estimate_text(share: Share) -> str:
    """The estimate as a percentage, or a question mark."""
    return "?" if share.estimate is None else percent(share.estimate)


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table, with all columns but the first and last aligned to the right.

    >>> print("\\n".join(aligned([["a", "1", "x"], ["bb", "10", ""]])))
    a    1  x
    bb  10
    """
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            _padded(cell, width, right=0 < i < len(row) - 1)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def share_table(
    result: Answer, shares: Sequence[Share], kind: Kind = Kind.INTERVAL
) -> Iterator[str]:
    """The shares with their limits, and a bar for each."""
    names = [shown(result, share.label) for share in shares]
    texts = estimates_and_limits(shares)
    width = max(map(cell_len, names))
    estimate_width = max(6, *(len(estimate) for estimate, _ in texts))
    limits_width = max(13, *(len(bounds) for _, bounds in texts))
    head = limits_head(kind, result.level)
    yield f"  {'':{width}}  {'share':>{estimate_width}}  {head:>{limits_width}}"
    for name, share, (estimate, bounds) in zip(names, shares, texts, strict=True):
        cells = f"{_padded(name, width)}  {estimate:>{estimate_width}}  {bounds:>{limits_width}}"
        yield f"  {cells}  {_bar(share)}"


def _bar(share: Share) -> str:
    """The share as a bar, the interval as a lighter end; or two intervals.

    >>> _bar(Share("x", 0.5, 0.25, 0.75))
    '██████▒▒▒▒▒▒▒▒▒▒▒▒······'
    """
    if share.either:
        bars = [range_bar(part.low, part.high) for part in share.parts]
        return "".join("▒" if "▒" in cells else "·" for cells in zip(*bars, strict=True))
    low, high = round(share.low * BAR), round(share.high * BAR)
    return "█" * low + "▒" * (high - low) + "·" * (BAR - high)


def range_bar(low: float, high: float) -> str:
    """A range as a part of a line from 0 to 100%.

    >>> range_bar(0.25, 0.75)
    '······▒▒▒▒▒▒▒▒▒▒▒▒······'
    """
    start = min(round(low * BAR), BAR - 1)
    end = max(round(high * BAR), start + 1)
    return "·" * start + "▒" * (end - start) + "·" * (BAR - end)


def headed(head: str, lines: Iterable[str]) -> Iterator[str]:
    """The lines, indented, with a heading before the first."""
    for i, line in enumerate(lines):
        yield f"{head if i == 0 else '':9}{line.strip()}"


def some(lines: Iterable[str]) -> Iterator[str]:
    """The first lines, and how many more there are."""
    all_lines = list(lines)
    yield from all_lines[:MOST_LINES]
    if len(all_lines) > MOST_LINES:
        yield more_lines(len(all_lines) - MOST_LINES)


def finding_lines(findings: Iterable[Finding], n_batches: int) -> Iterator[str]:
    """Warnings and then notes: what is found once, with the batches that it is about."""
    found = list(findings)
    for head, severity in (("Warning", Severity.WARNING), ("Note", Severity.NOTE)):
        chosen = (finding for finding in found if finding.severity is severity)
        yield from some(f"{head:9}{line}" for line in merged(chosen, n_batches))


def warning_in_short(findings: Iterable[Finding], n_batches: int) -> Iterator[str]:
    """The first warning, and how many more there are."""
    warnings = merged((f for f in findings if f.severity is Severity.WARNING), n_batches)
    yield from (f"Warning  {line}" for line in warnings[:1])
    if len(warnings) > 1:
        yield f"         and and {counted(len(warnings) - 1, 'more warning')}"


def labelled_lines(findings: Iterable[Finding], n_labels: int) -> Iterator[str]:
    """Warnings and then notes, with the labels that they are about unless all."""
    found = list(findings)
    for head, severity in (("Warning", Severity.WARNING), ("Note", Severity.NOTE)):
        chosen = (finding for finding in found if finding.severity is severity)
        yield from some(f"{head:9}{line}" for line in unless_about_all(chosen, n_labels))


def more_lines(n: int) -> str:
    """The line that says how many lines are not shown."""
    return f"         ... and {n:,} more; the JSON has all"


def column_names(names: Sequence[str]) -> str:
    """The first names of columns, shortened, and how many more there are."""
    return some_names(names, LONGEST_COLUMN)


def _padded(text: str, width: int, *, right: bool = False) -> str:
    space = " " * (width - cell_len(text))
    return space + text if right else text + space
