"""How long a benchmark will take, estimated before it starts.

Measured times come first: those in the log of the results for a method under the same experiment on
the same data, then under the same experiment on other data. A method that has never run here is
assumed to cost what `costs.csv` says, which was measured once on one core with the quick profile;
this is a guess, and is reported as one. It is scaled to the sizes of other profiles.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import polars as pl

from quantshift.errors import UserError
from quantshift.lab.experiments.documents.experiment import Experiment
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.options import QUICK
from quantshift.lab.experiments.planning import ExperimentPlan, Plan
from quantshift.lab.leaderboard.method_times import method_times
from quantshift.lab.results.store import ResultStore

ANY = "any"
"""In `costs.csv`: as an experiment, all of them together; as a method, one that is not listed."""

SHARED = "shared"
"""The row for the work that all methods of a cell share."""

Cost = tuple[float, float]
"""Milliseconds per cell, and per test sample."""

Costs = Mapping[str, Cost]
"""Cost by the name of the method."""


@dataclass(frozen=True)
class Duration:
    """Seconds of work on one core, and the share of them that comes from the log."""

    seconds: float
    known: float

    def wall(self, n_workers: int) -> float:
        """Seconds with that many workers, each on a core that nothing else uses."""
        return self.seconds / max(n_workers, 1)


def expected_duration(plan: Plan, store: ResultStore | None = None) -> Duration:
    """The time that the rest of the plan will take, by the times of the store and shipped ones."""
    times = None if store is None else method_times(store)
    shipped = _shipped()
    total = from_log = 0.0
    for part in plan.experiments:
        here, elsewhere, anywhere = ({}, {}, {}) if times is None else _measured(times, part)
        guessed = _scaled(shipped.get(part.experiment.name, {}), part.experiment)
        fallback = shipped[ANY]
        for task in part.tasks:
            for name in (SHARED, *(method.name for method in task.methods)):
                cell, sample = (
                    here.get(name)
                    or elsewhere.get(name)
                    or guessed.get(name)
                    or anywhere.get(name)
                    or fallback.get(name)
                    or fallback[ANY]
                )
                seconds = (cell + sample * part.n_test_samples) / 1e3
                total += seconds
                from_log += seconds if name in here else 0.0
    return Duration(total, from_log / total if total else 1.0)


def _measured(times: pl.DataFrame, part: ExperimentPlan) -> tuple[Costs, Costs, Costs]:
    """Costs by method under the same experiment on the same data, on other data, and anywhere."""
    same = pl.col("experiment") == part.experiment.name
    here = same & (pl.col("dataset") == part.dataset)
    return (
        measured_costs(times.filter(here)),
        measured_costs(times.filter(same)),
        measured_costs(times),
    )


def measured_costs(times: pl.DataFrame) -> dict[str, Cost]:
    """Costs by method, and of the shared work, from the frame of `method_times`.

    They are means over experiments and data sets, so that they add up to the total time.
    """
    means = times.group_by("method").agg(pl.col("fit_ms", "sample_ms").mean())
    costs = {name: (fit, sample) for name, fit, sample in means.iter_rows()}
    shared = times.unique(["experiment", "dataset"])["shared_ms"].mean()
    return costs | ({SHARED: (shared, 0.0)} if isinstance(shared, float) else {})


def _shipped() -> dict[str, dict[str, Cost]]:
    """Costs by experiment and method."""
    text = resources.files("quantshift.lab.leaderboard").joinpath("costs.csv").read_bytes()
    costs: dict[str, dict[str, Cost]] = {}
    for experiment, method, cell, sample in pl.read_csv(text).iter_rows():
        costs.setdefault(experiment, {})[method] = (cell, sample)
    return costs


def _scaled(costs: Costs, experiment: Experiment) -> Costs:
    """Costs of an experiment of the library with sizes other than those of its quick profile."""
    try:
        quick = load_experiment(experiment.name, profile=QUICK)
    except UserError:  # not an experiment of the library
        return costs
    cell = _ratio(experiment, quick, "train_size") * len(experiment.settings) / len(quick.settings)
    sample = _ratio(experiment, quick, "test_size")
    return {name: (cell * fit, sample * each) for name, (fit, each) in costs.items()}


def _ratio(experiment: Experiment, quick: Experiment, option: str) -> float:
    """Ratio of a size of the shift to that of the quick profile; 1 if there is no such size."""
    size, quick_size = (e.shift.options().get(option) for e in (experiment, quick))
    if not isinstance(size, int) or not isinstance(quick_size, int) or not quick_size:
        return 1.0
    return size / quick_size
