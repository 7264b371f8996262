"""The library's experiments, small, and what is stored of their results.

Of a cell that is its seed, and for every method two numbers: the mean of its estimates of the
positive class in the order of the samples, and a sum of them in which each has a weight of its own,
so that no estimate can move, and no two change places, without moving it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quantshift.base.seeding import seed_of
from quantshift.lab.data.sources import AbstractSource
from quantshift.lab.experiments.documents.experiment import Experiment
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.executors import executor
from quantshift.lab.experiments.runner import Run, run_experiments
from quantshift.lab.results.store import ResultStore

EXPERIMENTS = ("prior", "covariate", "local", "concept", "concept-forced")

GOLDEN_RATIO = (1 + 5**0.5) / 2
"""Its multiples, without their whole parts, are spread evenly: weights that are all different."""

PAPER_CELLS: dict[str, dict[str, Any]] = {
    "prior": {"shift.train_prevalences": [0.02, 0.5], "shift.train_repeats": 1},
    "covariate": {
        "shift.train_alphas": [0.3],
        "shift.train_prevalences": [0.25],
        "shift.train_repeats": 1,
    },
    "local": {"shift.train_repeats": 1},
    "concept": {"shift.train_cuts": [2.5], "shift.train_repeats": 1},
    "concept-forced": {"shift.train_cuts": [3.5], "shift.train_repeats": 1},
}
"""A few cells of the paper's size; the training grid is cut, the test grid is the paper's."""


def quick(name: str) -> Experiment:
    """The experiment as `quantshift demo` runs it."""
    return load_experiment(name, profile="quick")


def of_paper_size(name: str) -> Experiment:
    """A few cells of the experiment as the paper has it."""
    return load_experiment(name, overrides=PAPER_CELLS[name])


def results(experiments: Iterable[Experiment], source: AbstractSource, out: Path) -> dict[str, Any]:
    """What is stored of the experiments, run into the folder `out`."""
    chosen = tuple(experiments)
    run = Run(chosen, {experiment.name: [source] for experiment in chosen}, out)
    run_experiments(run, executor(1))
    rows = ResultStore.open(out).read().collect()
    return {experiment.name: _of_experiment(experiment, rows) for experiment in chosen}


def _of_experiment(experiment: Experiment, rows: pl.DataFrame) -> dict[str, Any]:
    own = rows.filter(pl.col("experiment") == experiment.name)
    cells = sorted(own["cell"].unique())
    return {
        "signatures": experiment.signatures(),
        "cells": {cell: _of_cell(experiment, cell, own) for cell in cells},
    }


def _of_cell(experiment: Experiment, cell: str, rows: pl.DataFrame) -> dict[str, Any]:
    own = rows.filter(pl.col("cell") == cell)
    methods = own["method"].unique(maintain_order=True).to_list()
    of_method = {method: own.filter(pl.col("method") == method) for method in methods}
    return {
        "seed": str(seed_of(experiment.seed, experiment=experiment.name, cell=cell)),
        "p_true": _summary(of_method[methods[0]]["p_true"]),
        "p_hat": {method: _summary(rows["p_hat"]) for method, rows in of_method.items()},
    }


def _summary(shares: pl.Series) -> list[float]:
    positive = shares.list.last().to_numpy().astype(np.float64)
    weights = 0.5 + np.arange(len(positive)) * GOLDEN_RATIO % 1
    return [float(positive.mean()), float(weights @ positive)]
