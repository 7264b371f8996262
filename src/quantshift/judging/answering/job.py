"""The true rate behind verdicts, from a table to an answer: read, estimate, compare, advise."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from quantshift.answers.batch_names import batches_in_order
from quantshift.answers.rows import rows_left_out
from quantshift.answers.shares import Share
from quantshift.answers.words import class_names, headline_class
from quantshift.base.forks import uses_tables
from quantshift.base.options import as_names, split_names, suggests_arguments, taken
from quantshift.base.storage.files import check_output, write_output
from quantshift.claims.findings import Finding
from quantshift.errors import UserError
from quantshift.intervals.targets import ITEMS
from quantshift.judging.answering.judged_batches import (
    Standing,
    findings_about_labels,
    group_batch,
    lost_rows,
    unknown_batch,
    whole_batch,
)
from quantshift.judging.designs.at_random import AtRandom
from quantshift.judging.designs.design import Design
from quantshift.judging.designs.registry import stated_design
from quantshift.judging.estimating.borrowing import FEWEST_GROUPS, borrowed, counts_of_groups
from quantshift.judging.estimating.estimates import design_of, estimate_group, estimate_table
from quantshift.judging.estimating.judge_run import JudgeRun
from quantshift.judging.estimating.labelled_items import LabelledItems, labelled_items
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.items.judged_items import AUTO
from quantshift.judging.output.judgement import Judgement
from quantshift.judging.questions.agreements import compared_judges
from quantshift.judging.questions.comparing import differences_of
from quantshift.judging.questions.error_scan import error_patterns
from quantshift.judging.questions.misjudged import is_misjudged_csv, misjudged_csv, misjudged_items
from quantshift.judging.questions.thresholds import CutRule, threshold
from quantshift.judging.questions.win_rates import position_biases
from quantshift.judging.reading.arrays import parse_inputs
from quantshift.judging.reading.inputs import JudgedTable, read_judged
from quantshift.judging.reading.options import (
    JudgeOptions,
    LabelOptions,
    LevelOptions,
    MisjudgedOptions,
    class_name,
    parse_systems,
)
from quantshift.judging.result import (
    ErrorPattern,
    JudgedBatch,
    SystemDifference,
    Threshold,
)
from quantshift.judging.sensitivity import GivenRates, Rate
from quantshift.tables.reading import Source

if TYPE_CHECKING:
    from quantshift.judging.labels.label_judgement import LabelJudgement

Columns = str | Sequence[Any] | Any
"""The name of a column, or the values themselves."""

ROLES = ("id", "by", "annotator", "cluster", "weights", "first", "source")
"""Arguments of `judge` for columns that not every call has."""

MEANINGS = ("map", "classes", "positive", "missing", "lenient")
"""Arguments of `judge` that say what values mean."""


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
) -> "Judgement | LabelJudgement":
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
    Judgement or LabelJudgement
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
        from quantshift.judging.labels.label_judging import judge_labels

        return judge_labels(arguments, judge)
    return _judge_one_label(arguments)


def _judge_one_label(arguments: Mapping[str, Any]) -> Judgement:
    """The answer to a call with one label. arguments: those of `judge`, by name."""
    chosen, file = taken(LabelOptions, arguments), taken(MisjudgedOptions, arguments)
    stated = None if chosen.labels is None else stated_design(chosen.labels)
    source, options = _columns_of(arguments)
    inputs = [arguments["table"], chosen.labelled]
    if file.misjudged is not None:
        check_output(
            file.misjudged,
            inputs=inputs,
            overwrite=file.overwrite,
            ours=is_misjudged_csv,
            endings=("csv",),
        )
    compare, errors_by = arguments["compare"], arguments["errors_by"]
    systems = None if compare is None else parse_systems(compare)
    rule = _cut_rule(arguments["cut"], options)
    options = replace(
        options.saying(**{name: arguments[name] for name in MEANINGS}),
        external=stated is not None and not stated.labelled_are_items,
        errors_by=split_names(errors_by) if isinstance(errors_by, str) else as_names(errors_by),
        every_column=file.misjudged is not None,
    )
    rates = GivenRates.of(arguments["sensitivity"], arguments["specificity"])
    run = JudgeRun(
        _read(source, chosen.labelled, options, rates, compare),
        options.verdict,
        rates,
        stated,
        taken(LevelOptions, arguments).settings(insist=chosen.insist, assume=chosen.assume),
        _wins(arguments["wins"], arguments["first"]),
        options.weights,
    )
    judgement = _judgement(run, options, systems, rule)
    if file.misjudged is not None:
        write_output(
            file.misjudged,
            misjudged_csv(run, (options.id, options.label)).encode(),
            inputs=inputs,
            overwrite=file.overwrite,
            ours=is_misjudged_csv,
        )
    return judgement


def _columns_of(arguments: Mapping[str, Any]) -> tuple[Source, JudgeOptions]:
    """The table of a call, perhaps made of values, and the names of its columns."""
    others = {name: arguments[name] for name in ROLES}
    return parse_inputs(
        arguments["table"], arguments["verdict"], arguments["label"], arguments["score"], **others
    )


def _read(
    source: Source,
    labelled: Source | None,
    options: JudgeOptions,
    rates: GivenRates | None,
    compare: object,
) -> JudgedTable:
    """The table, if there is enough to answer the question."""
    if rates is None and options.label is None:
        raise UserError(
            "name the column of the labels, or give the sensitivity and specificity of the judge",
            arguments=["label", "sensitivity", "specificity"],
        )
    table = read_judged(source, labelled, options)
    if rates is not None and len(table.meaning.classes) != 2:
        raise UserError(
            "sensitivity and specificity need exactly two classes; this table has more",
            arguments=["sensitivity", "specificity"],
        )
    if options.source is not None and table.external is None:
        raise UserError(
            "sources are those of labelled items of the second table; name that table, or leave "
            "out the column",
            arguments=["labelled", "source"],
        )
    if compare is not None and options.by is None:
        raise UserError(
            "to compare two systems name the column that distinguishes them", arguments=["by"]
        )
    return table


def _cut_rule(cut: str | None, options: JudgeOptions) -> CutRule | None:
    if cut is None:
        return None
    if options.score is None:
        raise UserError("a cut needs a column of scores", arguments=["score"])
    return CutRule.parse(cut)


def _wins(wins: Sequence[Any] | None, first: Any) -> tuple[str, str] | None:
    """The classes of a win and a loss, as tables call them."""
    if wins is None:
        if first is not None:
            raise UserError(
                "the order of answers is used for win rates only: give the winning and losing "
                "class",
                arguments=["wins"],
            )
        return None
    if isinstance(wins, str) or len(wins) != 2:
        raise UserError("name two classes, that of a win and that of a loss", arguments=["wins"])
    return class_name(wins[0]), class_name(wins[1])


def _judgement(
    run: JudgeRun,
    options: JudgeOptions,
    compare: tuple[str, ...] | None,
    rule: CutRule | None,
) -> Judgement:
    run.check_labels()
    classes = run.meaning.classes
    lead = headline_class(classes, options.positive or (classes[-1] if len(classes) == 2 else None))
    chosen = design_of(run)
    run.check_shared_verdicts(chosen.design)
    judged = estimate_table(run, chosen.design)
    overall = whole_batch(run, judged, lead, chosen.guess)
    labelled = labelled_items(
        run.judged_items(run.table.items.only_decided()), judged.design, judged.shares.prevalence
    )
    findings = [*_findings_of_table(run.table), *findings_about_labels(run)]
    batches: tuple[JudgedBatch, ...] = (overall,)
    differences: tuple[SystemDifference, ...] = ()
    of_means: tuple[SystemDifference, ...] = ()
    if run.table.items.groups is not None:
        standing = Standing(chosen.guess is None, contradicted=not judged.check.ok)
        batches = tuple(_groups(run, judged.design, lead, standing))
        batches = _with_others(run, batches, judged.design)
        if len(batches) > 1 and compare is None:
            findings.append(JudgeFindings.MANY_INTERVALS.found(n=len(batches)))
    if compare is not None:
        differences, of_means = differences_of(run, judged.design, compare)
    return Judgement(
        classes=classes,
        level=run.settings.level,
        label=options.label,
        judges=options.verdict,
        score=options.score,
        by=options.by,
        ordered=run.meaning.ordered,
        headline=lead,
        names=class_names(None if options.people else options.label, classes),
        overall=overall,
        batches=batches,
        differences=differences,
        mean_differences=of_means,
        findings=tuple(dict.fromkeys(findings)),
        rows=run.table.rows,
        people=run.people(),
        judge_comparisons=()
        if labelled is None
        else compared_judges(labelled, run.judges, judged.level),
        error_patterns=_error_patterns(run, labelled, options),
        misjudged=tuple(misjudged_items(run)),
        threshold=None if rule is None else _threshold(run, labelled, lead, rule),
        position_bias=tuple(position_biases(run, run.wins, options.first))
        if options.first and run.wins
        else (),
    )


def _with_others(
    run: JudgeRun, batches: tuple[JudgedBatch, ...], design: Design
) -> tuple[JudgedBatch, ...]:
    """The groups with the rates that borrow from the others, where labels are random ones."""
    read = run.table.items
    whole = run.judged_items(read.only_decided())
    names = [batch.name for batch in batches]
    plain = whole.weights is None and whole.clusters is None and whole.external is None
    if len(batches) < FEWEST_GROUPS or design.name != AtRandom.name or not plain:
        return batches
    position = {name: i for i, name in enumerate(names)}
    groups = np.array([position[name] for name in read.groups or ()])
    counts = counts_of_groups(groups, whole.cells().codes, whole.labels, whole.n_classes)
    settings = run.settings
    found = borrowed(*counts, level=settings.level, of_items=settings.of_items, seed=settings.seed)
    limits = found.estimate.tolist(), found.low.tolist(), found.high.tolist()
    rows = zip(batches, *limits, strict=True)
    return tuple(
        replace(batch, with_others=tuple(map(Share, run.meaning.classes, *of_group)))
        for batch, *of_group in rows
    )


def _error_patterns(
    run: JudgeRun, labelled: LabelledItems | None, options: JudgeOptions
) -> tuple[ErrorPattern, ...]:
    """Where the judges err, by the columns that the user names, among the labelled items."""
    if not options.errors_by:
        return ()
    if labelled is None or labelled.verdicts is None:
        raise UserError(
            "error patterns need items that have both a verdict and a label; leave out the columns "
            "by which the judge may err",
            arguments=["errors_by"],
        )
    table, beside = run.table, run.table.beside_external
    source = table.rows[0].source
    if labelled.positions is not None:
        beside = {name: column[labelled.positions] for name, column in table.beside.items()}
    else:
        source = table.rows[1].source
    assert beside is not None
    columns = options.scanned(list(beside))
    lacking = [name for name in columns if name not in beside]
    if lacking:
        raise UserError(
            f"{source}, where the labels are, has no column {lacking[0]!r}; name columns of it",
            arguments=["errors_by"],
        )
    return error_patterns(labelled, [beside[name] for name in columns], run.judges, run.settings)


def _threshold(
    run: JudgeRun, labelled: LabelledItems | None, lead: str, rule: CutRule
) -> Threshold:
    """The cut of the score for the class that stands for all."""
    items, external = run.table.items, run.table.external
    if labelled is None or items.score is None:
        raise UserError("a cut is chosen by labels, and there are none", arguments=["cut"])
    scores = items.score if labelled.positions is not None or external is None else external.score
    assert scores is not None
    of_labelled = scores if labelled.positions is None else scores[labelled.positions]
    position = run.meaning.classes.index(lead)
    return threshold(labelled, (of_labelled, items.score), position, rule, run.settings)


def _findings_of_table(table: JudgedTable) -> Iterator[Finding]:
    yield from table.findings
    for rows in table.rows:
        yield from rows_left_out(lost_rows(rows))


def _groups(run: JudgeRun, design: Design, lead: str, standing: Standing) -> Iterator[JudgedBatch]:
    """The groups one by one; carried-over rates are those of all groups together."""
    items = run.table.items
    groups = np.array(items.groups)
    pooled = design.shares_labels
    for name in batches_in_order(groups.tolist()):
        group = run.in_question(items.take(np.flatnonzero(groups == name)), design)
        if not pooled and not run.has_information(group):
            yield unknown_batch(run, name, group, design)
        elif len(group):
            judged = estimate_group(run, group, design)
            yield group_batch(run, name, judged, group, lead, standing, pooled=pooled)
