"""An answer and what a scheduled call makes of it, in a line and in full."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from quantshift.answers.batch_names import newest_batch
from quantshift.answers.conditions import exit_code
from quantshift.answers.show.answer import AbstractAnswer
from quantshift.answers.text import headed
from quantshift.answers.words import one_line, shortened
from quantshift.base.nouns import counted
from quantshift.claims import Kind
from quantshift.history.charts.alarms import Alarm
from quantshift.history.history import History
from quantshift.history.kept.store import Problem
from quantshift.history.output.rendering import (
    alarm_text,
    appended_text,
    average_in_words,
    baseline_in_short,
    undecided,
)
from quantshift.labelling.findings import SheetFindings
from quantshift.sketches.findings import SketchFindings

LONGEST_WARNING = 200
"""The most characters of a warning in the line of a call."""

OK = "ok"
"""What the line of a call begins with if every answer is a confidence interval and `quantify` gives
no warning."""

BIASING = frozenset(
    (
        SheetFindings.ROWS_OF_PLAN_GONE,
        SheetFindings.ROWS_WITHOUT_LABEL,
        SketchFindings.UNCOUNTED_ITEMS,
    )
)
"""Findings that labels may not be those of random items: the line of a call has them in full."""

WARNED = "WARNING"

STATES = (
    *("ALARM", "DAMAGED", "CONDITION", "UNKNOWN", "RANGE", "EITHER", "UNSTATED", "DECLARED"),
    *(WARNED, OK),
)
"""What the line can begin with, the most serious first: the control chart alarms, the history is
damaged, a condition of the user holds; what the worst of the answers is called
(`Grounds.summary`); or there are warnings. Failures are for crashes."""


@dataclass(frozen=True)
class Appended:
    """What a history says of an answer that was appended to it.

    alarms: those that this call raised. drifts: the judges whose errors have changed since the
    baseline, in words. problems: damaged files, without which an alarm may be missing.
    """

    history: History
    alarms: tuple[Alarm, ...] = ()
    drifts: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    def record(self) -> dict[str, object]:
        """The same for JSON."""
        return {
            "path": str(self.history.path),
            "alarms": [asdict(alarm) for alarm in self.alarms],
            "drifts": list(self.drifts),
            "problems": [str(problem) for problem in self.problems],
        }


@dataclass(frozen=True)
class Watched:
    """An answer and what a scheduled call makes of it.

    conditions: the events and bounds that hold, in words; open_conditions: the bounds of which that
    cannot be told. appended: what the history says, or that of each of several targets; the only
    one is nameless. fails_on_alarm: whether alarms make the call fail.
    """

    result: AbstractAnswer
    conditions: tuple[str, ...] = ()
    open_conditions: tuple[str, ...] = ()
    appended: Mapping[str, Appended] = field(default_factory=dict)
    fails_on_alarm: bool = False

    @property
    def history(self) -> History | None:
        """The history, if there is one."""
        return self.appended[""].history if "" in self.appended else None

    @property
    def alarms(self) -> list[Alarm]:
        """Those that this call raised."""
        return [alarm for each in self.appended.values() for alarm in each.alarms]

    @property
    def drifts(self) -> list[str]:
        """The judges whose errors have changed since the baseline, in words."""
        return [
            f"{shortened(target)}: {drift}" if target else drift
            for target, each in self.appended.items()
            for drift in each.drifts
        ]

    @property
    def problems(self) -> list[Problem]:
        """Damaged or lost files of the histories."""
        return [problem for each in self.appended.values() for problem in each.problems]

    @property
    def failures(self) -> list[str]:
        """Why the exit code is not 0 although everything can be estimated, in words."""
        return [*self.conditions, *self.alarm_texts]

    @property
    def alarm_texts(self) -> list[str]:
        """The alarms in words, if alarms make the call fail."""
        if not self.fails_on_alarm:
            return []
        return [*map(alarm_text, self.alarms), *self.drifts, *self._damaged]

    @property
    def can_be_estimated(self) -> bool:
        """Whether there is an estimate in every batch."""
        return self.result.can_be_estimated

    @property
    def exit_code(self) -> int:
        """The command's exit code; see `exit_code` of conditions."""
        is_open = bool(self.open_conditions) or not self.can_be_estimated
        return exit_code(failed=bool(self.failures), is_open=is_open)

    @property
    def _damaged(self) -> list[str]:
        return [undecided(self.problems)] if self.problems else []

    @property
    def _state(self) -> str:
        """What the line of a call begins with."""
        parts = self.result.parts.values()
        held = [batch.grounds.summary for part in parts for batch in part.batches]
        for word, holds in (
            ("ALARM", self.alarms or self.drifts),
            ("DAMAGED", self.problems),
            ("CONDITION", self.conditions),
            ("UNKNOWN", any(p.is_unknown(batch) for p in parts for batch in p.batches)),
            (WARNED, self.result.said_warnings),
        ):
            held += [word] if holds else []
        return min(held, key=STATES.index)

    def summary_line(self) -> str:
        """The newest batch, what stands out, alarms and failures, in one line."""
        result, state = self.result, self._state
        texts = result.in_a_line()
        (newest, *_) = {newest_batch(part.batches).name for part in result.parts.values()}
        texts += [
            average_in_words(alarm) if alarm.batch == newest else alarm_text(alarm)
            for alarm in self.alarms
        ]
        texts += self.drifts
        findings = (found for part in result.parts.values() for found in part.findings)
        warnings = list(dict.fromkeys(f.sentence for f in findings if f.code in BIASING))
        said = result.said_warnings
        if state in (WARNED, Kind.CONDITIONAL.summary) and said and not warnings:
            first, *others = said
            more = f" (and {counted(len(others), 'other warning')})" if others else ""
            warnings = [f"{shortened(first, LONGEST_WARNING)}{more}"]
        baselines = (line for a in self.appended.values() for line in baseline_in_short(a.history))
        texts += [*warnings, *self._damaged, *dict.fromkeys(baselines), *self.conditions]
        return one_line(f"{state} {'; '.join(texts)}")

    def to_text(self, *, details: bool = False) -> str:
        """The text of the answer, and what the history says about it."""
        return "\n\n".join([self.result.to_text(details=details), *self.about_history()])

    def about_history(self) -> list[str]:
        """What the history says about the answer, if there is one."""
        if "" in self.appended:
            only = self.appended[""]
            return [appended_text(only.history, only.alarms, only.problems, only.drifts)]
        folders = [each.history.path.parent for each in self.appended.values()]
        if not folders:
            return []
        lines = [f"appended to the histories of {counted(len(folders), 'label')} in {folders[0]}"]
        lines += [*self._damaged, *self.drifts, *map(alarm_text, self.alarms)]
        return ["\n".join(headed("History", lines if len(lines) > 1 else [*lines, "no alarm"]))]

    def to_json(self) -> str:
        """The answer as JSON, with what the history says about it."""
        if not self.appended:
            return self.result.to_json()
        about = {target: each.record() for target, each in self.appended.items()}
        content = {**json.loads(self.result.to_json()), "history": about.get("", about)}
        return json.dumps(content, indent=2, ensure_ascii=False)
