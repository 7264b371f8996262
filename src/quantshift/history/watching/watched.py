"""An answer and what a scheduled call makes of it, in a line and in full."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from quantshift.answers.batch_names import newest_batch, newest_name
from quantshift.answers.conditions import exit_code
from quantshift.answers.shares import Share, headline_share
from quantshift.answers.text import estimate_text, shown
from quantshift.answers.words import limits as limits_text
from quantshift.answers.words import one_line, shortened, some_names
from quantshift.base.nouns import counted
from quantshift.claims import Kind, Reason
from quantshift.history.charts.alarms import Alarm
from quantshift.history.history import History
from quantshift.history.kept.record import MEAN
from quantshift.history.kept.store import Problem
from quantshift.history.output.rendering import (
    alarm_text,
    appended_text,
    average_in_words,
    baseline_in_short,
    undecided,
    values_and_limits,
)
from quantshift.judging.output.judgement import Judgement
from quantshift.judging.result import JudgedBatch
from quantshift.labelling.findings import SheetFindings
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.result import Batch
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
class Watched:
    """An answer and what a scheduled call makes of it.

    conditions: the events and bounds that hold, in words; open_conditions: the bounds of which that
    cannot be told. alarms: those that this call raised.
    drifts: the judges whose errors have changed since the baseline, in words.
    problems: damaged files of the history, without which an alarm may be missing.
    fails_on_alarm: whether alarms make the call fail.
    """

    result: Quantification | Judgement
    conditions: tuple[str, ...] = ()
    open_conditions: tuple[str, ...] = ()
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
        damaged = [undecided(self.problems)] if self.problems else []
        return [*map(alarm_text, self.alarms), *self.drifts, *damaged]

    @property
    def can_be_estimated(self) -> bool:
        """Whether there is an estimate in every batch."""
        return self.result.can_be_estimated

    @property
    def exit_code(self) -> int:
        """The command's exit code; see `exit_code` of conditions."""
        is_open = bool(self.open_conditions) or not self.can_be_estimated
        return exit_code(failed=bool(self.failures), is_open=is_open)

    def summary_line(self) -> str:
        """The newest batch, what stands out, alarms and failures, in one line."""
        findings = (
            judged_findings(self.result)
            if isinstance(self.result, Judgement)
            else quantified_findings(self.result)
        )
        return summary_line(self, findings)

    def to_text(self, *, details: bool = False) -> str:
        """The text of the answer, and what the history says about it."""
        return "\n\n".join([self.result.to_text(details=details), *self.about_history()])

    def about_history(self) -> list[str]:
        """What the history says about the answer, if there is one."""
        if self.history is None:
            return []
        return [
            appended_text(self.history, self.alarms, self.problems, self.drifts),
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


def state_of(watched: Watched) -> str:
    """What the line of a call begins with."""
    result = watched.result
    held = [batch.grounds.summary for batch in result.batches]
    if watched.alarms or watched.drifts:
        held.append("ALARM")
    if watched.problems:
        held.append("DAMAGED")
    if watched.conditions:
        held.append("CONDITION")
    if any(_is_unknown(result, batch) for batch in result.batches):
        held.append("UNKNOWN")
    if isinstance(result, Quantification) and _shown_warnings(result):
        held.append(WARNED)
    return min(held, key=STATES.index)


def _is_unknown(result: Quantification | Judgement, batch: Batch | JudgedBatch) -> bool:
    return not (headline_share(result, batch).is_known and batch.can_be_estimated)


def _is_range(result: Quantification | Judgement, batch: Batch | JudgedBatch) -> bool:
    return batch.kind is Kind.RANGE


def _is_either(result: Quantification | Judgement, batch: Batch | JudgedBatch) -> bool:
    return batch.kind is Kind.EITHER


def _shown_warnings(result: Quantification) -> list[str]:
    # Answers of `judge` need none of what `quantify` does.
    from quantshift.quantifying.output.text import shown_warnings

    return shown_warnings(result)


def _is_untested(result: Quantification) -> bool:
    """Whether a batch rests on what a chosen method assumes, which nothing tests."""
    if result.declared:
        return False
    return any(batch.reason is Reason.DECLARED and batch.shift is None for batch in result.batches)


def summary_line(watched: Watched, found_in_batches: Sequence[tuple[str, str]]) -> str:
    """What a call found, in one line: the newest batch, what stands out, alarms and failures.

    found_in_batches: the findings, each as the name of its batch and a text.
    """
    texts = [text for _, text in found_in_batches]
    about = found_in_batches[0][0] if found_in_batches else ""
    texts += [
        average_in_words(alarm) if alarm.batch == about else alarm_text(alarm)
        for alarm in watched.alarms
    ]
    texts += watched.drifts
    result, problems = watched.result, watched.problems
    if isinstance(result, Quantification):
        texts += [f"you declared: {result.declared}"] if result.declared else []
    state = state_of(watched)
    warnings = [found.sentence for found in result.findings if found.code in BIASING]
    if isinstance(result, Quantification) and _is_untested(result):
        texts.append("nothing tests what the method assumes")
    found = _shown_warnings(result) if isinstance(result, Quantification) else []
    if state in (WARNED, Kind.CONDITIONAL.summary) and found and not warnings:
        first, *others = found
        more = f" (and {counted(len(others), 'other warning')})" if others else ""
        warnings = [f"{shortened(first, LONGEST_WARNING)}{more}"]
    texts += warnings
    texts += [undecided(problems)] if problems else []
    texts += [] if watched.history is None else baseline_in_short(watched.history)
    return one_line(f"{state} {'; '.join([*texts, *watched.conditions])}")


def worse_elsewhere(answers: Mapping[str, Quantification | Judgement]) -> list[str]:
    """The batches without an estimate, or with a range, unless the newest batch is one of them.

    The first word of the line is about all batches, and the rest about the newest. answers: by
    label; the only one has no name.
    """
    kinds = (Kind.CANNOT, _is_unknown), (Kind.RANGE, _is_range), (Kind.EITHER, _is_either)
    for kind, holds in kinds:
        found = [
            (label, batch.name)
            for label, result in answers.items()
            for batch in result.batches
            if holds(result, batch)
        ]
        newest = {newest_batch(result.batches).name for result in answers.values()}
        if any(name in newest for _, name in found):
            return []
        if found:
            names = [f"{label} in {name}" if label else name for label, name in found]
            return [f"{kind.words}: {some_names(names)}"]
    return []


def quantified_findings(result: Quantification) -> list[tuple[str, str]]:
    """The newest batch and its marks; the extremes, if batches do not follow one another."""
    from quantshift.quantifying.output.advice import CONFUSED
    from quantshift.quantifying.output.text import extremes, marks

    batch = newest_batch(result.batches)
    if not result.in_sequence:
        unlike = [f"{shortened(b.name)}: {', '.join(marks(b))}" for b in result.batches if marks(b)]
        return [(batch.name, text) for text in (*extremes(result), *unlike)]
    share = headline_share(result, batch)
    where = f"{newest_name(result.batches)}: {shown(result, share.label)}"
    items = counted(batch.n_items, "item")
    if not share.is_known:
        why = shortened(batch.no_estimate_reason or CONFUSED, 200)
        return [(batch.name, f"{where} cannot be estimated from {items} ({why})")]
    found = " or ".join(limits_text(part.low, part.high) for part in share.parts)
    # A range has no point.
    found = found if batch.kind.is_range else f"{estimate_text(share)} ({found})"
    texts = [f"{where} {found} of {items}", *([", ".join(marks(batch))] if marks(batch) else [])]
    return [(batch.name, text) for text in (*texts, *worse_elsewhere({"": result}))]


def judged_findings(result: Judgement) -> list[tuple[str, str]]:
    """The newest group of an answer of `judge`: its rate, and how far judge and people agree."""
    batch = newest_batch(result.batches)
    share = headline_share(result, batch)
    if batch.mean is not None:
        share = Share(MEAN, batch.mean.estimate, batch.mean.low, batch.mean.high)
    name = "mean" if share.label == MEAN else shown(result, share.label)
    where = f"{newest_name(result.batches)}: {name}"
    about = f"of {counted(batch.n_items, 'item')}, {counted(batch.n_labelled, 'label')}"
    if share.estimate is None:
        return [(batch.name, f"{where} cannot be estimated {about} ({batch.no_estimate_reason})")]
    ((estimate, bounds),) = values_and_limits([share])
    # A range has no point.
    found = bounds if batch.kind.is_range else f"{estimate} ({bounds})"
    texts = [f"{where} {found} {about}"]
    agreement = batch.judges[0].agreement if batch.judges else None
    if agreement is not None:
        texts.append(f"kappa {agreement.estimate:.2f}")
    if batch.kind.is_range:
        texts.append(Kind.RANGE.words)
    return [(batch.name, text) for text in (*texts, *worse_elsewhere({"": result}))]
