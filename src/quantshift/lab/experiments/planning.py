"""The plan: an experiment's cells, and which methods remain to be computed in each of them.

A cell is one training set of a data set with all its test samples: the unit of work, failure and
resumption. Its key consists of the coordinates of its training set, which follow from the grid
alone, so no data are read unless training sets are groups of the data.
"""

import dataclasses
import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from quantshift.base.text_tables import Table
from quantshift.errors import UserError
from quantshift.lab.experiments.documents.experiment import Experiment, MethodSpec
from quantshift.lab.results.description import LEFT_OUT
from quantshift.lab.shifts.catalogue import protocol_class
from quantshift.lab.shifts.parts.coordinate import Coordinates, Value
from quantshift.lab.shifts.protocol import AbstractProtocol

Finished: TypeAlias = Callable[["Cell"], Mapping[str, str]]
"""Returns the signatures, by name, of the methods that have results in a cell."""

LONGEST_KEY = 200
"""Largest number of bytes of a key."""

Protocols: TypeAlias = Callable[[Experiment, str], AbstractProtocol]
"""Returns the protocol of an experiment on the data set of that name."""

LeftOut: TypeAlias = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Experiment -> data set -> method that does not suit it -> why."""

REPEAT = "train_repeat"
"""The last coordinate of every key: the number of the draw at this point of the grid."""


@dataclass(frozen=True)
class Cell:
    """One training set of an experiment on a data set, with all its test samples.

    key: a stable name of the cell inside its experiment, valid as the name of a folder.
    stratum: number of its point of the training grid, whatever the repeat.
    """

    experiment: str
    dataset: str
    key: str
    stratum: int
    coordinates: Coordinates

    @property
    def place(self) -> tuple[str, str, str]:
        """Where its results are in a store: experiment, data set and key."""
        return self.experiment, self.dataset, self.key

    @property
    def name(self) -> str:
        """Experiment, data set and key, for messages."""
        return " ".join(self.place)


@dataclass(frozen=True)
class Task:
    """What is to be computed in one cell."""

    cell: Cell
    methods: tuple[MethodSpec, ...]


@dataclass(frozen=True)
class ExperimentPlan:
    """One experiment on one data set: all its cells, and the remaining tasks.

    methods: those of the experiment that are not left out on this data set.
    """

    experiment: Experiment
    dataset: str
    cells: tuple[Cell, ...]
    tasks: tuple[Task, ...]
    n_test_samples: int
    methods: tuple[MethodSpec, ...]

    @property
    def n_samples(self) -> int:
        """Test samples of all cells."""
        return len(self.cells) * self.n_test_samples

    @property
    def n_estimates(self) -> int:
        """Test samples times methods."""
        return self.n_samples * len(self.methods)

    @property
    def n_estimates_to_do(self) -> int:
        """Number of estimates in the remaining tasks."""
        return self.n_test_samples * sum(len(task.methods) for task in self.tasks)


@dataclass(frozen=True)
class Plan:
    """All experiments of a run on all its data sets, in the order given."""

    experiments: tuple[ExperimentPlan, ...]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The remaining tasks, experiment by experiment."""
        return tuple(task for part in self.experiments for task in part.tasks)


@dataclass(frozen=True, kw_only=True)
class PlanRow:
    """Counts of one experiment on one data set of a plan, or the total."""

    experiment: str
    dataset: str
    cells: int
    samples: int
    methods: int
    estimates: int
    cells_to_do: int
    estimates_to_do: int


def cells_of(experiment: str, dataset: str, protocol: AbstractProtocol) -> tuple[Cell, ...]:
    """The cells of a protocol on a data set, in the order of its training grid."""
    names = [c.name for c in protocol.coordinates() if c.side == "train"]
    strata: dict[tuple[Value | None, ...], int] = {}
    cells: dict[str, Cell] = {}
    for point in protocol.training_points():
        undeclared = [name for name in point if name not in (*names, REPEAT)]
        if undeclared:
            raise UserError(
                f"experiment {experiment!r}: {protocol.name} shift has training points with the "
                f"coordinate {undeclared[0]!r}, which it does not declare in coordinates()"
            )
        stratum = strata.setdefault(tuple(point.get(name) for name in names), len(strata))
        key = cell_key({name: point[name] for name in (*names, REPEAT) if name in point})
        if key in cells:
            raise UserError(
                f"experiment {experiment!r}: two training sets have the key {key!r}, so one of "
                "them would never be computed; give them different coordinates"
            )
        cells[key] = Cell(experiment, dataset, key, stratum, point)
    return tuple(cells.values())


def cell_key(point: Coordinates) -> str:
    """The name of a training set.

    >>> cell_key({"p_train": 0.5, "train_repeat": 3})
    'p_train-0.5,train_repeat-3'
    >>> cell_key({"p_train": (0.2, 0.8), "year": "in 2020"})
    'p_train-0.2_0.8,year-in+20+2020'
    """
    # No equals sign: some tools would read the folders as Hive partitions.
    key = ",".join(f"{name}-{_text(value)}" for name, value in point.items())
    if len(key.encode()) <= LONGEST_KEY:
        return key
    # File systems limit the length of a name: the rest is replaced by a hash.
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return f"{key.encode()[: LONGEST_KEY - 20].decode(errors='ignore')}+{digest}"


def plan(
    experiments: Iterable[tuple[Experiment, Sequence[tuple[str, int]]]],
    finished: Finished | None = None,
    protocols: Protocols | None = None,
    left_out: LeftOut | None = None,
) -> Plan:
    """What remains to be done, given what is finished (default: nothing).

    experiments: each with the names of its data sets and the number of test samples per cell.
    protocols: for experiments whose training sets depend on the data; default: the experiment's.
    left_out: methods that are not run on some data set.
    A method is finished in a cell if there is a result with its name and current signature.
    """
    chosen = tuple(experiments)
    names = [experiment.name for experiment, _ in chosen]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"two experiments are called {name!r}; rename one")
    return Plan(
        tuple(
            _planned(
                experiment,
                dataset,
                n_samples,
                finished or _nothing,
                protocols or _protocol_of,
                (left_out or {}).get(experiment.name, {}).get(dataset, {}),
            )
            for experiment, datasets in chosen
            for dataset, n_samples in datasets
        )
    )


def describe_plan(plan: Plan) -> list[PlanRow]:
    """One row for each experiment and data set and, if there are several, the total."""
    rows = [
        PlanRow(
            experiment=part.experiment.name,
            dataset=part.dataset,
            cells=len(part.cells),
            samples=part.n_samples,
            methods=len(part.methods),
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
        dataset="",
        cells=sum(row.cells for row in rows),
        samples=sum(row.samples for row in rows),
        methods=len({m.name for part in plan.experiments for m in part.methods}),
        estimates=sum(row.estimates for row in rows),
        cells_to_do=sum(row.cells_to_do for row in rows),
        estimates_to_do=sum(row.estimates_to_do for row in rows),
    )
    return [*rows, total]


def plan_table(plan: Plan) -> Table:
    """The same as a table of strings, for `text_table` and its like."""
    header = tuple(field.name.replace("_", " ") for field in dataclasses.fields(PlanRow))
    rows = (dataclasses.astuple(row) for row in describe_plan(plan))
    cells = tuple(
        (name, dataset, *(f"{count:,}" for count in counts)) for name, dataset, *counts in rows
    )
    return Table("Plan", header, cells)


def planned(
    description: Mapping[str, Any],
) -> dict[str, dict[str, list[tuple[str, Mapping[str, str]]]]]:
    """The cells and methods a store was made for, from its description alone.

    Experiment -> data set -> (cell key, signature by method name) of every cell.
    """
    cells: dict[str, dict[str, list[tuple[str, Mapping[str, str]]]]] = {}
    for name, experiment in description["experiments"].items():
        methods = {method["name"]: method["signature"] for method in experiment["methods"]}
        cells[name] = {}
        for dataset, record in experiment["datasets"].items():
            keys = record.get("cells") or _described_cells(name, dataset, experiment["shift"])
            signatures = {m: s for m, s in methods.items() if m not in record.get(LEFT_OUT, {})}
            cells[name][dataset] = [(key, signatures) for key in keys]
    return cells


def _described_cells(experiment: str, dataset: str, shift: Mapping[str, Any]) -> list[str]:
    fields = dict(shift)
    protocol = protocol_class(fields.pop("kind"))(**fields)
    return [cell.key for cell in cells_of(experiment, dataset, protocol)]


def _planned(
    experiment: Experiment,
    dataset: str,
    n_test_samples: int,
    finished: Finished,
    protocols: Protocols,
    left_out: Collection[str],
) -> ExperimentPlan:
    signatures = experiment.signatures()
    methods = tuple(m for m in experiment.methods if m.name not in left_out)
    all_cells = cells_of(experiment.name, dataset, protocols(experiment, dataset))
    tasks = []
    for cell in all_cells:
        finished_methods = finished(cell)
        remaining = [m for m in methods if finished_methods.get(m.name) != signatures[m.name]]
        if remaining:
            tasks.append(Task(cell, tuple(remaining)))
    return ExperimentPlan(experiment, dataset, all_cells, tuple(tasks), n_test_samples, methods)


def _protocol_of(experiment: Experiment, dataset: str) -> AbstractProtocol:
    return experiment.shift


def _nothing(cell: Cell) -> Mapping[str, str]:
    return {}


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        return "_".join(map(_text, value))
    if isinstance(value, str):
        # Characters that a folder's name should not contain are replaced by their code.
        return re.sub(r"[^\w.]", lambda match: f"+{ord(match[0]):x}+", value)
    if isinstance(value, bool):
        return str(value).lower()
    # The shortest text that reads back as the same number; 1.0 is written 1, and -0.0 is 0.
    return repr(value + 0).removesuffix(".0")
