"""Series of a history: the looks that count in the order of time, and their control charts."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import NormalDist, median

from quantshift.answers.shares import Share
from quantshift.history.control import control_chart, level_per_look
from quantshift.history.dates import dated, moment_of
from quantshift.history.record import ACCURACY, Call, Limits, Look

DAYS_PER_YEAR = 365.25


@dataclass(frozen=True)
class Point:
    """A look in its series.

    moment: the date in the name of the batch or, without one, the day of the call. before: how many
    calls measured the batch before; they are kept, and this one counts.
    """

    moment: datetime
    look: Look
    call: Call
    before: int

    @property
    def has_date(self) -> bool:
        """Whether the date is in the name of the batch."""
        return dated(self.look.name)[1] is not None

    def share(self, label: str, *, audited: bool = True) -> Share:
        """The share of a class, with the help of an audit if there is one, or without.

        label: also `ACCURACY`, for the classifier's accuracy.
        """
        if label == ACCURACY:
            return self.look.accuracy or Share(ACCURACY, None, 0.0, 1.0)
        shares = self.look.shares if audited else self.look.unaudited
        return next(share for share in shares if share.label == label)


@dataclass(frozen=True)
class Series:
    """The looks that count at one stream of batches, in the order of their dates.

    name: what the names of the batches have in common, with * for the date.
    """

    name: str
    points: tuple[Point, ...]

    def is_model_change(self, i: int) -> bool:
        """Whether another model than at the look before estimated."""
        digests = [point.call.model.digest for point in self.points[max(i - 1, 0) : i + 1]]
        return digests[0] != digests[-1]


@dataclass(frozen=True)
class Control:
    """The control chart of one class in one series; an entry of `smoothed` for every look.

    smoothed, low, high: the moving average and its limits; None for looks of the baseline, before
    it, and without an estimate. alarms: whether the average is beyond its limits.
    centre: the mean of the baseline; None while there are too few looks, and why_not says why.
    audited: whether audited shares are compared (if all are audited) or those of the method alone.
    first: the place of the first look of the baseline. false_alarms_per_year: looks at which this
    chart alarms by chance.
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
    looks_per_year: float | None
    false_alarms_per_year: float | None
    why_not: str = ""


def series_of(calls: Sequence[Call]) -> list[Series]:
    """The series of calls that are given in the order of their times; of a batch the last counts.

    Calls of other classes than the last one are left out.
    """
    latest: dict[str, dict[tuple[str, datetime], Point]] = defaultdict(dict)
    for call in same_classes(calls):
        for look in call.looks:
            name, moment = dated(look.name)
            when = moment or _day(call)
            known = latest[name]
            before = known.get((look.name, when))
            known[look.name, when] = Point(
                when, look, call, 0 if before is None else before.before + 1
            )
    return [
        Series(name, tuple(sorted(points.values(), key=lambda p: (p.moment, p.look.name))))
        for name, points in sorted(latest.items())
    ]


def same_classes(calls: Sequence[Call]) -> list[Call]:
    """The calls of the same classes as the last."""
    return [call for call in calls if set(call.classes) == set(calls[-1].classes)]


def controls_of(series: Sequence[Series], limits: Limits) -> list[list[Control]]:
    """The control charts of each series, one for each class (of two the headline's alone)."""
    if not series:
        return []
    call = series[0].points[-1].call
    labels = [call.headline] if len(call.classes) == 2 else list(call.classes)
    usable = [_usable(one, labels[0], limits) for one in series]
    n_charts = len(labels) * max(1, sum(len(own) > limits.baseline for own in usable))
    return [
        [_control(one, own, label, limits, n_charts) for label in labels]
        for one, own in zip(series, usable, strict=True)
    ]


def accuracy_controls(series: Sequence[Series], limits: Limits) -> list[Control | None]:
    """The control chart of the classifier's accuracy in each series; None if it was never known.

    Its false alarms come on top of those of the classes, and are at most as many.
    """
    usable = [_usable(one, ACCURACY, limits) for one in series]
    n_charts = max(1, sum(len(own) > limits.baseline for own in usable))
    return [
        _control(one, own, ACCURACY, limits, n_charts) if own else None
        for one, own in zip(series, usable, strict=True)
    ]


def looks_per_year(moments: Sequence[datetime]) -> float | None:
    """How many looks a year there are, by the usual time between two; None if that is unknown."""
    gaps = [(later - earlier) / timedelta(days=1) for earlier, later in pairwise(moments)]
    usual = median(gaps) if gaps else 0.0
    return DAYS_PER_YEAR / usual if usual else None


def _usable(series: Series, label: str, limits: Limits) -> list[int]:
    """The looks with an estimate, from the first day that counts."""
    first = None if limits.baseline_from is None else moment_of(limits.baseline_from)
    return [
        i
        for i, point in enumerate(series.points)
        if point.look.can_be_estimated
        and point.share(label).estimate is not None
        and (first is None or point.moment >= first)
    ]


def _control(
    series: Series, own: Sequence[int], label: str, limits: Limits, n_charts: int
) -> Control:
    points = [series.points[i] for i in own]
    audited = all(point.look.audit is not None for point in points)
    rate = limits.looks_per_year or looks_per_year([point.moment for point in points])
    n = len(series.points)
    why_not = _why_not(len(points), rate, limits)
    if why_not:
        nothing = (None,) * n
        return Control(
            *(label, None, nothing, nothing, nothing, (False,) * n, audited, limits.baseline),
            first=None,
            looks_per_year=rate,
            false_alarms_per_year=None,
            why_not=why_not,
        )
    assert rate is not None
    level = level_per_look(limits.false_alarms_per_year, rate, n_charts=n_charts)
    shares = [point.share(label, audited=audited) for point in points]
    chart = control_chart(
        [share.estimate or 0.0 for share in shares],
        [_standard_error(s, p.call.level) for s, p in zip(shares, points, strict=True)],
        [point.look.n_items for point in points],
        n_baseline=limits.baseline,
        level=level,
    )
    smoothed: list[float | None] = [None] * n
    low, high, alarms = list(smoothed), list(smoothed), [False] * n
    for place, i in enumerate(own[limits.baseline :]):
        smoothed[i] = float(chart.smoothed[place])
        low[i] = max(chart.centre - float(chart.reach[place]), 0.0)
        high[i] = min(chart.centre + float(chart.reach[place]), 1.0)
        alarms[i] = bool(chart.alarms[place])
    return Control(
        *(label, chart.centre, tuple(smoothed), tuple(low), tuple(high), tuple(alarms)),
        audited=audited,
        n_baseline=limits.baseline,
        first=own[0],
        looks_per_year=rate,
        false_alarms_per_year=level * rate,
    )


def _why_not(n_looks: int, rate: float | None, limits: Limits) -> str:
    if n_looks <= limits.baseline:
        return f"the baseline has {n_looks} of {limits.baseline} looks so far"
    if rate is None:
        return "all batches have the same date: give the number of looks per year"
    return ""


def _standard_error(share: Share, level: float) -> float:
    return (share.high - share.low) / (2 * NormalDist().inv_cdf(0.5 + level / 2))


def _day(call: Call) -> datetime:
    return moment_of(call.time).replace(hour=0, minute=0, second=0, microsecond=0)
