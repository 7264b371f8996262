"""Options shared by the verbs that read a user's own tables."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from quantshift.errors import UserError
from quantshift.tables.places import STANDARD_INPUT

TABLES, COLUMNS, ESTIMATE = "Tables", "Columns", "Estimate"
OUTPUT, SCRIPTS = "Output", "In scripts"
"""Titles of the help panels."""

Train = Annotated[
    list[str] | None,
    typer.Option(
        "--train",
        metavar="FILE",
        help="The labelled table to learn from: a file, several (repeat the option), a pattern "
        "such as 'part-*.csv', a folder of Parquet files, or - for standard input.",
        rich_help_panel=TABLES,
    ),
]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="DIR",
        help="Instead of --train: a model made with `quantshift train`.",
        rich_help_panel=TABLES,
    ),
]
Lenient = Annotated[
    bool,
    typer.Option(
        "--lenient",
        help="Read CSV line by line where a quote is left open, instead of stopping there.",
        rich_help_panel=TABLES,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label", metavar="COLUMN", help="Column of the labels.", rich_help_panel=COLUMNS
    ),
]
Text = Annotated[
    str | None,
    typer.Option(
        "--text",
        metavar="A,B,...",
        help="Columns of texts. Without --features only these are used.",
        rich_help_panel=COLUMNS,
    ),
]
Features = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="A,B,...",
        help="Columns of numbers, categories, booleans and dates. Without --text only these "
        "are used; with neither, all columns that can be.",
        rich_help_panel=COLUMNS,
    ),
]
Posteriors = Annotated[
    str | None,
    typer.Option(
        "--posteriors",
        metavar="A,B,...",
        help="Columns of posteriors of your own model; --train must then hold items that the model "
        "was not trained on.",
        rich_help_panel=COLUMNS,
    ),
]
Drop = Annotated[
    str | None,
    typer.Option("--drop", metavar="A,B,...", help="Columns not to use.", rich_help_panel=COLUMNS),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column that identifies the items; never used as a feature.",
        rich_help_panel=COLUMNS,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="COLUMN",
        help="Column of weights: an item of weight 2 counts as two.",
        rich_help_panel=COLUMNS,
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(
        "--missing",
        metavar="NA,unknown",
        help="Values that mean a missing label (default: an empty cell, NA, N/A, NaN, NULL, None).",
        show_default=False,
        rich_help_panel=COLUMNS,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="CLASS",
        help="The class reported first (default: the second of two).",
        show_default=False,
        rich_help_panel=COLUMNS,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="Column of regions, years or sites in the labelled table: leave each one out in turn "
        "and report the error that every method would have made on it. Dates and years are "
        "estimated from earlier ones. Never used as a feature.",
        rich_help_panel=COLUMNS,
    ),
]
Classifier = Annotated[
    str,
    typer.Option(
        "--classifier",
        help="auto (the better of logistic regression and boosting; for texts logistic), "
        "logistic, naive-bayes, forest, boosting, or package.module:name of any scikit-learn "
        "classifier or pipeline.",
        rich_help_panel=ESTIMATE,
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        help="auto, a name from `quantshift list quantifiers`, or a class of your own: "
        "package.module:Class or FILE.py:Class.",
        rich_help_panel=ESTIMATE,
    ),
]
Level = Annotated[
    float,
    typer.Option(
        "--level",
        min=0.5,
        max=0.999,
        help="Confidence level of the intervals.",
        rich_help_panel=ESTIMATE,
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.", rich_help_panel=ESTIMATE)]

AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print JSON instead of text.", rich_help_panel=OUTPUT),
]
Html = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="Also write a page with charts.",
        rich_help_panel=OUTPUT,
    ),
]
CsvTable = Annotated[
    Path | None,
    typer.Option(
        "--csv",
        metavar="FILE",
        help="Also write a table with a row per batch and class.",
        rich_help_panel=OUTPUT,
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace a file that quantshift did not create.",
        rich_help_panel=OUTPUT,
    ),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if",
        metavar="'CLASS>SHARE'",
        help="Exit code 3 if the share of a class in a batch is above (>, >=) or below (<, <=) "
        "a bound: 'spam>0.05', 'spam > 5%'. 'spam.low>0.05' tests the lower limit of the interval, "
        "spam.high the upper one. May be repeated.",
        rich_help_panel=SCRIPTS,
    ),
]


def names(option: str | None) -> tuple[str, ...]:
    """Names separated by commas; a name that contains a comma is written in double quotes.

    >>> names('a, b,"c,d"')
    ('a', 'b', 'c,d')
    """
    cells = next(csv.reader([option or ""], skipinitialspace=True), [])
    return tuple(name.strip() for name in cells if name.strip())


def missing_names(option: str | None) -> tuple[str, ...] | None:
    """Values that mean a missing label; None for the default ones."""
    return None if option is None else names(option)


def source(files: Sequence[str] | None) -> str | list[str] | None:
    """One file by itself, several as a list."""
    if not files:
        return None
    return files[0] if len(files) == 1 else list(files)


def check_standard_input(*files: object) -> None:
    """Refuse standard input for more than one table: it can be read only once."""
    tables = [name for given in files for name in (given if isinstance(given, list) else [given])]
    if tables.count(STANDARD_INPUT) > 1:
        raise UserError("only one table can come from standard input (-); name a file")
