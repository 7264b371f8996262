"""A scheduled call with several labels: a history for each, in a folder of its own.

    DIR/spam    the history of the label spam
    DIR/abuse   that of abuse

Each is a history like any other, for `quantshift history` and `History`. The false alarms that are
allowed in a year are divided among the labels.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from quantshift.answers.conditions import Condition, exit_code
from quantshift.answers.text import headed
from quantshift.answers.words import one_line, shortened
from quantshift.base.nouns import counted
from quantshift.errors import UserError
from quantshift.history.charts.archive import calls_before
from quantshift.history.history import History
from quantshift.history.kept.record import Limits
from quantshift.history.kept.store import DESCRIPTION, Problem, check_place
from quantshift.history.output.rendering import alarm_text
from quantshift.history.watching.options import AlarmOptions, WatchOptions
from quantshift.history.watching.scheduled import Watch
from quantshift.history.watching.watched import STATES, Watched, state_of, worse_elsewhere
from quantshift.judging.labels.label_judgement import LabelJudgement
from quantshift.quantifying.labels.label_folder_names import label_folder_name

if TYPE_CHECKING:
    from quantshift.quantifying.labels.label_quantification import LabelQuantification

UNKNOWN_LABEL = "has no calls yet, though other labels have: new, or lost"


@dataclass(frozen=True)
class WatchedLabels:
    """An answer with several labels, and what a scheduled call makes of each."""

    result: "LabelQuantification | LabelJudgement"
    labels: Mapping[str, Watched]

    @property
    def conditions(self) -> list[str]:
        """The events and bounds that hold, in words."""
        return self._of_labels("conditions")

    @property
    def open_conditions(self) -> list[str]:
        """The bounds of which it cannot be told whether they hold, in words."""
        return self._of_labels("open_conditions")

    @property
    def alarm_texts(self) -> list[str]:
        """The alarms in words, if alarms make the call fail."""
        return self._of_labels("alarm_texts")

    @property
    def problems(self) -> list[str]:
        """Damaged or lost files of the histories, in words."""
        return [str(problem) for watched in self.labels.values() for problem in watched.problems]

    @property
    def can_be_estimated(self) -> bool:
        """Whether every label has an estimate in every batch."""
        return self.result.can_be_estimated

    @property
    def exit_code(self) -> int:
        """The command's exit code; see `exit_code` of conditions."""
        is_open = bool(self.open_conditions) or not self.can_be_estimated
        return exit_code(failed=bool(self.conditions or self.alarm_texts), is_open=is_open)

    def summary_line(self) -> str:
        """The labels of the newest batch, alarms and failures, in one line."""
        alarms = [alarm for watched in self.labels.values() for alarm in watched.alarms]
        state = min(map(state_of, self.labels.values()), key=STATES.index)
        findings = [
            self.result.in_a_line(),
            *worse_elsewhere(self.result.answers),
            *map(alarm_text, alarms),
            *self._of_labels("drifts"),
        ]
        return one_line(f"{state} {'; '.join([*findings, *self.problems, *self.conditions])}")

    def to_text(self, *, details: bool = False) -> str:
        """The text of the answer, and what the histories say of it."""
        return "\n\n".join([self.result.to_text(details=details), *self.about_history()])

    def about_history(self) -> list[str]:
        """What the histories say of the answer, if there are any."""
        folders = [w.history.path for w in self.labels.values() if w.history is not None]
        if not folders:
            return []
        n = counted(len(folders), "label")
        lines = [f"appended to the histories of {n} in {folders[0].parent}"]
        alarms = [alarm for watched in self.labels.values() for alarm in watched.alarms]
        lines += map(alarm_text, alarms)
        lines += [] if alarms else ["no alarm"]
        return ["\n".join(headed("History", lines))]

    def to_json(self) -> str:
        """The answer as JSON, with what the histories say of it."""
        about = {
            label: {
                "path": str(watched.history.path),
                "alarms": [asdict(alarm) for alarm in watched.alarms],
                "problems": [str(problem) for problem in watched.problems],
            }
            for label, watched in self.labels.items()
            if watched.history is not None
        }
        if not about:
            return self.result.to_json()
        content = {**json.loads(self.result.to_json()), "history": about}
        return json.dumps(content, indent=2, ensure_ascii=False)

    def _of_labels(self, what: str) -> list[str]:
        return [
            f"{shortened(label)}: {line}"
            for label, watched in self.labels.items()
            for line in getattr(watched, what)
        ]


@dataclass(frozen=True)
class LabelWatch:
    """A scheduled call with several labels, checked before the work is done."""

    options: WatchOptions = field(default_factory=WatchOptions)
    alarms: AlarmOptions = field(default_factory=AlarmOptions)
    conditions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.parsed_conditions()
        if self.options.history is None:
            Watch(self.options, self.alarms)
            return
        folder = Path(self.options.history)
        if (folder / DESCRIPTION).exists():
            raise UserError(
                f"{folder} is the history of one label; name another folder for several",
                arguments=["history"],
            )
        for label_folder in self._label_folders(folder):
            check_place(label_folder)

    def parsed_conditions(self) -> tuple[Condition, ...]:
        """The conditions, read."""
        return tuple(map(Condition.parse, self.conditions))

    def over(self, result: "LabelQuantification | LabelJudgement") -> WatchedLabels:
        """Append each answer to its history, if there are any, and check all conditions."""
        watches = {label: self._watch(label, len(result.labels)) for label in result.answers}
        lost = self._checked(result) if self.options.history is not None else {}
        watched = {label: watch.over(result.answers[label]) for label, watch in watches.items()}
        return WatchedLabels(
            result,
            {
                label: replace(one, problems=(*one.problems, *lost.get(label, ())))
                for label, one in watched.items()
            },
        )

    def _checked(self, result: "LabelQuantification | LabelJudgement") -> dict[str, list[Problem]]:
        """Problems of labels without a call.

        Answers that do not fit their histories are refused before any is appended.
        """
        folders = {label: self._history_folder(label) for label in result.answers}
        n_calls = {
            label: len(calls_before(History.open(folder), result.answers[label]))
            for label, folder in folders.items()
        }
        if not any(n_calls.values()):
            return {}
        return {
            label: [Problem(folders[label], UNKNOWN_LABEL, "restore it if it was lost")]
            for label, n in n_calls.items()
            if not n and not History(folders[label]).problems()
        }

    def _history_folder(self, label: str) -> Path:
        """The folder of the history of a label."""
        assert self.options.history is not None
        return Path(self.options.history) / label_folder_name(label)

    def _watch(self, label: str, n_labels: int) -> Watch:
        """The scheduled call of one label."""
        conditions = tuple(
            condition.text
            for condition in self.parsed_conditions()
            if condition.label in (label, f"{label}.low", f"{label}.high")
        )
        if self.options.history is None:
            return Watch(self.options, self.alarms, conditions)
        folder = self._history_folder(label)
        allowed = self.alarms.false_alarms_per_year
        if allowed is None and not History(folder).calls():
            allowed = Limits().false_alarms_per_year
        alarms = self.alarms
        if allowed is not None:
            alarms = replace(alarms, false_alarms_per_year=allowed / n_labels)
        return Watch(replace(self.options, history=folder), alarms, conditions)

    @staticmethod
    def _label_folders(folder: Path) -> Iterator[Path]:
        """The histories of labels in a folder; without any, the folder itself."""
        inside = sorted(p for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else []
        yield from inside or [folder]
