"""The true rate behind verdicts, from a table to an answer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quantshift.base.forks import uses_tables
from quantshift.base.options import suggests_arguments, taken
from quantshift.base.storage.files import check_output, write_output
from quantshift.errors import UserError
from quantshift.intervals.targets import ITEMS
from quantshift.judging.answering.calls import judgement, prepared
from quantshift.judging.items.judged_items import AUTO
from quantshift.judging.output.judgement import Judgement
from quantshift.judging.questions.misjudged import is_misjudged_csv, misjudged_csv
from quantshift.judging.reading.options import MisjudgedOptions
from quantshift.judging.sensitivity import Rate
from quantshift.tables.reading import Source

if TYPE_CHECKING:
    from quantshift.answers.targets.answer import TargetAnswers

Columns = str | Sequence[Any] | Any
"""The name of a column, or the values themselves."""


@uses_tables
@suggests_arguments
def judge(
    table: Source | None = None,
    *,
    verdict: Columns | Mapping[str, Sequence[Any]] | None = None,
    label: Columns | None = None,
    labelled: Source | None = None,
    score: Columns | None = None,
    id: Columns | None = None,  # noqa: A002 - the name of the option
    by: Columns | None = None,
    annotator: Columns | None = None,
    cluster: Columns | None = None,
    weights: Columns | None = None,
    source: Columns | None = None,
    compare: str | Sequence[str] | None = None,
    wins: Sequence[Any] | None = None,
    first: Columns | None = None,
    errors_by: str | Sequence[str] = (),
    cut: str | None = None,
    pairs: Mapping[Any, Any] | None = None,
    separator: str | None = None,
    misjudged: str | Path | None = None,
    labels: str | None = None,
    map: Mapping[Any, Any] | None = None,  # noqa: A002 - the name of the option
    classes: Sequence[Any] = (),
    positive: Any = None,
    sensitivity: Rate | None = None,
    specificity: Rate | None = None,
    missing: Sequence[str] | None = None,
    assume: str = AUTO,
    insist: bool = False,
    lenient: bool = False,
    level: float = 0.95,
    seed: int = 0,
    of: str = ITEMS,
    overwrite: bool = False,
) -> "Judgement | TargetAnswers[Judgement]":
    """The true share of each class among items with verdicts of a model, from a few human labels.

    table: a file or a data frame with a verdict for every item. Without it the arguments that name
        columns hold their values: `judge(verdict=[...], label=[...])`, None for no label.
    verdict: the column of the verdicts, or several, one for each judge; score: a column of numbers
        instead, or in addition.
    label: the column of people's labels, empty where there is none; several columns if several
        people have labelled, or one and `annotator`, a column of who gave it, with a row for each
        item and person. The label of an item is then that of most of them.
    labelled: another table with labels: of the same items, found by `id`; a sheet that
        `plan_judge` has drawn; or other items, with verdicts of their own.
    labels: how the labelled items were chosen: "random", "by-verdict" (a number of each verdict),
        "by-label" (a number of each label), "elsewhere" (other items). Guessed if not given. Data
        that contradict it are an error, unless you `insist`.
    by: a column of groups to judge one by one; compare: two or more of them, whose differences in
        pairs are estimated, on the same items if their ids are the same; "all": all of them.
    wins: the classes that are a win and a loss, if verdicts say which of two answers is better: the
        win rate is compared with 50%. first: a column that says which answer the judge saw first.
    cluster: a column of questions, conversations or users: items of one are alike. weights: a
        column of numbers, such as views, by which items count. source: a column of `labelled` with
        where its items come from: several sources show how far the judge's errors move.
    errors_by: columns by which the judge may err more often, or "all". misjudged: a CSV file for
        the labelled items on which the judge and people disagree; overwrite: replace any file.
    cut: choose the threshold of the score: "agreement", or a target such as "precision=0.9" or
        "recall=0.9".
    pairs: several labels at once, each with verdicts of its own: column of verdicts -> column of
        labels, whose cells say 0 or 1; for several judges or people, a tuple of columns or their
        names with a + between them. separator: instead of pairs, what is between the labels in the
        cells of `verdict` and `label`, where "none" means that people found no label. The result is
        then a `TargetAnswers`.
    map: verdict -> label, where the names differ and it is not obvious; classes: all classes, if
        some are not among the labels; positive: the class whose share comes first.
    sensitivity, specificity: known rates instead of labels, with 95% limits: 0.9, or
        (0.9, 0.85, 0.94).
    assume: what carries over from labels elsewhere: "rates" (the judge errs as often here as
        there), "verdicts" (a verdict means the same), or "auto": without a declaration the answer
        is a range that allows for both to move.
    of: whose share the interval is for, "items" (those of the table) or "population" (that they
        were drawn from, which is known less well).
    """
    arguments = dict(locals())
    if not 0.5 <= level < 1:
        raise UserError(f"a level is between 0.5 and 1, got {level:g}", arguments=["level"])
    if pairs is not None or separator is not None:
        # Imported here, since most calls have one label.
        from quantshift.judging.answering.targets import judge_targets

        return judge_targets(arguments)
    return _judge_one_target(arguments)


def _judge_one_target(arguments: Mapping[str, Any]) -> Judgement:
    """The answer to a call about one target. arguments: those of `judge`, by name."""
    file = taken(MisjudgedOptions, arguments)
    inputs = [arguments["table"], arguments["labelled"]]
    if file.misjudged is not None:
        check_output(
            file.misjudged,
            inputs=inputs,
            overwrite=file.overwrite,
            ours=is_misjudged_csv,
            endings=("csv",),
        )
    call = prepared(arguments)
    answer = judgement(call)
    if file.misjudged is not None:
        write_output(
            file.misjudged,
            misjudged_csv(call.run, (call.options.id, call.options.label)).encode(),
            inputs=inputs,
            overwrite=file.overwrite,
            ours=is_misjudged_csv,
        )
    return answer
