"""What `quantify` finds about several labels, as plain data."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from quantshift.answers.rows import Rows
from quantshift.answers.shares import AbstractLabelShare, Candidate, conditional_parts
from quantshift.answers.show.answer import AbstractLabelsAnswer
from quantshift.answers.show.batches import AbstractLabelsBatch
from quantshift.claims.findings import Finding
from quantshift.quantifying.columns import LeftOutColumn, UsedColumn
from quantshift.quantifying.labels.label_training import LeftOutLabel, beside_labels
from quantshift.quantifying.output.quantification import Quantification


@dataclass(frozen=True)
class LabelAnswer(AbstractLabelShare):
    """The share of one label in one batch.

    either: two intervals of which one holds, with an answer of that kind.
    training: its share in training; change: how far the estimate is from that.
    method: of the estimate and its limits; TiltedLabelSets where the labels were estimated
        together, because the label alone would have had a range.
    grounds: as for a single label, from its own tests or from those of all labels together.
    shift: whether more has changed than the share of this label and, as far as the labels can be
        estimated together, of the others; None where nothing was tested.
    changed: whether the share differs from that of the batch before.
    cut: whether the estimate or a limit was above that of the parent label.
    """

    either: tuple[Candidate, ...]
    training: float
    change: float | None
    method: str
    shift: bool | None
    p_value: float | None
    changed: bool
    cut: bool

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The two intervals."""
        return self.either


@dataclass(frozen=True, repr=False)
class LabelBatch(AbstractLabelsBatch):
    """One sample. labels: the answers, the largest change from training first."""

    name: str
    n_items: int
    left_out: int
    labels: tuple[LabelAnswer, ...]


@dataclass(frozen=True, repr=False)
class AbstractLabelQuantification(AbstractLabelsAnswer):
    """What `quantify` finds; `LabelQuantification` says what the fields are and shows them."""

    labels: tuple[str, ...]
    level: float
    level_for_all: float
    batches: tuple[LabelBatch, ...]
    parents: Mapping[str, str]
    left_out_labels: tuple[LeftOutLabel, ...]
    findings: tuple[Finding, ...]
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

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`: one per batch and label, or one for each of two intervals."""
        for batch in self.batches:
            for answer in batch.labels:
                values = asdict(answer)
                for name in ("grounds", "either", "label", "estimate", "low", "high"):
                    del values[name]
                for part, condition in conditional_parts(answer.share):
                    yield {
                        "batch": batch.name,
                        "items": batch.n_items,
                        "left_out": batch.left_out,
                        "class": part.label,
                        "estimate": part.estimate,
                        "low": part.low,
                        "high": part.high,
                        "kind": answer.kind.value,
                        "reason": answer.reason.value,
                        "condition": condition,
                        "can_be_estimated": answer.can_be_estimated,
                        **values,
                    }
