"""What `judge` finds about several labels, as plain data."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from quantshift.answers.shares import AbstractLabelShare
from quantshift.answers.show.answer import AbstractLabelsAnswer
from quantshift.answers.show.batches import AbstractLabelsBatch
from quantshift.claims.findings import Finding
from quantshift.judging.output.judgement import Judgement


@dataclass(frozen=True)
class LabelRate(AbstractLabelShare):
    """The true rate of one label in one batch.

    verdict: the column of the judge, or those of several with a + between them; n_labelled: items
        that people have labelled.
    naive: the share by the verdicts alone, None if they do not say it. kappa: the agreement of the
        judge with people. With several judges both are those of the first.
    design: how the labelled items were chosen. no_estimate_reason: why there is no estimate, if
        there is none.
    """

    verdict: str
    n_labelled: int
    naive: float | None
    kappa: float | None
    design: str
    no_estimate_reason: str


@dataclass(frozen=True, repr=False)
class LabelJudgedBatch(AbstractLabelsBatch):
    """The items of a table, or of one of its groups. labels: a rate for each, in their order."""

    name: str
    n_items: int
    labels: tuple[LabelRate, ...]


@dataclass(frozen=True, repr=False)
class AbstractLabelJudgement(AbstractLabelsAnswer):
    """What `judge` finds; `LabelJudgement` says what the fields are and shows them."""

    labels: tuple[str, ...]
    level: float
    level_for_all: float
    by: str | None
    batches: tuple[LabelJudgedBatch, ...]
    findings: tuple[Finding, ...]
    answers: Mapping[str, Judgement]

    @property
    def questions(self) -> tuple[str, ...]:
        """What has to be said of the labels of all, each question once."""
        asked = (question for answer in self.answers.values() for question in answer.questions)
        return tuple(dict.fromkeys(asked))

    @property
    def headline(self) -> str:
        """The first label."""
        return self.labels[0]

    @property
    def first(self) -> Judgement:
        """The answer to one of the labels, for what all have in common."""
        return self.answers[self.labels[0]]

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`: one per batch and label."""
        for batch in self.batches:
            for rate in batch.labels:
                values = asdict(rate)
                del values["grounds"]
                yield {
                    "batch": batch.name,
                    "items": batch.n_items,
                    "class": values.pop("label"),
                    "kind": rate.kind.value,
                    "reason": rate.reason.value,
                    "can_be_estimated": rate.can_be_estimated,
                    **values,
                }
