"""`quantshift plan`: which items people should label, and how many."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from quantshift.answers.words import shortened
from quantshift.base.nouns import counted, percent
from quantshift.base.options import as_keywords, split_names
from quantshift.cli.declared import Only
from quantshift.cli.inputs import JudgedTable
from quantshift.cli.outputs import OverwriteLabels, SheetFile
from quantshift.cli.progress import item_progress
from quantshift.errors import UserError
from quantshift.judging.reading.options import JudgeOptions, LabelOptions, LevelOptions, PlanOptions
from quantshift.labelling.sheets.drawn import check_sheet
from quantshift.quantifying.options import (
    ColumnOptions,
    EstimationOptions,
    ModelRecipe,
    SheetOptions,
    Sources,
    TrainingOptions,
)
from quantshift.tables.files.places import STANDARD_INPUT

if TYPE_CHECKING:
    from quantshift.judging.plans.plan_clusters import PlanClusters
    from quantshift.judging.plans.sheet import LabelSheet
    from quantshift.labelling.sheets.drawn import DrawnSheet
    from quantshift.quantifying.answering.audit_sheet import AuditSheet

MOST_STRATA = 12
"""The most strata of a plan that are shown one by one."""

MODEL_COLUMNS = Only(
    *("label", "text", "features", "categories", "posteriors", "drop"),
    *("id", "missing", "lenient"),
)
VERDICT_COLUMNS = Only(
    *("verdict", "label", "score", "id", "cluster", "weights"),
    *("map", "classes", "missing", "lenient"),
)
"""What a plan needs to know about the columns."""

app = typer.Typer(
    no_args_is_help=True,
    help="Choose which items people should label, as many as a given precision needs.",
)


@app.command("quantify")
def plan_quantify(
    sources: Sources,
    sheet_options: SheetOptions,
    columns: Annotated[ColumnOptions, MODEL_COLUMNS],
    training: Annotated[TrainingOptions, Only("classifier", "seed")],
    estimation: Annotated[EstimationOptions, Only("level")],
    out: SheetFile = None,
    overwrite: OverwriteLabels = False,
) -> None:
    """Draw random rows of a table to label by hand, for `quantify --audit`.

    The sheet has the rows in random order, with their number and an empty column for the label.
    Fill it in from the top (stopping early is fine) and give it to `quantshift quantify --audit`.
    The output says what to run then.

    Examples:

        quantshift plan quantify --model model/ --sample new.csv --precision 0.03 --out audit.csv

        quantshift plan quantify --model model/ --sample new.csv --n-labels 50 --out audit.csv

        quantshift plan quantify --model model/ --sample new.csv --sequential --out audit.csv
    """
    from quantshift.quantifying.answering.audit_sheet import draw_sheet

    if sources.sample is None:
        raise UserError("name the unlabelled table", arguments=["sample"])
    if out is not None:
        check_sheet(out, inputs=list(vars(sources).values()), overwrite=overwrite)
    with item_progress(Console(stderr=True)) as progress:
        sheet = draw_sheet(
            sources, ModelRecipe(columns, training), sheet_options, estimation.level, progress
        )
    _tell(sheet, _audit_lines(sheet), out, overwrite=overwrite)
    command = "" if out is None else sheet.next_command(out)
    if command:
        typer.echo(f"Then run: {command}")


@app.command("judge")
def plan_judge(
    table: JudgedTable,
    columns: Annotated[JudgeOptions, VERDICT_COLUMNS],
    chosen: Annotated[LabelOptions, Only("labelled")],
    planning: PlanOptions,
    levels: LevelOptions,
    out: SheetFile = None,
    overwrite: OverwriteLabels = False,
) -> None:
    """Choose which items with a verdict people should label next, for `judge --labelled`.

    The sheet lists the items in the order in which to label them, with an empty column for the
    label and the probability with which each item was chosen. Fill it in from the top (you may stop
    early) and pass it to `quantshift judge --labelled`.

    Examples:

        quantshift plan judge verdicts.csv --verdict judge --precision 0.03 --out sheet.csv

        quantshift plan judge verdicts.csv --verdict judge --n-labels 100 --out sheet.csv
    """
    from quantshift.judging.plans.sheet import plan_judge as plan_table

    if out is not None:
        check_sheet(out, inputs=[table, chosen.labelled], overwrite=overwrite)
        if table == STANDARD_INPUT:
            raise UserError(
                "a sheet needs a table that can be read twice; name a file instead of -"
            )
    keywords = as_keywords(columns, planning, levels)
    for name in ("by", "positive", "annotator", "first", "errors_by", "cut", "source"):
        del keywords[name]
    sheet = plan_table(table, labelled=chosen.labelled, **keywords)
    _tell(sheet, _judge_lines(sheet, planning.precision), out, overwrite=overwrite)
    if out is not None:
        revealing = ", ".join([*columns.verdict, *split_names(columns.score)])
        typer.echo(
            f"Hide the columns {revealing} and probability while people label: the verdicts would "
            "influence them."
        )


def _tell(sheet: "DrawnSheet", lines: Iterable[str], out: Path | None, *, overwrite: bool) -> None:
    """Print what to label, and write the sheet if there is a file for it."""
    for line in lines:
        typer.echo(line)
    if out is None:
        typer.echo("Add --out FILE.csv to draw them.")
        return
    sheet.write(out, overwrite=overwrite)
    typer.echo(f"items to label in {out}")


def _audit_lines(sheet: "AuditSheet") -> Iterator[str]:
    """How many rows to label, and for what."""
    from quantshift.quantifying.answering.audit_sheet import MORE_LABELS

    plan = sheet.plan
    every = plan.n_labels == plan.n_items
    n_labels = "all" if every else f"about {plan.n_labels:,} of"
    yield (
        f"Label {n_labels} the {plan.n_items:,} items for an interval of about plus or minus "
        f"{percent(plan.precision)}; counting labels alone would take about {plan.n_counting:,}."
    )
    if every and plan.attainable > plan.precision:
        yield (
            f"{plan.n_items:,} items cannot give more precision: with all of them labelled it "
            f"is about plus or minus {percent(plan.attainable)}."
        )
    if sheet.question is not None and sheet.n_deciding is not None:
        first, second = percent(sheet.question.first), percent(sheet.question.second)
        how = "" if sheet.sequential else " (draw them with --sequential)"
        yield (
            f"The items leave two shares of {shortened(sheet.question.label)!r} open: about "
            f"{sheet.n_deciding:,} labels tell {first} from {second}, wrong in at most 5% of "
            f"cases{how}."
        )
    if sheet.sequential:
        likely, most = (
            f"{min(round(MORE_LABELS * n), plan.n_items):,}"
            for n in (plan.n_labels, plan.n_counting)
        )
        yield (
            f"That is for a single look. If you check as you go, it takes about {likely} labels, "
            f"or {most} if the scores do not help: label 20 from the top, check, label more."
        )


def _cluster_lines(clusters: "PlanClusters") -> Iterator[str]:
    """How much labels of one cluster say, and how that is known."""
    from quantshift.judging.plans.plan_clusters import ASSUMED_CORRELATION

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


def _judge_lines(sheet: "LabelSheet", precision: float | None) -> Iterator[str]:
    """How many items to label, for what, and of which strata."""
    from quantshift.judging.designs.parts.plan_strata import GUESSED_ERROR
    from quantshift.judging.designs.registry import plan_named

    label_plan = sheet.plan
    more = " more" if sheet.labels else ""
    n_random = max(label_plan.n_random - len(sheet.labels), 0)
    clusters = label_plan.clusters
    single = "random" if clusters is None else "single random"
    random_note = f"; with {single} items it would take about {n_random:,}{more}"
    alike = clusters is None and plan_named(label_plan.how).plans_together
    whole = "" if clusters is None else f", {counted(label_plan.n_clusters, 'whole cluster')},"
    items = counted(sheet.n_new, "more item" if sheet.labels else "item")
    half_width = percent(label_plan.half_width).removesuffix("%")
    if not sheet.labels:
        at_worst = percent(label_plan.at_worst).removesuffix("%")
        yield (
            f"Label {items}{whole} for an interval of about plus or minus {half_width} to "
            f"{at_worst} points: no labels show yet whether the judge errs in about "
            f"{percent(GUESSED_ERROR)} of the items, as is assumed, or is of no use. After the "
            "first ones, plan again with them."
        )
    else:
        yield (
            f"Label {items}{whole} for an interval of about plus or minus {half_width} points"
            f"{'' if alike else random_note}."
        )
    if clusters is not None:
        yield from _cluster_lines(clusters)
    if precision is not None and label_plan.half_width > 1.1 * precision:
        yield "These items cannot give more precision."
    if len(sheet.strata) > 1:
        yield from (f"  {name}: {n:,}" for name, n in sheet.strata[:MOST_STRATA])
        if len(sheet.strata) > MOST_STRATA:
            yield f"  ... and {len(sheet.strata) - MOST_STRATA} more"
