"""`quantshift train`: a model from a labelled table, for `quantshift quantify --model`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.answers.columns import column_lines
from quantshift.answers.merging import of_targets
from quantshift.answers.rows import rows_text
from quantshift.answers.text import LONGEST_LABEL, aligned, finding_lines, labelled_lines
from quantshift.answers.words import shortened
from quantshift.base.nouns import counted
from quantshift.base.options import TABLES
from quantshift.classify.named import named_classifier
from quantshift.cli.declared import Only
from quantshift.cli.inputs import check_standard_input
from quantshift.cli.progress import item_progress
from quantshift.errors import UserError
from quantshift.quantifying import save_model
from quantshift.quantifying.declaration import Declaration
from quantshift.quantifying.group_errors import groups_text
from quantshift.quantifying.options import (
    ColumnOptions,
    ModelRecipe,
    SeveralLabelOptions,
    Sources,
    TrainingOptions,
)
from quantshift.quantifying.targets.folder import check_target_models_place, save_target_models
from quantshift.quantifying.targets.training import TargetModels, train_targets_from
from quantshift.quantifying.training.folder import check_model_place, check_savable
from quantshift.quantifying.training.methods import FEATURES, POSTERIORS, method_class
from quantshift.quantifying.training.model import accuracy_text
from quantshift.quantifying.training.train import train_from


def train(
    sources: Annotated[Sources, Only("train")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Folder for the model.", rich_help_panel=TABLES
        ),
    ],
    columns: ColumnOptions,
    training: TrainingOptions,
    declared: Declaration,
    labels: SeveralLabelOptions,
) -> None:
    """Train a model on a labelled table once; quantify many samples later.

    All usable columns are used; the output says which, how, and which were left out.

    Examples:

        quantshift train --train labelled.csv --label churned --drop customer --out model/

        quantshift train --train labelled.csv --label sentiment --text title,review --out model/

        quantshift train --train labelled.csv --label spam,abuse,hate --out model/

        quantshift train --train 'part-*.parquet' --label fraud --positive 1 --out model/
    """
    if sources.train is None:
        raise UserError("name the labelled table", arguments=["train"])
    check_standard_input(sources.train)
    several = bool(columns.indicators) or labels.separator is not None
    if several:
        check_target_models_place(out, inputs=[sources.train])
    else:
        check_model_place(out, inputs=[sources.train])
    if ":" in training.classifier:
        check_savable(named_classifier(training.classifier))
    if ":" in training.method:
        inputs = POSTERIORS if columns.posteriors else FEATURES
        check_savable(method_class(training.method, inputs)())
    recipe = ModelRecipe(columns, training, declared=declared)
    with item_progress(Console(stderr=True)) as progress:
        if several:
            models = train_targets_from(sources.train, recipe, labels, progress)
            save_target_models(models, out)
            for line in _lines_of_targets(models):
                typer.echo(line)
            typer.echo(f"models in {out}")
            return
        model = train_from(sources.train, recipe, progress)
        save_model(model, out)
    fitted = model.training
    mix = ", ".join(f"{shortened(model.names[label])} {n:,}" for label, n in fitted.counts.items())
    typer.echo(f"{fitted.n_items:,} labelled rows ({mix})")
    for line in column_lines(model.columns.used, model.columns.left_out):
        typer.echo(line)
    typer.echo(f"Rows     {rows_text(fitted.rows)}")
    for line in finding_lines(fitted.findings, 1):
        typer.echo(line)
    if fitted.accuracy is not None:
        typer.echo(accuracy_text(fitted.classifier, fitted.accuracy))
    if model.groups is not None:
        typer.echo(groups_text(model.groups))
    if declared.sentence:
        typer.echo(f"You declared: {declared.sentence}")
    typer.echo(f"method {model.method}; model in {out}")


def _lines_of_targets(models: TargetModels) -> Iterator[str]:
    """What models of several labels were trained on, and how."""
    first = models.models[0]
    yield f"{first.training.n_items:,} labelled rows, {counted(len(models.targets), 'label')}"
    rows = [["label", "rows", "accuracy", ""]]
    for target, model in zip(models.targets, models.models, strict=True):
        accuracy = model.training.accuracy or 0.0
        counts = f"{model.training.counts[target]:,}"
        named = shortened(target, LONGEST_LABEL)
        rows.append([named, counts, f"{100 * accuracy:.1f}%", model.training.classifier])
    yield from aligned(rows)
    left_out = dict.fromkeys(column for m in models.models for column in m.columns.left_out)
    yield from column_lines(first.columns.used, list(left_out))
    findings = {model.headline: model.training.findings for model in models.models}
    found = [*models.not_learnt(), *of_targets(findings)]
    yield from labelled_lines(found, len(models.targets))
    if first.declared.sentence:
        yield f"You declared: {first.declared.sentence}"
