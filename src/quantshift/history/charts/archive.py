"""A history: what `quantify` or `judge` found call by call, as series with alarms."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Self

from quantshift.answers.shares import conditional_parts
from quantshift.answers.show.answer import AboutOneTarget, json_of
from quantshift.answers.show.records import as_csv, as_frame
from quantshift.errors import UserError
from quantshift.history.charts.control import FEWEST_BASELINE, level_per_batch
from quantshift.history.charts.judges import JudgeOverTime, judges_over_time
from quantshift.history.charts.series import (
    Control,
    Point,
    Series,
    control_of,
    controls_of,
    same_classes,
    series_of,
)
from quantshift.history.kept import store
from quantshift.history.kept.dates import moment_of
from quantshift.history.kept.entries import JUDGE, entry_of, rate_of
from quantshift.history.kept.record import (
    MEAN,
    MOST,
    BatchEntry,
    HistoryEntry,
    Limits,
    charts_of_either,
)
from quantshift.history.kept.store import Problem, StoredCall


@dataclass(frozen=True, repr=False, init=False)
class Archive:
    """The calls that a folder keeps, as series with limits; `History` also shows them."""

    path: Path

    def __init__(self, path: str | Path) -> None:
        object.__setattr__(self, "path", Path(path))

    @classmethod
    def open(cls, folder: str | Path, *, must_exist: bool = False) -> Self:
        """The history in a folder; a folder that is not there is made by the first `append`."""
        path = Path(folder)
        if path.exists():
            store.check_kind(path)
        elif must_exist:
            raise UserError(f"{path} does not exist; `quantify` or `judge` with a history makes it")
        return cls(path)

    def check(self) -> None:
        """Refuse, before the work, a place to which nothing can be appended."""
        store.check_place(self.path)

    def append(
        self,
        result: AboutOneTarget,
        *,
        at: str | date | None = None,
        conditions: Sequence[str] = (),
        limits: Limits | None = None,
    ) -> HistoryEntry:
        """Keep what an answer of `quantify` or `judge` says about its batches.

        at: the time of the call, if not now. conditions: bounds on shares ("spam>0.05"), which the
        page shows. limits: how alarms are raised, if not as in the call before.
        """
        store.check_place(self.path)
        before = calls_before(self, result)
        chosen = limits or (before[-1].limits if before else Limits())
        _check(chosen)
        time = datetime.now(UTC) if at is None else moment_of(at)
        call = entry_of(result, time=time, conditions=conditions, limits=chosen)
        store.append(self.path, call)
        return call

    def calls(self) -> list[HistoryEntry]:
        """All sound calls, in the order of their times."""
        return [stored.call for stored in self._stored()]

    def problems(self) -> list[Problem]:
        """Files that are damaged, and calls of other classes than the last; they do not count."""
        if not self.path.exists():
            return []
        stored_calls, problems = store.read(self.path)
        comparable = {id(call) for call in same_classes([stored.call for stored in stored_calls])}
        return problems + [
            Problem(stored.path, f"is of other classes ({', '.join(stored.call.classes)})")
            for stored in stored_calls
            if id(stored.call) not in comparable
        ]

    def series(self) -> list[Series]:
        """The batches that count, by what the names of the batches have in common."""
        return series_of(self.calls())

    def limits(self, **changed: Any) -> Limits:
        """How alarms are raised: as in the last call, except for what is changed (and not None)."""
        calls = self.calls()
        last = calls[-1].limits if calls else Limits()
        limits = replace(last, **{name: v for name, v in changed.items() if v is not None})
        _check(limits)
        return limits

    def controls(self, limits: Limits | None = None) -> list[list[Control]]:
        """The control charts of each series: one for each class, or one in all for two classes."""
        return controls_of(self.series(), limits or self.limits())

    def judges(self, limits: Limits | None = None) -> list[list[JudgeOverTime]]:
        """The judges of each series: pooled labels, and whether they have drifted."""
        return [judges_over_time(one, limits or self.limits()) for one in self.series()]

    def records(self, limits: Limits | None = None) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`: one for each batch that counts and each class.

        If classes are levels of a scale, there is also one for their mean.
        """
        series = self.series()
        for one, controls in zip(series, controls_of(series, limits or self.limits()), strict=True):
            charts = {control.label: control for control in controls}
            for i, point in enumerate(one.points):
                yield from _rows(one, point, i, charts)

    def to_frame(self) -> Any:
        """A data frame with a row per batch and class: pandas if it is installed, else polars."""
        rows = list(self.records())
        if not rows:
            raise UserError(f"{self.path} has no calls yet")
        return as_frame(rows)

    def to_csv(self) -> str:
        """The rows of `to_frame` as CSV."""
        return as_csv(self.records())

    def to_json(self) -> str:
        """All calls in full as JSON, including batches that were measured again later."""
        return json_of({"calls": [asdict(call) for call in self.calls()]})

    def prune(
        self,
        *,
        before: str | datetime | None = None,
        keep: int | None = None,
        dry_run: bool = False,
    ) -> list[HistoryEntry]:
        """Remove calls that were made before a time, or all but the last `keep`; returns them.

        Nothing but the files of sound calls is removed. dry_run: only return which.
        """
        if (before is None) == (keep is None):
            raise UserError(
                "say which calls to remove: those before a time, or all but the last few",
                arguments=["before", "keep"],
            )
        if keep is not None and keep < 0:
            raise UserError(f"keep 0 calls or more, got {keep}", arguments=["keep"])
        stored = self._stored()
        if before is not None:
            limit = moment_of(before)
            old = [one for one in stored if moment_of(one.call.time) < limit]
        else:
            old = stored[: max(len(stored) - (keep or 0), 0)]
        # The oldest first: if this is interrupted, only the older calls are gone.
        for one in () if dry_run else old:
            store.remove(one)
        return [one.call for one in old]

    def _stored(self) -> list[StoredCall]:
        return store.read(self.path)[0] if self.path.exists() else []


def calls_before(history: Archive, result: AboutOneTarget) -> list[HistoryEntry]:
    """The calls of a history; an answer that is not like them is refused."""
    before = history.calls()
    judged = result.asked_of == JUDGE
    if before and set(before[-1].classes) != set(result.classes):
        # A batch may have no label of a rare class.
        fewer = judged and set(before[-1].classes) > set(result.classes)
        cure = "name all classes in this call" if fewer else "name another folder"
        raise UserError(
            f"{history.path} is a history of the classes {', '.join(before[-1].classes)}, and "
            f"this result has {', '.join(result.classes)}; {cure}",
            arguments=["classes" if fewer else "history"],
        )
    if before and (before[-1].model.method == JUDGE) != judged:
        kinds = ("judge", "quantify") if judged else ("quantify", "judge")
        raise UserError(
            f"{history.path} is a history of `{kinds[1]}`, and this is an answer of `{kinds[0]}`; "
            "name another folder",
            arguments=["history"],
        )
    return before


def _check(limits: Limits) -> None:
    if not FEWEST_BASELINE <= limits.baseline <= MOST:
        is_small = limits.baseline < FEWEST_BASELINE
        bound = f"at least {FEWEST_BASELINE}" if is_small else f"at most {MOST:,}"
        raise UserError(
            f"a baseline has {bound} batches, got {limits.baseline}",
            arguments=["baseline"],
        )
    if limits.baseline_from is not None:
        moment_of(limits.baseline_from)
    rate = 1.0 if limits.batches_per_year is None else limits.batches_per_year
    level_per_batch(limits.false_alarms_per_year, rate)


def _rows(
    series: Series, point: Point, i: int, charts: dict[str, Control]
) -> Iterator[dict[str, Any]]:
    batch, call = point.batch, point.call
    shares = (*batch.shares, *([] if batch.mean is None else [point.share(MEAN)]))
    for share, condition in chain.from_iterable(map(conditional_parts, shares)):
        name = charts_of_either(share.label).get(condition, share.label)
        control = control_of(list(charts.values()), name)
        yield {
            "series": series.name,
            "date": point.moment.isoformat(),
            "batch": batch.name,
            "items": batch.n_items,
            "left_out": batch.left_out,
            "class": "mean" if share.label == MEAN else share.label,
            "estimate": share.estimate,
            "low": share.low,
            "high": share.high,
            "level": call.level,
            "condition": condition,
            "kind": batch.kind.value,
            "can_be_estimated": batch.can_be_estimated,
            "changed": share.label in batch.changed,
            "shift": None if batch.shift is None else batch.is_shifted,
            "p_value": None if batch.shift is None else batch.shift.p_value,
            "unreliable": batch.unreliable,
            "labelled": _n_labelled(batch),
            "audit_contradicts": None if batch.audit is None else batch.audit.contradicts,
            "smoothed": None if control is None else control.smoothed[i],
            "control_low": None if control is None else control.low[i],
            "control_high": None if control is None else control.high[i],
            "alarm": None if control is None else control.alarms[i],
            "method": call.model.method,
            "model": call.model.digest,
            "model_changed": series.is_model_change(i),
            "accuracy": None if batch.accuracy is None else batch.accuracy.estimate,
            "measured": call.time,
            "measured_before": point.before,
            "version": call.version,
            **_about_judge(batch, call.classes, None if share.label == MEAN else share.label),
        }


def _n_labelled(batch: BatchEntry) -> int:
    if batch.judged is not None:
        return batch.judged.n_labelled
    return 0 if batch.audit is None else batch.audit.n_labelled


def _about_judge(batch: BatchEntry, classes: Sequence[str], label: str | None) -> dict[str, Any]:
    """For `judge`: kappa of the first judge, and how often it is right about the class, if any."""
    if batch.judged is None:
        return {}
    judge = batch.judged.judges[0] if batch.judged.judges else None
    found = None if judge is None else judge.agreement
    kappa = (None, None, None) if found is None else (found.estimate, found.low, found.high)
    quality = None
    if judge is not None and label is not None:
        quality = rate_of(judge, batch.judged, classes, label)
    return {
        **dict(zip(("kappa", "kappa_low", "kappa_high"), kappa, strict=True)),
        "judge_right": quality,
    }
