"""`quantshift judge`: the true rate behind model verdicts; `judge plan`: what to label next."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from quantshift.answers.conditions import Condition
from quantshift.answers.options import PRECISION, ConditionOptions, PrintOptions
from quantshift.answers.outputs.output import Circumstances
from quantshift.answers.words import percent
from quantshift.base.options import as_keywords, split_names
from quantshift.cli.declared import Only
from quantshift.cli.inputs import check_standard_input
from quantshift.cli.outputs import OutputFiles, OverwriteLabels, SheetFile, leave, provenance
from quantshift.errors import UserError
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
)
from quantshift.labelling.sheets.drawn import check_sheet
from quantshift.tables.places import STANDARD_INPUT

MOST_STRATA = 12
"""The most strata of a plan that are shown one by one."""


class JudgeVerbs(TyperGroup):
    """The verbs of `judge`; `judge TABLE` calls the default one."""

    default = "table"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Treat a first argument that is not a verb as the table, or as an option."""
        known = args and args[0] in self.commands
        return super().parse_args(ctx, args if known else [self.default, *args])

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
ESTIMATED = Only("verdict", "label", "score", "id", "map", "classes", "missing", "lenient")
"""What a plan needs to know of the columns."""


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
    conditions: ConditionOptions,
) -> None:
    """Estimate the true rate behind the verdicts of an LLM judge or any model.

    A model has judged every item (an LLM judge, a moderation classifier, a diagnostic test), and
    people have labelled some of them. The right calculation depends on how those items were
    chosen: say so with --labels.

    `quantshift judge plan` says which items to label next.

    Exit code 0: fine; 2: invalid input, reported in one line; 3: a condition of --fail-if holds;
    4: a group cannot be estimated.

    Examples:

        quantshift judge verdicts.csv --verdict judge --label human --labels random

        quantshift judge verdicts.csv --verdict gpt,claude --label human --html out.html

        quantshift judge new.csv --verdict judge --label human --labelled older.csv

        quantshift judge answers.csv --verdict judge --label human --by model --compare A,B --id q

        quantshift judge pairs.csv --verdict judge --label human --wins A,B --first shown_first

        quantshift judge verdicts.csv --verdict judge --label human --errors-by all

        quantshift judge scored.csv --score score --label human --cut precision=0.9

        quantshift judge tests.csv --verdict result --sensitivity 0.9,0.85-0.94 --specificity 0.97
    """
    parsed = tuple(map(Condition.parse, conditions.fail_if))
    inputs = [table, chosen.labelled]
    check_standard_input(*inputs)
    files.check(inputs)
    asked = as_keywords(columns, chosen, comparison, rates, levels, misjudged)
    result = judge_table(table, **asked, overwrite=files.overwrite)
    # Before anything is written: a condition on an unknown class is an error of the command.
    failed = [line for condition in parsed for line in condition.failures(result)]
    typer.echo(result.to_json() if printing.as_json else result.to_text())
    circumstances = Circumstances(parsed, provenance(context))
    for line in files.write(result, circumstances, inputs):
        if not printing.as_json:
            typer.echo(line)
    if misjudged.misjudged is not None and not printing.as_json:
        typer.echo(f"misjudged items in {misjudged.misjudged}")
    leave(failed, can_be_estimated=all(batch.can_be_estimated for batch in result.batches))


@app.command("plan")
def plan(
    table: Table,
    columns: Annotated[JudgeOptions, ESTIMATED],
    chosen: Annotated[LabelOptions, Only("labelled")],
    asked: PlanOptions,
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
    known = as_keywords(columns, asked, levels)
    if asked.precision is None and asked.n_labels is None:
        known["precision"] = PRECISION
    for name in ("by", "positive", "annotator", "cluster", "weights", "first", "errors_by", "cut"):
        del known[name]
    sheet = plan_labels(table, labelled=chosen.labelled, **known)
    for line in _plan_lines(sheet, asked.precision):
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


def _plan_lines(sheet: LabelSheet, precision: float | None) -> Iterator[str]:
    """How many items to label, for what, and of which strata."""
    label_plan = sheet.plan
    more = " more" if sheet.labels else ""
    n_random = max(label_plan.n_random - len(sheet.labels), 0)
    random_note = f"; with random items it would take about {n_random:,}{more}"
    yield (
        f"Label {sheet.n_new:,}{more} items for an interval of about plus or minus "
        f"{percent(label_plan.half_width).removesuffix('%')} points"
        f"{'' if plan_named(label_plan.how).plans_together else random_note}."
    )
    if precision is not None and label_plan.half_width > 1.1 * precision:
        yield "These items cannot give more precision."
    if len(sheet.strata) > 1:
        yield from (f"  {name}: {n:,}" for name, n in sheet.strata[:MOST_STRATA])
        if len(sheet.strata) > MOST_STRATA:
            yield f"  ... and {len(sheet.strata) - MOST_STRATA} more"
