"""The answer to a call about several targets, and the ways to show it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quantshift.answers.show.answer import worse_elsewhere
from quantshift.answers.show.notebook import Summary
from quantshift.answers.targets.result import AbstractTargetAnswers, AnswerT
from quantshift.answers.targets.text import (
    limits_heading,
    render_text,
    summary_of,
    targets_in_a_line,
)
from quantshift.base.imports import extra_needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class TargetAnswers(AbstractTargetAnswers[AnswerT]):
    """The answer to a call of `quantify` or `judge` about several targets.

    targets: their names. level: of the limits of each target; level_for_all: that at which the
        limits of each are taken, so that those of all targets of a batch hold at once at `level`.
    findings: each once; those about some targets have its name.
    answers: to each target on its own, with verdicts, quality of judges and everything else.
    """

    page_module = "quantshift.answers.targets.page"

    def to_text(self, *, details: bool = False) -> str:
        """What a terminal shows. details: with all that was tested, of every batch, and of what."""
        return render_text(self, details=details)

    def in_a_line(self) -> list[str]:
        """All targets of the newest batch."""
        return [targets_in_a_line(self), *worse_elsewhere(self.answers)]

    def plot(self, label: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
        """Shares with their limits: of all targets, or of one of them batch by batch.

        label: the one to draw, if there are several batches (default: that of the headline).
        """
        with extra_needed("plots"):
            from quantshift.answers.show.plotting import plot_shares
        return plot_shares(self, label, ax, limits_heading(self))

    def summary(self) -> Summary:
        """A few lines for the interactive shell."""
        return summary_of(self)
