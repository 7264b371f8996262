"""What `judge` finds about several labels, as plain data."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from quantshift.answers.answer import AbstractLabelsAnswer, json_schema_of
from quantshift.answers.conditions import Condition
from quantshift.answers.notebook import Summary, batch_line
from quantshift.answers.shares import AbstractLabelShare, Share
from quantshift.base.imports import extra_needed
from quantshift.judging.result import Judgement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = 4
"""Version of the layout of the JSON; that of a single label has versions of its own, up to 3."""


@dataclass(frozen=True)
class LabelRate(AbstractLabelShare):
    """The true rate of one label in one batch.

    verdict: the column of the judge, or those of several with a + between them; n_labelled: items
        that people have labelled.
    low, high: limits that hold for this label on its own; low_for_all, high_for_all: for all labels
        at once (Bonferroni).
    naive: the share by the verdicts alone, None if they do not say it. kappa: the agreement of the
        judge with people. With several judges both are those of the first.
    design: how the labelled items were chosen. kind: what the limits are; reason: why there is no
        estimate, if there is none.
    """

    label: str
    verdict: str
    n_labelled: int
    estimate: float | None
    low: float
    high: float
    low_for_all: float
    high_for_all: float
    naive: float | None
    kappa: float | None
    design: str
    kind: str
    reason: str
    can_be_estimated: bool


@dataclass(frozen=True, repr=False)
class LabelJudgedBatch:
    """The items of a table, or of one of its groups. labels: a rate for each, in their order."""

    name: str
    n_items: int
    labels: tuple[LabelRate, ...]

    @property
    def shares(self) -> tuple[Share, ...]:
        """One for each label."""
        return tuple(rate.share for rate in self.labels)

    @property
    def can_be_estimated(self) -> bool:
        """Whether every label has an estimate."""
        return all(rate.can_be_estimated for rate in self.labels)

    def __repr__(self) -> str:
        """The shares in a line."""
        return batch_line(self)


@dataclass(frozen=True, repr=False)
class LabelJudgement(AbstractLabelsAnswer):
    """The answer to a call of `judge` with several labels.

    level: that of the limits of each label; level_for_all: the level of the wider limits of each
        label, with which those of all labels of a batch hold at once at `level`.
    batches: all items, or the groups of `by`, one by one.
    warnings: each once; those about one label begin with its name.
    answers: to each label on its own, with the quality of its judge, advice and everything else.
    """

    labels: tuple[str, ...]
    level: float
    level_for_all: float
    by: str | None
    batches: tuple[LabelJudgedBatch, ...]
    warnings: tuple[str, ...]
    answers: Mapping[str, Judgement]

    @property
    def headline(self) -> str:
        """The first label."""
        return self.labels[0]

    @property
    def first(self) -> Judgement:
        """The answer to one of the labels, for what all have in common."""
        return self.answers[self.labels[0]]

    def to_text(self) -> str:
        """What a terminal shows."""
        from quantshift.judging.labels.label_rates_text import render_text

        return render_text(self)

    def to_json(self) -> str:
        """Everything as JSON, as described by `label_json_schema`."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2, ensure_ascii=False)

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`: one per batch and label."""
        for batch in self.batches:
            for rate in batch.labels:
                values = asdict(rate)
                yield {
                    "batch": batch.name,
                    "items": batch.n_items,
                    "class": values.pop("label"),
                    **values,
                }

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
            from quantshift.answers.plotting import plot_shares
        from quantshift.judging.labels.label_rates_text import limits_heading

        return plot_shares(self, label, ax, limits_heading(self))

    def in_a_line(self) -> str:
        """All labels of the last batch in one line."""
        from quantshift.judging.labels.label_rates_text import labels_in_a_line

        return labels_in_a_line(self)

    def summary(self) -> Summary:
        """A few lines for the interactive shell."""
        from quantshift.judging.labels.label_rates_text import summary_of

        return summary_of(self)


def label_json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the output of `LabelJudgement.to_json`."""
    return json_schema_of(LabelJudgement, FORMAT)
