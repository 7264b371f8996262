"""`quantshift train`: a model from a labelled table, for `quantshift quantify --model`."""

from pathlib import Path
from typing import Annotated

import typer

from quantshift.cli.quantify import (
    Classifier,
    Features,
    Method,
    Posteriors,
    Seed,
    Text,
    names,
    status,
)
from quantshift.own_data import save_model
from quantshift.own_data import train as train_model
from quantshift.own_data.model import AUTO
from quantshift.own_data.words import percent


def train(
    train: Annotated[Path, typer.Option("--train", metavar="FILE", help="The labelled table.")],
    label: Annotated[str, typer.Option("--label", metavar="COLUMN", help="Column of the labels.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The model's folder.")],
    text: Text = None,
    features: Features = None,
    posteriors: Posteriors = None,
    method: Method = AUTO,
    classifier: Classifier = "logistic",
    seed: Seed = 0,
) -> None:
    """Learn from a labelled table once, quantify many samples later.

    Example:

        quantshift train --train labelled.csv --label sentiment --text review --out model/
    """
    with status() as progress:
        progress("training", 0)
        model = train_model(
            train,
            label=label,
            text=text,
            features=names(features),
            posteriors=names(posteriors),
            method=method,
            classifier=classifier,
            seed=seed,
        )
        save_model(model, out)
    told = model.training
    mix = ", ".join(f"{name} {n:,}" for name, n in told.counts.items())
    typer.echo(f"{told.n_items:,} labelled rows ({mix})")
    if told.accuracy is not None:
        typer.echo(f"{told.classifier}: right on {percent(told.accuracy)} of unseen rows")
    typer.echo(f"method {model.method}; model in {out}")
