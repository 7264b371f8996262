"""Options shared by the verbs that run experiments."""

from enum import StrEnum
from typing import Annotated

import typer


class Profile(StrEnum):
    """Sizes of an experiment."""

    PAPER = "paper"
    QUICK = "quick"


Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Worker processes (default: all cores).", min=1),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="ADDRESS", help="Run on this dask.distributed scheduler instead."
    ),
]
Redo = Annotated[
    str | None,
    typer.Option(
        "--redo", metavar="failed|all|METHOD", help="Compute this again (default: nothing)."
    ),
]
Classifier = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        metavar="NAME",
        help="Use this classifier (logistic, or package.module:Class) instead of that of the "
        "experiments with its options and grid; give options with --set "
        "classifier.options.NAME=VALUE or classifier.grid.NAME=[VALUES].",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a value in the experiments, e.g. --set shift.train_size=1000.",
    ),
]
