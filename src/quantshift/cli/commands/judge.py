"""`quantshift judge`: the true rate behind model verdicts; `judge plan`: what to label next."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from quantshift.answers.conditions import Condition
from quantshift.answers.outputs.output import Circumstances
from quantshift.answers.words import percent
from quantshift.cli.outputs import OutputFiles, leave, provenance
from quantshift.cli.shared_options import (
    COLUMNS,
    ESTIMATE,
    TABLES,
    AsJson,
    CsvTable,
    FailIf,
    Html,
    Lenient,
    Level,
    Missing,
    Overwrite,
    Positive,
    Seed,
    check_standard_input,
    missing_names,
    names,
)
from quantshift.errors import UserError
from quantshift.judging import LabelSheet, plan_labels, write_label_sheet
from quantshift.judging import judge as judge_table
from quantshift.judging.arrays import labels_by_verdict
from quantshift.judging.designs.registry import plan_named, plans, stated_designs
from quantshift.quantifying.audits.audit_sheet import check_sheet
from quantshift.tables.places import STANDARD_INPUT

MOST_STRATA = 12
"""The most strata of a plan that are shown one by one."""

_NUMBER = r"[0-9]*\.?[0-9]+"
_RATE = re.compile(rf"(?P<rate>{_NUMBER})(\s*,\s*(?P<low>{_NUMBER})\s*-\s*(?P<high>{_NUMBER}))?")


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


def _ways() -> str:
    """How items can have been chosen, for the help."""
    *others, last = (design.help for design in stated_designs())
    return f"{', '.join(others)}, or {last}"


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
Verdict = Annotated[
    str | None,
    typer.Option(
        "--verdict",
        metavar="COLUMN",
        help="Column of the verdicts; for several judges, one column each: gpt,claude.",
        rich_help_panel=COLUMNS,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Column of human labels; empty if an item has no label.",
        rich_help_panel=COLUMNS,
    ),
]
Score = Annotated[
    str | None,
    typer.Option(
        "--score",
        metavar="COLUMN",
        help="Column of numeric scores, instead of or in addition to verdicts.",
        rich_help_panel=COLUMNS,
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column that identifies the items, used to join --labelled and to pair the items "
        "of a comparison.",
        rich_help_panel=COLUMNS,
    ),
]
Labelled = Annotated[
    str | None,
    typer.Option(
        "--labelled",
        metavar="FILE",
        help="Another table with labels: a sheet from `judge plan`, items of TABLE (with --id), or "
        "other items that have their own verdicts.",
        rich_help_panel=TABLES,
    ),
]
Map = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="VERDICT=LABEL,...",
        help="Which verdict means which label, if it is not obvious: pass=1,fail=0.",
        rich_help_panel=COLUMNS,
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(
        "--classes",
        metavar="A,B,...",
        help="All classes, if some of them do not occur among the labels.",
        rich_help_panel=COLUMNS,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="|".join(design.name for design in stated_designs()),
        help=f"How the labelled items were chosen: {_ways()}. Guessed if not given; checked "
        "against the data.",
        rich_help_panel=TABLES,
    ),
]
Insist = Annotated[
    bool,
    typer.Option(
        "--insist",
        help="Trust --labels even if the table contradicts it.",
        rich_help_panel=TABLES,
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Estimate a rate for each group of this column.",
        rich_help_panel=TABLES,
    ),
]
Compare = Annotated[
    str | None,
    typer.Option(
        "--compare",
        metavar="A,B",
        help="Report the difference between two groups of --by; with --id, on the same items.",
        rich_help_panel=TABLES,
    ),
]
Sensitivity = Annotated[
    str | None,
    typer.Option(
        "--sensitivity",
        metavar="0.9,0.85-0.94",
        help="If known, instead of labels: how often the verdict is positive when the true label "
        "is positive, with 95% limits.",
        rich_help_panel=ESTIMATE,
    ),
]
Specificity = Annotated[
    str | None,
    typer.Option(
        "--specificity",
        metavar="0.97,0.95-0.99",
        help="The same for the negative class: how often a negative item gets a negative verdict.",
        rich_help_panel=ESTIMATE,
    ),
]
Precision = Annotated[
    float | None,
    typer.Option(
        "--precision",
        metavar="0.03",
        help="Target half-width of the interval (margin of error; default: 0.05).",
        show_default=False,
    ),
]
NLabels = Annotated[
    int | None,
    typer.Option(
        "--n-labels",
        metavar="100",
        min=1,
        help="Instead of --precision: the number of items you can label.",
    ),
]
How = Annotated[
    str | None,
    typer.Option(
        "--how",
        metavar="|".join(plan.name for plan in plans()),
        help="How to choose the items (default: by score if there is one, otherwise by verdict).",
        show_default=False,
    ),
]


@app.command("table", hidden=True)
def judge(
    context: typer.Context,
    table: Table,
    verdict: Verdict = None,
    label: Label = None,
    score: Score = None,
    labelled: Labelled = None,
    labels: Labels = None,
    insist: Insist = False,
    lenient: Lenient = False,
    id: Id = None,  # noqa: A002 - the option's name
    by: By = None,
    compare: Compare = None,
    map: Map = None,  # noqa: A002 - the option's name
    classes: Classes = None,
    missing: Missing = None,
    positive: Positive = None,
    sensitivity: Sensitivity = None,
    specificity: Specificity = None,
    level: Level = 0.95,
    seed: Seed = 0,
    as_json: AsJson = False,
    html: Html = None,
    csv: CsvTable = None,
    overwrite: Overwrite = False,
    fail_if: FailIf = None,
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

        quantshift judge tests.csv --verdict result --sensitivity 0.9,0.85-0.94 --specificity 0.97
    """
    conditions = [Condition.parse(text) for text in fail_if or ()]
    check_standard_input([table], [labelled] if labelled else None)
    inputs = [table, labelled]
    outputs = OutputFiles({"html": html, "csv": csv}, overwrite)
    outputs.check(inputs)
    result = judge_table(
        table,
        verdict=names(verdict),
        label=label,
        labelled=labelled,
        score=score,
        id=id,
        by=by,
        compare=_pair(compare),
        labels=labels,
        map=_map(map),
        classes=names(classes),
        positive=positive,
        sensitivity=_rate("sensitivity", sensitivity),
        specificity=_rate("specificity", specificity),
        missing=missing_names(missing),
        insist=insist,
        lenient=lenient,
        level=level,
        seed=seed,
    )
    # Before anything is written: a condition on an unknown class is an error of the command.
    failed = [line for condition in conditions for line in condition.failures(result)]
    typer.echo(result.to_json() if as_json else result.to_text())
    circumstances = Circumstances(tuple(conditions), provenance(context))
    for line in outputs.write(result, circumstances, inputs):
        if not as_json:
            typer.echo(line)
    leave(failed, can_be_estimated=all(batch.can_be_estimated for batch in result.batches))


@app.command("plan")
def plan(
    table: Table,
    verdict: Verdict = None,
    label: Label = None,
    score: Score = None,
    labelled: Labelled = None,
    lenient: Lenient = False,
    id: Id = None,  # noqa: A002 - the option's name
    map: Map = None,  # noqa: A002 - the option's name
    classes: Classes = None,
    missing: Missing = None,
    precision: Precision = None,
    n_labels: NLabels = None,
    how: How = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE.csv", help="Write the items to label here."),
    ] = None,
    level: Level = 0.95,
    seed: Seed = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing file, including its labels.")
    ] = False,
) -> None:
    """Plan which items people should label next, and how many.

    The sheet lists the items in the order in which to label them, with an empty column for the
    label and the probability with which each item was chosen. Fill it in from the top (you may stop
    early) and pass it to `quantshift judge --labelled`.

    Example:

        quantshift judge plan verdicts.csv --verdict judge --precision 0.03 --out sheet.csv
    """
    if out is not None:
        check_sheet(out, inputs=[table, labelled], overwrite=overwrite)
        if table == STANDARD_INPUT:
            raise UserError(
                "a sheet needs a table that can be read twice; name a file instead of -"
            )
    sheet = plan_labels(
        table,
        verdict=names(verdict),
        label=label,
        labelled=labelled,
        score=score,
        id=id,
        precision=0.05 if precision is None and n_labels is None else precision,
        n_labels=n_labels,
        how=how,
        map=_map(map),
        classes=names(classes),
        missing=missing_names(missing),
        lenient=lenient,
        level=level,
        seed=seed,
    )
    for line in _plan_lines(sheet, precision):
        typer.echo(line)
    if out is None:
        typer.echo("Add --out FILE.csv to draw them.")
        return
    write_label_sheet(sheet, out, overwrite=overwrite)
    typer.echo(f"items to label in {out}")
    revealing = ", ".join([*names(verdict), *names(score)])
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


def _pair(option: str | None) -> tuple[str, str] | None:
    if option is None:
        return None
    pair = names(option)
    if len(pair) != 2:
        raise UserError(f"{option!r} does not name two groups; write A,B", arguments=["compare"])
    return pair[0], pair[1]


def _map(option: str | None) -> dict[str, str]:
    """The label that each verdict stands for.

    >>> _map("pass=1,fail=0")
    {'pass': '1', 'fail': '0'}
    """
    pairs = []
    for entry in names(option):
        verdict, sign, label = (part.strip() for part in entry.partition("="))
        if not (verdict and sign and label):
            raise UserError(f"{entry!r} is not a mapping; write VERDICT=LABEL", arguments=["map"])
        pairs.append((verdict, label))
    return labels_by_verdict(pairs)


def _rate(name: str, option: str | None) -> float | tuple[float, float, float] | None:
    """A rate, with limits if there are any.

    >>> _rate("sensitivity", "0.9,0.85-0.94")
    (0.9, 0.85, 0.94)
    """
    if option is None:
        return None
    match = _RATE.fullmatch(option.strip())
    if match is None:
        raise UserError(
            f"{option!r} is not a {name}; write 0.9, or with limits 0.9,0.85-0.94", arguments=[name]
        )
    rate = float(match["rate"])
    return rate if match["low"] is None else (rate, float(match["low"]), float(match["high"]))
