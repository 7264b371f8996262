"""A quantification as text for a terminal and as JSON for machines."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from quantshift.own_data.result import FORMAT, Batch, Quantification, Share
from quantshift.own_data.words import headline, held_by, limits, percent

BAR = 24
"""Characters of the bar that stands for all items."""

MOST_CLASSES_IN_A_ROW = 6
"""With more classes a table of batches would be too wide: the headline class stands for all."""


def render_json(result: Quantification) -> str:
    """The quantification as JSON; `format` tells the version of its layout."""
    return json.dumps({"format": FORMAT, **asdict(result)}, indent=2, ensure_ascii=False)


def render_text(result: Quantification) -> str:
    """What a terminal shows."""
    lines: list[str] = []
    if len(result.batches) == 1:
        lines += _single(result, result.batches[0])
    else:
        lines += _several(result)
    lines += ["", *_method(result)]
    lines += [f"Warning  {warning}" for warning in result.warnings]
    return "\n".join(lines)


def _single(result: Quantification, batch: Batch) -> Iterator[str]:
    yield f"{batch.name}: {_items(batch.n_items)}"
    yield ""
    yield from _shares(batch.shares, result.level)
    if batch.audit is not None:
        audit = batch.audit
        yield ""
        yield f"Audited  with {audit.n_labelled} labels; counting them alone gives:"
        yield from _shares(audit.counted, result.level)
        yield f"         the method alone ({result.method}) gives:"
        yield from _shares(batch.unaudited, result.level)
    yield ""
    yield f"Shift    {batch.verdict}"
    for advice in batch.advice:
        yield f"Next     {advice}"
    for warning in batch.warnings:
        yield f"Warning  {warning}"


def _several(result: Quantification) -> Iterator[str]:
    labels = result.classes if 2 < len(result.classes) <= MOST_CLASSES_IN_A_ROW else ()
    shown = labels or (headline(result.classes),)
    rows = [["batch", "items", *(f"{label}" for label in shown), f"{headline(shown)} interval", ""]]
    for batch in result.batches:
        shares = {share.label: share for share in batch.shares}
        lead = shares[headline(shown)]
        rows.append(
            [
                batch.name,
                str(batch.n_items),
                *(_estimate(shares[label]) for label in shown),
                limits(lead.low, lead.high),
                ", ".join(marks(batch)),
            ]
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [
            c.rjust(w) if 0 < i < len(row) - 1 else c.ljust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
    yield ""
    if any("shift" in marks(batch) for batch in result.batches):
        yield "Note     by chance alone one batch in twenty is marked `shift`"
    for batch in result.batches:
        if batch.shift is not None and batch.shift.rejected:
            yield f"Shift    {batch.name}: {batch.verdict}"
    for advice in dict.fromkeys(a for batch in result.batches for a in batch.advice):
        yield f"Next     {advice}"
    for batch in result.batches:
        for warning in batch.warnings:
            yield f"Warning  {batch.name}: {warning}"


def marks(batch: Batch) -> list[str]:
    """What stands out about a batch, in a word each."""
    told = []
    if batch.change:
        told.append("changed")
    if batch.shift is not None and batch.shift.rejected:
        told.append("shift")
    if batch.audit is not None:
        told.append("audited" if not batch.audit.contradicts else "audit contradicts")
    return told


def _method(result: Quantification) -> Iterator[str]:
    yield f"Method   {result.method}: {result.reason}"
    yield f"         assumes: {result.assumption}"
    holds = held_by(result.classes, simultaneous=result.simultaneous)
    if holds:
        yield f"         intervals hold {holds}"
    told = result.training
    if told.n_items:
        mix = ", ".join(f"{label} {percent(p)}" for label, p in told.prevalence.items())
        yield f"Trained  on {told.n_items:,} rows of {told.source} ({mix})"
        yield f"         {told.classifier}, right on {percent(told.accuracy or 0.0)} of unseen rows"


def _shares(shares: Sequence[Share], level: float) -> Iterator[str]:
    width = max(len(share.label) for share in shares)
    yield f"  {'':{width}}    share  {100 * level:g} % interval"
    for share in shares:
        bounds = limits(share.low, share.high)
        yield f"  {share.label:{width}}  {_estimate(share):>7}  {bounds:>15}  {_bar(share)}"


def _estimate(share: Share) -> str:
    return "?" if share.estimate is None else percent(share.estimate)


def _bar(share: Share) -> str:
    """The share as a bar, the interval as a lighter end.

    >>> _bar(Share("x", 0.5, 0.25, 0.75))
    '██████▒▒▒▒▒▒▒▒▒▒▒▒······'
    """
    low, high = round(share.low * BAR), round(share.high * BAR)
    return "█" * low + "▒" * (high - low) + "·" * (BAR - high)


def _items(n: int) -> str:
    return f"{n:,} item" + "s" * (n != 1)
