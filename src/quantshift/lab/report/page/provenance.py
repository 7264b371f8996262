"""Where the results come from: versions, seeds, sizes, times, and what is missing."""

import importlib.metadata
import platform
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quantshift.base.nouns import counted
from quantshift.lab.results.completeness import Planned, status
from quantshift.lab.results.store import ResultStore

PACKAGES = ("quantshift", "numpy", "scipy", "scikit-learn", "polars")
"""Packages whose versions the page names."""


@dataclass(frozen=True)
class FailedCell:
    """A cell in which some methods have no results because of an error."""

    experiment: str
    dataset: str
    cell: str
    methods: tuple[str, ...]
    error: str


@dataclass(frozen=True)
class Provenance:
    """What a report says about the origin of its figures.

    description: the store's own (experiments, version, seed ...); empty for a bare frame.
    runs: records of the store's log.
    progress: the frame of `quantshift.lab.results.status`; None if the plan is not known.
    """

    description: Mapping[str, Any]
    runs: Sequence[Mapping[str, Any]] = ()
    progress: pl.DataFrame | None = None
    failures: tuple[FailedCell, ...] = ()

    @property
    def experiments(self) -> Mapping[str, Mapping[str, Any]]:
        """Descriptions of the experiments by name."""
        experiments: Mapping[str, Mapping[str, Any]] = self.description.get("experiments", {})
        return experiments

    @property
    def seconds(self) -> float | None:
        """Total wall time of all runs, if the log records it."""
        seconds = [float(run["seconds"]) for run in self.runs if run.get("seconds")]
        return sum(seconds) if seconds else None

    def title(self, experiment: str) -> str:
        """The title of an experiment."""
        return str(self.experiments.get(experiment, {}).get("title") or experiment)

    def datasets(self, experiment: str) -> tuple[str, ...]:
        """The data sets of an experiment, if it is described."""
        return tuple(self.experiments.get(experiment, {}).get("datasets", {}))

    def cells(self, experiment: str) -> str:
        """How many cells of an experiment are complete, in words."""
        counts = self._counts(experiment)
        return f"{counts['cells_done']:,} of {counts['cells']:,}" if counts else "–"

    def gap(self, experiment: str, dataset: str | None = None) -> str:
        """What is missing in an experiment, or on one data set, in words; empty if nothing is."""
        counts = self._counts(experiment, dataset)
        if counts is None:
            failed = len({(f.dataset, f.cell) for f in self._failures_of(experiment, dataset)})
            return f"{counted(failed, 'cell')} failed, at least in part" if failed else ""
        cells, done, failed = (counts[name] for name in ("cells", "cells_done", "cells_failed"))
        reason = f"; {failed:,} failed, at least in part" if failed else ""
        return "" if done == cells else f"{done:,} of {cells:,} cells are complete{reason}"

    def failed_methods(self, experiment: str, dataset: str | None = None) -> dict[str, int]:
        """The methods that have failed, with the number of cells, the most failures first."""
        methods = (method for f in self._failures_of(experiment, dataset) for method in f.methods)
        return dict(Counter(methods).most_common())

    def _failures_of(self, experiment: str, dataset: str | None) -> list[FailedCell]:
        return [
            failure
            for failure in self.failures
            if failure.experiment == experiment and dataset in (None, failure.dataset)
        ]

    def _counts(self, experiment: str, dataset: str | None = None) -> dict[str, int] | None:
        """Numbers of cells of an experiment, or of one of its data sets; None if not known."""
        if self.progress is None:
            return None
        rows = self.progress.filter(pl.col("experiment") == experiment)
        if dataset is not None:
            rows = rows.filter(pl.col("dataset") == dataset)
        if rows.is_empty():
            return None
        return rows.select("cells", "cells_done", "cells_failed").sum().row(0, named=True)


def provenance_of(store: ResultStore, planned: Planned | None = None) -> Provenance:
    """The provenance of a store; with its plan, also how complete it is."""
    return Provenance(
        description=store.description,
        runs=store.log.records(),
        progress=None if planned is None else status(store, planned),
        failures=tuple(_failures(store)),
    )


def versions() -> dict[str, str]:
    """Versions of the software that makes this report."""
    return {"Python": platform.python_version()} | {
        name: importlib.metadata.version(name) for name in PACKAGES
    }


def facts(provenance: Provenance) -> list[tuple[str, str]]:
    """Facts about the whole run as (name, value), in reading order."""
    made_by = provenance.description.get("quantshift")
    listed: list[tuple[str, str]] = []
    if made_by:
        listed.append(("results made by", f"quantshift {made_by}"))
    if provenance.seconds is not None:
        runs = [run for run in provenance.runs if run.get("seconds")]
        workers = sorted({int(run["workers"]) for run in runs if run.get("workers")})
        by = f" with {_workers(workers)}" if workers else ""
        listed.append(("computed in", f"{duration(provenance.seconds)}{by}"))
        listed.append(("last run", str(runs[-1].get("time", ""))[:16].replace("T", " ")))
    software = ", ".join(f"{name} {version}" for name, version in versions().items())
    return [*listed, *shared_facts(provenance).items(), ("report made with", software)]


def _workers(counts: Sequence[int]) -> str:
    *others, last = counts
    return " / ".join([*map(str, others), counted(last, "worker")])


def shared_facts(provenance: Provenance) -> dict[str, str]:
    """Facts that are the same for all experiments."""
    facts_of_experiments = [
        experiment_facts(experiment) for experiment in provenance.experiments.values()
    ]
    if not facts_of_experiments:
        return {}
    return {
        k: v
        for k, v in facts_of_experiments[0].items()
        if all(other[k] == v for other in facts_of_experiments)
    }


def source_name(dataset: Mapping[str, Any]) -> str:
    """The source of a data set: only the last part of a path, because folders are private."""
    return re.split(r"[/\\\\]", str(dataset.get("source") or "–").rstrip("/\\"))[-1]


def dataset_facts(provenance: Provenance) -> list[list[str]]:
    """Name, source, classes and hash of every data set of the run."""
    rows_of_data: dict[tuple[str, str], list[str]] = {}
    for experiment in provenance.experiments.values():
        for name, data in experiment.get("datasets", {}).items():
            classes = ", ".join(map(str, data.get("classes", ())))
            items = str(data.get("items") or "–")
            rows_of_data.setdefault((name, items), [name, source_name(data), classes, items])
    return list(rows_of_data.values())


def experiment_facts(experiment: Mapping[str, Any]) -> dict[str, str]:
    """Facts about one experiment, by column of the page's table."""
    shift = experiment.get("shift", {})
    size, repeats = _training_sets(shift)
    return {
        "shift": str(shift.get("kind") or "–"),
        "profile": str(experiment.get("profile") or "–"),
        "data sets": ", ".join(experiment.get("datasets", {})) or "–",
        "seed": str(experiment.get("seed", "–")),
        "training size": size,
        "sample size": _number(shift.get("test_size")),
        "samples per point": _number(shift.get("test_repeats")),
        "training sets per point": repeats,
    }


def duration(seconds: float) -> str:
    """A duration in suitable units.

    >>> duration(59.4), duration(754), duration(7500)
    ('59 s', '12 min 34 s', '2 h 5 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _failures(store: ResultStore) -> list[FailedCell]:
    return [
        failed
        for experiment in store.experiments
        for dataset in store.datasets(experiment)
        for cell in store.cells(experiment, dataset)
        for failed in _failures_in(store, experiment, dataset, cell)
    ]


def _failures_in(
    store: ResultStore, experiment: str, dataset: str, cell: str
) -> Iterator[FailedCell]:
    lacking = store.failed(experiment, dataset, cell)
    for failure in store.failures(experiment, dataset, cell) if lacking else ():
        methods = tuple(name for name in failure.methods if name in lacking)
        if methods:
            error = f"{failure.error}: {failure.message}"
            yield FailedCell(experiment, dataset, cell, methods, error)


def _training_sets(shift: Mapping[str, Any]) -> tuple[str, str]:
    """The size of a training set, and how many there are at each point, as they were drawn."""
    if shift.get("whole_pool"):  # the sizes in the file are then ignored
        return "the whole pool", _number(shift.get("splits", 1))
    size = shift.get("train_size")
    everything = "train_size" in shift and size is None
    return "all items" if everything else _number(size), _number(shift.get("train_repeats"))


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value or "–")
