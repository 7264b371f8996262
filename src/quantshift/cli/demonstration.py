"""A small-scale run of all the paper's experiments, on the embedded corpus."""

from collections.abc import Callable
from pathlib import Path

import polars as pl

from quantshift.lab.analysis import order_methods, part_of, with_errors
from quantshift.lab.data.sources import SyntheticSource
from quantshift.lab.experiments.documents.experiment import Experiment
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.executors import executor
from quantshift.lab.experiments.options import QUICK
from quantshift.lab.experiments.runner import Run, RunProgress, run_experiments
from quantshift.lab.results.store import ResultStore

EXPERIMENTS = ("prior", "covariate", "local", "concept", "concept-forced")

DEFAULT_METHOD = "SubclassSLD"
"""The method of `quantify` unless the sample refutes its assumption; it is not in the paper."""


def run_demo(
    out: Path, *, n_workers: int, progress: Callable[[RunProgress], None] | None = None
) -> ResultStore:
    """A quick run of all experiments on the synthetic reviews; existing results are kept."""
    experiments = tuple(_with_default_method(name) for name in EXPERIMENTS)
    run = Run(experiments, {e.name: [SyntheticSource()] for e in experiments}, out)
    run_experiments(run, executor(n_workers), progress=progress)
    return ResultStore.open(out)


def _with_default_method(name: str) -> Experiment:
    """The quick form of an experiment, with the default method beside those of the paper."""
    names = [method.name for method in load_experiment(name, profile=QUICK).methods]
    return load_experiment(name, profile=QUICK, overrides={"quantifiers": [*names, DEFAULT_METHOD]})


def errors_by_shift(rows: pl.DataFrame) -> pl.DataFrame:
    """Mean absolute errors: a row per method, a column per kind of shift."""
    table = (
        with_errors(part_of(rows))
        .group_by("method", "part")
        .agg(pl.col("error").mean())
        .pivot("part", index="method", values="error")
    )
    parts = [part for part in _PARTS if part in table.columns]
    methods = order_methods(table["method"].to_list())
    order = pl.DataFrame({"method": methods})
    return order.join(table, on="method", how="left", maintain_order="left").select(
        "method", *parts
    )


_PARTS = (
    *("prior", "covariate-pure", "covariate-mixed", "local", "local-control"),
    *("concept", "concept-forced"),
)
