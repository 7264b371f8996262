"""What `quantify` finds, as plain data: numbers and sentences, ready for any rendering."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from quantshift.answers.columns import LeftOutColumn, UsedColumn
from quantshift.answers.marks import marks_of_answer
from quantshift.answers.merging import merged
from quantshift.answers.rows import Rows
from quantshift.answers.shares import Share, conditional_parts
from quantshift.answers.show.answer import AboutOneTarget
from quantshift.answers.show.batches import AbstractBatch, Fact
from quantshift.claims import Alternative, Assumption, Explanation, Grounds, Kind, Quantity
from quantshift.claims.findings import Finding, Severity
from quantshift.quantifying.group_errors import GroupErrors

TEST_LEVEL = 0.05
"""Level of the shift test."""


@dataclass(frozen=True)
class ColumnChange:
    """How one column differs between training and a sample.

    size: from 0 to 1, how much it differs beyond what the change of prevalence explains.
    findings: what differs most, such as the median; for a text column, words.
    """

    name: str
    kind: str
    size: float
    findings: tuple[Finding, ...]
    p_value: float | None

    @property
    def description(self) -> str:
        """What differs most, in words."""
        return ", ".join(finding.sentence for finding in self.findings)


@dataclass(frozen=True)
class SequentialProgress:
    """The progress of an audit with many looks.

    precision: the target half-width; half_width: the current one, of the widest class.
    n_needed: about how many labels are needed in total; if reached, the number given so far.
    """

    precision: float
    half_width: float
    reached: bool
    n_needed: int


@dataclass(frozen=True)
class Settled:
    """What labels decide between two shares of a class, either of which might be true.

    label: the class; shares: by the assumption that they follow from. outcome: the assumption whose
    share is settled, "neither", or "open" if there are too few labels. n_labels: after how many
    labels, or how many there are; n_needed: about how many it takes if one of the two is true.
    """

    label: str
    shares: Mapping[Assumption, float]
    outcome: str
    n_labels: int
    n_needed: int


@dataclass(frozen=True)
class Audited:
    """What the labelled items of a batch show, with and without the help of the posteriors.

    progress: that of an audit with many looks, whose limits hold at every look. settled: what the
    labels decide, where the items alone left two shares.
    n_skipped: rows of the audited table, of all batches, that may have been left without a label
    for what they are: the limits are valid under any shift only if these are like the others.
    """

    n_labelled: int
    weight: float
    shares: tuple[Share, ...]
    counted: tuple[Share, ...]
    contradicts: bool
    progress: SequentialProgress | None = None
    settled: Settled | None = None
    n_skipped: int = 0


@dataclass(frozen=True)
class ClassifierAccuracy(Quantity):
    """The accuracy of the classifier on a batch, estimated without labels.

    estimate: None if the limits allow too much. training: its accuracy on held-out training items.
    sentence: all of it in words.
    """

    training: float
    sentence: str


@dataclass(frozen=True)
class MeasureValue:
    """A measure of the classifier on a batch, of one class or (label None) of all together.

    None where it is not defined, such as the precision of a class that is never predicted; the
    estimate also where the limits allow too much. training: on held-out training items.
    """

    measure: str
    label: str | None
    estimate: float | None
    low: float | None
    high: float | None
    training: float | None


@dataclass(frozen=True)
class ClassifierPerformance:
    """The classifier's predictions on a batch, without labels.

    kind: of the limits. strength: how far the probabilities may be corrected to the shares of the
        batch, from 0 (as trained) to 1. corrected: the measures after that; empty at strength 0.
    confusion: the estimated share of items of each class (row) that get each prediction (column),
        as trained.
    """

    kind: Kind
    strength: float
    as_trained: tuple[MeasureValue, ...]
    corrected: tuple[MeasureValue, ...]
    confusion: tuple[tuple[float, ...], ...]

    def value(
        self, measure: str, label: str | None = None, *, corrected: bool = False
    ) -> MeasureValue | None:
        """One measure, as trained or corrected; None if it is not there."""
        values = self.corrected if corrected else self.as_trained
        return next((v for v in values if (v.measure, v.label) == (measure, label)), None)


@dataclass(frozen=True)
class Shift:
    """Whether more than the prevalence has changed.

    kind: what explains the items, or that nothing does.
    p_value: of the test that only the prevalence has changed or, if unexplained or in doubt, of the
        test that the method's kinds of shift explain the items.
    p_floor: the smallest p-value that the test can give.
    auc: how well a classifier separates the items from training items that are weighted as the
        method explains them; 0.5 is chance. None where it was not tested.
    explained: the share of the difference from the training items that these weights explain, from
        0 to 1. None where it was not tested.
    p_doubles: how likely a sample looks like this if its items were selected instead, so that only
        their mix changed; small values are evidence for prior shift. None where it was not tested.
    p_adjusted: the p-value adjusted for the number of batches tested (Holm), n_tested.
    """

    rejected: bool
    kind: Explanation
    p_value: float
    p_floor: float = 0.0
    auc: float | None = None
    explained: float | None = None
    p_doubles: float | None = None
    p_adjusted: float | None = field(default=None, compare=False)
    n_tested: int = field(default=1, compare=False)

    @property
    def is_significant(self) -> bool:
        """Whether the rejection stands when the number of batches is allowed for.

        A p-value at its floor always counts, because its true size is unknown; so does the test
        that none of the method's kinds of shift explains the items, which has its own level.
        """
        if not self.rejected or self.p_adjusted is None or self.auc is not None:
            return self.rejected
        return self.p_adjusted < TEST_LEVEL or self.p_value <= self.p_floor


@dataclass(frozen=True)
class Undeclared:
    """What could be said of a batch if nothing had been declared; shares have limits alone."""

    grounds: Grounds
    shares: tuple[Share, ...]


@dataclass(frozen=True, repr=False)
class Batch(AbstractBatch):
    """One sample.

    shares: the estimates to use: the audited ones if there is an audit, else the method's.
    unaudited: the method's own shares.
    alternatives: estimates under each assumption, including the method's own.
    shift: None where nothing was tested.
    change: labels of classes whose share differs from the batch before by more than chance and by
        a size that matters in practice; empty if batches do not follow one another. Batches of
        fewer than 30 items are not compared.
    scores: histogram of the posteriors of each class, shares of items in bins of equal width.
    verdict: a sentence for people. findings: warnings, notes and advice about this batch.
    no_estimate_reason: why no share has an estimate, if that is so; the limits are then what the
        assumptions allow, or 0 and 1.
    changes: the columns that differ most from training, largest first, ten at most.
    left_out: rows of this batch that are not used; the interval allows for them.
    basis: what the estimate rests on, in a sentence.
    accuracy: of the classifier on this batch; None where it cannot be estimated.
    performance: other measures of the classifier, and what a correction would make of them.
    grounds: of which kind the answer is, and why; unaudited_grounds: those of `unaudited`.
    condition: what a conditional answer is right under, from "if" on; empty for all others.
        undeclared: what the items would say without the declaration, where that is known.
    none_of_these: the share of items like those of no class in training, perhaps of a class that
        training has never seen; None where there are none or nothing was examined.
    command: the command that draws random items of the batch to label, if that is the advice and
        the batch is a file.
    """

    name: str
    n_items: int
    shares: tuple[Share, ...]
    verdict: str
    findings: tuple[Finding, ...]
    shift: Shift | None
    change: tuple[str, ...]
    audit: Audited | None
    unaudited: tuple[Share, ...]
    alternatives: tuple[Alternative, ...]
    grounds: Grounds
    unaudited_grounds: Grounds
    condition: str = ""
    undeclared: Undeclared | None = None
    no_estimate_reason: str = ""
    changes: tuple[ColumnChange, ...] = ()
    left_out: int = 0
    basis: str = ""
    accuracy: ClassifierAccuracy | None = None
    performance: ClassifierPerformance | None = None
    none_of_these: float | None = None
    command: str = field(default="", compare=False)
    scores: Mapping[str, tuple[float, ...]] = field(kw_only=True)

    @property
    def marks(self) -> list[str]:
        """What stands out, in a word each (see `MARKS`)."""
        return marks_of_answer(
            changed=bool(self.change),
            shift=self.shift is not None and self.shift.is_significant,
            kind=self.kind,
            contradicted=None if self.audit is None else self.audit.contradicts,
        )

    def facts(self) -> Iterator[Fact]:
        """What the answer rests on, and what the tests say."""
        if self.basis:
            yield Fact("Basis", self.basis)
        if self.verdict:
            yield Fact("Shift", self.verdict)


@dataclass(frozen=True)
class TrainingSide:
    """A summary of the training set; n_items is 0 without training.

    scores: for each scored class and each true class, the histogram of held-out posteriors.
    """

    source: str
    n_items: int
    prevalence: Mapping[str, float]
    classifier: str
    accuracy: float | None
    scores: Mapping[str, Mapping[str, tuple[float, ...]]]
    rows: Rows | None


@dataclass(frozen=True, repr=False)
class AbstractQuantification(AboutOneTarget):
    """What `quantify` finds; `Quantification` says what the fields are and shows them."""

    asked_of = "quantify"
    reference_name = "training"
    in_reference = "in training"
    about_targets = (
        "Each label is tested on its own first. If the share of another label has changed, the "
        "items with this label look different too; then the labels are estimated together, if "
        "changed shares of the labels and of their combinations explain the items. If they do not, "
        "more has changed, and the limits are a range."
    )

    headline: str
    names: Mapping[str, str]
    classes: tuple[str, ...]
    label: str | None
    level: float
    batches: tuple[Batch, ...]
    findings: tuple[Finding, ...]
    simultaneous: bool
    method: str
    reason: str
    assumption: str
    plain_assumption: str
    used: tuple[UsedColumn, ...]
    left_out_columns: tuple[LeftOutColumn, ...]
    sample_rows: tuple[Rows, ...]
    training: TrainingSide
    groups: GroupErrors | None = None
    by: str | None = None
    in_sequence: bool = True
    declared: str = ""

    @property
    def all_rows(self) -> tuple[Rows, ...]:
        """Those of the training table, and of each sample."""
        training = self.training.rows
        return (*(() if training is None else (training,)), *self.sample_rows)

    def reference(self, batch: Batch) -> float | None:
        """The share of the headline class in training."""
        return self.training.prevalence.get(self.headline)

    @property
    def said_warnings(self) -> list[str]:
        """Everything that is said as a warning, about all batches or one of them."""
        warnings = (f for f in self.shown_findings() if f.severity is Severity.WARNING)
        return [*self.alarms(), *merged(warnings, len(self.batches))]

    def facts(self) -> Iterator[Fact]:
        """What is declared, how the shares were estimated, and by what model."""
        if self.declared:
            yield Fact("Declared", self.declared, is_detail=False)
        yield Fact("Method", f"{self.method}, for each label on its own: {self.reason}")
        yield Fact("Assumes", self.plain_assumption)
        yield Fact("Trained", f"on {self.training.n_items:,} rows of {self.training.source}")

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`: one per batch and class, or one for each of two intervals."""
        for batch in self.batches:
            parts = (conditional_parts(share, batch.condition) for share in batch.shares)
            for share, condition in chain.from_iterable(parts):
                yield {
                    "batch": batch.name,
                    "items": batch.n_items,
                    "left_out": batch.left_out,
                    "class": share.label,
                    "estimate": share.estimate,
                    "low": share.low,
                    "high": share.high,
                    "can_be_estimated": batch.can_be_estimated,
                    "changed": share.label in batch.change,
                    "shift": None if batch.shift is None else batch.shift.is_significant,
                    "p_value": None if batch.shift is None else batch.shift.p_value,
                    "audited": batch.audit is not None,
                    "kind": batch.kind.value,
                    "reason": batch.reason.value,
                    "condition": condition,
                }
