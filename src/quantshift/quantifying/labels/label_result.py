"""What `quantify` finds about several labels, as plain data."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from quantshift.answers.answer import AbstractLabelsAnswer, json_schema_of
from quantshift.answers.conditions import Condition
from quantshift.answers.notebook import Summary, batch_line
from quantshift.answers.rows import Rows
from quantshift.answers.shares import AbstractLabelShare, Share
from quantshift.base.imports import extra_needed
from quantshift.quantifying.labels.label_training import LeftOutLabel, beside_labels
from quantshift.quantifying.output.result import LeftOutColumn, Quantification, UsedColumn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = 5
"""Version of the layout of the JSON; that of a single label has versions of its own, up to 4."""


@dataclass(frozen=True)
class LabelAnswer(AbstractLabelShare):
    """The share of one label in one batch.

    low, high: limits that hold for this label on its own; low_for_all, high_for_all: for all labels
        at once (Bonferroni).
    training: its share in training; change: how far the estimate is from that.
    method: of the estimate and its limits; TiltedLabelSets where the labels were estimated
        together, because the label alone would have had a range.
    kind, reason: as for a single label, from its own tests or from those of all labels together.
    shift: whether more has changed than the share of this label and, as far as the labels can be
        estimated together, of the others; None where nothing was tested.
    changed: whether the share differs from that of the batch before.
    cut: whether the estimate or a limit was above that of the parent label.
    """

    label: str
    estimate: float | None
    low: float
    high: float
    low_for_all: float
    high_for_all: float
    training: float
    change: float | None
    method: str
    kind: str
    reason: str
    can_be_estimated: bool
    shift: bool | None
    p_value: float | None
    changed: bool
    cut: bool


@dataclass(frozen=True, repr=False)
class LabelBatch:
    """One sample. labels: the answers, the largest change from training first."""

    name: str
    n_items: int
    left_out: int
    labels: tuple[LabelAnswer, ...]

    @property
    def shares(self) -> tuple[Share, ...]:
        """One for each label."""
        return tuple(answer.share for answer in self.labels)

    def __repr__(self) -> str:
        """The shares in a line."""
        return batch_line(self)


@dataclass(frozen=True, repr=False)
class LabelQuantification(AbstractLabelsAnswer):
    """The answer to a call of `quantify` with several labels.

    level: of the limits of each label; level_for_all: that at which the limits of each label are
        taken, so that those of all labels of a batch hold at once at `level`.
    parents: the label that a label is within, if any.
    left_out_labels: labels of the training table that are not estimated.
    warnings: each once; those about one label begin with its name.
    answers: to each label on its own, with verdicts, advice and everything else.
    """

    labels: tuple[str, ...]
    level: float
    level_for_all: float
    batches: tuple[LabelBatch, ...]
    parents: Mapping[str, str]
    left_out_labels: tuple[LeftOutLabel, ...]
    warnings: tuple[str, ...]
    answers: Mapping[str, Quantification]

    @property
    def headline(self) -> str:
        """The label that has changed most in the last batch."""
        return self.batches[-1].labels[0].label

    @property
    def first(self) -> Quantification:
        """The answer to one of the labels, for what all have in common."""
        return self.answers[self.labels[0]]

    @property
    def used(self) -> tuple[UsedColumn, ...]:
        """The columns that items are made of."""
        return self.first.used

    @property
    def left_out_columns(self) -> tuple[LeftOutColumn, ...]:
        """The columns of the training table that are not used, except those of labels."""
        return beside_labels(self.first.left_out_columns)

    @property
    def sample_rows(self) -> tuple[Rows, ...]:
        """How many rows of each sample were read, used and left out."""
        return self.first.sample_rows

    def to_text(self, *, verbose: bool = False) -> str:
        """What a terminal shows. verbose: with every one of many batches."""
        from quantshift.quantifying.labels.label_text import render_text

        return render_text(self, verbose=verbose)

    def to_json(self) -> str:
        """Everything as JSON, as described by `label_json_schema`."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2, ensure_ascii=False)

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`: one per batch and label."""
        for batch in self.batches:
            for answer in batch.labels:
                values = asdict(answer)
                first = {name: values.pop(name) for name in ("estimate", "low", "high")}
                yield {
                    "batch": batch.name,
                    "items": batch.n_items,
                    "left_out": batch.left_out,
                    "class": values.pop("label"),
                    **first,
                    **values,
                }

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
            from quantshift.answers.plotting import plot_shares
        from quantshift.quantifying.labels.label_text import limits_heading

        return plot_shares(self, label, ax, limits_heading(self))

    def in_a_line(self) -> str:
        """All labels of the last batch in one line."""
        from quantshift.quantifying.labels.label_text import labels_in_a_line

        return labels_in_a_line(self)

    def summary(self) -> Summary:
        """A few lines for the interactive shell."""
        from quantshift.quantifying.labels.label_text import summary_of

        return summary_of(self)


def label_json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the output of `LabelQuantification.to_json`."""
    return json_schema_of(LabelQuantification, FORMAT)
