"""The options of histories and of scheduled calls, declared once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from quantshift.answers.conditions import DECLARED, EVENTS, check_events
from quantshift.base.options import HISTORY, SCRIPTS, option
from quantshift.history.kept.dates import moment_of

ALARM = "alarm"
ALARM_EVENTS: Mapping[str, str] = MappingProxyType(
    {**EVENTS, ALARM: "the moving average of a share is beyond the limits set by the history"}
)
"""Named conditions that can make a scheduled call fail, and what they mean."""

JUDGE_EVENTS = (ALARM, DECLARED)
"""Those that a call of `judge` can have."""


@dataclass(frozen=True)
class AlarmOptions:
    """How alarms are raised; None means as in the call before (see `Limits`)."""

    baseline: int | None = option(
        None,
        "Number of batches at the start of a series that define what is usual (default: as in the "
        "last call, at first 20).",
        metavar="N",
        panel=HISTORY,
        shows_default=False,
    )
    baseline_from: str | None = option(
        None,
        "First day of the baseline, to start again after a change.",
        metavar="DATE",
        panel=HISTORY,
        shows_default=False,
    )
    false_alarms_per_year: float | None = option(
        None,
        "Number of false alarms a year to allow, in all series and classes together (default: as "
        "in the last call, at first 1).",
        metavar="NUMBER",
        panel=HISTORY,
        shows_default=False,
    )
    batches_per_year: float | None = option(
        None,
        "Number of batches of a series in a year (default: from the dates of the batches).",
        metavar="NUMBER",
        panel=HISTORY,
        shows_default=False,
    )

    @property
    def changes(self) -> dict[str, Any]:
        """The options that are given, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class JudgeAlarmOptions:
    """What makes a scheduled call of `judge` fail."""

    fail_on: tuple[str, ...] = option(
        (),
        "Exit code 3 on an alarm: the moving average of a share, or of the agreement of the judge "
        "with people, is beyond the limits set by the history, or the judge has drifted; or if the "
        "answer rests on what you declared (--assume, --insist).",
        reads="names",
        metavar="alarm,declared",
        panel=SCRIPTS,
    )

    def __post_init__(self) -> None:
        check_events(self.fail_on, {name: ALARM_EVENTS[name] for name in JUDGE_EVENTS})


@dataclass(frozen=True)
class WatchOptions:
    """What a scheduled call does with an answer.

    history: the folder to which it is appended; at: the time of the call, if not now. fail_on:
    events that make it fail.
    """

    history: str | Path | None = option(
        None,
        "Keep the estimates in this folder. `quantshift history` shows them as series with "
        "alarms. Batches are dated by their names (2026-03-02, 2026-W10) or, without a date in "
        "the name, by the day of the call. If a batch is measured again, all its estimates are "
        "kept and the last one counts.",
        reads="file",
        metavar="DIR",
        panel=HISTORY,
    )
    at: str | None = option(
        None,
        "Time of the call in the history (default: now), e.g. 2026-03-02T06:00.",
        metavar="TIME",
        panel=HISTORY,
    )
    fail_on: tuple[str, ...] = option(
        (),
        "Exit code 3 if one of these holds for a batch. "
        + " ".join(f"{name}: {meaning}." for name, meaning in ALARM_EVENTS.items()),
        reads="names",
        metavar="shift,changed,unreliable,declared,alarm",
        panel=SCRIPTS,
    )

    def __post_init__(self) -> None:
        check_events(self.fail_on, ALARM_EVENTS)
        if self.at is not None:
            moment_of(self.at)
