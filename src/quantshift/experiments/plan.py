"""The plan: an experiment's cells, and which methods are still to be computed in which of them.

A cell is one training set with all its test samples: the unit of work, failure and resumption. Its
key names it by the coordinates of its training set, known from the grid alone; no data are read.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from quantshift import catalogue
from quantshift.errors import UserError
from quantshift.experiments.spec import Experiment, MethodSpec
from quantshift.tables import Table

Finished: TypeAlias = Callable[[str, str], Mapping[str, str]]
"""(experiment, cell key) -> signature by name of the methods whose results are there."""

_ORDER = ("p_train", "alpha_train", "cut_train", "train_repeat")
"""Coordinates in the order of a key; repeats are whole numbers, the others are not."""


@dataclass(frozen=True)
class Cell:
    """One training set of an experiment, with all its test samples.

    >>> Cell("prior", {"p_train": 0.5, "train_repeat": 3}).key
    'p_train-0.5,train_repeat-3'
    """

    experiment: str
    coordinates: Mapping[str, float | int]

    @property
    def key(self) -> str:
        """A stable name of the cell inside its experiment, fit for a file name."""
        named = [name for name in _ORDER if name in self.coordinates]
        # No equals sign: tools would take the folders for Hive partitions.
        return ",".join(f"{name}-{_shortest(self.coordinates[name])}" for name in named)

    @classmethod
    def from_key(cls, experiment: str, key: str) -> Self:
        """The cell with that key."""
        coordinates: dict[str, float | int] = {}
        try:
            for part in key.split(","):
                name, _, value = part.partition("-")
                coordinates[name] = int(value) if name == "train_repeat" else float(value)
        except ValueError:
            coordinates = {}
        cell = cls(experiment, coordinates)
        if not coordinates or cell.key != key:
            raise UserError(
                f"{key!r} is not the key of a cell; keys look like 'p_train-0.5,train_repeat-3'"
            )
        return cell


@dataclass(frozen=True)
class Task:
    """What is to be computed in one cell."""

    cell: Cell
    methods: tuple[MethodSpec, ...]


@dataclass(frozen=True)
class ExperimentPlan:
    """One experiment: all its cells, and the tasks that are left."""

    experiment: Experiment
    cells: tuple[Cell, ...]
    tasks: tuple[Task, ...]

    @property
    def n_samples(self) -> int:
        """Test samples of all cells."""
        return len(self.cells) * self.experiment.n_test_samples

    @property
    def n_estimates(self) -> int:
        """Test samples times methods."""
        return self.n_samples * len(self.experiment.methods)

    @property
    def n_estimates_to_do(self) -> int:
        """Estimates that the tasks will make."""
        return self.experiment.n_test_samples * sum(len(task.methods) for task in self.tasks)


@dataclass(frozen=True)
class Plan:
    """All experiments of a run, in the order given."""

    experiments: tuple[ExperimentPlan, ...]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """What is left to do, experiment by experiment."""
        return tuple(task for part in self.experiments for task in part.tasks)


@dataclass(frozen=True, kw_only=True)
class PlanRow:
    """Counts of one experiment of a plan, or of all together."""

    experiment: str
    cells: int
    samples: int
    methods: int
    estimates: int
    cells_to_do: int
    estimates_to_do: int


def cells(experiment: Experiment) -> tuple[Cell, ...]:
    """The experiment's cells, in the order of its training grid."""
    points = experiment.protocol().training_points()
    return tuple(Cell(experiment.name, point) for point in points)


def plan(experiments: Iterable[Experiment], finished: Finished | None = None) -> Plan:
    """What is to be done, given what is finished (nothing, if left out).

    A method is finished in a cell if it is there under its name with its present signature.
    """
    chosen = tuple(experiments)
    names = [experiment.name for experiment in chosen]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"two experiments are called {name!r}; rename one")
    return Plan(tuple(_planned(experiment, finished or _nothing) for experiment in chosen))


def describe_plan(plan: Plan) -> list[PlanRow]:
    """One row for each experiment and, where there are several, their total."""
    rows = [
        PlanRow(
            experiment=part.experiment.name,
            cells=len(part.cells),
            samples=part.n_samples,
            methods=len(part.experiment.methods),
            estimates=part.n_estimates,
            cells_to_do=len(part.tasks),
            estimates_to_do=part.n_estimates_to_do,
        )
        for part in plan.experiments
    ]
    if len(rows) < 2:
        return rows
    total = PlanRow(
        experiment="total",
        cells=sum(row.cells for row in rows),
        samples=sum(row.samples for row in rows),
        methods=len({m.name for part in plan.experiments for m in part.experiment.methods}),
        estimates=sum(row.estimates for row in rows),
        cells_to_do=sum(row.cells_to_do for row in rows),
        estimates_to_do=sum(row.estimates_to_do for row in rows),
    )
    return [*rows, total]


def plan_table(plan: Plan) -> Table:
    """The same as a table of strings, for `text_table` and its like."""
    header = tuple(field.name.replace("_", " ") for field in dataclasses.fields(PlanRow))
    rows = (dataclasses.astuple(row) for row in describe_plan(plan))
    cells = tuple((name, *(f"{count:,}" for count in counts)) for name, *counts in rows)
    return Table("Plan", header, cells)


def planned(
    description: Mapping[str, Any],
) -> dict[str, list[tuple[str, Mapping[str, str]]]]:
    """The cells and methods a store was made for, from its description alone.

    Experiment -> (cell key, signature by method name) of every cell.
    """
    kinds = {cls.name: cls for cls in catalogue.shifts().values()}
    cells_of: dict[str, list[tuple[str, Mapping[str, str]]]] = {}
    for name, experiment in description["experiments"].items():
        fields = dict(experiment["shift"])
        protocol = kinds[fields.pop("kind")](**fields)
        methods = {method["name"]: method["signature"] for method in experiment["methods"]}
        cells_of[name] = [(Cell(name, point).key, methods) for point in protocol.training_points()]
    return cells_of


def _planned(experiment: Experiment, finished: Finished) -> ExperimentPlan:
    signatures = experiment.signatures()
    everything = cells(experiment)
    tasks = []
    for cell in everything:
        there = finished(experiment.name, cell.key)
        left = [m for m in experiment.methods if there.get(m.name) != signatures[m.name]]
        if left:
            tasks.append(Task(cell, tuple(left)))
    return ExperimentPlan(experiment, everything, tuple(tasks))


def _nothing(experiment: str, cell_key: str) -> Mapping[str, str]:
    return {}


def _shortest(value: float | int) -> str:
    # The shortest text that reads back as the same number; 1.0 is written 1.
    return repr(value).removesuffix(".0")
