"""What a scheduled call does with an answer: keeps it, raises alarms, checks conditions.

    watch(quantify("new.csv", model="model"), history="history", fail_on=["alarm"]).exit_code

does in Python what `quantshift quantify --history` does, and `watch(judge(...), ...)` does the same
for `judge`.
"""

from collections.abc import Sequence
from pathlib import Path

from quantshift.answers.show.answer import AbstractAnswer
from quantshift.base.options import as_names, taken
from quantshift.history.watching.options import AlarmOptions, WatchOptions
from quantshift.history.watching.scheduled import Watch
from quantshift.history.watching.watched import Watched


def watch(
    result: AbstractAnswer,
    *,
    history: str | Path | None = None,
    at: str | None = None,
    fail_on: str | Sequence[str] = (),
    fail_if: str | Sequence[str] = (),
    baseline: int | None = None,
    baseline_from: str | None = None,
    false_alarms_per_year: float | None = None,
    batches_per_year: float | None = None,
) -> Watched:
    """Append an answer to a history, raise alarms, and check events and conditions.

    result: an answer of `quantify` or `judge`. history: its folder, with a history for each label
    in it if there are several; at: the time of the call, if not now. fail_on: any of shift,
    changed, unreliable, declared, alarm; for `judge`, declared and alarm. fail_if: conditions such
    as "spam>5%". The others set how alarms are raised, if not as in the call before (see `Limits`).
    `exit_code` of the result is that of the command.
    """
    arguments = {**locals(), "fail_on": as_names(fail_on)}
    conditions = (fail_if,) if isinstance(fail_if, str) else tuple(fail_if)
    options = taken(WatchOptions, arguments), taken(AlarmOptions, arguments), conditions
    return Watch(*options, several="" not in result.parts).over(result)
