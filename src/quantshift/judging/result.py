"""What `judge` finds, as plain data: numbers and sentences, ready for any rendering."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from quantshift.answers.answer import AbstractAnswer, json_schema_of
from quantshift.answers.conditions import Condition
from quantshift.answers.kinds import INTERVAL
from quantshift.answers.notebook import Summary
from quantshift.answers.rows import Rows
from quantshift.answers.shares import Share, share_of
from quantshift.base.imports import extra_needed
from quantshift.errors import unknown_name
from quantshift.judging.items.annotators import PeopleAgreement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = 3
"""Version of the layout of the JSON."""
MEAN = "mean"
"""In place of a class, in the rows of means."""
EVEN = 0.5
"""The win rate of two answers that are equally good."""
WIN_RATE = "win rate"
"""The kind of the rows of win rates."""


@dataclass(frozen=True)
class Rate:
    """How often a judge gives a verdict to items of a class."""

    label: str
    verdict: str
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Agreement:
    """Cohen's kappa of a judge with people: 0 as by chance, 1 in everything."""

    kappa: float
    low: float
    high: float


@dataclass(frozen=True)
class SummedRates:
    """Rates of n clusters, and their sum."""

    total: float
    n: int


@dataclass(frozen=True)
class ClusterRates:
    """How often a judge was right in each cluster of labelled items, summed over clusters.

    by_class: about the items of each class; by_verdict: about those of each verdict.
    """

    by_class: tuple[SummedRates, ...]
    by_verdict: tuple[SummedRates, ...]


@dataclass(frozen=True)
class JudgeQuality:
    """How one judge does, as far as the labels show.

    verdicts: those it gives; says: the class that each of them says, None if none.
    naive: the shares of the classes by its verdicts alone; None if they say none.
    rates: a row for each class and verdict; without labels there are none.
    counts: labelled items of the batch itself by class and verdict, a list for each class; items:
        all items by verdict. cluster_rates: if labelled items share clusters.
    """

    name: str
    verdicts: tuple[str, ...]
    says: tuple[str | None, ...]
    naive: Mapping[str, float] | None
    rates: tuple[Rate, ...]
    agreement: Agreement | None
    counts: tuple[tuple[int, ...], ...] = ()
    items: tuple[int, ...] = ()
    cluster_rates: ClusterRates | None = None


@dataclass(frozen=True)
class JudgeComparison:
    """How much more often one judge agrees with people than another, on the same labelled items.

    measure: "agreement" or, for ordered classes, "weighted kappa". agreement, other_agreement: the
        shares of the items in question on which each agrees with people, or their kappas.
    p_value: that of no difference; p_adjusted: the same adjusted for the number of pairs of judges
        (Holm); more_than_chance: whether it is small. labels_to_decide: see `SystemDifference`.
    of_labelled_alone: labels stand for no other items, and the shares are those of labelled ones.
    """

    judge: str
    other: str
    measure: str
    n_labels: int
    agreement: float
    other_agreement: float
    difference: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    more_than_chance: bool
    labels_to_decide: int | None
    of_labelled_alone: bool


@dataclass(frozen=True)
class ErrorPattern:
    """Whether a judge errs more often by a column, and where.

    among: the items that are compared, those of one verdict (or of one class, where labels were
        chosen by class), in words; where: those of them on which the judge errs most, in words.
    wrong, n: errors and labels there; wrong_elsewhere, n_elsewhere: those of the others.
    p_value: that of errors that do not depend on the column; p_adjusted: the same adjusted for the
        number of columns and judges (Holm); more_than_chance: whether it is small.
    """

    judge: str
    column: str
    among: str
    where: str
    wrong: int
    n: int
    wrong_elsewhere: int
    n_elsewhere: int
    p_value: float
    p_adjusted: float
    more_than_chance: bool


@dataclass(frozen=True)
class MisjudgedItem:
    """A labelled item on which a judge and people disagree; row: its number in the source."""

    source: str
    row: int
    id: str | None
    judge: str
    verdict: str
    label: str


@dataclass(frozen=True)
class Performance:
    """Agreement with people, precision or recall, and its limits."""

    measure: str
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Threshold:
    """The cut of a score: items at or above it (or at or below it) are called positive.

    goal: what it was chosen for, agreement, or a precision or recall of at least `target`. cut:
    None if no cut reaches it. at_least: whether scores of the cut and more are called positive;
    share: the share of all items that are. on_labels: agreement, precision and recall on the labels
    that chose the cut; out_of_sample: the same on labels that did not.
    """

    goal: str
    target: float | None
    label: str
    cut: float | None
    at_least: bool
    share: float | None = None
    on_labels: Mapping[str, float] | None = None
    out_of_sample: tuple[Performance, ...] = ()


@dataclass(frozen=True)
class LabelsAlone:
    """The limits of the headline's share by as many random labels without any judge.

    narrower: the part by which the interval with the judge is narrower, 0 if it is not. worth: how
    many more labels would do the same; None if there are not so many items.
    """

    low: float
    high: float
    narrower: float
    worth: int | None


@dataclass(frozen=True)
class LabelDesign:
    """How the labelled items were chosen, and what the data say about it.

    design: its name: one that can be stated (random, by-verdict, ...); planned if labels came on a
        sheet of ours; given if there are none and the rates are known.
    stated: whether the user said so; guessed: whether it was guessed from the data. Neither is true
        if the tables show it: the sheet of a plan, or labels in a table of other items.
    p_value: that of the test that labelled items have the verdicts of all items, where it applies.
    """

    design: str
    stated: bool
    guessed: bool
    ok: bool
    p_value: float | None
    looks_like: str | None
    sentence: str


@dataclass(frozen=True)
class MeanLevel:
    """The mean of ordered classes; naive: that by the verdicts of the first judge alone."""

    estimate: float
    low: float
    high: float
    naive: float | None


@dataclass(frozen=True)
class WinRate:
    """How often one answer is better than another, ties counted half.

    win, loss: the classes. naive: the rate by the verdicts of the first judge alone, if they say a
    class. probability: that it is above 50%. labels_to_decide: see `SystemDifference`.
    """

    win: str
    loss: str
    estimate: float
    low: float
    high: float
    naive: float | None
    probability: float
    labels_to_decide: int | None


@dataclass(frozen=True)
class PositionBias:
    """How much more often a judge prefers an answer that it saw first.

    if_first, if_second: its win rate by the verdicts, among items where it came first and second;
    difference: that of the two, which is 0 for a judge without bias if the order was random.
    """

    judge: str
    n_first: int
    n_second: int
    if_first: float
    if_second: float
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class LimitsIf:
    """The limits of the headline's share under an assumption, which is part of a sentence."""

    assumption: str
    low: float
    high: float


@dataclass(frozen=True)
class ShareIf:
    """The headline's share if the judge is right about a class by so much more or less often."""

    label: str
    moved_by: float
    estimate: float


@dataclass(frozen=True, repr=False)
class JudgedBatch:
    """The items of a table, or of one of its groups.

    shares: the estimates to use. if_verdicts_mean_the_same: for labels from elsewhere, the limits
        under the other assumption, that a verdict means the same there and here.
    labels_for_half_width: labels in all for an interval of half the width; None if more labels
        like these cannot do it. clusters_for_half_width: in how many clusters, where clusters
        matter. n_clusters: that of the labelled items, if some of them share a cluster.
    mean: that of ordered classes (grades from 1 to 5), else None.
    no_estimate_reason: why the shares cannot be estimated; their limits are what remains possible.
    kind: what the limits are: those of a confidence interval, a range, or of shares that cannot be
        estimated. alternatives: the limits of the headline under the assumptions a range is made
        of; settle: which labels would settle it.
    if_rates_move: how far the headline's share moves if the judge errs a little more or less often.
    win_rate: that of one class against another, if asked for.
    labels_alone: what the labels would say without the judge, where they say something.
    weights: the column by which items count, if any: shares are then those of the weight.
    """

    name: str
    n_items: int
    n_labelled: int
    shares: tuple[Share, ...]
    mean: MeanLevel | None
    judges: tuple[JudgeQuality, ...]
    labels: LabelDesign
    assumed: str
    if_verdicts_mean_the_same: tuple[Share, ...]
    labels_for_half_width: int | None
    warnings: tuple[str, ...]
    advice: tuple[str, ...]
    can_be_estimated: bool = True
    no_estimate_reason: str = ""
    kind: str = INTERVAL
    alternatives: tuple[LimitsIf, ...] = ()
    settle: str = ""
    if_rates_move: tuple[ShareIf, ...] = ()
    win_rate: WinRate | None = None
    labels_alone: LabelsAlone | None = None
    clusters_for_half_width: int | None = None
    n_clusters: int | None = None
    weights: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether the shares are known, because all items are labelled."""
        exact = all(share.high - share.low < 1e-9 for share in self.shares)
        return exact and self.n_items == self.n_labelled

    def naive(self, label: str) -> float | None:
        """The share of a class by the verdicts of the first judge alone, if they say one."""
        naive = self.judges[0].naive if self.judges else None
        return None if naive is None else naive[label]

    def __repr__(self) -> str:
        """The shares in a line."""
        from quantshift.answers.notebook import batch_line

        return batch_line(self)


@dataclass(frozen=True)
class SystemDifference:
    """The share of a class in one system minus that in another.

    paired: the items of both are the same (answers to the same questions).
    n_items, n_other: how many items each of them has.
    probability: that the system has the larger share. p_value: that of no difference; p_adjusted:
        the same adjusted for the number of pairs of systems (Holm); more_than_chance: whether it is
        small.
    labels_to_decide: labels in all that decide it with a chance of 80%, if the difference is as
        estimated; None if it is decided, or if labels cannot decide it.
    """

    label: str
    system: str
    other: str
    estimate: float
    low: float
    high: float
    paired: bool
    n_items: int
    n_other: int
    probability: float
    p_value: float
    p_adjusted: float
    more_than_chance: bool
    labels_to_decide: int | None


@dataclass(frozen=True)
class MeanDifference:
    """The mean of ordered classes in one system minus that in another.

    naive: the difference by the verdicts of the first judge alone, if they say a class. The other
    fields are those of `SystemDifference`.
    """

    system: str
    other: str
    estimate: float
    low: float
    high: float
    naive: float | None
    paired: bool
    n_items: int
    n_other: int
    probability: float
    p_value: float
    p_adjusted: float
    more_than_chance: bool
    labels_to_decide: int | None


@dataclass(frozen=True, repr=False)
class Judgement(AbstractAnswer):
    """The answer to one call of `judge`.

    overall: all items; batches: the same, or the groups of `by`, one by one.
    ordered: the classes are levels of a scale; kappa then depends on how far apart two are.
    headline: the class whose share stands for all; names: how classes are shown.
    differences: those between two groups, or the pairs of several, a row for each class;
        mean_differences: those of their means, if classes are ordered.
    people: how far the people who gave the labels agree, if several did.
    position_bias: that of each judge, if the table says which answer came first.
    judge_comparisons: for each pair of judges, which of them agrees better with people.
    error_patterns: where judges err by the columns that were named, the smallest p-values first.
    misjudged: labelled items on which a judge and people disagree.
    threshold: the cut of the score, if asked for.
    """

    classes: tuple[str, ...]
    level: float
    label: str | None
    judges: tuple[str, ...]
    score: str | None
    by: str | None
    ordered: bool
    headline: str
    names: Mapping[str, str]
    overall: JudgedBatch
    batches: tuple[JudgedBatch, ...]
    differences: tuple[SystemDifference, ...]
    mean_differences: tuple[MeanDifference, ...]
    warnings: tuple[str, ...]
    rows: tuple[Rows, ...]
    people: PeopleAgreement | None = None
    position_bias: tuple[PositionBias, ...] = ()
    judge_comparisons: tuple[JudgeComparison, ...] = ()
    error_patterns: tuple[ErrorPattern, ...] = ()
    misjudged: tuple[MisjudgedItem, ...] = ()
    threshold: Threshold | None = None

    @property
    def mean_difference(self) -> MeanDifference | None:
        """The difference of means of the first pair of systems, if classes are ordered."""
        return self.mean_differences[0] if self.mean_differences else None

    def __getitem__(self, label: str) -> Share:
        """The share of a class among all items: `result["win"].low`."""
        classes = {shown: name for name, shown in self.names.items()}
        classes |= {name: name for name in self.classes}
        if label not in classes:
            raise unknown_name("class", label, classes)
        return share_of(self.overall, classes[label])

    def to_text(self) -> str:
        """What a terminal shows."""
        from quantshift.judging.output.text import render_text

        return render_text(self)

    def to_json(self) -> str:
        """All of it as JSON, laid out as `json_schema` says; `format` is the layout's version."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2, ensure_ascii=False)

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`: one per batch and class, then means and differences, if any.

        `kind` tells them apart: share, mean, win rate, difference, mean difference.
        """
        for batch in self.batches:
            yield from self._records_of(batch)
        compared: list[SystemDifference | MeanDifference] = [*self.differences]
        for d in [*compared, *self.mean_differences]:
            label, naive, kind = (
                (d.label, None, "difference")
                if isinstance(d, SystemDifference)
                else (MEAN, d.naive, "mean difference")
            )
            yield {
                "batch": f"{d.system} minus {d.other}",
                "items": d.n_items if d.paired else d.n_items + d.n_other,
                "labels": None,
                "class": label,
                "estimate": d.estimate,
                "low": d.low,
                "high": d.high,
                "naive": naive,
                "kappa": None,
                "design": self.overall.labels.design,
                "can_be_estimated": True,
                "labels_for_half_width": None,
                "kind": kind,
                "limits": self.overall.kind,
            }

    def _records_of(self, batch: JudgedBatch) -> Iterator[dict[str, Any]]:
        judge = batch.judges[0] if batch.judges else None
        agreement = None if judge is None else judge.agreement
        rows: list[tuple[str, str, Share | MeanLevel | WinRate, float | None]] = [
            ("share", share.label, share, batch.naive(share.label)) for share in batch.shares
        ]
        if batch.mean is not None:
            rows.append(("mean", MEAN, batch.mean, batch.mean.naive))
        if batch.win_rate is not None:
            rows.append((WIN_RATE, batch.win_rate.win, batch.win_rate, batch.win_rate.naive))
        for kind, label, estimate, naive in rows:
            yield {
                "batch": batch.name,
                "items": batch.n_items,
                "labels": batch.n_labelled,
                "class": label,
                "estimate": estimate.estimate,
                "low": estimate.low,
                "high": estimate.high,
                "naive": naive,
                "kappa": None if agreement is None else agreement.kappa,
                "design": batch.labels.design,
                "can_be_estimated": batch.can_be_estimated,
                "labels_for_half_width": batch.labels_for_half_width,
                "kind": kind,
                "limits": batch.kind,
            }

    def plot(self, label: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
        """Shares with their intervals and the naive rates, of all classes or batch by batch.

        label: the class, if there are several batches (default: the headline).
        """
        with extra_needed("plots"):
            from quantshift.judging.output.plotting import plot_judgement

        return plot_judgement(self, label, ax)

    def page(
        self,
        *,
        conditions: Sequence[Condition] = (),
        provenance: Sequence[tuple[str, str]] = (),
    ) -> str:
        """A self-contained web page as one string of HTML; see `AbstractAnswer`."""
        from quantshift.judging.output.page import render_page

        return render_page(self, conditions=conditions, provenance=provenance)

    def summary(self) -> Summary:
        """A few lines for the interactive shell."""
        from quantshift.judging.output.text import summary_of

        return summary_of(self)


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the output of `Judgement.to_json`."""
    return json_schema_of(Judgement, FORMAT)
