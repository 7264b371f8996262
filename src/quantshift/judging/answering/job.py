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

    Parameters
    ----------
    table : path or data frame, optional
        A verdict for every item. Without it the arguments that name columns hold their values:
        `judge(verdict=[...], label=[...])`, with None where there is no label.
    verdict : str or list of str, optional
        The column of the verdicts; several, one for each judge.
    label : str or list of str, optional
        The column of people's labels, empty where there is none; several columns if several people
        have labelled. The label of an item is that of most of them.
    labelled : path or data frame, optional
        Another table with labels: of the same items, found by `id`; a sheet that `plan_judge` has
        drawn; or other items, with verdicts of their own.
    score : str, optional
        A column of numbers, instead of verdicts or in addition.
    id : str, optional
        The column that tells items apart.
    by : str, optional
        A column of groups, which are judged one by one.
    annotator : str, optional
        A column of who gave the label, with a row for each item and person.
    cluster : str, optional
        A column of questions, conversations or users: items of one are alike.
    weights : str, optional
        A column of numbers, such as views, by which items count.
    source : str, optional
        A column of `labelled` with where its items come from: several sources show how far the
        judge's errors move.
    compare : list of str or "all", optional
        Groups of `by` whose differences in pairs are estimated, on the same items if their ids are
        the same.
    wins : pair, optional
        The classes that are a win and a loss, if verdicts say which of two answers is better: the
        win rate is compared with 50%.
    first : str, optional
        A column that says which answer the judge saw first.
    errors_by : list of str or "all"
        Columns by which the judge may err more often.
    cut : str, optional
        Choose the threshold of the score: "agreement", or a target such as "precision=0.9" or
        "recall=0.9".
    pairs : dict, optional
        Several labels at once: column of verdicts -> column of labels, whose cells say 0 or 1; for
        several judges or people a tuple of columns, or their names with a + between them.
    separator : str, optional
        Instead of `pairs`: what is between the labels in the cells of `verdict` and `label`, where
        "none" means that people found no label.
    misjudged : path, optional
        A CSV file to write: the labelled items on which the judge and people disagree.
    labels : {"random", "by-verdict", "by-label", "elsewhere"}, optional
        How the labelled items were chosen: at random, a number of each verdict, a number of each
        label, or other items. Guessed if not given, and the answer then says *if*.
    map : dict, optional
        Verdict -> label, where the names differ and it is not obvious.
    classes : sequence
        All classes, if some are not among the labels.
    positive : class, optional
        The class whose share comes first.
    sensitivity, specificity : float or (float, float, float), optional
        Known rates instead of labels, with 95% limits: 0.9, or (0.9, 0.85, 0.94).
    missing : list of str, optional
        Cells that mean no label, besides empty ones.
    assume : {"auto", "rates", "verdicts"}
        What carries over from labels elsewhere: the judge errs as often here as there ("rates"), a
        verdict means the same ("verdicts"), or nothing is declared and the answer is a range that
        allows for both to move.
    insist : bool
        Go on where the data contradict the design that `labels` names.
    lenient : bool
        Read a CSV file line by line if its quotes are broken.
    level : float
        Confidence level of the limits.
    seed : int
        Seed of all draws.
    of : {"items", "population"}
        Whose share the limits are for: that of the table's own items, or that of the population
        they were drawn from, which is known less well.
    overwrite : bool
        Replace any file at `misjudged`.

    Returns
    -------
    Judgement or TargetAnswers
        Printed, it is what the command prints; `to_frame`, `to_json`, `to_html` and `plot` give the
        rest. With `pairs` or `separator` it has an answer for each label.

    Examples
    --------
    >>> from quantshift import judge
    >>> verdict = ["pass"] * 160 + ["fail"] * 40
    >>> label = ["pass"] * 35 + ["fail"] * 5 + [None] * 120 + ["fail"] * 10 + [None] * 30
    >>> answer = judge(verdict=verdict, label=label, labels="by-verdict")
    >>> answer
    pass: 70.0% of the 200 items in the table (95% interval 61.5 to 76.3%)
    counting the verdicts of judge alone: 80.0%, outside the interval
    class  share   95% interval  verdicts alone
    fail   30.0%  23.7 to 38.5%           20.0%
    pass   70.0%  61.5 to 76.3%           80.0%
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
