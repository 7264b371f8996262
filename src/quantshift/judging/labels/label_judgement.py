"""The answer of `judge` about several labels, and the ways to show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quantshift.answers.conditions import Condition
from quantshift.answers.show.answer import json_schema_of
from quantshift.answers.show.notebook import Summary
from quantshift.base.imports import extra_needed
from quantshift.judging.labels.label_rates import AbstractLabelJudgement
from quantshift.judging.labels.label_rates_text import (
    labels_in_a_line,
    limits_heading,
    render_text,
    summary_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class LabelJudgement(AbstractLabelJudgement):
    """The answer to a call of `judge` with several labels.

    level: that of the limits of each label; level_for_all: the level of the wider limits of each
        label, with which those of all labels of a batch hold at once at `level`.
    batches: all items, or the groups of `by`, one by one.
    findings: each once; those about some labels have its name.
    answers: to each label on its own, with the quality of its judge, findings and everything else.
    """

    def to_text(self, *, details: bool = False) -> str:
        """What a terminal shows. details: with what is assumed, and which rows were used."""
        return render_text(self, details=details)

    def page(
        self,
        *,
        conditions: Sequence[Condition] = (),
        provenance: Sequence[tuple[str, str]] = (),
    ) -> str:
        """A self-contained web page as one string of HTML; see `AbstractAnswer`."""
        from quantshift.judging.labels.label_rates_page import render_page

        return render_page(self, conditions=conditions, provenance=provenance)

    def plot(self, label: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
        """Shares with their limits: of all labels, or of one label batch by batch.

        label: the one to draw, if there are several batches (default: the first).
        """
        with extra_needed("plots"):
            from quantshift.answers.show.plotting import plot_shares
        return plot_shares(self, label, ax, limits_heading(self))

    def in_a_line(self) -> str:
        """All labels of the last batch in one line."""
        return labels_in_a_line(self)

    def summary(self) -> Summary:
        """A few lines for the interactive shell."""
        return summary_of(self)


def label_json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the output of `LabelJudgement.to_json`."""
    return json_schema_of(LabelJudgement)
