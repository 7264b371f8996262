"""`quantshift quantify`: prevalences in the user's own tables."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from quantshift.answers.conditions import Condition
from quantshift.answers.outputs.output import Circumstances
from quantshift.answers.shares import headline_share
from quantshift.cli.history_options import (
    ALARM,
    HISTORY,
    Baseline,
    BaselineFrom,
    FalseAlarms,
    LooksPerYear,
)
from quantshift.cli.outputs import Outputs, leave, provenance
from quantshift.cli.progress import item_progress
from quantshift.cli.shared_options import (
    ESTIMATE,
    OUTPUT,
    SCRIPTS,
    TABLES,
    AsJson,
    Classifier,
    CsvTable,
    Drop,
    FailIf,
    Features,
    Groups,
    Html,
    Id,
    Label,
    Lenient,
    Level,
    Method,
    Missing,
    Model,
    Overwrite,
    Positive,
    Posteriors,
    Seed,
    Text,
    Train,
    Weights,
    check_standard_input,
    missing_names,
    names,
    source,
)
from quantshift.errors import UserError
from quantshift.quantifying import quantify as quantify_tables
from quantshift.quantifying.audits.audit_sheet import PRECISION
from quantshift.quantifying.output.events import EVENTS, check_events, failures
from quantshift.quantifying.output.result import Quantification
from quantshift.quantifying.training.classifiers import AUTO

if TYPE_CHECKING:
    from quantshift.history import Alarm, History
    from quantshift.history.store import Problem

_EVENTS = {**EVENTS, "alarm": ALARM}


def quantify(
    context: typer.Context,
    sample: Annotated[
        list[str] | None,
        typer.Option(
            "--sample",
            metavar="FILE",
            help="The unlabelled table: a file, several (repeat the option), a pattern such as "
            "'week-*.csv', a folder of Parquet files, or - for standard input. Each file is a "
            "batch.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    train: Train = None,
    model: Model = None,
    sketch: Annotated[
        Path | None,
        typer.Option(
            "--sketch",
            metavar="FILE",
            help="Instead of --sample: counts of its scores (see `quantshift sketch`).",
            rich_help_panel=TABLES,
        ),
    ] = None,
    train_sketch: Annotated[
        Path | None,
        typer.Option(
            "--train-sketch",
            metavar="FILE",
            help="With --sketch: counts of the scores of labelled items.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    audit: Annotated[
        Path | None,
        typer.Option(
            "--audit",
            metavar="FILE",
            help="Random items of the sample with labels (see `quantshift audit-plan`).",
            rich_help_panel=TABLES,
        ),
    ] = None,
    sequential: Annotated[
        bool,
        typer.Option(
            "--sequential",
            help="Check the audit while labelling continues: the confidence interval stays valid "
            "at every look, and the output says how many more labels are needed.",
            rich_help_panel=TABLES,
        ),
    ] = False,
    precision: Annotated[
        float,
        typer.Option(
            "--precision",
            metavar="0.03",
            help="With --sequential: target half-width (margin of error) at which to stop.",
            rich_help_panel=TABLES,
        ),
    ] = PRECISION,
    groups: Groups = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Split the sample into batches by this column.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            metavar="day|week|month",
            help="Length of a batch, if --by is a column of dates.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    lenient: Lenient = False,
    label: Label = None,
    text: Text = None,
    features: Features = None,
    posteriors: Posteriors = None,
    drop: Drop = None,
    id: Id = None,  # noqa: A002 - the option's name
    weights: Weights = None,
    missing: Missing = None,
    positive: Positive = None,
    method: Method = AUTO,
    classifier: Classifier = AUTO,
    level: Level = 0.95,
    replicates: Annotated[
        int,
        typer.Option(
            "--replicates", min=100, help="Bootstrap replicates.", rich_help_panel=ESTIMATE
        ),
    ] = 1000,
    simultaneous: Annotated[
        bool,
        typer.Option(
            "--simultaneous",
            help="Intervals that are valid for all classes at once (three or more).",
            rich_help_panel=ESTIMATE,
        ),
    ] = False,
    assume: Annotated[
        str,
        typer.Option(
            "--assume",
            metavar="auto|prior|covariate",
            help="Assumption about the shift. prior: items of a class look as in training (the "
            "label causes the features, like the words of a review). covariate: items that look "
            "alike have the label as often as in training (an outcome is predicted from its "
            "causes). auto: prior shift and changes of subgroups, unless the sample refutes it.",
            rich_help_panel=ESTIMATE,
        ),
    ] = AUTO,
    seed: Seed = 0,
    as_json: AsJson = False,
    html: Html = None,
    table: CsvTable = None,
    overwrite: Overwrite = False,
    summary: Annotated[
        bool,
        typer.Option(
            "--summary",
            help="Print only one line: the last batch (or the lowest and highest share, if "
            "batches are not dates or numbered), alarms and failed conditions.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    history: Annotated[
        Path | None,
        typer.Option(
            "--history",
            metavar="DIR",
            help="Also append the estimates to the history in this folder (`quantshift history` "
            "shows it). Batches are dated by their names (2026-03-02, 2026-W10) or, without a date "
            "in the name, by the day of the call. If a batch is measured again, all its estimates "
            "are kept and the last one counts.",
            rich_help_panel=HISTORY,
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TIME",
            help="Time of the call in the history (default: now), e.g. 2026-03-02T06:00.",
            rich_help_panel=HISTORY,
        ),
    ] = None,
    baseline: Baseline = None,
    baseline_from: BaselineFrom = None,
    false_alarms_per_year: FalseAlarms = None,
    looks_per_year: LooksPerYear = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            metavar="shift,changed,unreliable,alarm",
            help="Exit code 3 if one of these holds for a batch. "
            + " ".join(f"{name}: {meaning}." for name, meaning in _EVENTS.items()),
            rich_help_panel=SCRIPTS,
        ),
    ] = None,
    fail_if: FailIf = None,
) -> None:
    """Estimate how common each class is in new data, and whether to trust it.

    Tables: CSV, TSV, JSON lines, Parquet, Excel. All usable columns are used; the output says
    which, how, and which were left out and why.

    Exit code 0: fine; 2: invalid input, reported in one line; 3: a condition of --fail-on or
    --fail-if holds; 4: a batch cannot be estimated.

    Examples:

        quantshift quantify --train labelled.csv --sample new.csv --label churned

        quantshift quantify --train labelled.csv --sample new.csv --label sentiment --text review

        quantshift quantify --model model/ --sample new.csv --by date --every week --html out.html

        quantshift quantify --model model/ --sample 'week-*.csv' --csv out.csv --fail-if 'spam>5%'

        zcat new.csv.gz | quantshift quantify --model model/ --sample - --json

        quantshift quantify --model model/ --sample new.csv --audit audited.csv

        quantshift quantify --train labelled.csv --sample new.csv --label churned --groups region

        quantshift quantify --model model/ --sample 2026-03-02.csv --history history/ --summary

        quantshift quantify --sketch week.parquet --train-sketch training.parquet

        quantshift quantify --sketch week.parquet --model model/
    """
    events = names(fail_on)
    check_events(events, _EVENTS)
    if as_json and summary:
        raise UserError("the result is printed either as JSON or as one line: choose one")
    limits = {
        "baseline": baseline,
        "baseline_from": baseline_from,
        "false_alarms_per_year": false_alarms_per_year,
        "looks_per_year": looks_per_year,
    }
    has_limits = any(value is not None for value in limits.values())
    opened_history = _history(history, at, alarm=has_limits or "alarm" in events)
    if opened_history is not None:
        opened_history.limits(**limits)
        opened_history.check()
    conditions = [Condition.parse(text) for text in fail_if or ()]
    check_standard_input(sample, train)
    inputs = [sample, train, model, audit, sketch, train_sketch]
    outputs = Outputs({"html": html, "csv": table}, inputs, overwrite)
    outputs.check()
    console = Console(stderr=True)
    # A job that runs by itself prints one line, which is sent on.
    console.quiet = summary and not console.is_terminal
    with item_progress(console) as progress:
        result = quantify_either(
            sample,
            sketch,
            train_sketch,
            train=source(train),
            model=model,
            label=label,
            text=names(text),
            features=names(features),
            posteriors=names(posteriors),
            drop=names(drop),
            id=id,
            weights=weights,
            by=by,
            every=every,
            missing=missing_names(missing),
            positive=positive,
            lenient=lenient,
            audit=audit,
            sequential=sequential,
            precision=precision,
            groups=groups,
            method=method,
            classifier=classifier,
            level=level,
            replicates=replicates,
            simultaneous=simultaneous,
            assume=assume,
            conditions=fail_if or (),
            seed=seed,
            progress=progress,
        )
    batch_events = [event for event in events if event != "alarm"]
    failed = failures(result, batch_events, conditions)
    if not summary and not as_json:
        typer.echo(result.to_text())
    alarms: list[Alarm] = []
    problems: list[Problem] = []
    if opened_history is not None:
        from quantshift.history.archive import alarms_of

        # Before the call, which writes the description again, and after it.
        found = opened_history.problems()
        call = opened_history.append(
            result, at=at, conditions=fail_if or (), limits=opened_history.limits(**limits)
        )
        alarms = alarms_of(opened_history.calls(), call)
        problems = list(dict.fromkeys([*found, *opened_history.problems()]))
        for problem in problems:
            typer.echo(f"warning: {problem}", err=True)
    if as_json:
        typer.echo(_json(result, opened_history, alarms, problems))
    if summary:
        from quantshift.history.rendering import summary_line

        typer.echo(summary_line(result, alarms, failed, problems))
    elif opened_history is not None and not as_json:
        from quantshift.history.rendering import appended_text

        typer.echo(f"\n{appended_text(opened_history, alarms, problems)}")
    circumstances = Circumstances(tuple(conditions), provenance(context))
    for line in outputs.write(result, circumstances):
        if not as_json and not summary:
            typer.echo(line)
    if "alarm" in events:
        from quantshift.history.rendering import alarm_text, undecided

        failed += map(alarm_text, alarms)
        failed += [undecided(problems)] if problems else []
    estimable = all(headline_share(result, batch).estimate is not None for batch in result.batches)
    leave(failed, can_be_estimated=estimable, printed=summary)


def _json(
    result: Quantification,
    history: "History | None",
    alarms: Sequence["Alarm"],
    problems: Sequence["Problem"],
) -> str:
    """The result as JSON, with what the history says of it."""
    if history is None:
        return result.to_json()
    said = {
        "path": str(history.path),
        "alarms": [asdict(alarm) for alarm in alarms],
        "problems": [str(problem) for problem in problems],
    }
    content = {**json.loads(result.to_json()), "history": said}
    return json.dumps(content, indent=2, ensure_ascii=False)


def _history(folder: Path | None, at: str | None, *, alarm: bool) -> "History | None":
    if folder is None:
        if alarm or at is not None:
            raise UserError(
                "alarms, their limits and the time of a call need a history: name its folder",
                arguments=["history"],
            )
        return None
    from quantshift.history import History
    from quantshift.history.dates import moment_of

    if at is not None:
        moment_of(at)
    return History.open(folder)


def quantify_either(
    sample: list[str] | None, sketch: Path | None, train_sketch: Path | None, **options: Any
) -> Quantification:
    """The result from tables or, if one is given, from a sketch."""
    if sketch is None:
        if train_sketch is not None:
            raise UserError(
                "a sketch of labelled items needs a sketch of a sample", arguments=["sketch"]
            )
        if not sample:
            raise UserError("give a sample, or a sketch of one", arguments=["sample", "sketch"])
        return quantify_tables(sample, **options)
    from quantshift.sketches import quantify_sketch

    passed_on = (
        "model",
        "positive",
        "method",
        "level",
        "replicates",
        "simultaneous",
        "audit",
        "seed",
    )
    sketch_options = {
        name: options[name]
        for name in (*passed_on, "sequential", "precision", "conditions", "progress")
    }
    columns = {"label": options["label"], "batch": options["by"]}
    if options["audit"] is None and any(value is not None for value in columns.values()):
        raise UserError(
            "with a sketch, the columns of labels and batches are those of the audit: name it",
            arguments=["audit"],
        )
    given = {name for name, value in options.items() if value and value != "auto"}
    for_tables = given - {"label", "by", *sketch_options}
    if sample or for_tables:
        raise UserError(
            "a sketch contains only scores: remove the options for tables",
            arguments=[*(["sample"] if sample else []), *sorted(for_tables)],
        )
    return quantify_sketch(
        sketch,
        train_sketch,
        audit_columns={name: column for name, column in columns.items() if column is not None},
        **sketch_options,
    )
