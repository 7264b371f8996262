"""How long a benchmark will take, before it is begun.

What is known comes first: the times that the log of the results has of a method under the same
experiment on the same data, then under the same experiment on other data. A method that has never
run here is taken to cost what it costs in `costs.csv`, measured once on one core with the quick
profile: a guess, and called so. It is scaled to the sizes of other profiles.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import polars as pl

from quantshift.errors import UserError
from quantshift.experiments.experiment import Experiment
from quantshift.experiments.loading import load_experiment
from quantshift.experiments.planning import ExperimentPlan, Plan
from quantshift.leaderboard.method_times import method_times
from quantshift.results.store import ResultStore

ANY = "any"
"""In place of an experiment in `costs.csv`: all together; in place of a method: one it lacks."""

SHARED = "shared"
"""The row of the work that all methods of a cell share."""

QUICK = "quick"
"""The profile that `costs.csv` was measured with."""

Cost = tuple[float, float]
"""Milliseconds of a cell, and of each of its test samples."""

Costs = Mapping[str, Cost]
"""By the name of a method."""


@dataclass(frozen=True)
class Duration:
    """Seconds of work on one core, and the share of them that is known from the log."""

    seconds: float
    known: float

    def wall(self, n_workers: int) -> float:
        """Seconds with that many workers, each on a core that nobody else uses."""
        return self.seconds / max(n_workers, 1)


def expected_duration(plan: Plan, store: ResultStore | None = None) -> Duration:
    """What is left of the plan, by the times of the store and by shipped ones."""
    times = None if store is None else method_times(store)
    shipped = _shipped()
    total = known = 0.0
    for part in plan.experiments:
        here, elsewhere, anywhere = ({}, {}, {}) if times is None else _measured(times, part)
        guessed = _scaled(shipped.get(part.experiment.name, {}), part.experiment)
        last = shipped[ANY]
        for task in part.tasks:
            for name in (SHARED, *(method.name for method in task.methods)):
                cell, sample = (
                    here.get(name)
                    or elsewhere.get(name)
                    or guessed.get(name)
                    or anywhere.get(name)
                    or last.get(name)
                    or last[ANY]
                )
                seconds = (cell + sample * part.n_test_samples) / 1e3
                total += seconds
                known += seconds if name in here else 0.0
    return Duration(total, known / total if total else 1.0)


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

    They are means over experiments and data sets, so that their sum is what all takes.
    """
    means = times.group_by("method").agg(pl.col("fit_ms", "sample_ms").mean())
    costs = {name: (fit, sample) for name, fit, sample in means.iter_rows()}
    shared = times.unique(["experiment", "dataset"])["shared_ms"].mean()
    return costs | ({SHARED: (shared, 0.0)} if isinstance(shared, float) else {})


def _shipped() -> dict[str, dict[str, Cost]]:
    """Costs by experiment and method."""
    text = resources.files("quantshift.leaderboard").joinpath("costs.csv").read_bytes()
    costs: dict[str, dict[str, Cost]] = {}
    for experiment, method, cell, sample in pl.read_csv(text).iter_rows():
        costs.setdefault(experiment, {})[method] = (cell, sample)
    return costs


def _scaled(costs: Costs, experiment: Experiment) -> Costs:
    """Costs of an experiment of the library with sizes other than those of its quick profile."""
    try:
        quick = load_experiment(experiment.name, profile=QUICK)
    except UserError:  # an experiment of one's own under a name of the library
        return costs
    cell = _ratio(experiment, quick, "train_size") * len(experiment.settings) / len(quick.settings)
    sample = _ratio(experiment, quick, "test_size")
    return {name: (cell * fit, sample * each) for name, (fit, each) in costs.items()}


def _ratio(experiment: Experiment, quick: Experiment, option: str) -> float:
    """How many times as large an option of the shift is; 1 where it has no such size."""
    size, of_quick = (e.shift.options().get(option) for e in (experiment, quick))
    if not isinstance(size, int) or not isinstance(of_quick, int) or not of_quick:
        return 1.0
    return size / of_quick
