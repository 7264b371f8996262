"""Judges over time: their labels pooled, and whether they still err as they did at first.

The labels of all batches together show the error rates and kappa of a judge much better than those
of one batch. Whether the judge has drifted is asked separately for each class: how often was it
right about items of the class in the first batches (the baseline), and how often since? (Labels
that were chosen by verdict are a random sample of the items with that verdict, and the question is
how often each verdict was right.) Both have limits that hold at every look at once, so that anybody
may look every day: if nothing has changed, the probability that the two ever come apart is at most
5%, for all judges and classes together.

Where labelled items share clusters, a cluster is one observation, the rate at which the judge is
right about its items, and the question is about the mean of these rates. Limits of counts hold for
any numbers from 0 to 1 in place of ones and zeros: exp(sX) is at most 1 - X + X exp(s), so that the
likelihood ratio behind them grows no more on average. Clusters have to be independent of each
other, so that the labels of one belong to one batch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from quantshift.base.types import Reals
from quantshift.claims import Estimated
from quantshift.history.charts.series import Point, Series
from quantshift.history.kept.dates import moment_of
from quantshift.history.kept.entries import CLASS, VERDICT, agreeing
from quantshift.history.kept.record import JudgedEntry, Limits
from quantshift.judging.designs.parts.judge_quality import (
    JudgeCounts,
    Quality,
    counted_quality,
    quality_by_verdict,
)
from quantshift.judging.items.judged_items import Settings
from quantshift.judging.items.meaning import are_levels
from quantshift.judging.result import JudgeQuality
from quantshift.labelling.sequence import counted_sequence

FALSE_DRIFTS = 0.05
"""The probability that a judge that never changes is ever said to have drifted."""


@dataclass(frozen=True)
class RateSince:
    """How often a judge was right, with limits that hold at every look.

    right, n: labels, or sums of the rates of clusters and the number of these.
    """

    right: float
    n: int
    low: float
    high: float


@dataclass(frozen=True)
class Drift:
    """Whether a judge is right as often as in the baseline.

    what: the class of the items, or the verdict. since: None if there is no label since. drifted:
    whether the limits have come apart.
    """

    what: str
    baseline: RateSince
    since: RateSince | None
    drifted: bool


@dataclass(frozen=True)
class JudgeOverTime:
    """One judge in one series.

    n_batches: batches with labels; n_labels: labels in all. kappa: with its limits, from all
    labels; rates: how often it says the class of items of a class. given: what drift is about,
    items of a "class" or of a "verdict".
    reason: why nothing can be said about drift; otherwise empty. by_cluster: whether rates of
    clusters are compared.
    """

    judge: str
    n_batches: int
    n_labels: int
    kappa: tuple[float, float, float] | None
    rates: tuple[Estimated, ...]
    given: str
    drifts: tuple[Drift, ...]
    reason: str
    by_cluster: bool


@dataclass(frozen=True, eq=False)
class _Batches:
    """What labels show about one judge, batch by batch.

    verdicts: all that it ever gave; says: the class that each says. counts: (n_batches, n_classes,
    n_verdicts); items: (n_batches, n_verdicts).
    """

    verdicts: tuple[str, ...]
    says: tuple[str | None, ...]
    classes: tuple[str, ...]
    counts: Reals
    items: Reals
    entries: tuple[JudgeQuality, ...]

    @classmethod
    def of(cls, judges: Sequence[JudgeQuality], classes: tuple[str, ...]) -> "_Batches":
        class_of_verdict = {
            v: c for judge in judges for v, c in zip(judge.verdicts, judge.says, strict=True)
        }
        columns = {verdict: column for column, verdict in enumerate(class_of_verdict)}
        counts = np.zeros((len(judges), len(classes), len(class_of_verdict)))
        items = np.zeros((len(judges), len(class_of_verdict)))
        for i, judge in enumerate(judges):
            used = [columns[verdict] for verdict in judge.verdicts]
            counts[i][:, used] = np.array(judge.counts)
            items[i][used] = judge.items
        return cls(
            tuple(class_of_verdict),
            tuple(class_of_verdict.values()),
            classes,
            counts,
            items,
            tuple(judges),
        )

    def streams(self, given: str) -> Iterator[tuple[str, Reals, Reals]]:
        """The name of each class or verdict, how often the judge was right, and out of how many."""
        by_verdict = given == VERDICT
        axis, names = (1, self.verdicts) if by_verdict else (2, self.classes)
        right = (self.counts * agreeing(self.says, self.classes)).sum(axis=axis)
        n = self.counts.sum(axis=axis)
        for i, entry in enumerate(self.entries):
            if entry.cluster_rates is not None:
                rates = entry.cluster_rates
                cluster_rates = rates.by_verdict if by_verdict else rates.by_class
                names_in_entry = entry.verdicts if by_verdict else self.classes
                index = [names.index(name) for name in names_in_entry]
                right[i, index], n[i, index] = (
                    [r.total for r in cluster_rates],
                    [r.n for r in cluster_rates],
                )
        for k, name in enumerate(names):
            if not by_verdict or self.says[k] is not None:
                yield name, right[:, k], n[:, k]

    @property
    def by_cluster(self) -> bool:
        """Whether a cluster is one observation in some batch."""
        return any(entry.cluster_rates is not None for entry in self.entries)


def judges_over_time(series: Series, limits: Limits) -> list[JudgeOverTime]:
    """Every judge of the last batch of a series; none if it is not one of `judge`."""
    last = series.points[-1]
    if last.batch.judged is None:
        return []
    given = _given(series)
    usable = [point for point in series.points if _counts(point, given, limits)]
    names = [judge.name for judge in last.batch.judged.judges]
    classes = last.call.classes
    return [
        _over_time(name, usable, classes, given, limits, len(names)) for name in names if usable
    ]


def _given(series: Series) -> str:
    """What the labels are a random sample of, by the last batch that has any."""
    by_batch = [p.batch.judged.given for p in series.points if p.batch.judged is not None]
    return next((given for given in reversed(by_batch) if given), CLASS)


def _counts(point: Point, given: str, limits: Limits) -> bool:
    """Whether the labels of a batch count."""
    judged = point.batch.judged
    first = None if limits.baseline_from is None else moment_of(limits.baseline_from)
    return (
        judged is not None
        and judged.given == given
        and any(any(map(any, judge.counts)) for judge in judged.judges)
        and (first is None or point.moment >= first)
    )


def _entry(judged: JudgedEntry | None, name: str) -> JudgeQuality | None:
    judges = () if judged is None else judged.judges
    return next((judge for judge in judges if judge.name == name), None)


def _over_time(
    name: str,
    points: Sequence[Point],
    classes: tuple[str, ...],
    given: str,
    limits: Limits,
    n_judges: int,
) -> JudgeOverTime:
    both = [(p.batch.judged, _entry(p.batch.judged, name)) for p in points]
    entries = [entry for _, entry in both if entry is not None]
    independent = [_independent(judged) for judged, entry in both if entry is not None]
    batches = _Batches.of(entries, classes)
    level = points[-1].call.level
    quality = _pooled(batches, np.array(independent), given, level)
    right = agreeing(batches.says, classes)
    rates = []
    for y, label in enumerate(classes):
        columns = np.flatnonzero(right[y])
        if len(columns) == 1:
            row = (
                part[y, columns[0]]
                for part in (quality.rates, quality.rates_low, quality.rates_high)
            )
            rates.append(Estimated(label, *map(float, row)))
    kappa = (float(quality.kappa), float(quality.kappa_low), float(quality.kappa_high))
    reason = _why_no_test(len(entries), limits.baseline)
    return JudgeOverTime(
        judge=name,
        n_batches=len(entries),
        n_labels=int(batches.counts.sum()),
        kappa=kappa if np.isfinite(kappa).all() else None,
        rates=tuple(rates),
        given=given,
        drifts=() if reason else tuple(_drifts(batches, given, limits.baseline, n_judges)),
        reason=reason,
        by_cluster=batches.by_cluster,
    )


def _why_no_test(n_batches: int, n_baseline: int) -> str:
    """Why drift cannot be tested; empty if it can."""
    if n_batches < n_baseline:
        return f"the baseline has {n_batches} of {n_baseline} batches with labels so far"
    return ""


def _independent(judged: JudgedEntry | None) -> float:
    """The part of the labels that count as independent: a cluster counts as one item."""
    if judged is None or judged.n_clusters is None:
        return 1.0
    return judged.n_clusters / judged.n_labelled


def _pooled(batches: _Batches, independent: Reals, given: str, level: float) -> Quality:
    """Error rates and kappa by the labels of all batches."""
    counts = (batches.counts * independent[:, np.newaxis, np.newaxis]).sum(axis=0)
    items = batches.items.sum(axis=0)
    class_codes = [-1 if label is None else batches.classes.index(label) for label in batches.says]
    by_class = counts.sum(axis=1)
    judge_counts = JudgeCounts(
        labelled=counts,
        items=items,
        prevalence=by_class / max(by_class.sum(), 1),
        classes=np.array(class_codes),
        ordered=are_levels(batches.classes),
    )
    settings = Settings(level)
    return (quality_by_verdict if given == VERDICT else counted_quality)(judge_counts, settings)


def _drifts(batches: _Batches, given: str, n_baseline: int, n_judges: int) -> Iterator[Drift]:
    streams = list(batches.streams(given))
    # Half of what is allowed for either of the two periods.
    level = 1 - FALSE_DRIFTS / (2 * len(streams) * n_judges)
    for what, right, n in streams:
        first = _since(right[:n_baseline], n[:n_baseline], level)
        later = _since(right[n_baseline:], n[n_baseline:], level)
        apart = later.low > first.high or later.high < first.low
        yield Drift(what, first, later if later.n else None, apart)


def _since(right: Reals, n: Reals, level: float) -> RateSince:
    n_right, total = float(right.sum()), int(n.sum())
    return RateSince(n_right, total, *counted_sequence(n_right, total, level=level))
