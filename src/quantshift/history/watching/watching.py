"""What a scheduled call does with an answer: keeps it, raises alarms, checks conditions.

    watch(quantify("new.csv", model="model"), history="history", fail_on=["alarm"]).exit_code

does in Python what `quantshift quantify --history` does, and `watch(judge(...), ...)` does the same
for `judge`.
"""

from collections.abc import Sequence
from pathlib import Path

from quantshift.base.options import as_names, taken
from quantshift.errors import UserError
from quantshift.history.watching.label_watching import LabelWatch, WatchedLabels
from quantshift.history.watching.options import AlarmOptions, WatchOptions
from quantshift.history.watching.scheduled import Watch
from quantshift.history.watching.watched import Watched
from quantshift.judging.labels.label_judgement import LabelJudgement
from quantshift.judging.output.judgement import Judgement
from quantshift.quantifying.labels.label_quantification import LabelQuantification
from quantshift.quantifying.output.quantification import Quantification


def watch(
    result: Quantification | LabelQuantification | Judgement | LabelJudgement,
    *,
    history: str | Path | None = None,
    at: str | None = None,
    fail_on: str | Sequence[str] = (),
    fail_if: str | Sequence[str] = (),
    baseline: int | None = None,
    baseline_from: str | None = None,
    false_alarms_per_year: float | None = None,
    batches_per_year: float | None = None,
) -> Watched | WatchedLabels:
    """Append an answer to a history, raise alarms, and check events and conditions.

    Parameters
    ----------
    result : Quantification, Judgement, or one of several labels
        An answer of `quantify` or `judge`.
    history : path, optional
        The folder of the history, made if it is not there; with several labels it holds a history
        for each.
    at : str, optional
        The time of the call, if not now.
    fail_on : str or sequence of str
        Events: any of "shift", "changed", "unreliable", "declared" and "alarm"; for an answer of
        `judge`, "declared" and "alarm".
    fail_if : str or sequence of str
        Conditions such as "spam>5%".
    baseline : int, optional
        How many batches the limits learn from, if not as in the call before.
    baseline_from : str, optional
        The first of them.
    false_alarms_per_year : float, optional
        How many false alarms a year you accept.
    batches_per_year : float, optional
        How many batches there are, if their dates do not tell.

    Returns
    -------
    Watched or WatchedLabels
        The alarms, the conditions that hold, and `exit_code`, that of the command.

    Examples
    --------
    >>> import tempfile
    >>> from quantshift import judge, watch
    >>> verdict = ["pass"] * 160 + ["fail"] * 40
    >>> label = ["pass"] * 35 + ["fail"] * 5 + [None] * 120 + ["fail"] * 10 + [None] * 30
    >>> answer = judge(verdict=verdict, label=label, labels="by-verdict")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     watched = watch(answer, history=folder, at="2026-03-02", fail_if="pass<80%")
    >>> watched.exit_code, len(watched.conditions), len(watched.alarms)
    (3, 1, 0)
    """
    arguments = {**locals(), "fail_on": as_names(fail_on)}
    conditions = (fail_if,) if isinstance(fail_if, str) else tuple(fail_if)
    options = taken(WatchOptions, arguments), taken(AlarmOptions, arguments), conditions
    if isinstance(result, Quantification | Judgement):
        return Watch(*options).over(result)
    if isinstance(result, LabelQuantification | LabelJudgement):
        return LabelWatch(*options).over(result)
    raise UserError(
        f"watch takes an answer of quantify or judge, got {type(result).__name__}",
        arguments=["result"],
    )
