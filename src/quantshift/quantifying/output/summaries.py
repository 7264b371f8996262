"""A quantification and a model in a few lines, for the interactive shell."""

from quantshift.answers.kinds import limits_head
from quantshift.answers.shares import headline_share
from quantshift.answers.show.notebook import Summary
from quantshift.answers.text import shown
from quantshift.answers.words import estimates_and_limits, shortened
from quantshift.quantifying.output.text import (
    alarms,
    answer,
    declared_line,
    extremes,
    marks,
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
    return [*headline, *meaning_line(result), *declared_line(result), *alarms(result)]


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
        [shortened(batch.name), f"{batch.n_items:,}", *cells, ", ".join(marks(batch))]
        for batch, cells in zip(result.batches, texts, strict=True)
    ]
    head = several_head(result)
    return [["batch", "items", shown(result, result.headline), head, ""], *rows]
