"""The answer of `quantify` about several labels, and the ways to show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quantshift.answers.conditions import Condition
from quantshift.answers.show.answer import json_schema_of
from quantshift.answers.show.notebook import Summary
from quantshift.base.imports import extra_needed
from quantshift.quantifying.labels.label_result import AbstractLabelQuantification
from quantshift.quantifying.labels.label_text import (
    labels_in_a_line,
    limits_heading,
    render_text,
    summary_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class LabelQuantification(AbstractLabelQuantification):
    """The answer to a call of `quantify` with several labels.

    level: of the limits of each label; level_for_all: that at which the limits of each label are
        taken, so that those of all labels of a batch hold at once at `level`.
    parents: the label that a label is within, if any.
    left_out_labels: labels of the training table that are not estimated.
    findings: each once; those about some labels have its name.
    answers: to each label on its own, with verdicts, findings and everything else.
    """

    def to_text(self, *, details: bool = False) -> str:
        """What a terminal shows. details: with all that was tested, of every batch, and of what."""
        return render_text(self, details=details)

    def page(
        self,
        *,
        conditions: Sequence[Condition] = (),
        provenance: Sequence[tuple[str, str]] = (),
    ) -> str:
        """A self-contained web page as one string of HTML; see `AbstractAnswer`."""
        from quantshift.quantifying.labels.label_page import render_page

        return render_page(self, conditions=conditions, provenance=provenance)

    def plot(self, label: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
        """Shares with their limits: of all labels, or of one label batch by batch.

        label: the one to draw, if there are several batches (default: that of the largest change).
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
    """The JSON schema (draft 2020-12) of the output of `LabelQuantification.to_json`."""
    return json_schema_of(LabelQuantification)
