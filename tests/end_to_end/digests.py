"""Fingerprints of the library's experiments: what a change of the engine must not move.

    python tests/end_to_end/digests.py --reviews REVIEWS

writes them anew, which is right only where a change of results is wanted and said. A fingerprint
of a cell has its seed, its key, and for every method its signature, the SHA-256 of the bytes of its
estimates (those of the positive class, in the order of the samples), and their mean. The bits are
those of one kind of processor; on another the means must agree to 1e-9.
"""

import argparse
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quantshift.base.seeding import seed_of
from quantshift.data.sources import AbstractSource, FolderSource, SyntheticSource
from quantshift.experiments.documents.loading import load_experiment
from quantshift.experiments.executors import executor
from quantshift.experiments.experiment import Experiment
from quantshift.experiments.runner import Run, run_experiments
from quantshift.results.store import ResultStore

FOLDER = Path(__file__).parent / "digests"
EXPERIMENTS = ("prior", "covariate", "local", "concept", "concept-forced")

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


def fingerprints(
    experiments: Iterable[Experiment], source: AbstractSource, out: Path, *, n_workers: int = 1
) -> dict[str, Any]:
    """The fingerprint of every cell of the experiments, run into the folder `out`."""
    chosen = tuple(experiments)
    run = Run(chosen, {experiment.name: [source] for experiment in chosen}, out)
    run_experiments(run, executor(n_workers))
    rows = ResultStore.open(out).read().collect()
    return {experiment.name: _of_experiment(experiment, rows) for experiment in chosen}


def processor() -> list[str]:
    """The extensions that decide about the last bits of a sum."""
    from numpy._core._multiarray_umath import __cpu_features__ as features

    return sorted(name for name, there in features.items() if there)


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
    estimates = {m: _positive(own.filter(pl.col("method") == m), "p_hat") for m in methods}
    truth = _positive(own.filter(pl.col("method") == methods[0]), "p_true")
    return {
        "seed": str(seed_of(experiment.seed, experiment=experiment.name, cell=cell)),
        "p_true": _digest(truth),
        "p_hat": {m: [_digest(p), round(float(p.mean()), 12)] for m, p in estimates.items()},
    }


def _positive(rows: pl.DataFrame, column: str) -> Any:
    return rows[column].list.last().to_numpy().astype(np.float64)


def _digest(values: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]


def save(name: str, cells: dict[str, Any]) -> None:
    """Replace the fixture."""
    text = json.dumps({"processor": processor(), "experiments": cells}, indent=1)
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def load(name: str) -> dict[str, Any]:
    """The fixture."""
    stored: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return stored


def main() -> None:
    """Write the fixtures anew."""
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reviews", type=Path, required=True, help="folder of imported reviews")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        made = fingerprints(map(quick, EXPERIMENTS), SyntheticSource(), out / "quick", n_workers=2)
        save("quick", made)
        source = FolderSource(arguments.reviews.absolute())
        save("paper", fingerprints(map(of_paper_size, EXPERIMENTS), source, out / "paper"))


if __name__ == "__main__":
    main()
