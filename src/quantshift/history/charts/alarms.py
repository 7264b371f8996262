"""Alarms: the batches at which a moving average left its limits."""

from collections.abc import Sequence
from dataclasses import dataclass

from quantshift.history.charts.series import (
    Control,
    Series,
    accuracy_controls,
    controls_of,
    series_of,
)
from quantshift.history.kept.record import HistoryEntry, Limits


@dataclass(frozen=True)
class Alarm:
    """A batch at which the average of a class, or the classifier's accuracy, left its limits.

    model_changed: whether another model estimated than at the first batch of the baseline.
    """

    batch: str
    label: str
    shown: str
    smoothed: float
    centre: float
    low: float
    high: float
    model_changed: bool


def alarms_of(
    calls: Sequence[HistoryEntry], call: HistoryEntry | None = None, limits: Limits | None = None
) -> list[Alarm]:
    """The alarms that one of the calls (default: the last) has raised."""
    if not calls:
        return []
    raised_by = calls[-1] if call is None else call
    series, chosen = series_of(calls), limits or calls[-1].limits
    charts = zip(
        series, controls_of(series, chosen), accuracy_controls(series, chosen), strict=True
    )
    return [
        _alarm(one, control, i)
        for one, controls, accuracy in charts
        for control in (*controls, *([] if accuracy is None else [accuracy]))
        for i, (point, alarm) in enumerate(zip(one.points, control.alarms, strict=True))
        if alarm and point.call == raised_by and (not point.before or i == len(one.points) - 1)
    ]


def _alarm(series: Series, control: Control, i: int) -> Alarm:
    point = series.points[i]
    smoothed, low, high = control.smoothed[i], control.low[i], control.high[i]
    assert smoothed is not None
    assert low is not None
    assert high is not None
    assert control.centre is not None
    assert control.first is not None
    return Alarm(
        batch=point.batch.name,
        label=control.label,
        shown=point.call.names.get(control.label, control.label),
        smoothed=smoothed,
        centre=control.centre,
        low=low,
        high=high,
        model_changed=point.call.model.digest != series.points[control.first].call.model.digest,
    )
