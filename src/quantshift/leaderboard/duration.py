"""How long a benchmark will take, before it is begun.

What is known comes first: the times that the log of the results has of a method under the same
experiment on the same data, then of the method elsewhere. A method that has never run here is taken
to cost what it costs in `costs.csv`, measured once on one core: a guess, and called so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import polars as pl

from quantshift.experiments.planning import ExperimentPlan, Plan
from quantshift.leaderboard.method_times import method_times
from quantshift.results.store import ResultStore

UNKNOWN = "any other"
"""The row of `costs.csv` for methods that it does not have."""

SHARED = "shared"
"""The row of the work that all methods of a cell share."""

Cost = tuple[float, float]
"""Milliseconds of a cell, and of each of its test samples."""


@dataclass(frozen=True)
class Duration:
    """Seconds of work on one core, and the share of them that is known from the log."""

    seconds: float
    known: float

    def wall(self, n_workers: int) -> float:
        """Seconds with that many workers."""
        return self.seconds / max(n_workers, 1)


def expected_duration(plan: Plan, store: ResultStore | None = None) -> Duration:
    """What is left of the plan, by the times of the store and by shipped ones."""
    times = None if store is None else method_times(store)
    shipped = _shipped()
    total = known = 0.0
    for part in plan.experiments:
        here, elsewhere = ({}, {}) if times is None else _measured(times, part)
        for task in part.tasks:
            for name in (SHARED, *(method.name for method in task.methods)):
                cell, sample = (
                    here.get(name) or elsewhere.get(name) or shipped.get(name) or shipped[UNKNOWN]
                )
                seconds = (cell + sample * part.n_test_samples) / 1e3
                total += seconds
                known += seconds if name in here else 0.0
    return Duration(total, known / total if total else 1.0)


def _measured(times: pl.DataFrame, part: ExperimentPlan) -> tuple[Mapping[str, Cost], ...]:
    """Costs by method under the same experiment on the same data, and anywhere."""
    same = (pl.col("experiment") == part.experiment.name) & (pl.col("dataset") == part.dataset)
    return measured_costs(times.filter(same)), measured_costs(times)


def measured_costs(times: pl.DataFrame) -> dict[str, Cost]:
    """Costs by method, and of the shared work, from the frame of `method_times`."""
    medians = times.group_by("method").agg(pl.col("fit_ms", "sample_ms").median())
    costs = {name: (fit, sample) for name, fit, sample in medians.iter_rows()}
    shared = times["shared_ms"].median()
    return costs | ({SHARED: (shared, 0.0)} if isinstance(shared, float) else {})


def _shipped() -> dict[str, Cost]:
    text = resources.files("quantshift.leaderboard").joinpath("costs.csv").read_bytes()
    return {name: (cell, sample) for name, cell, sample in pl.read_csv(text).iter_rows()}
