"""`quantshift judge`: the true rate behind model verdicts; `judge plan`: what to label next."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from quantshift.answers.conditions import Condition, failures_of
from quantshift.answers.options import (
    PRECISION,
    ConditionOptions,
    PrintOptions,
    SummaryOptions,
)
from quantshift.answers.outputs.output import Circumstances
from quantshift.answers.words import percent
from quantshift.base.nouns import counted
from quantshift.base.options import as_keywords, split_names
from quantshift.cli.declared import Only
from quantshift.cli.inputs import check_standard_input
from quantshift.cli.outputs import OutputFiles, OverwriteLabels, SheetFile, leave, provenance
from quantshift.errors import UserError
from quantshift.history.options import AlarmOptions, JudgeAlarmOptions, WatchOptions
from quantshift.judging import LabelSheet, plan_labels
from quantshift.judging import judge as judge_table
from quantshift.judging.designs.registry import plan_named
from quantshift.judging.options import (
    ComparisonOptions,
    JudgeOptions,
    LabelOptions,
    LevelOptions,
    MisjudgedOptions,
    PlanOptions,
    RateOptions,
    SeveralLabelsOptions,
)
from quantshift.judging.plans.plan_clusters import ASSUMED_CORRELATION, PlanClusters
from quantshift.labelling.sheets.drawn import check_sheet
from quantshift.tables.places import STANDARD_INPUT

if TYPE_CHECKING:
    from quantshift.history.label_watching import LabelWatch
    from quantshift.history.watching import Watch

MOST_STRATA = 12
"""The most strata of a plan that are shown one by one."""


class JudgeVerbs(TyperGroup):
    """The verbs of `judge`; `judge TABLE` calls the default one."""

    default = "table"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Treat a first argument that is not a verb as the table, or as an option."""
        names_verb = args and args[0] in self.commands
        return super().parse_args(ctx, args if names_verb else [self.default, *args])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb; the default one has no name in the usage line."""
        name, command, rest = super().resolve_command(ctx, args)
        return ("" if name == self.default else name), command, rest


app = typer.Typer(
    cls=JudgeVerbs,
    help="Estimate the true rate behind the verdicts of an LLM judge or any model.",
    rich_markup_mode="rich",
)

Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A table with a verdict for every item: a file, a pattern such as 'part-*.csv', a "
        "folder of Parquet files, or - for standard input.",
    ),
]
ESTIMATED = Only(
    *("verdict", "label", "score", "id", "cluster", "weights"),
    *("map", "classes", "missing", "lenient"),
)
"""What a plan needs to know about the columns."""


@app.command("table", hidden=True)
def judge(
    context: typer.Context,
    table: Table,
    columns: JudgeOptions,
    chosen: LabelOptions,
    comparison: ComparisonOptions,
    rates: RateOptions,
    levels: LevelOptions,
    printing: PrintOptions,
    files: OutputFiles,
    misjudged: MisjudgedOptions,
    length: SummaryOptions,
    watching: Annotated[WatchOptions, Only("history", "at")],
    failing: JudgeAlarmOptions,
    alarms: AlarmOptions,
    conditions: ConditionOptions,
    several: SeveralLabelsOptions,
) -> None:
    """Estimate the true rate behind the verdicts of an LLM judge or any model.

    A model has judged every item (an LLM judge, a moderation classifier, a diagnostic test), and
    people have labelled some of them. The right calculation depends on how those items were
    chosen: say so with --labels.

    `quantshift judge plan` says which items to label next.

    With --history every answer is appended to a folder, and `quantshift history` shows the rate,
    kappa and error rates over time, and whether the judge has drifted.

    Exit code 0: fine; 2: invalid input, reported in one line; 3: a condition of --fail-if or
    --fail-on holds; 4: a group cannot be estimated.

    Examples:

        quantshift judge verdicts.csv --verdict judge --label human --labels random

        quantshift judge verdicts.csv --verdict gpt,claude --label human --html out.html

        quantshift judge new.csv --verdict judge --label human --labelled older.csv

        quantshift judge answers.csv --verdict judge --label human --by model --compare A,B --id q

        quantshift judge pairs.csv --verdict judge --label human --wins A,B --first shown_first

        quantshift judge verdicts.csv --verdict judge --label human --errors-by all

        quantshift judge scored.csv --score score --label human --cut precision=0.9

        quantshift judge 2026-03-02.csv --verdict judge --label human --history history/ --summary

        quantshift judge posts.csv --pairs spam_judge=spam,abuse_judge=abuse

        quantshift judge posts.csv --verdict judge_tags --label people_tags --separator ';'

        quantshift judge tests.csv --verdict result --sensitivity 0.9,0.85-0.94 --specificity 0.97
    """
    if printing.as_json and length.summary:
        raise UserError("the result is printed either as JSON or as one line: choose one")
    parsed = tuple(map(Condition.parse, conditions.fail_if))
    watching = replace(watching, fail_on=failing.fail_on)
    is_several = several != SeveralLabelsOptions()
    watch: Any = _watch(watching, alarms, conditions.fail_if, length.summary, is_several)
    inputs = [table, chosen.labelled]
    check_standard_input(*inputs)
    files.check(inputs, misjudged.misjudged)
    keywords = as_keywords(columns, chosen, comparison, rates, levels, misjudged, several)
    result = judge_table(table, **keywords, overwrite=files.overwrite)
    # Before anything is written: a condition on an unknown class is an error of the command.
    failed = failures_of(parsed, result)
    is_text = not printing.as_json and not length.summary
    if is_text:
        # Before the history, so that it is seen even if nothing can be appended there.
        typer.echo(result.to_text())
    watched = None if watch is None else watch.over(result)
    for problem in () if watched is None else watched.problems:
        typer.echo(f"warning: {problem}", err=True)
    if printing.as_json:
        typer.echo(result.to_json() if watched is None else watched.to_json())
    elif watched is not None and length.summary:
        typer.echo(watched.summary_line())
    for text in watched.about_history() if watched is not None and is_text else ():
        typer.echo(f"\n{text}")
    circumstances = Circumstances(parsed, provenance(context))
    for line in files.write(result, circumstances, inputs):
        if is_text:
            typer.echo(line)
    if misjudged.misjudged is not None and is_text:
        typer.echo(f"misjudged items in {misjudged.misjudged}")
    leave(
        failed,
        alarms=() if watched is None else watched.alarm_texts,
        can_be_estimated=all(batch.can_be_estimated for batch in result.batches),
        printed=length.summary,
    )


def _watch(
    watching: WatchOptions,
    alarms: AlarmOptions,
    conditions: tuple[str, ...],
    summary: bool,
    several: bool,
) -> "Watch | LabelWatch | None":
    """A scheduled call, checked before the work is done; None if none of its options is given.

    summary: whether one line is printed; several: whether there are several labels.
    """
    if watching == WatchOptions() and not alarms.changes and not summary:
        return None
    # Imported here: most calls have no history, and need not wait for its libraries.
    if several:
        from quantshift.history.label_watching import LabelWatch

        return LabelWatch(watching, alarms, conditions)
    from quantshift.history.watching import Watch

    return Watch(watching, alarms, conditions)


@app.command("plan")
def plan(
    table: Table,
    columns: Annotated[JudgeOptions, ESTIMATED],
    chosen: Annotated[LabelOptions, Only("labelled")],
    planning: PlanOptions,
    levels: LevelOptions,
    out: SheetFile = None,
    overwrite: OverwriteLabels = False,
) -> None:
    """Plan which items people should label next, and how many.

    The sheet lists the items in the order in which to label them, with an empty column for the
    label and the probability with which each item was chosen. Fill it in from the top (you may stop
    early) and pass it to `quantshift judge --labelled`.

    Example:

        quantshift judge plan verdicts.csv --verdict judge --precision 0.03 --out sheet.csv
    """
    if out is not None:
        check_sheet(out, inputs=[table, chosen.labelled], overwrite=overwrite)
        if table == STANDARD_INPUT:
            raise UserError(
                "a sheet needs a table that can be read twice; name a file instead of -"
            )
    keywords = as_keywords(columns, planning, levels)
    if planning.precision is None and planning.n_labels is None:
        keywords["precision"] = PRECISION
    for name in ("by", "positive", "annotator", "first", "errors_by", "cut"):
        del keywords[name]
    sheet = plan_labels(table, labelled=chosen.labelled, **keywords)
    for line in _plan_lines(sheet, planning.precision):
        typer.echo(line)
    if out is None:
        typer.echo("Add --out FILE.csv to draw them.")
        return
    sheet.write(out, overwrite=overwrite)
    typer.echo(f"items to label in {out}")
    revealing = ", ".join([*columns.verdict, *split_names(columns.score)])
    typer.echo(
        f"Hide the columns {revealing} and probability while people label: the verdicts would "
        "influence them."
    )


def _cluster_lines(clusters: PlanClusters) -> Iterator[str]:
    """How much labels of one cluster say, and how that is known."""
    basis = (
        f"as {counted(clusters.n_seen, 'labelled cluster')} and the usual "
        f"{ASSUMED_CORRELATION:g} suggest"
        if clusters.n_seen
        else "an assumption: no labelled clusters show it"
    )
    effect = f"{clusters.effect:,.{0 if clusters.effect >= 10 else 1}f}"
    yield (
        f"Errors of the judge in one cluster have a correlation of {clusters.correlation:.2f} "
        f"({basis}): {effect} labels of whole clusters say as much as one "
        "independent label."
    )
    yield "Label each cluster to its end, and name the same --cluster when you judge them."


def _plan_lines(sheet: LabelSheet, precision: float | None) -> Iterator[str]:
    """How many items to label, for what, and of which strata."""
    label_plan = sheet.plan
    more = " more" if sheet.labels else ""
    n_random = max(label_plan.n_random - len(sheet.labels), 0)
    clusters = label_plan.clusters
    single = "random" if clusters is None else "single random"
    random_note = f"; with {single} items it would take about {n_random:,}{more}"
    alike = clusters is None and plan_named(label_plan.how).plans_together
    whole = "" if clusters is None else f", {counted(label_plan.n_clusters, 'whole cluster')},"
    items = counted(sheet.n_new, "more item" if sheet.labels else "item")
    yield (
        f"Label {items}{whole} for an interval of about plus or minus "
        f"{percent(label_plan.half_width).removesuffix('%')} points"
        f"{'' if alike else random_note}."
    )
    if not sheet.labels:
        yield (
            "This is a guess, since no labels show how good the judge is: after the first ones, "
            "plan again with them."
        )
    if clusters is not None:
        yield from _cluster_lines(clusters)
    if precision is not None and label_plan.half_width > 1.1 * precision:
        yield "These items cannot give more precision."
    if len(sheet.strata) > 1:
        yield from (f"  {name}: {n:,}" for name, n in sheet.strata[:MOST_STRATA])
        if len(sheet.strata) > MOST_STRATA:
            yield f"  ... and {len(sheet.strata) - MOST_STRATA} more"
