"""What a scheduled call does with an answer: keeps it, raises alarms, checks conditions.

    watch(quantify("new.csv", model="model"), history="history", fail_on=["alarm"]).exit_code

does in Python what `quantshift quantify --history` does, and `watch(judge(...), ...)` does the same
for `judge`.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from quantshift.answers.conditions import CANNOT_BE_ESTIMATED, FAILED, Condition, failures_of
from quantshift.answers.shares import headline_share
from quantshift.base.options import as_names, taken
from quantshift.errors import UserError
from quantshift.history import rendering
from quantshift.history.archive import Alarm, History, alarms_of
from quantshift.history.options import ALARM, AlarmOptions, WatchOptions
from quantshift.history.store import Problem
from quantshift.judging.result import Judgement
from quantshift.quantifying.output.result import Quantification

if TYPE_CHECKING:
    from quantshift.history.label_watching import WatchedLabels
    from quantshift.judging.labels.label_judgement import LabelJudgement
    from quantshift.quantifying.labels.label_result import LabelQuantification


@dataclass(frozen=True)
class Watched:
    """An answer and what a scheduled call makes of it.

    conditions: the events and bounds that hold, in words. alarms: those that this call raised.
    drifts: the judges whose errors have changed since the baseline, in words.
    problems: damaged files of the history, without which an alarm may be missing.
    fails_on_alarm: whether alarms make the call fail.
    """

    result: Quantification | Judgement
    conditions: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    drifts: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    history: History | None = None
    fails_on_alarm: bool = False

    @property
    def failures(self) -> list[str]:
        """Why the exit code is not 0 although everything can be estimated, in words."""
        return [*self.conditions, *self.alarm_texts]

    @property
    def alarm_texts(self) -> list[str]:
        """The alarms in words, if alarms make the call fail."""
        if not self.fails_on_alarm:
            return []
        damaged = [rendering.undecided(self.problems)] if self.problems else []
        return [*map(rendering.alarm_text, self.alarms), *self.drifts, *damaged]

    @property
    def can_be_estimated(self) -> bool:
        """Whether the headline class has an estimate in every batch."""
        shares = (headline_share(self.result, batch) for batch in self.result.batches)
        return all(share.estimate is not None for share in shares)

    @property
    def exit_code(self) -> int:
        """The command's exit code: 0, 3 if something failed, 4 if a batch cannot be estimated."""
        if not self.can_be_estimated:
            return CANNOT_BE_ESTIMATED
        return FAILED if self.failures else 0

    def summary_line(self) -> str:
        """The newest batch, what stands out, alarms and failures, in one line."""
        findings = (
            rendering.judged_findings(self.result)
            if isinstance(self.result, Judgement)
            else rendering.findings(self.result)
        )
        return rendering.summary_line(self, findings)

    def to_text(self) -> str:
        """The text of the answer, and what the history says about it."""
        return "\n\n".join([self.result.to_text(), *self.about_history()])

    def about_history(self) -> list[str]:
        """What the history says about the answer, if there is one."""
        if self.history is None:
            return []
        return [
            rendering.appended_text(self.history, self.alarms, self.problems, self.drifts),
        ]

    def to_json(self) -> str:
        """The answer as JSON, with what the history says about it."""
        if self.history is None:
            return self.result.to_json()
        about_history = {
            "path": str(self.history.path),
            "alarms": [asdict(alarm) for alarm in self.alarms],
            **({"drifts": list(self.drifts)} if isinstance(self.result, Judgement) else {}),
            "problems": [str(problem) for problem in self.problems],
        }
        content = {**json.loads(self.result.to_json()), "history": about_history}
        return json.dumps(content, indent=2, ensure_ascii=False)


@dataclass(frozen=True)
class Watch:
    """A scheduled call, checked before the work is done.

    conditions: on shares, such as "spam>5%".
    """

    options: WatchOptions = field(default_factory=WatchOptions)
    alarms: AlarmOptions = field(default_factory=AlarmOptions)
    conditions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.options.history is None:
            wants_history = ALARM in self.options.fail_on or self.options.at is not None
            if wants_history or self.alarms.changes:
                raise UserError(
                    "alarms, their limits and the time of a call need a history: name its folder",
                    arguments=["history"],
                )
        else:
            history = History.open(self.options.history)
            history.limits(**self.alarms.changes)
            history.check()
        self.parsed_conditions()

    def parsed_conditions(self) -> tuple[Condition, ...]:
        """The conditions, read."""
        return tuple(map(Condition.parse, self.conditions))

    def over(self, result: Quantification | Judgement) -> Watched:
        """Append the answer to the history, if there is one, and check all conditions."""
        held = self._held(result)
        if self.options.history is None:
            return Watched(result, held)
        history = History.open(self.options.history)
        # Problems are read before the call, which writes the description again, and after it.
        problems = history.problems()
        call = history.append(
            result,
            at=self.options.at,
            conditions=self.conditions,
            limits=history.limits(**self.alarms.changes),
        )
        return Watched(
            result,
            held,
            tuple(alarms_of(history.calls(), call)),
            tuple(rendering.drift_texts(history)),
            tuple(dict.fromkeys([*problems, *history.problems()])),
            history,
            fails_on_alarm=ALARM in self.options.fail_on,
        )

    def _held(self, result: Quantification | Judgement) -> tuple[str, ...]:
        """The events and conditions that hold, in words."""
        events = [event for event in self.options.fail_on if event != ALARM]
        if not isinstance(result, Judgement):
            # Answers of `judge` need none of what `quantify` does.
            from quantshift.quantifying.output.events import failures

            return tuple(failures(result, events, self.parsed_conditions()))
        if events:
            raise UserError(
                f"a call of `judge` can fail on {ALARM!r}, not on {events[0]!r}",
                arguments=["fail_on"],
            )
        return tuple(failures_of(self.parsed_conditions(), result))


def watch(
    result: "Quantification | LabelQuantification | Judgement | LabelJudgement",
    *,
    history: str | Path | None = None,
    at: str | None = None,
    fail_on: str | Sequence[str] = (),
    fail_if: str | Sequence[str] = (),
    baseline: int | None = None,
    baseline_from: str | None = None,
    false_alarms_per_year: float | None = None,
    batches_per_year: float | None = None,
) -> "Watched | WatchedLabels":
    """Append an answer to a history, raise alarms, and check events and conditions.

    result: an answer of `quantify` or `judge`. history: its folder, with a history for each label
    in it if there are several; at: the time of the call, if not now. fail_on: any of shift,
    changed, unreliable, alarm; for `judge`, only alarm. fail_if: conditions such as "spam>5%". The
    others set how alarms are raised, if not as in the call before (see `Limits`). `exit_code` of
    the result is that of the command.
    """
    arguments = {**locals(), "fail_on": as_names(fail_on)}
    conditions = (fail_if,) if isinstance(fail_if, str) else tuple(fail_if)
    options = taken(WatchOptions, arguments), taken(AlarmOptions, arguments), conditions
    if isinstance(result, Quantification | Judgement):
        return Watch(*options).over(result)
    from quantshift.history.label_watching import LabelWatch

    return LabelWatch(*options).over(result)
