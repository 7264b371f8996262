"""`quantshift train`: a model from a labelled table, for `quantshift quantify --model`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.answers.rows import rows_text
from quantshift.answers.words import shortened
from quantshift.classify.named import named_classifier
from quantshift.cli.progress import item_progress
from quantshift.cli.shared_options import (
    COLUMNS,
    TABLES,
    Classifier,
    Drop,
    Features,
    Groups,
    Id,
    Lenient,
    Method,
    Missing,
    Positive,
    Posteriors,
    Seed,
    Text,
    Weights,
    check_standard_input,
    missing_names,
    names,
    source,
)
from quantshift.quantifying import save_model
from quantshift.quantifying import train as train_model
from quantshift.quantifying.output.advice import accuracy_text, groups_text
from quantshift.quantifying.output.text import column_lines
from quantshift.quantifying.training.classifiers import AUTO
from quantshift.quantifying.training.folder import check_model_place, check_savable
from quantshift.quantifying.training.methods import FEATURES, POSTERIORS, method_class


def train(
    train: Annotated[
        list[str],
        typer.Option(
            "--train",
            metavar="FILE",
            help="The labelled table: a file, several (repeat the option), a pattern such as "
            "'part-*.csv', a folder of Parquet files, or - for standard input.",
            rich_help_panel=TABLES,
        ),
    ],
    label: Annotated[
        str,
        typer.Option(
            "--label", metavar="COLUMN", help="Column of the labels.", rich_help_panel=COLUMNS
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Folder for the model.", rich_help_panel=TABLES
        ),
    ],
    lenient: Lenient = False,
    text: Text = None,
    features: Features = None,
    posteriors: Posteriors = None,
    drop: Drop = None,
    id: Id = None,  # noqa: A002 - the option's name
    weights: Weights = None,
    missing: Missing = None,
    positive: Positive = None,
    groups: Groups = None,
    method: Method = AUTO,
    classifier: Classifier = AUTO,
    seed: Seed = 0,
) -> None:
    """Train a model on a labelled table once; quantify many samples later.

    All usable columns are used; the output says which, how, and which were left out.

    Examples:

        quantshift train --train labelled.csv --label churned --drop customer --out model/

        quantshift train --train labelled.csv --label sentiment --text title,review --out model/

        quantshift train --train 'part-*.parquet' --label fraud --positive 1 --out model/
    """
    check_standard_input(train)
    check_model_place(out, inputs=train)
    if ":" in classifier:
        check_savable(named_classifier(classifier))
    if ":" in method:
        check_savable(method_class(method, POSTERIORS if posteriors else FEATURES)())
    with item_progress(Console(stderr=True)) as progress:
        model = train_model(
            source(train),
            label=label,
            text=names(text),
            features=names(features),
            posteriors=names(posteriors),
            drop=names(drop),
            id=id,
            weights=weights,
            missing=missing_names(missing),
            positive=positive,
            groups=groups,
            lenient=lenient,
            method=method,
            classifier=classifier,
            seed=seed,
            progress=progress,
        )
        save_model(model, out)
    training = model.training
    mix = ", ".join(
        f"{shortened(model.names[label])} {n:,}" for label, n in training.counts.items()
    )
    typer.echo(f"{training.n_items:,} labelled rows ({mix})")
    for line in column_lines(model.columns.used, model.columns.left_out):
        typer.echo(line)
    typer.echo(f"Rows     {rows_text(training.rows)}")
    for note in training.notes:
        typer.echo(f"Warning  {note}")
    if training.accuracy is not None:
        typer.echo(accuracy_text(training.classifier, training.accuracy))
    if model.groups is not None:
        typer.echo(groups_text(model.groups))
    typer.echo(f"method {model.method}; model in {out}")
