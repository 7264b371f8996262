"""The life of an answer, the same for every command that gives one: printed, kept in a history,
checked against conditions, written to files, and the exit code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from quantshift.answers.conditions import Condition, exit_code, failures_of, open_in
from quantshift.answers.outputs.output import Circumstances
from quantshift.cli.outputs import OutputFiles, provenance
from quantshift.errors import UserError
from quantshift.history.watching.options import AlarmOptions, WatchOptions

if TYPE_CHECKING:
    from quantshift.history.watching.scheduled import Watch
    from quantshift.history.watching.watched import Watched


MORE = "More     everything that was tested and assumed: --details; pictures: --html FILE"
"""The last line of a text without details."""


@dataclass(frozen=True)
class Asked:
    """What the caller wants of an answer, checked before the work is done.

    as_json, summary: what is printed, if not the text. files: what is written. inputs: the files
    that the command reads. beside: other files that it writes, by what they are called.
    conditions: on shares, such as "spam>5%". several: whether there are several targets.
    """

    context: typer.Context
    as_json: bool
    summary: bool
    files: OutputFiles
    inputs: Sequence[Any]
    watching: WatchOptions
    alarms: AlarmOptions
    conditions: tuple[str, ...]
    several: bool
    beside: Mapping[str, str | Path | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.as_json and self.summary:
            raise UserError("the result is printed either as JSON or as one line: choose one")
        self.watch()
        self.files.check(self.inputs, *(p for p in self.beside.values() if p is not None))

    @property
    def parsed_conditions(self) -> tuple[Condition, ...]:
        """The conditions, read."""
        return tuple(map(Condition.parse, self.conditions))

    @property
    def is_text(self) -> bool:
        """Whether the text of the answer is printed."""
        return not self.as_json and not self.summary

    def watch(self) -> "Watch | None":
        """What keeps and checks the answer; None if no history, event or summary is asked for."""
        parsed = self.parsed_conditions
        if self.watching == WatchOptions() and not self.alarms.changes and not self.summary:
            return None
        # Imported here: most calls have no history, and need not wait for its libraries.
        from quantshift.history.watching.scheduled import Watch

        return Watch(self.watching, self.alarms, tuple(c.text for c in parsed), self.several)

    def tell(self, result: Any, *, details: bool) -> None:
        """Print the answer, keep and write it, and exit with the code that scripts rely on.

        details: whether all that was tested is printed, if nothing else is asked for.
        """
        # Before anything is printed or written: a condition on an unknown class is an error.
        conditions = self.parsed_conditions
        failed, undecided = failures_of(conditions, result), open_in(conditions, result)
        if self.is_text:
            # Before the history, so that it is seen even if nothing can be appended there.
            typer.echo(result.to_text(details=details))
            if not details:
                typer.echo(MORE)
        watch = self.watch()
        watched: Any = None if watch is None else watch.over(result)
        self._print_watched(result, watched)
        circumstances = Circumstances(conditions, provenance(self.context))
        lines = [*self.files.write(result, circumstances, self.inputs)]
        lines += [f"{noun} in {path}" for noun, path in self.beside.items() if path is not None]
        for line in lines if self.is_text else ():
            typer.echo(line)
        alarms: Sequence[str] = ()
        if watched is not None:
            failed, undecided, alarms = (
                watched.conditions,
                watched.open_conditions,
                watched.alarm_texts,
            )
        if not self.summary:
            questions = result.questions if undecided else ()
            told = (
                *(("condition", failed), ("open", undecided), ("question", questions)),
                ("alarm", alarms),
            )
            for what, found in told:
                for line in found:
                    typer.echo(f"{what}: {line}", err=True)
        is_open = bool(undecided) or not result.can_be_estimated
        code = exit_code(failed=bool(failed or alarms), is_open=is_open)
        if code:
            raise typer.Exit(code)

    def _print_watched(self, result: Any, watched: "Watched | None") -> None:
        """The problems of the history, and what is printed instead of the text or after it."""
        if watched is None:
            if self.as_json:
                typer.echo(result.to_json())
            return
        for problem in watched.problems:
            typer.echo(f"warning: {problem}", err=True)
        if self.as_json:
            typer.echo(watched.to_json())
        elif self.summary:
            typer.echo(watched.summary_line())
        else:
            for about in watched.about_history():
                typer.echo(f"\n{about}")
