"""`quantshift list`: quantifiers, shifts and experiments, one line each."""

from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from quantshift.base.nouns import counted
from quantshift.lab.experiments.documents.experiment import Experiment
from quantshift.lab.experiments.documents.loading import library, suites
from quantshift.lab.experiments.label_results import LABEL_WORDS, SUITE
from quantshift.lab.shifts.catalogue import protocols
from quantshift.quantifiers.base import catalogue

SAMPLES = "the training and test items of each data set"
"""How large an experiment with several labels is."""


class Kind(StrEnum):
    """What can be listed."""

    QUANTIFIERS = "quantifiers"
    SHIFTS = "shifts"
    EXPERIMENTS = "experiments"


def list_(
    kind: Annotated[
        Kind | None, typer.Argument(help="Show only these (default: all).", show_default=False)
    ] = None,
) -> None:
    """List the quantifiers and shifts, with what each assumes, and the experiments.

    Example: quantshift list quantifiers
    """
    console = Console()
    if kind in (None, Kind.QUANTIFIERS):
        first, everything = catalogue.recommended(), catalogue.quantifiers()
        rows = [(name, catalogue.full_name(everything[name]), first[name]) for name in first]
        console.print(_table("Quantifiers to begin with", "when", rows))
        rows = [
            (name, catalogue.full_name(cls), cls.tags.assumption)
            for name, cls in everything.items()
            if name not in first
        ]
        console.print(_table("Other quantifiers", "assumes", rows))
    if kind in (None, Kind.SHIFTS):
        rows = [(name, catalogue.full_name(cls), cls.changes) for name, cls in protocols().items()]
        console.print(_table("Shifts", "what changes", rows))
    if kind in (None, Kind.EXPERIMENTS):
        experiments = library()
        for suite, names in suites().items():
            rows = [(name, experiments[name].title, _size(experiments[name])) for name in names]
            console.print(_table(f"Experiments of the suite {suite}", "full size", rows))
        rows = [(name, words.title, SAMPLES) for name, words in LABEL_WORDS.items()]
        console.print(_table(f"Experiments of the suite {SUITE}", "full size", rows))


def _size(experiment: Experiment) -> str:
    if experiment.shift.from_groups:
        return "one training set per group of the data"
    if experiment.n_test_samples is None:
        return "the samples that come with the data"
    training = counted(experiment.n_training_sets, "training set")
    return f"{training} x {experiment.n_test_samples} samples"


def _table(title: str, note: str, rows: list[tuple[str, str, str]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("name", style="bold cyan", no_wrap=True)
    table.add_column("full name")
    table.add_column(note)
    for row in rows:
        table.add_row(*row)
    return table
