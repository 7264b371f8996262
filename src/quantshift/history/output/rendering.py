"""A history as text: its calls, its series, one line for a call, and a table for other programs."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from quantshift.answers.kinds import common_head
from quantshift.answers.marks import legend, marks_of_answer
from quantshift.answers.shares import Share
from quantshift.answers.show.notebook import few_lines, small_table
from quantshift.answers.text import aligned, headed
from quantshift.answers.words import (
    decimals,
    estimates_and_limits,
    one_line,
    shortened,
    some_names,
)
from quantshift.answers.words import limits as limits_text
from quantshift.base.nouns import RARE, counted, percent
from quantshift.errors import unknown_name
from quantshift.history.charts.alarms import Alarm, alarms_of
from quantshift.history.charts.archive import Archive
from quantshift.history.charts.judges import Drift, JudgeOverTime, RateSince, judges_over_time
from quantshift.history.charts.series import (
    Control,
    Point,
    Series,
    accuracy_controls,
    control_of,
    controls_of,
    numbered_names,
)
from quantshift.history.kept.dates import ANY
from quantshift.history.kept.entries import VERDICT, rate_of
from quantshift.history.kept.record import MEAN, HistoryEntry, Limits
from quantshift.history.kept.store import Problem


def baseline_in_short(history: Archive) -> list[str]:
    """How many batches of the baseline there are, while it is not complete: "baseline 3 of 20"."""
    series = history.series()
    charts = [c for controls in controls_of(series, history.limits()) for c in controls]
    waiting = [c for c in charts if c.reason and c.n_known <= c.n_baseline]
    if not charts or len(waiting) < len(charts):
        return []
    furthest = max(waiting, key=lambda control: control.n_known)
    return [f"baseline {furthest.n_known} of {furthest.n_baseline}", *undated_names(series)]


def undated_names(series: Sequence[Series]) -> Iterator[str]:
    """What to do if files that seem to follow one another are not compared."""
    numbered = numbered_names(series)
    if numbered is not None:
        name, n_series = numbered
        before, _, after = name.rpartition(ANY)
        yield (
            f"{n_series} batches {name} are not compared with each other, because their names have "
            f"no date: write {before}2026-03-02{after}, or use the same name every time"
        )


def undecided(problems: Sequence[Problem]) -> str:
    """Why damaged files leave open whether there is an alarm."""
    more = f" (and {counted(len(problems) - 1, 'other file')})" if len(problems) > 1 else ""
    return (
        f"the history is damaged, so that alarms may be missing: {problems[0]}{more}; "
        f"{problems[0].cure}"
    )


def alarm_text(alarm: Alarm) -> str:
    """An alarm in words."""
    return f"{shortened(alarm.batch)}: alarm ({average_in_words(alarm)})"


def average_in_words(alarm: Alarm) -> str:
    """Where the moving average stands, and its limits."""
    model = ", another model than in the baseline" if alarm.model_changed else ""
    ((smoothed, bounds),) = values_and_limits(
        [Share(alarm.label, alarm.smoothed, alarm.low, alarm.high)]
    )
    return (
        f"moving average of {shortened(alarm.shown, 30)} {smoothed}, usually "
        f"{share_or_mean(alarm.label, alarm.centre)}, limits {bounds}{model}"
    )


def share_or_mean(label: str, value: float) -> str:
    """A share as a percentage, or the mean of levels as a number."""
    return f"{value:.2f}" if label == MEAN else percent(value)


def values_and_limits(shares: Sequence[Share]) -> list[tuple[str, str]]:
    """Two columns of a table, for the shares of a class or for the means of levels."""
    if not shares or shares[0].label != MEAN:
        return estimates_and_limits(shares)
    return [
        ("?" if s.estimate is None else f"{s.estimate:.2f}", f"{s.low:.2f} to {s.high:.2f}")
        for s in shares
    ]


def appended_text(
    history: Archive,
    alarms: Sequence[Alarm],
    problems: Sequence[Problem],
    drifts: Sequence[str] = (),
) -> str:
    """What is printed after a call was appended."""
    lines = [f"appended to {history.path} ({counted(len(history.calls()), 'call')})"]
    series = history.series()
    charts = [c for controls in controls_of(series, history.limits()) for c in controls]
    if problems:
        lines.append(undecided(problems))
    lines += drifts
    if alarms:
        lines += map(alarm_text, alarms)
    elif charts and all(control.reason for control in charts):
        lines += [control_text(charts[0]), *undated_names(series)]
    elif not problems and not drifts:
        lines.append("no alarm")
    return "\n".join(headed("History", lines))


def control_text(control: Control) -> str:
    """What the control chart of a class rests on."""
    if control.reason:
        return f"no limits yet: {control.reason}"
    assert control.centre is not None
    assert control.false_alarms_per_year is not None
    text = (
        f"mean of {control.n_baseline} batches {share_or_mean(control.label, control.centre)}; "
        f"about {control.batches_per_year:.0f} batches a year, about "
        f"{control.false_alarms_per_year:.2g} of which will be a false alarm"
    )
    if control.correlation is None or control.visible is None:
        return text
    text = (
        f"{text}, if neighbouring batches resemble each other no more than they did so far "
        f"(correlation up to {control.correlation:.2f})"
    )
    if control.visible > control.largest_change:
        return f"{text}; no change would surely be seen within 10 batches: they differ too much"
    change = f"{100 * control.visible:.1f} points"
    if control.label == MEAN:
        change = f"{control.visible:.2f}"
    return f"{text}; a change of {change} would be seen within 10 batches"


def drift_texts(history: Archive) -> list[str]:
    """The judges whose errors have changed since the baseline, in words."""
    return [
        f"{shortened(judge.judge)} has drifted: {_drift_text(judge, drift)}"
        for judges in history.judges()
        for judge in judges
        for drift in judge.drifts
        if drift.drifted
    ]


def judge_lines(judges: Sequence[JudgeOverTime]) -> Iterator[str]:
    """What the labels of all batches say about the judges, and whether they have drifted."""
    for judge in judges:
        kappa = (
            "" if judge.kappa is None else "kappa {:.2f} ({:.2f} to {:.2f})".format(*judge.kappa)
        )
        rates = [
            f"right about {percent(r.estimate)} of {shortened(r.label, 24)!r} "
            f"({limits_text(r.low, r.high)})"
            for r in judge.rates
        ]
        pooled = (
            f"{counted(judge.n_labels, 'label')} of {counted(judge.n_batches, 'batch', 'batches')}"
        )
        yield f"{shortened(judge.judge)}, by {pooled}: {', '.join(filter(None, [kappa, *rates]))}"
        if judge.reason:
            yield f"{shortened(judge.judge)}: no test of drift: {judge.reason}"
        for drift in judge.drifts:
            state = "drifted" if drift.drifted else "no drift"
            yield f"{shortened(judge.judge)}: {state}: {_drift_text(judge, drift)}"


def _drift_text(judge: JudgeOverTime, drift: Drift) -> str:
    name = shortened(drift.what, 24)
    what = f"verdict {name!r} right" if judge.given == VERDICT else f"right about {name!r}"
    what += " in the average cluster" if judge.by_cluster else ""
    return (
        f"{what} {_rate_text(drift.baseline)} of the time in the baseline, "
        f"{'no labels' if drift.since is None else _rate_text(drift.since)} since (limits that "
        "hold at every look)"
    )


def _rate_text(rate: RateSince) -> str:
    if not rate.n:
        return "?"
    return f"{percent(rate.right / rate.n)} ({limits_text(rate.low, rate.high)})"


def render_calls(calls: Sequence[HistoryEntry]) -> str:
    """A line for each call."""
    rows = [["made", "batches", "method", "model", "trained on", ""]]
    for call in calls:
        first, last = call.batches[0].name, call.batches[-1].name
        which = shortened(first, 24) if len(call.batches) == 1 else f"{len(call.batches):,} batches"
        span = "" if len(call.batches) == 1 else f"{shortened(first, 24)} to {shortened(last, 24)}"
        source = f"{call.model.n_items:,} rows of {shortened(call.model.trained_on, 24)}"
        trained = source if call.model.n_items else "nothing"
        rows.append(
            [minute_of(call), which, call.model.method, call.model.digest[:8], trained, span]
        )
    return "\n".join(map(one_line, aligned(rows)))


def render_series(history: Archive, limits: Limits, label: str | None = None) -> str:
    """The series with their marks, and what the alarms rest on.

    label: the class (default: the headline of the last call, or the mean of levels of a scale).
    """
    series = history.series()
    lead = named_label(series[0].points[-1].call, label)
    lines: list[str] = []
    used: set[str] = set()
    accuracies = accuracy_controls(series, limits)
    for one, controls, accuracy in zip(
        series, controls_of(series, limits), accuracies, strict=True
    ):
        control = control_of(controls, lead)
        last = one.points[-1].call
        lines += [f"{last.names.get(lead, lead)} in {one.name}"]
        head = common_head([point.batch.kind for point in one.points], last.level)
        what = "mean" if lead == MEAN else "share"
        rows = [["batch", "items", what, head, "moving average", "alarm outside", ""]]
        values = values_and_limits([point.share(lead) for point in one.points])
        for i, point in enumerate(one.points):
            marks_of_batch = batch_marks(one, control, i)
            used |= set(marks_of_batch)
            rows.append(
                [
                    batch_label(point),
                    f"{point.batch.n_items:,}",
                    *values[i],
                    *average_and_limits(control, i),
                    ", ".join(marks_of_batch),
                ]
            )
        lines += aligned(rows)
        several = len(controls) > 1
        lines += [_of_class(c, last.names) if several else control_text(c) for c in controls]
        if accuracy is not None and not accuracy.reason:
            lines.append(_of_class(accuracy, last.names))
        lines += _other_alarms(one, [*controls, *([] if accuracy is None else [accuracy])], lead)
        lines += _judged_table(one)
        lines += judge_lines(judges_over_time(one, limits))
        lines.append("")
    lines += aligned(legend(used)) if used else []
    lines += undated_names(series)
    return "\n".join(map(one_line, lines)).rstrip()


def _other_alarms(series: Series, controls: Sequence[Control], lead: str) -> Iterator[str]:
    """The alarms of everything that the table does not show."""
    for control in controls:
        at = [
            batch_label(p) for p, alarm in zip(series.points, control.alarms, strict=True) if alarm
        ]
        if at and control is not control_of(controls, lead):
            names = series.points[-1].call.names
            name = shortened(names.get(control.label, control.label), 40)
            yield f"{name}: alarm in {some_names(at)}"


def _judged_table(series: Series) -> Iterator[str]:
    """For `judge`: kappa and how often the first judge is right about each class, by batch."""
    judged = [(point, point.batch.judged) for point in series.points]
    with_judges = [(point, entry) for point, entry in judged if entry is not None and entry.judges]
    if not with_judges:
        return
    call = with_judges[-1][0].call
    right = [f"right about {shortened(call.names.get(c, c), 24)}" for c in call.classes]
    rows = [["batch", "labels", "kappa", *right, ""]]
    for point, entry in with_judges:
        judge = entry.judges[0]
        found = judge.agreement
        kappa = ""
        if found is not None:
            kappa = f"{found.estimate:.2f} ({found.low:.2f} to {found.high:.2f})"
        rates = [rate_of(judge, entry, call.classes, label) for label in call.classes]
        texts = ["" if rate is None else percent(rate) for rate in rates]
        rows.append([batch_label(point), f"{entry.n_labelled:,}", kappa, *texts, ""])
    yield ""
    yield from aligned(rows)


def batch_marks(series: Series, control: Control | None, i: int) -> list[str]:
    """What stands out about a batch, in a word each."""
    point = series.points[i]
    batch = point.batch
    words = marks_of_answer(
        changed=bool(batch.changed),
        shift=batch.is_shifted,
        kind=batch.kind,
        contradicted=None if batch.audit is None else batch.audit.contradicts,
    )
    if series.is_model_change(i):
        words.append("new model")
    if control is not None and control.alarms[i]:
        words.append("alarm")
    if point.before:
        words.append("again")
    return words


def batch_label(point: Point) -> str:
    """The name of a batch, with its day if that is not in the name."""
    name = shortened(point.batch.name)
    day = f"{point.moment:%Y-%m-%d}"
    return name if point.has_date else f"{name} {day}"


def average_and_limits(control: Control | None, i: int) -> tuple[str, str]:
    """The moving average at a batch, and the limits outside of which there is an alarm.

    Both are empty in the baseline.
    """
    if control is None:
        return "", ""
    smoothed, low, high = control.smoothed[i], control.low[i], control.high[i]
    if smoothed is None or low is None or high is None:
        return "", ""
    if control.label == MEAN:
        return f"{smoothed:.2f}", f"{low:.2f} to {high:.2f}"
    averages, limits = decimals(control.smoothed), decimals(control.high, 2 * RARE)
    bounds = f"{100 * low:.{limits}f} to {100 * high:.{limits}f}%"
    return f"{100 * smoothed:.{averages}f}%", bounds


def short_text(history: Archive) -> str:
    """The newest batches of a history in a few lines."""
    return few_lines(_notes(history), _table(history))


def short_table(history: Archive) -> str:
    """The same as HTML."""
    return small_table(_notes(history), _table(history))


def _notes(history: Archive) -> list[str]:
    problems = [str(problem) for problem in history.problems()]
    calls = history.calls()
    alarms = [alarm_text(alarm) for alarm in alarms_of(calls)]
    newest = [one.points[-1] for one in history.series()]
    headline = f"History of {counted(len(calls), 'call')} in {history.path}"
    if newest:
        point = max(newest, key=lambda point: point.moment)
        share = point.share(point.call.lead)
        ((estimate, bounds),) = values_and_limits([share])
        headline += (
            f"; newest {lead_text(point.call)}: {estimate} ({bounds}) in {batch_label(point)}"
        )
    return [headline, *alarms, *problems]


def _table(history: Archive) -> list[list[str]]:
    """The newest batches first: a few rows are shown."""
    rows: list[list[str]] = []
    shares: list[Share] = []
    series = history.series()
    several = len(series) > 1
    for one, controls in zip(series, history.controls(), strict=True):
        for i, point in reversed(list(enumerate(one.points))):
            share = point.share(point.call.lead)
            control = next(iter(controls), None)
            marks = ", ".join(batch_marks(one, control, i))
            name = (
                f"{shortened(one.name, 20)}: {batch_label(point)}"
                if several
                else batch_label(point)
            )
            rows.append([name, marks])
            shares.append(share)
    lead = "share" if not series else _headline(series)
    entries = zip(rows, values_and_limits(shares), strict=True)
    return [
        ["batch", lead, "limits", ""],
        *([name, *texts, marks] for (name, marks), texts in entries),
    ]


def _headline(series: Sequence[Series]) -> str:
    call = series[-1].points[-1].call
    return shortened(call.names.get(call.lead, call.lead), 30)


def lead_text(call: HistoryEntry) -> str:
    """What charts show first: "mean", or "share of" a class."""
    name = shortened(call.names.get(call.lead, call.lead), 30)
    return name if call.lead == MEAN else f"share of {name}"


def named_label(call: HistoryEntry, label: str | None) -> str:
    """A class, or the mean of levels, by the name that the user gives it."""
    if label is None:
        return call.lead
    labels = {name: own for own, name in call.names.items()} | {own: own for own in call.charted}
    if label not in labels:
        raise unknown_name("class", label, labels)
    return labels[label]


def _of_class(control: Control, names: Mapping[str, str]) -> str:
    return f"{shortened(names.get(control.label, control.label), 40)}: {control_text(control)}"


def minute_of(call: HistoryEntry) -> str:
    """When a call was made, to the minute."""
    return f"{datetime.fromisoformat(call.time):%Y-%m-%d %H:%M}"


def pruned_lines(calls: Sequence[HistoryEntry], *, dry_run: bool) -> Iterator[str]:
    """What was removed, or would be."""
    verb = "would be removed" if dry_run else "removed"
    yield f"{counted(len(calls), 'call')} {verb}"
    for call in calls:
        names = ", ".join(shortened(batch.name, 24) for batch in call.batches[:3])
        more = f" and {len(call.batches) - 3:,} more" if len(call.batches) > 3 else ""
        yield f"  {minute_of(call)}  {names}{more}"
