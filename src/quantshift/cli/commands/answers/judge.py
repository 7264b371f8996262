"""`quantshift judge`: the true rate behind model verdicts."""

from dataclasses import replace
from typing import Annotated

import typer

from quantshift.answers.options import ConditionOptions, LengthOptions, PrintOptions
from quantshift.base.options import as_keywords
from quantshift.cli.answering import Asked
from quantshift.cli.declared import Only
from quantshift.cli.help_text import HelpAll, daily
from quantshift.cli.inputs import JudgedTable, check_standard_input
from quantshift.cli.outputs import OutputFiles
from quantshift.history.watching.options import AlarmOptions, JudgeAlarmOptions, WatchOptions
from quantshift.judging import judge as judge_table
from quantshift.judging.reading.options import (
    ComparisonOptions,
    JudgeOptions,
    LabelOptions,
    LevelOptions,
    MisjudgedOptions,
    RateOptions,
    SeveralLabelsOptions,
)


@daily(
    *("verdict", "score", "label", "labels", "labelled", "id", "cluster", "by", "compare"),
    *("annotator", "fail_if", "history", "html", "as_json"),
)
def judge(
    context: typer.Context,
    table: JudgedTable,
    columns: JudgeOptions,
    chosen: LabelOptions,
    comparison: ComparisonOptions,
    rates: RateOptions,
    levels: LevelOptions,
    printing: PrintOptions,
    files: OutputFiles,
    misjudged: MisjudgedOptions,
    length: LengthOptions,
    watching: Annotated[WatchOptions, Only("history", "at")],
    failing: JudgeAlarmOptions,
    alarms: AlarmOptions,
    conditions: ConditionOptions,
    several: SeveralLabelsOptions,
    help_all: HelpAll = False,
) -> None:
    """Estimate the true rate behind the verdicts of an LLM judge or any model.

    A model has judged every item (an LLM judge, a moderation classifier, a diagnostic test), and
    people have labelled some of them. The right calculation depends on how those items were
    chosen: say so with --labels.

    `quantshift plan judge` says which items to label next.

    With --history every answer is appended to a folder, and `quantshift history` shows the rate,
    kappa and error rates over time, and whether the judge has drifted.

    Exit code 0: fine; 2: invalid input, reported in one line; 3: a condition of --fail-if or
    --fail-on holds; 4: a group cannot be estimated, or a range leaves a condition open.

    Examples:

        quantshift judge verdicts.csv --verdict judge --label human --labels random

        quantshift judge verdicts.csv --verdict gpt,claude --label human --labels random

        quantshift judge new.csv --verdict judge --label human --labelled older.csv

        quantshift judge answers.csv --verdict judge --label human --labels random --by model

        quantshift judge pairs.csv --verdict judge --label human --labels random --wins A,B

        quantshift judge verdicts.csv --verdict judge --label human --labels random --errors-by all

        quantshift judge scored.csv --score score --label human --labels random --cut precision=0.9

        quantshift judge today.csv --verdict judge --label human --labels random --history past/

        quantshift judge posts.csv --pairs spam_judge=spam,abuse_judge=abuse --labels random

        quantshift judge posts.csv --verdict judge_tags --label tags --labels random --separator ';'

        quantshift judge tests.csv --verdict result --sensitivity 0.9,0.85-0.94 --specificity 0.97
    """
    inputs = [table, chosen.labelled]
    check_standard_input(*inputs)
    asked = Asked(
        context,
        printing.as_json,
        length.summary,
        files,
        inputs,
        replace(watching, fail_on=failing.fail_on),
        alarms,
        conditions.fail_if,
        several != SeveralLabelsOptions(),
        beside={"misjudged items": misjudged.misjudged},
    )
    keywords = as_keywords(columns, chosen, comparison, rates, levels, misjudged, several)
    result = judge_table(table, **keywords, overwrite=files.overwrite)
    asked.tell(result, details=length.details)
