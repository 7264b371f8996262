"""What `quantify` finds, as plain data: numbers and sentences, ready for any rendering."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from quantshift.answers.answer import AbstractAnswer, json_schema_of
from quantshift.answers.conditions import Condition
from quantshift.answers.kinds import INTERVAL
from quantshift.answers.notebook import Summary
from quantshift.answers.rows import Rows
from quantshift.answers.shares import Share
from quantshift.base.imports import extra_needed
from quantshift.quantifying.training.group_errors import GroupErrors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEST_LEVEL = 0.05
"""Level of the shift test."""

FORMAT = 4
"""Version of the layout of the JSON."""


@dataclass(frozen=True)
class UsedColumn:
    """A column that items are made of.

    kind: number, category, truth value (boolean), date, text or posterior.
    how: "scaled; 3 missing values filled with the median and flagged".
    """

    name: str
    kind: str
    how: str


@dataclass(frozen=True)
class LeftOutColumn:
    """A column that is not used, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class ColumnChange:
    """How one column differs between training and a sample.

    size: from 0 to 1, how much it differs beyond what the change of prevalence explains.
    description: "mean 41.2 where 35.0 was expected"; for a text column, words.
    """

    name: str
    kind: str
    size: float
    description: str
    p_value: float | None


PRIOR_SHIFT, COVARIATE_SHIFT = "prior shift", "covariate shift"
BETWEEN_THE_TWO, NO_CHANGE = "between the two", "no change"
RIGHT_POSTERIORS = "posteriors are right"
"""Names of assumptions; a method that weights assumptions has others besides. The last is that of
the mean of posteriors that no labelled row has checked."""


@dataclass(frozen=True)
class Assumption:
    """The estimate under one assumption about what has changed since training.

    weight: its weight of evidence, if the method weights assumptions.
    refuted: whether the items contradict it.
    for_comparison: whether it is neither tested nor allowed for. The interval contains all
        estimates that are neither refuted nor for comparison.
    """

    name: str
    method: str
    prevalence: Mapping[str, float]
    weight: float | None = None
    refuted: bool = False
    for_comparison: bool = False


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
    shares: Mapping[str, float]
    outcome: str
    n_labels: int
    n_needed: int


@dataclass(frozen=True)
class Audited:
    """What the labelled items of a batch show, with and without the help of the posteriors.

    progress: that of an audit with many looks, whose limits hold at every look. settled: what the
    labels decide, where the items alone left two shares.
    """

    n_labelled: int
    weight: float
    shares: tuple[Share, ...]
    counted: tuple[Share, ...]
    contradicts: bool
    progress: SequentialProgress | None = None
    settled: Settled | None = None


@dataclass(frozen=True)
class ClassifierAccuracy:
    """The accuracy of the classifier on a batch, estimated without labels.

    estimate: None if the limits allow too much. training: its accuracy on held-out training items.
    sentence: all of it in words.
    """

    estimate: float | None
    low: float
    high: float
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

    kind: str
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

    kind: prior (nothing more), covariate, local, outside (items unlike those of training),
        unexplained (none of the method's kinds of shift explains the items), in doubt (prior
        shift explains most of the difference, but not all of it), unlike every class (some items
        look like those of no class), or joint (nothing more than the shares of several labels and
        of their combinations).
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
    kind: str
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


@dataclass(frozen=True, repr=False)
class Batch:
    """One sample.

    shares: the estimates to use: the audited ones if there is an audit, else the method's.
    unaudited: the method's own shares.
    assumptions: estimates under each assumption, including the method's own.
    shift: None where nothing was tested.
    change: labels of classes whose share differs from the batch before by more than chance and by
        a size that matters in practice; empty if batches do not follow one another. Batches of
        fewer than 30 items are not compared.
    scores: histogram of the posteriors of each class, shares of items in bins of equal width.
    verdict, warnings, advice: sentences for people.
    can_be_estimated: if not, no share has an estimate; no_estimate_reason says why. The limits are
        then what the assumptions allow, or 0 and 1.
    changes: the columns that differ most from training, largest first, ten at most.
    left_out: rows of this batch that are not used; the interval allows for them.
    basis: what the estimate rests on, in a sentence.
    accuracy: of the classifier on this batch; None where it cannot be estimated.
    performance: other measures of the classifier, and what a correction would make of them.
    kind: of the answer: "confidence interval", "confidence interval that holds at every look",
        "range" or "cannot be estimated".
    reason: why it is of that kind: "evidence", "agreement" (the assumptions give similar shares),
        "declared", "refuted", "no evidence", "neither", "labels" or "no items".
    unaudited_kind: the kind of `unaudited`.
    none_of_these: the share of items like those of no class in training, perhaps of a class that
        training has never seen; None where there are none or nothing was examined.
    command: the command that draws random items of the batch to label, if that is the advice and
        the batch is a file.
    """

    name: str
    n_items: int
    shares: tuple[Share, ...]
    verdict: str
    warnings: tuple[str, ...]
    advice: tuple[str, ...]
    shift: Shift | None
    change: tuple[str, ...]
    audit: Audited | None
    unaudited: tuple[Share, ...]
    assumptions: tuple[Assumption, ...]
    can_be_estimated: bool = True
    no_estimate_reason: str = ""
    changes: tuple[ColumnChange, ...] = ()
    left_out: int = 0
    basis: str = ""
    accuracy: ClassifierAccuracy | None = None
    performance: ClassifierPerformance | None = None
    kind: str = INTERVAL
    reason: str = ""
    unaudited_kind: str = INTERVAL
    none_of_these: float | None = None
    command: str = field(default="", compare=False)
    scores: Mapping[str, tuple[float, ...]] = field(kw_only=True)

    def __repr__(self) -> str:
        """The shares in a line."""
        from quantshift.answers.notebook import batch_line

        return batch_line(self)


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
class Quantification(AbstractAnswer):
    """The answer to one call of `quantify`.

    simultaneous: whether the intervals of a batch hold for all classes at once or for each on its
        own; those of an audit hold for each.
    assumption: what the method assumes, for experts; plain_assumption: without formulas.
    label: the column of the labels. headline: the class whose share is the headline.
    names: the displayed names of classes ("Exited = 1").
    used, left_out_columns: the columns that items are made of, and the other columns of the table.
    sample_rows: how many rows of each sample were read, used and left out.
    groups: errors of the methods on the groups of the training table; None if no column of groups
        was named.
    by: the column that divides the sample into batches.
    in_sequence: whether batches follow one another, like dates, so that each is compared with the
        one before.
    declared: what the user has declared about the shift, in a sentence; empty if nothing.
    """

    headline: str
    names: Mapping[str, str]
    classes: tuple[str, ...]
    label: str | None
    level: float
    batches: tuple[Batch, ...]
    warnings: tuple[str, ...]
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

    def to_text(self, *, verbose: bool = False) -> str:
        """What a terminal shows. verbose: with the details of every one of many batches."""
        from quantshift.quantifying.output.text import render_text

        return render_text(self, verbose=verbose)

    def to_json(self) -> str:
        """Everything as JSON, as described by `json_schema`; `format` is the layout's version."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2, ensure_ascii=False)

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`: one per batch and class."""
        for batch in self.batches:
            for share in batch.shares:
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
                    "kind": batch.kind,
                    "reason": batch.reason,
                }

    def page(
        self,
        *,
        conditions: Sequence[Condition] = (),
        provenance: Sequence[tuple[str, str]] = (),
    ) -> str:
        """A self-contained web page as one string of HTML; see `AbstractAnswer`."""
        from quantshift.quantifying.output.page import render_page

        return render_page(self, conditions=conditions, provenance=provenance)

    def plot(self, label: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
        """Shares with their intervals: of all classes, or of one class batch by batch.

        label: the class, if there are several batches (default: the headline).
        """
        with extra_needed("plots"):
            from quantshift.answers.plotting import plot_shares
        from quantshift.quantifying.output.text import several_head

        return plot_shares(self, label, ax, several_head(self))

    def summary(self) -> Summary:
        """A few lines for the interactive shell."""
        from quantshift.quantifying.output.summaries import summary_of

        return summary_of(self)


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the output of `Quantification.to_json`."""
    return json_schema_of(Quantification, FORMAT)
