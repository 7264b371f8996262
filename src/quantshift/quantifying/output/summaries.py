"""A quantification and a model in a few lines, for the interactive shell."""

from quantshift.answers.batch_names import newest_batch, newest_name
from quantshift.answers.kinds import limits_head
from quantshift.answers.shares import headline_share
from quantshift.answers.show.answer import worse_elsewhere
from quantshift.answers.show.notebook import Summary
from quantshift.answers.text import estimate_text, shown
from quantshift.answers.words import estimates_and_limits, limits, shortened
from quantshift.base.nouns import counted
from quantshift.claims import Reason
from quantshift.quantifying.output.advice import CONFUSED
from quantshift.quantifying.output.text import (
    answer,
    declared_line,
    extremes,
    meaning_line,
    several_head,
    undeclared_text,
)
from quantshift.quantifying.result import AbstractQuantification


def summary_of(result: AbstractQuantification) -> Summary:
    """The shares of one batch, or the share of the headline class in each of several batches."""
    return Summary(_notes(result), _table(result))


def _notes(result: AbstractQuantification) -> list[str]:
    several = len(result.batches) > 1
    first = result.batches[0]
    headline = [*extremes(result)] if several else [answer(result, first)]
    undeclared = "" if several else undeclared_text(result, first)
    headline += [undeclared] if undeclared else []
    return [*headline, *meaning_line(result), *declared_line(result), *result.alarms()]


def _table(result: AbstractQuantification) -> list[list[str]]:
    if len(result.batches) == 1:
        (batch,) = result.batches
        interval = limits_head(batch.kind, result.level)
        rows = [
            [shown(result, share.label), *cells, ""]
            for share, cells in zip(batch.shares, estimates_and_limits(batch.shares), strict=True)
        ]
        return [["class", "share", interval, ""], *rows]
    texts = estimates_and_limits([headline_share(result, batch) for batch in result.batches])
    rows = [
        [shortened(batch.name), f"{batch.n_items:,}", *cells, ", ".join(batch.marks)]
        for batch, cells in zip(result.batches, texts, strict=True)
    ]
    head = several_head(result)
    return [["batch", "items", shown(result, result.headline), head, ""], *rows]


def found_in_newest(result: AbstractQuantification) -> list[str]:
    """The newest batch and its marks; the extremes, if batches do not follow one another."""
    declared = [f"you declared: {result.declared}"] if result.declared else []
    if not declared and any(
        b.reason is Reason.DECLARED and b.shift is None for b in result.batches
    ):
        declared = ["nothing tests what the method assumes"]
    if not result.in_sequence:
        unlike = [f"{shortened(b.name)}: {', '.join(b.marks)}" for b in result.batches if b.marks]
        return [*extremes(result), *unlike, *declared]
    batch = newest_batch(result.batches)
    share = headline_share(result, batch)
    where = f"{newest_name(result.batches)}: {shown(result, share.label)}"
    items = counted(batch.n_items, "item")
    if not share.is_known:
        why = shortened(batch.no_estimate_reason or CONFUSED, 200)
        return [f"{where} cannot be estimated from {items} ({why})", *declared]
    found = " or ".join(limits(part.low, part.high) for part in share.parts)
    # A range has no point.
    found = found if batch.kind.is_range else f"{estimate_text(share)} ({found})"
    marks = [", ".join(batch.marks)] if batch.marks else []
    return [f"{where} {found} of {items}", *marks, *worse_elsewhere({"": result}), *declared]
