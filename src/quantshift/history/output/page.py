"""A history as one self-contained web page: the series with intervals, limits, marks and alarms.

The chart shows one quantity at a time: the share of a class, the mean of levels, or the estimated
accuracy of the classifier.
"""

from typing import Any

from quantshift.answers.conditions import Condition
from quantshift.answers.marks import legend
from quantshift.answers.page import render_answer, thresholds
from quantshift.answers.text import shown
from quantshift.answers.words import one_line, sentence, shortened, some_names
from quantshift.base.nouns import counted
from quantshift.claims import Kind
from quantshift.errors import UserError
from quantshift.history.charts.alarms import alarms_of
from quantshift.history.charts.archive import Archive
from quantshift.history.charts.judges import judges_over_time
from quantshift.history.charts.series import (
    Control,
    Point,
    Series,
    accuracy_controls,
    control_of,
    controls_of,
)
from quantshift.history.kept.entries import JUDGE
from quantshift.history.kept.record import ACCURACY, MEAN, HistoryEntry, Limits
from quantshift.history.output.rendering import (
    alarm_text,
    average_and_limits,
    batch_label,
    batch_marks,
    control_text,
    drift_texts,
    judge_lines,
    lead_text,
    minute_of,
    share_or_mean,
    values_and_limits,
)


def render_page(history: Archive, limits: Limits | None = None) -> str:
    """The page as one string of HTML."""
    calls = history.calls()
    if not calls:
        raise UserError(f"{history.path} has no calls yet")
    chosen = limits or history.limits()
    series = history.series()
    charts = controls_of(series, chosen)
    accuracies = accuracy_controls(series, chosen)
    with_accuracy = [
        controls if accuracy is None else [*controls, accuracy]
        for controls, accuracy in zip(charts, accuracies, strict=True)
    ]
    last = calls[-1]
    lead = last.lead
    both = (c.label for controls in charts for c in controls if c.label not in last.charted)
    quantities = (*last.charted, *dict.fromkeys(both), *([ACCURACY] if any(accuracies) else []))
    title = "The mean over time" if lead == MEAN else f"“{shown(last, lead)}” over time"
    return render_answer(
        __package__,
        title=title,
        lead=_lead(series, with_accuracy, last),
        numbers=_numbers(series, with_accuracy, last, len(calls)),
        quantities=[(label, shown(last, label)) for label in quantities],
        headline=lead,
        has_mean=lead == MEAN,
        accuracy=shown(last, ACCURACY) if ACCURACY in quantities else "",
        newest=_newest(series),
        series=[
            _series(one, controls, quantities, last, chosen)
            for one, controls in zip(series, with_accuracy, strict=True)
        ],
        alarms=[
            *(f"{alarm_text(alarm)}." for alarm in alarms_of(calls, limits=chosen)),
            *(sentence(text) for text in drift_texts(history)),
        ],
        warnings=[str(problem) for problem in history.problems()],
        legend=legend(_all_marks(series, charts)),
        models=_models(calls),
        facts=_facts(calls, charts, chosen),
        level=f"{100 * last.level:g}%",
        data=_chart_data(series, with_accuracy, quantities, last),
    )


def _lead(series: list[Series], charts: list[list[Control]], last: HistoryEntry) -> str:
    newest = _newest(series)
    one, controls = series[newest], charts[newest]
    point = one.points[-1]
    share = point.share(last.lead)
    ((estimate, bounds),) = values_and_limits([share])
    items = f"the {counted(point.batch.n_items, 'item')} in {batch_label(point)}"
    of_mean = last.lead == MEAN
    if share.estimate is None:
        what = "The mean of" if of_mean else f"The share of “{shown(last, last.lead)}” among"
        newest_share = f"{what} {items} cannot be estimated (range {bounds})."
    elif of_mean:
        newest_share = f"The mean of {items} is {estimate} ({bounds})."
    else:
        newest_share = f"{estimate} of {items} are “{shown(last, last.lead)}” ({bounds})."
    control = control_of(controls, last.lead)
    if control is None or control.centre is None:
        return f"{newest_share} {sentence(control_text(controls[0]))}"
    if share.estimate is None:
        state = "So there is nothing to compare with the limits."
    elif control.alarms[-1]:
        state = (
            "The moving average is beyond its limits: this is more than chance and usual variation."
        )
    else:
        state = "The moving average is within its limits."
    others = [shown(last, c.label) for c in controls if c is not control and c.alarms[-1]]
    beyond = f" Beyond the limits: {some_names(others)}." if others else ""
    return f"{newest_share} {state}{beyond}"


def _numbers(
    series: list[Series], charts: list[list[Control]], last: HistoryEntry, n_calls: int
) -> list[tuple[str, str]]:
    newest = _newest(series)
    one, controls = series[newest], charts[newest]
    share = one.points[-1].share(last.lead)
    control = control_of(controls, last.lead) or controls[0]
    usual = "?" if control.centre is None else share_or_mean(control.label, control.centre)
    n_alarms = sum(sum(control_of_class.alarms) for control_of_class in controls)
    return [
        (f"newest {lead_text(last)}", values_and_limits([share])[0][0]),
        ("usual", usual),
        ("batches that alarm", f"{n_alarms:,}"),
        ("calls", f"{n_calls:,}"),
    ]


def _newest(series: list[Series]) -> int:
    """The position of the series whose last batch is the newest."""
    return max(range(len(series)), key=lambda position: series[position].points[-1].moment)


def _series(
    one: Series,
    controls: list[Control],
    quantities: tuple[str, ...],
    last: HistoryEntry,
    limits: Limits,
) -> dict[str, Any]:
    by_label = {control.label: control for control in controls}
    rows = []
    columns = [_column(one, label) for label in quantities]
    for i, point in reversed(list(enumerate(one.points))):
        marks = batch_marks(one, by_label.get(last.lead, controls[0]), i)
        rows.append(
            {
                "name": batch_label(point),
                "n_items": f"{point.batch.n_items:,}",
                "shares": [column[i] for column in columns],
                "average": average_and_limits(by_label.get(last.lead), i),
                "marks": marks,
                "model": point.call.model.digest[:8],
                "measured": minute_of(point.call),
            }
        )
    # The chart of a single class needs no name; that of the accuracy is named if it has limits.
    notes = [
        control_text(control)
        if control.label == last.headline and len(last.classes) == 2
        else f"{shown(last, control.label)}: {control_text(control)}"
        for control in controls
        if control.label != ACCURACY or not control.reason
    ]
    about_judges = list(judge_lines(judges_over_time(one, limits)))
    return {
        "name": shortened(one.name),
        "rows": rows,
        "control": [sentence(n) for n in notes],
        "judges": [sentence(line) for line in about_judges],
    }


def _column(one: Series, label: str) -> list[tuple[str, str]]:
    """The value in each batch as text, and its limits."""
    texts = values_and_limits([point.share(label) for point in one.points])
    return [
        (estimate, bounds if _has(point, label) else "")
        for point, (estimate, bounds) in zip(one.points, texts, strict=True)
    ]


def _has(point: Point, label: str) -> bool:
    """Whether a batch says anything about a quantity; not every batch has an accuracy."""
    return label != ACCURACY or point.batch.accuracy is not None


def _all_marks(series: list[Series], charts: list[list[Control]]) -> set[str]:
    return {
        mark
        for one, controls in zip(series, charts, strict=True)
        for control in controls
        for i in range(len(one.points))
        for mark in batch_marks(one, control, i)
    }


def _models(calls: list[HistoryEntry]) -> list[tuple[str, str, str]]:
    """Each model at the call that used it first."""
    first: dict[str, HistoryEntry] = {}
    for call in calls:
        first.setdefault(call.model.digest, call)
    return [
        (
            minute_of(call),
            digest[:8],
            (
                f"verdicts of {call.model.classifier}"
                if call.model.method == JUDGE
                else f"{call.model.method}, {call.model.classifier}"
            )
            + (
                f"; {call.model.n_items:,} rows of {shortened(call.model.trained_on)}"
                if call.model.n_items
                else ""
            ),
        )
        for digest, call in first.items()
    ]


def _facts(
    calls: list[HistoryEntry], charts: list[list[Control]], limits: Limits
) -> list[tuple[str, str]]:
    start = "" if limits.baseline_from is None else f" from {limits.baseline_from}"
    rates = [control.false_alarms_per_year for controls in charts for control in controls]
    known_rates = [rate for rate in rates if rate is not None]
    facts = [
        ("calls", f"{len(calls):,}, the last at {minute_of(calls[-1])} UTC"),
        ("baseline", f"{limits.baseline} batches{start}"),
        ("false alarms asked for", f"{limits.false_alarms_per_year:g} a year"),
    ]
    if known_rates:
        facts.append(
            ("limits give", f"{sum(known_rates):.2g} a year, of all series and classes together")
        )
    return [*facts, ("versions", ", ".join(sorted({call.version for call in calls})))]


def _chart_data(
    series: list[Series],
    charts: list[list[Control]],
    quantities: tuple[str, ...],
    last: HistoryEntry,
) -> dict[str, Any]:
    """What the chart needs. Names are on one line: Vega's expressions cannot hold a break."""
    return {
        "quantities": [one_line(label) for label in quantities],
        "headline": one_line(last.lead),
        "mean": MEAN if last.lead == MEAN else None,
        "accuracy": ACCURACY if ACCURACY in quantities else None,
        "newest": _newest(series),
        "names": {one_line(label): shown(last, label) for label in quantities},
        "thresholds": thresholds(last, [Condition.parse(text) for text in last.conditions]),
        "series": [
            _chart_series(one, {control.label: control for control in controls}, quantities)
            for one, controls in zip(series, charts, strict=True)
        ],
    }


def _chart_series(
    one: Series, controls: dict[str, Control], quantities: tuple[str, ...]
) -> dict[str, Any]:
    batches: dict[str, list[dict[str, Any]]] = {}
    for label in quantities:
        control = controls.get(label)
        batches[one_line(label)] = [
            {
                "date": point.moment.isoformat(),
                "batch": one_line(batch_label(point)),
                "items": point.batch.n_items,
                "share": point.share(label).estimate,
                "low": point.share(label).low if _has(point, label) else None,
                "high": point.share(label).high if _has(point, label) else None,
                "limits": point.batch.kind,
                "range": point.batch.kind.is_range and point.batch.kind is not Kind.EITHER,
                "parts": [
                    {"low": part.low, "high": part.high} for part in point.share(label).parts
                ],
                "shift": point.batch.is_shifted,
                "audited": point.batch.audit is not None,
                "marks": ", ".join(batch_marks(one, control, i)),
                "new_model": one.is_model_change(i),
                "model": point.call.model.digest[:8],
                "smoothed": None if control is None else control.smoothed[i],
                "control_low": None if control is None else control.low[i],
                "control_high": None if control is None else control.high[i],
                "alarm": control is not None and control.alarms[i],
            }
            for i, point in enumerate(one.points)
        ]
    centres = {one_line(label): control.centre for label, control in controls.items()}
    return {"name": shortened(one.name), "batches": batches, "centres": centres}
