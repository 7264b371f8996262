"""Series of a history: the batches that count in the order of time, and their control charts."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import NormalDist, median

from quantshift.answers.shares import Share
from quantshift.claims import Quantity
from quantshift.history.charts.control import control_chart, level_per_batch
from quantshift.history.kept.dates import ANY, dated, moment_of
from quantshift.history.kept.record import (
    ACCURACY,
    MEAN,
    BatchEntry,
    HistoryEntry,
    Limits,
    charts_of_either,
)

DAYS_PER_YEAR = 365.25

FEWEST_NUMBERED = 3
"""Calls with names that differ in a number alone, from which on they seem to be one stream."""

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Point:
    """A batch in its series.

    moment: the date in the name of the batch or, without one, the day of the call. before: how many
    calls measured the batch before; they are kept, and this one counts.
    """

    moment: datetime
    batch: BatchEntry
    call: HistoryEntry
    before: int

    @property
    def has_date(self) -> bool:
        """Whether the date is in the name of the batch."""
        return dated(self.batch.name)[1] is not None

    def share(self, label: str, *, audited: bool = True) -> Share:
        """The share of a class, with the help of an audit if there is one, or without.

        label: also `ACCURACY`, for the classifier's accuracy, `MEAN`, for the mean of levels, or
        one of `charts_of_either`.
        """
        if label == MEAN:
            return _charted(MEAN, self.batch.mean, *self.call.scale)
        if label == ACCURACY:
            return _charted(ACCURACY, self.batch.accuracy, 0.0, 1.0)
        shares = self.batch.shares if audited else self.batch.unaudited
        known = next((share for share in shares if share.label == label), None)
        if known is not None:
            return known
        share, condition = next(
            (share, condition)
            for share in shares
            for condition, name in charts_of_either(share.label).items()
            if name == label
        )
        by_condition = {c.condition: p for p, c in zip(share.parts, share.either, strict=False)}
        return by_condition.get(condition, share)


def _charted(name: str, found: Quantity | None, low: float, high: float) -> Share:
    """What a chart shows of a quantity that is no share; low, high: its limits if not known."""
    if found is None:
        return Share(name, None, low, high)
    return Share(name, found.estimate, found.low, found.high)


@dataclass(frozen=True)
class Series:
    """The batches of one stream that count, in the order of their dates.

    name: what the names of the batches have in common, with * for the date.
    """

    name: str
    points: tuple[Point, ...]

    def is_model_change(self, i: int) -> bool:
        """Whether another model estimated this batch than the batch before."""
        digests = [point.call.model.digest for point in self.points[max(i - 1, 0) : i + 1]]
        return digests[0] != digests[-1]


@dataclass(frozen=True)
class Control:
    """The control chart of one class in one series, or of the mean of classes that are levels.

    smoothed, low, high: the moving average and its limits at every batch; None for those of the
    baseline, before it, and without an estimate. alarms: whether the average is beyond its limits.
    centre: the mean of the baseline; None while there are too few batches, and reason says why.
    audited: whether audited shares are compared (if all are audited) or those of the method alone.
    first: the position of the first batch of the baseline. false_alarms_per_year: batches at which
    this chart alarms by chance. n_known: batches with an estimate. correlation: that of
    neighbouring batches which the limits allow for; visible: the smallest change that is seen
    within 10 batches; largest_change: the largest there can be, from the centre to an end.
    """

    label: str
    centre: float | None
    smoothed: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    alarms: tuple[bool, ...]
    audited: bool
    n_baseline: int
    first: int | None
    batches_per_year: float | None
    false_alarms_per_year: float | None
    n_known: int
    reason: str = ""
    correlation: float | None = None
    visible: float | None = None
    largest_change: float = 1.0


def series_of(calls: Sequence[HistoryEntry]) -> list[Series]:
    """The series of calls in the order of their times; the last measurement of a batch counts.

    Calls of other classes than the last one are left out.
    """
    latest: dict[str, dict[tuple[str, datetime], Point]] = defaultdict(dict)
    for call in same_classes(calls):
        for batch in call.batches:
            name, moment = dated(batch.name)
            when = moment or _day(call)
            points_of_series = latest[name]
            before = points_of_series.get((batch.name, when))
            points_of_series[batch.name, when] = Point(
                when, batch, call, 0 if before is None else before.before + 1
            )
    return [
        Series(name, tuple(sorted(points.values(), key=lambda p: (p.moment, p.batch.name))))
        for name, points in sorted(latest.items())
    ]


def numbered_names(series: Sequence[Series]) -> tuple[str, int] | None:
    """The name, with * for a number, that most series of one batch each share, and how many do.

    None for fewer than `FEWEST_NUMBERED`, and for batches of a single call. Such names are probably
    those of files that follow one another without a date, so that none is compared with another.
    """
    times: dict[str, list[str]] = defaultdict(list)
    for one in series:
        name, n_numbers = _NUMBER.subn(ANY, one.name)
        if n_numbers and len(one.points) == 1 and not one.points[0].has_date:
            times[name].append(one.points[0].call.time)
    name = max(times, key=lambda name: (len(set(times[name])), name), default="")
    n_calls = len(set(times[name])) if times else 0
    return (name, len(times[name])) if n_calls >= FEWEST_NUMBERED else None


def same_classes(calls: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """The calls of the same classes as the last."""
    return [call for call in calls if set(call.classes) == set(calls[-1].classes)]


def controls_of(series: Sequence[Series], limits: Limits) -> list[list[Control]]:
    """The control charts of each series, one for each class (with two, only the headline's).

    If classes are levels of a scale, the chart of their mean comes first. Where the answer about a
    class was one of two intervals, there is a chart for either, and an alarm where both alarm.
    """
    if not series:
        return []
    call = series[0].points[-1].call
    labels = [call.headline] if len(call.classes) == 2 else list(call.charted)
    usable = [{label: _usable(one, label, limits) for label in labels} for one in series]
    charted = sum(
        len(batches) > limits.baseline for by_label in usable for batches in by_label.values()
    )
    n_charts = max(charted, len(labels))
    return [
        [
            control
            for label, batches in by_label.items()
            for control in _controls(one, batches, label, limits, n_charts)
        ]
        for one, by_label in zip(series, usable, strict=True)
    ]


def control_of(controls: Sequence[Control], label: str) -> Control | None:
    """The chart of a class, or the first of its two."""
    for name in (label, *charts_of_either(label).values()):
        found = next((control for control in controls if control.label == name), None)
        if found is not None:
            return found
    return None


def _controls(
    series: Series, usable: Sequence[int], label: str, limits: Limits, n_charts: int
) -> list[Control]:
    """The chart of a class, or those of two intervals, which alarm together."""
    if not any(series.points[i].share(label).either for i in usable):
        return [_control(series, usable, label, limits, n_charts)]
    charts = [
        _control(series, usable, name, limits, n_charts)
        for name in charts_of_either(label).values()
    ]
    alarms = tuple(all(both) for both in zip(*(chart.alarms for chart in charts), strict=True))
    return [replace(chart, alarms=alarms) for chart in charts]


def accuracy_controls(series: Sequence[Series], limits: Limits) -> list[Control | None]:
    """The control chart of the classifier's accuracy in each series; None if it was never known.

    Its false alarms come on top of those of the classes, and are at most as many.
    """
    usable = [_usable(one, ACCURACY, limits) for one in series]
    n_charts = max(1, sum(len(batches) > limits.baseline for batches in usable))
    return [
        _control(one, batches, ACCURACY, limits, n_charts) if batches else None
        for one, batches in zip(series, usable, strict=True)
    ]


def batches_per_year(moments: Sequence[datetime]) -> float | None:
    """How many batches a year there are, by the usual time between two; None if that is unknown."""
    gaps = [(later - earlier) / timedelta(days=1) for earlier, later in pairwise(moments)]
    usual = median(gaps) if gaps else 0.0
    return DAYS_PER_YEAR / usual if usual else None


def _usable(series: Series, label: str, limits: Limits) -> list[int]:
    """The batches with an estimate, from the first day that counts.

    The accuracy has estimates of its own, also where the shares of the classes have none.
    """
    first = None if limits.baseline_from is None else moment_of(limits.baseline_from)
    return [
        i
        for i, point in enumerate(series.points)
        if (label == ACCURACY or point.batch.can_be_estimated)
        and point.share(label).is_known
        and (first is None or point.moment >= first)
    ]


def _control(
    series: Series, usable: Sequence[int], label: str, limits: Limits, n_charts: int
) -> Control:
    points = [series.points[i] for i in usable]
    audited = all(point.batch.audit is not None for point in points)
    rate = limits.batches_per_year or batches_per_year([point.moment for point in points])
    n = len(series.points)
    reason = _reason_without_limits(len(points), rate, limits)
    if reason:
        nothing = (None,) * n
        return Control(
            *(label, None, nothing, nothing, nothing, (False,) * n, audited, limits.baseline),
            first=None,
            batches_per_year=rate,
            false_alarms_per_year=None,
            reason=reason,
            n_known=len(points),
        )
    assert rate is not None
    level = level_per_batch(limits.false_alarms_per_year, rate, n_charts=n_charts)
    shares = [point.share(label, audited=audited) for point in points]
    # A mean is compared as part of its scale, which is from 0 to 1 like a share.
    lowest, highest = points[-1].call.scale if label == MEAN else (0.0, 1.0)
    span = highest - lowest
    chart = control_chart(
        [((share.estimate or 0.0) - lowest) / span for share in shares],
        [_standard_error(s, p.call.level) / span for s, p in zip(shares, points, strict=True)],
        [point.batch.n_items for point in points],
        n_baseline=limits.baseline,
        level=level,
        years=[(p.moment - points[0].moment) / timedelta(days=DAYS_PER_YEAR) for p in points],
    )
    smoothed: list[float | None] = [None] * n
    low, high, alarms = list(smoothed), list(smoothed), [False] * n
    for position, i in enumerate(usable[limits.baseline :]):
        smoothed[i] = lowest + span * float(chart.smoothed[position])
        low[i] = lowest + span * max(chart.centre - float(chart.margin[position]), 0.0)
        high[i] = lowest + span * min(chart.centre + float(chart.margin[position]), 1.0)
        alarms[i] = bool(chart.alarms[position])
    centre = lowest + span * chart.centre
    return Control(
        *(label, centre, tuple(smoothed), tuple(low), tuple(high), tuple(alarms)),
        audited=audited,
        n_baseline=limits.baseline,
        first=usable[0],
        batches_per_year=rate,
        false_alarms_per_year=level * rate,
        n_known=len(points),
        correlation=chart.correlation,
        visible=span * chart.visible,
        largest_change=span * max(chart.centre, 1 - chart.centre),
    )


def _reason_without_limits(n_batches: int, rate: float | None, limits: Limits) -> str:
    if n_batches <= limits.baseline:
        return f"the baseline has {n_batches} of {limits.baseline} batches so far"
    if rate is None:
        return "all batches have the same date: give the number of batches per year"
    return ""


def _standard_error(share: Share, level: float) -> float:
    return share.width / (2 * NormalDist().inv_cdf(0.5 + level / 2))


def _day(call: HistoryEntry) -> datetime:
    return moment_of(call.time).replace(hour=0, minute=0, second=0, microsecond=0)
