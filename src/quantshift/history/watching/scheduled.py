"""A scheduled call, checked before the work is done."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from quantshift.answers.conditions import Condition, declared_in, failures_of, open_in
from quantshift.base.nouns import listed
from quantshift.errors import UserError
from quantshift.history.charts.alarms import alarms_of
from quantshift.history.history import History
from quantshift.history.output import rendering
from quantshift.history.watching.options import ALARM, JUDGE_EVENTS, AlarmOptions, WatchOptions
from quantshift.history.watching.watched import Watched
from quantshift.judging.output.judgement import Judgement
from quantshift.quantifying.output.quantification import Quantification

if TYPE_CHECKING:
    pass


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
        undecided = tuple(open_in(self.parsed_conditions(), result))
        if self.options.history is None:
            return Watched(result, held, undecided)
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
            undecided,
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
        others = [event for event in events if event not in JUDGE_EVENTS]
        if others:
            known = listed([repr(event) for event in JUDGE_EVENTS], "or")
            raise UserError(
                f"a call of `judge` can fail on {known}, not on {others[0]!r}",
                arguments=["fail_on"],
            )
        declared = declared_in(result) if events else []
        return (*declared, *failures_of(self.parsed_conditions(), result))
