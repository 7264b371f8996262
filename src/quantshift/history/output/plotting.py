"""A series of a history as a matplotlib chart."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from quantshift.answers.words import shortened
from quantshift.errors import UserError, unknown_name
from quantshift.history.charts.archive import Archive
from quantshift.history.charts.series import control_of, controls_of
from quantshift.history.kept.record import MEAN
from quantshift.history.output.rendering import named_label


def plot_series(history: Archive, label: str | None, name: str | None, ax: Axes | None) -> Axes:
    """Estimates with their intervals over time, the moving average in its limits, alarms."""
    series_by_name = {one.name: one for one in history.series()}
    if not series_by_name:
        raise UserError(f"{history.path} has no calls yet")
    if name is None and len(series_by_name) > 1:
        raise UserError(
            f"{history.path} has several series; name one of {', '.join(series_by_name)}"
        )
    if name is not None and name not in series_by_name:
        raise unknown_name("series", name, series_by_name)
    series = series_by_name[name] if name is not None else next(iter(series_by_name.values()))
    call = series.points[-1].call
    lead = named_label(call, label)
    if ax is None:
        # Not made by pyplot, so that nobody has to close it.
        ax = Figure(figsize=(8, 4), layout="constrained").subplots()
    days = np.array([point.moment.replace(tzinfo=None) for point in series.points], "M8[s]")
    shares = [point.share(lead) for point in series.points]
    estimates = np.array([s.estimate for s in shares], dtype=float)
    for day, share in zip(days, shares, strict=True):
        for part in share.parts:
            ax.vlines(day, part.low, part.high, color="C0", alpha=0.35, linewidth=4)
    ax.plot(days, estimates, "o", color="C0", markersize=4, label="estimate")
    controls = controls_of([series], history.limits())[0]
    control = control_of(controls, lead)
    if control is not None and control.centre is not None:
        smoothed, lower, upper = (
            np.array(values, dtype=float)
            for values in (control.smoothed, control.low, control.high)
        )
        ax.axhline(control.centre, color="0.5", linewidth=1, linestyle="--")
        ax.fill_between(days, lower, upper, color="0.5", alpha=0.2, linewidth=0)
        ax.plot(days, smoothed, color="C1", label="moving average")
        alarmed = np.array(control.alarms)
        ax.plot(days[alarmed], smoothed[alarmed], "o", color="C3", label="alarm")
    for i in range(1, len(days)):
        if series.is_model_change(i):
            ax.axvline(days[i], color="0.3", linewidth=1, linestyle=":")
    if lead == MEAN:
        ax.set_ylabel("mean")
    else:
        ax.set_ylabel(f"share of {shortened(call.names.get(lead, lead), 30)}", parse_math=False)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.tick_params(axis="x", rotation=30)
    ax.legend(frameon=False)
    return ax
