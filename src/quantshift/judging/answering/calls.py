"""From the arguments of a call of `judge` to its answer: read, settle, estimate, compare."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from quantshift.answers.batch_names import batches_in_order
from quantshift.answers.rows import rows_left_out
from quantshift.answers.shares import Share, headline_share
from quantshift.answers.targets.result import Limits
from quantshift.answers.words import class_names, headline_class
from quantshift.base.options import as_names, split_names, taken
from quantshift.claims.findings import Finding
from quantshift.errors import UserError
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
from quantshift.judging.estimating.estimates import (
    ChosenDesign,
    design_of,
    estimate_group,
    estimate_table,
)
from quantshift.judging.estimating.judge_run import JudgeRun
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.estimating.labelled_items import LabelledItems, labelled_items
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.output.judgement import Judgement
from quantshift.judging.questions.agreements import compared_judges
from quantshift.judging.questions.comparing import differences_of
from quantshift.judging.questions.error_scan import error_patterns
from quantshift.judging.questions.misjudged import misjudged_items
from quantshift.judging.questions.thresholds import CutRule, threshold
from quantshift.judging.questions.win_rates import position_biases
from quantshift.judging.reading.arrays import parse_inputs
from quantshift.judging.reading.inputs import JudgedTable, ReadItems, read_judged
from quantshift.judging.reading.options import (
    JudgeOptions,
    LabelOptions,
    LevelOptions,
    class_name,
    parse_systems,
)
from quantshift.judging.result import (
    ErrorPattern,
    JudgedBatch,
    SystemDifference,
    Threshold,
)
from quantshift.judging.sensitivity import GivenRates
from quantshift.tables.reading import Source

if TYPE_CHECKING:
    pass

ROLES = ("id", "by", "annotator", "cluster", "weights", "first", "source")
"""Arguments of `judge` for columns that not every call has."""

MEANINGS = ("map", "classes", "positive", "missing", "lenient")
"""Arguments of `judge` that say what values mean."""


@dataclass(frozen=True, eq=False)
class Call:
    """One call about one target: what was read, and what is asked of it.

    systems: the groups to compare, if any; rule: how a cut is chosen, if one is asked for.
    """

    run: JudgeRun
    options: JudgeOptions
    systems: tuple[str, ...] | None = None
    rule: CutRule | None = None

    @cached_property
    def chosen(self) -> ChosenDesign:
        """How labels were chosen, settled once."""
        return design_of(self.run)

    def at(self, level: float) -> JudgeRun:
        """The same items and labels, with limits at another level."""
        return replace(self.run, settings=replace(self.run.settings, level=level))


def prepared(arguments: Mapping[str, Any]) -> Call:
    """What is read for a call about one target. arguments: those of `judge`, by name."""
    chosen = taken(LabelOptions, arguments)
    stated = None if chosen.labels is None else stated_design(chosen.labels)
    source, options = _columns_of(arguments)
    compare, errors_by = arguments["compare"], arguments["errors_by"]
    systems = None if compare is None else parse_systems(compare)
    rule = _cut_rule(arguments["cut"], options)
    options = replace(
        options.saying(**{name: arguments[name] for name in MEANINGS}),
        external=stated is not None and not stated.labelled_are_items,
        errors_by=split_names(errors_by) if isinstance(errors_by, str) else as_names(errors_by),
        every_column=arguments["misjudged"] is not None,
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
    return Call(run, options, systems, rule)


def limits_at(call: Call, answer: Judgement, level: float) -> dict[str, Limits]:
    """The limits of the headline's share in each batch at a higher level, which contain its own."""
    run = call.at(level)
    whole = estimate_table(run, call.chosen.design)
    found: dict[str, Judged | None] = {answer.overall.name: whole}
    if run.table.items.groups is not None:
        found = {name: judged for name, _, judged in _estimated_groups(run, whole.design)}
    position = answer.classes.index(answer.headline)
    limits = {}
    for batch in answer.batches:
        share, judged = headline_share(answer, batch), found[batch.name]
        low, high = share.low, share.high
        if judged is not None:
            low = min(low, float(judged.shares.low[position]))
            high = max(high, float(judged.shares.high[position]))
        limits[batch.name] = low, high
    return limits


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


def judgement(call: Call) -> Judgement:
    """The answer to a call about one target."""
    run, options, compare, rule = call.run, call.options, call.systems, call.rule
    run.check_labels()
    classes = run.meaning.classes
    lead = headline_class(classes, options.positive or (classes[-1] if len(classes) == 2 else None))
    chosen = call.chosen
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
    """The groups one by one."""
    for name, group, judged in _estimated_groups(run, design):
        if judged is None:
            yield unknown_batch(
                name,
                run.meaning.classes,
                design,
                "none of its items has a label",
                n_items=len(group),
                is_stated=run.is_stated(),
            )
        else:
            pooled = design.shares_labels
            yield group_batch(run, name, judged, group, lead, standing, pooled=pooled)


def _estimated_groups(
    run: JudgeRun, design: Design
) -> Iterator[tuple[str, ReadItems, Judged | None]]:
    """The items of each group and their estimate, None if nothing is known about them.

    Carried-over rates are those of all groups together.
    """
    items = run.table.items
    groups = np.array(items.groups)
    for name in batches_in_order(groups.tolist()):
        group = run.in_question(items.take(np.flatnonzero(groups == name)), design)
        if not design.shares_labels and not run.has_information(group):
            yield name, group, None
        elif len(group):
            yield name, group, estimate_group(run, group, design)
