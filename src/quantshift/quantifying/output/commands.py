"""Commands to run next, ready to paste, with the files and columns of the current call."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from quantshift.base.shell import command_line
from quantshift.base.storage.csv_text import csv_text
from quantshift.quantifying.options import AUTO, ColumnOptions, ModelRecipe, Sources
from quantshift.tables.files.places import STANDARD_INPUT

SHEET = "audit.csv"


def plan_command(
    sources: Sources, recipe: ModelRecipe, *, n_labels: int | None, out: str = SHEET
) -> str:
    """The command that draws random items of a sample to label; empty if it is not a file.

    n_labels: None for items that are labelled from the top until the labels suffice.
    """
    options = _options(sources, recipe)
    if options is None:
        return ""
    amount = ["--sequential"] if n_labels is None else ["--n-labels", str(n_labels)]
    output = [*amount, "--out", out]
    return command_line(["quantshift", "plan", "quantify", *options, *output])


def quantify_command(
    sources: Sources, recipe: ModelRecipe, *, audit: str, precision: float | None = None
) -> str:
    """The command that estimates a sample with the help of labels; empty if it is not a file.

    precision: the target half-width of an audit with many looks.
    """
    options = _options(sources, recipe)
    if options is None:
        return ""
    sequential = [] if precision is None else ["--sequential", "--precision", f"{precision:g}"]
    return command_line(["quantshift", "quantify", *options, "--audit", audit, *sequential])


def _options(sources: Sources, recipe: ModelRecipe) -> list[str] | None:
    sample, train, model = sources.sample, sources.train, sources.model
    training_tables = train if isinstance(train, list | tuple) else [train]
    files = [sample, *(training_tables if model is None else [model])]
    if not all(isinstance(s, str | Path) and str(s) != STANDARD_INPUT for s in files):
        return None
    options = ["--model", str(model)] if model is not None else []
    if model is None:
        options += [part for source in training_tables for part in ("--train", str(source))]
    options += ["--sample", str(sample)]
    for name, value in _column_options(recipe.columns, by=recipe.by, trains=model is None):
        options += [f"--{name}", value]
    if recipe.columns.lenient:
        options.append("--lenient")
    if recipe.training.classifier != AUTO:
        options += ["--classifier", recipe.training.classifier]
    return options


def _column_options(
    options: ColumnOptions, *, by: str | None, trains: bool
) -> Iterator[tuple[str, str]]:
    """The options that say what columns mean.

    trains: whether the command trains a model; unlike a trained model, it would use other columns.
    """
    others = (options.weights, options.left_out_by, by) if trains else ()
    drop = dict.fromkeys((*options.drop, *(name for name in others if name is not None)))
    for name, value in (
        ("label", _listed(() if options.label is None else (options.label,))),
        ("text", _listed(options.text)),
        ("features", _listed(options.features)),
        ("categories", _listed(options.categories) if trains else ""),
        ("posteriors", _listed(options.posteriors)),
        ("drop", _listed(tuple(drop))),
        ("id", options.id or ""),
        ("missing", _listed(options.missing or ())),
    ):
        if value:
            yield name, value


def _listed(names: Sequence[str]) -> str:
    """Names as a command-line option takes them.

    >>> _listed(["a", "b,c"])
    'a,"b,c"'
    """
    return csv_text([names]).removesuffix("\n")
