"""A scheduled call, checked before the work is done.

The answers about several targets have a history each, in a folder of its own:

    DIR/spam    the history of the label spam
    DIR/abuse   that of abuse

Each is a history like any other, for `quantshift history` and `History`. The false alarms that are
allowed in a year are divided among them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from quantshift.answers.conditions import Condition, failures_of, open_in
from quantshift.answers.show.answer import AboutOneTarget, AbstractAnswer
from quantshift.errors import UserError
from quantshift.history.charts.alarms import alarms_of
from quantshift.history.charts.archive import calls_before
from quantshift.history.history import History
from quantshift.history.kept.record import Limits
from quantshift.history.kept.store import DESCRIPTION, Problem, check_place
from quantshift.history.output import rendering
from quantshift.history.watching.options import ALARM, AlarmOptions, WatchOptions
from quantshift.history.watching.watched import Appended, Watched
from quantshift.quantifying.targets.folder_names import target_folder_name

NO_CALLS = "has no calls yet, though other labels have: new, or lost"


@dataclass(frozen=True)
class Watch:
    """A scheduled call, checked before the work is done.

    conditions: on shares, such as "spam>5%". several: whether the answer is about several targets.
    """

    options: WatchOptions = field(default_factory=WatchOptions)
    alarms: AlarmOptions = field(default_factory=AlarmOptions)
    conditions: tuple[str, ...] = ()
    several: bool = False

    def __post_init__(self) -> None:
        self.parsed_conditions()
        if self.options.history is None:
            wants_history = ALARM in self.options.fail_on or self.options.at is not None
            if wants_history or self.alarms.changes:
                raise UserError(
                    "alarms, their limits and the time of a call need a history: name its folder",
                    arguments=["history"],
                )
            return
        folder = Path(self.options.history)
        if not self.several:
            history = History.open(folder)
            history.limits(**self.alarms.changes)
            history.check()
            return
        if (folder / DESCRIPTION).exists():
            raise UserError(
                f"{folder} is the history of one label; name another folder for several",
                arguments=["history"],
            )
        for inside in _folders_in(folder):
            check_place(inside)

    def parsed_conditions(self) -> tuple[Condition, ...]:
        """The conditions, read."""
        return tuple(map(Condition.parse, self.conditions))

    def over(self, result: AbstractAnswer) -> Watched:
        """Append each answer to its history, if there are any, and check all conditions."""
        conditions = self.parsed_conditions()
        events = [event for event in self.options.fail_on if event != ALARM]
        held = [
            f"{target}: {line}" if target else line
            for target, part in result.parts.items()
            for line in part.held(events)
        ]
        return Watched(
            result,
            (*held, *failures_of(conditions, result)),
            tuple(open_in(conditions, result)),
            self._appended(result.parts),
            fails_on_alarm=ALARM in self.options.fail_on,
        )

    def _appended(self, parts: Mapping[str, AboutOneTarget]) -> dict[str, Appended]:
        """What the histories say. An answer that does not fit refuses all before any is kept."""
        if self.options.history is None:
            return {}
        folder = Path(self.options.history)
        histories = {
            target: History.open(folder / target_folder_name(target) if target else folder)
            for target in parts
        }
        n_calls = {
            target: len(calls_before(histories[target], part)) for target, part in parts.items()
        }
        lost = [t for t, n in n_calls.items() if any(n_calls.values()) and not n]
        return {
            target: self._append(histories[target], target, part, len(parts), lost=target in lost)
            for target, part in parts.items()
        }

    def _append(
        self, history: History, target: str, part: AboutOneTarget, n_parts: int, *, lost: bool
    ) -> Appended:
        # Problems are read before the call, which writes the description again, and after it.
        problems = history.problems()
        if lost and not problems:
            problems = [Problem(history.path, NO_CALLS, "restore it if it was lost")]
        changes = self.alarms.changes
        allowed = changes.get("false_alarms_per_year")
        if allowed is None and not history.calls():
            allowed = Limits().false_alarms_per_year
        if allowed is not None:
            changes["false_alarms_per_year"] = allowed / n_parts
        call = history.append(
            part,
            at=self.options.at,
            conditions=[c.text for c in self.parsed_conditions() if not target or c.is_on(target)],
            limits=history.limits(**changes),
        )
        return Appended(
            history,
            tuple(alarms_of(history.calls(), call)),
            tuple(rendering.drift_texts(history)),
            tuple(dict.fromkeys([*problems, *history.problems()])),
        )


def _folders_in(folder: Path) -> Iterator[Path]:
    """The histories of targets in a folder; without any, the folder itself."""
    inside = sorted(p for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else []
    yield from inside or [folder]
