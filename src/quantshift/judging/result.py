"""What `judge` finds, as plain data: numbers and sentences, ready for any rendering."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quantshift.answers.rows import Rows
from quantshift.answers.shares import Share, share_of
from quantshift.answers.show.answer import AboutOneTarget
from quantshift.answers.show.batches import AbstractBatch, Fact
from quantshift.claims import Estimated, Grounds, Quantity
from quantshift.claims.findings import Finding
from quantshift.errors import unknown_name

MEAN = "mean"
"""In place of a class, in the rows of means."""
EVEN = 0.5
"""The win rate of two answers that are equally good."""
WIN_RATE = "win rate"
"""What the rows of win rates are of."""


@dataclass(frozen=True)
class Rate(Estimated):
    """How often a judge gives a verdict to items of the class that is its label."""

    verdict: str


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
    agreement: Cohen's kappa with people, 0 as by chance, 1 in everything.
    counts: labelled items of the batch itself by class and verdict, a list for each class; items:
        all items by verdict. cluster_rates: if labelled items share clusters.
    """

    name: str
    verdicts: tuple[str, ...]
    says: tuple[str | None, ...]
    naive: Mapping[str, float] | None
    rates: tuple[Rate, ...]
    agreement: Estimated | None
    counts: tuple[tuple[int, ...], ...] = ()
    items: tuple[int, ...] = ()
    cluster_rates: ClusterRates | None = None


@dataclass(frozen=True)
class JudgeComparison(Estimated):
    """How much more often one judge agrees with people than another, on the same labelled items.

    label: "agreement" or, for ordered classes, "weighted kappa". agreement, other_agreement: the
        shares of the items in question on which each agrees with people, or their kappas.
    p_value: that of no difference; p_adjusted: the same adjusted for the number of pairs of judges
        (Holm); more_than_chance: whether it is small. labels_to_decide: see `SystemDifference`.
    of_labelled_alone: labels stand for no other items, and the shares are those of labelled ones.
    """

    judge: str
    other: str
    n_labels: int
    agreement: float
    other_agreement: float
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
    out_of_sample: tuple[Estimated, ...] = ()


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
    question: what to answer so that nothing is guessed, with the option for each answer.
    """

    design: str
    stated: bool
    guessed: bool
    ok: bool
    p_value: float | None
    looks_like: str | None
    sentence: str
    question: str = ""


@dataclass(frozen=True)
class MeanLevel(Estimated):
    """The mean of ordered classes; naive: that by the verdicts of the first judge alone."""

    naive: float | None


@dataclass(frozen=True)
class WinRate(Estimated):
    """How often one answer is better than another, ties counted half.

    label, loss: the classes of a win and of a loss. naive: the rate by the verdicts of the first
    judge alone, if they say a class. probability: that it is above 50%. labels_to_decide: see
    `SystemDifference`.
    """

    loss: str
    naive: float | None
    probability: float
    labels_to_decide: int | None


@dataclass(frozen=True)
class PositionBias(Estimated):
    """How much more often a judge prefers an answer that it saw first; label: the judge.

    if_first, if_second: its win rate by the verdicts, among items where it came first and second;
    the estimate is their difference, which is 0 for a judge without bias if the order was random.
    """

    n_first: int
    n_second: int
    if_first: float
    if_second: float
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
class JudgedBatch(AbstractBatch):
    """The items of a table, or of one of its groups.

    shares: the estimates to use.
    labels_for_half_width: labels in all for an interval of half the width; None if more labels
        like these cannot do it. clusters_for_half_width: in how many clusters, where clusters
        matter. n_clusters: that of the labelled items, if some of them share a cluster.
    mean: that of ordered classes (grades from 1 to 5), else None.
    no_estimate_reason: why the shares cannot be estimated; their limits are what remains possible.
    grounds: of which kind the answer is, and why. condition: what a conditional answer is right
        under, from "if" on; empty for all others. alternatives: the limits of the headline under
        each of several assumptions; findings: warnings, notes and advice about these items.
    if_rates_move: how far the headline's share moves if the judge errs a little more or less often.
    win_rate: that of one class against another, if asked for.
    labels_alone: what the labels would say without the judge, where they say something.
    weights: the column by which items count, if any: shares are then those of the weight.
    with_others: of one of several groups with random labels, the shares that its own labels and
        those of all other groups give, if groups are like each other; these limits hold on average
        over the groups. Empty if that is not known.
    """

    name: str
    n_items: int
    n_labelled: int
    shares: tuple[Share, ...]
    mean: MeanLevel | None
    judges: tuple[JudgeQuality, ...]
    labels: LabelDesign
    assumed: str
    labels_for_half_width: int | None
    findings: tuple[Finding, ...]
    grounds: Grounds
    condition: str = ""
    no_estimate_reason: str = ""
    alternatives: tuple[LimitsIf, ...] = ()
    if_rates_move: tuple[ShareIf, ...] = ()
    win_rate: WinRate | None = None
    labels_alone: LabelsAlone | None = None
    clusters_for_half_width: int | None = None
    n_clusters: int | None = None
    weights: str | None = None
    with_others: tuple[Share, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether the shares are known, because all items are labelled."""
        exact = all(share.width < 1e-9 for share in self.shares)
        return exact and self.n_items == self.n_labelled

    @property
    def cells(self) -> dict[str, str]:
        """How many items people have labelled."""
        return {"labelled": f"{self.n_labelled:,}"}

    def facts(self) -> Iterator[Fact]:
        """Why the share cannot be estimated, if it cannot."""
        if self.no_estimate_reason:
            yield Fact("Unknown", self.no_estimate_reason, is_detail=False)

    def naive(self, label: str) -> float | None:
        """The share of a class by the verdicts of the first judge alone, if they say one."""
        naive = self.judges[0].naive if self.judges else None
        return None if naive is None else naive[label]


@dataclass(frozen=True)
class SystemDifference(Estimated):
    """The share of a class in one system minus that in another, or the mean of ordered classes.

    paired: the items of both are the same (answers to the same questions).
    n_items, n_other: how many items each of them has.
    naive: the difference of means by the verdicts of the first judge alone, if they say a class.
    probability: that the system has the larger one. p_value: that of no difference; p_adjusted:
        the same adjusted for the number of pairs of systems (Holm); more_than_chance: whether it is
        small.
    labels_to_decide: labels in all that decide it with a chance of 80%, if the difference is as
        estimated; None if it is decided, or if labels cannot decide it.
    """

    system: str
    other: str
    naive: float | None
    paired: bool
    n_items: int
    n_other: int
    probability: float
    p_value: float
    p_adjusted: float
    more_than_chance: bool
    labels_to_decide: int | None


@dataclass(frozen=True)
class DisputedItem:
    """An item on which people disagree; row: its number in the table, from 1."""

    row: int
    id: str | None
    votes: Mapping[str, str]


@dataclass(frozen=True)
class PeopleAgreement:
    """How far people agree on the items that several of them labelled.

    agreement: the share of pairs of labels of an item that are the same. alpha: Krippendorff's.
    error_rate: how often one person errs, if all err alike and independently; None with more than
    two classes. n_undecided: items without a majority.
    disputed: items to decide, those without a majority first.
    """

    people: tuple[str, ...]
    n_items: int
    agreement: float
    alpha: Estimated
    error_rate: float | None
    n_undecided: int
    disputed: tuple[DisputedItem, ...]


@dataclass(frozen=True, repr=False)
class AbstractJudgement(AboutOneTarget):
    """What one call of `judge` finds; `Judgement` says what the fields are and shows them."""

    used = ()
    left_out_columns = ()
    asked_of = "judge"
    reference_name = "verdicts alone"
    in_reference = "by the verdicts alone"
    about_targets = (
        "Each label is judged on its own, by its verdicts and the labels that people gave."
    )

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
    mean_differences: tuple[SystemDifference, ...]
    findings: tuple[Finding, ...]
    rows: tuple[Rows, ...]
    people: PeopleAgreement | None = None
    position_bias: tuple[PositionBias, ...] = ()
    judge_comparisons: tuple[JudgeComparison, ...] = ()
    error_patterns: tuple[ErrorPattern, ...] = ()
    misjudged: tuple[MisjudgedItem, ...] = ()
    threshold: Threshold | None = None

    @property
    def mean_difference(self) -> SystemDifference | None:
        """The difference of means of the first pair of systems, if classes are ordered."""
        return self.mean_differences[0] if self.mean_differences else None

    def __getitem__(self, label: str) -> Share:
        """The share of a class among all items: `result["win"].low`."""
        classes = {shown: name for name, shown in self.names.items()}
        classes |= {name: name for name in self.classes}
        if label not in classes:
            raise unknown_name("class", label, classes)
        return share_of(self.overall, classes[label])

    @property
    def questions(self) -> tuple[str, ...]:
        """How the labelled items were chosen, if nobody has said so."""
        question = self.overall.labels.question
        return (question,) if question else ()

    @property
    def told(self) -> tuple[JudgedBatch, ...]:
        """All items together."""
        return (self.overall,)

    @property
    def all_rows(self) -> tuple[Rows, ...]:
        """Those of each table."""
        return self.rows

    def reference(self, batch: JudgedBatch) -> float | None:
        """The share of the headline class by the verdicts of the first judge alone."""
        return batch.naive(self.headline)

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`: one per batch and class, then means and differences, if any.

        `quantity` tells them apart: share, mean, win rate, difference, mean difference.
        """
        for batch in self.batches:
            yield from self._records_of(batch)
        compared = [("difference", d) for d in self.differences]
        compared += [("mean difference", d) for d in self.mean_differences]
        for what, d in compared:
            yield {
                "batch": f"{d.system} minus {d.other}",
                "items": d.n_items if d.paired else d.n_items + d.n_other,
                "labels": None,
                "class": d.label,
                "estimate": d.estimate,
                "low": d.low,
                "high": d.high,
                "naive": d.naive,
                "kappa": None,
                "design": self.overall.labels.design,
                "can_be_estimated": True,
                "labels_for_half_width": None,
                "quantity": what,
                "kind": self.overall.kind.value,
                "reason": self.overall.reason.value,
                "condition": self.overall.condition,
            }

    def _records_of(self, batch: JudgedBatch) -> Iterator[dict[str, Any]]:
        judge = batch.judges[0] if batch.judges else None
        agreement = None if judge is None else judge.agreement
        rows: list[tuple[str, Quantity, float | None]] = [
            ("share", share, batch.naive(share.label)) for share in batch.shares
        ]
        if batch.mean is not None:
            rows.append(("mean", batch.mean, batch.mean.naive))
        if batch.win_rate is not None:
            rows.append((WIN_RATE, batch.win_rate, batch.win_rate.naive))
        for what, quantity, naive in rows:
            yield {
                "batch": batch.name,
                "items": batch.n_items,
                "labels": batch.n_labelled,
                "class": quantity.label,
                "estimate": quantity.estimate,
                "low": quantity.low,
                "high": quantity.high,
                "naive": naive,
                "kappa": None if agreement is None else agreement.estimate,
                "design": batch.labels.design,
                "can_be_estimated": batch.can_be_estimated,
                "labels_for_half_width": batch.labels_for_half_width,
                "quantity": what,
                "kind": batch.kind.value,
                "reason": batch.reason.value,
                "condition": batch.condition,
            }
