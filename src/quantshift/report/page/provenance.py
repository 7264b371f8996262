"""Where the results come from: versions, seeds, sizes, times, and what is missing."""

import importlib.metadata
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quantshift.results.status import Planned, status
from quantshift.results.store import ResultStore

PACKAGES = ("quantshift", "numpy", "scipy", "scikit-learn", "polars")
"""Packages whose versions the page names."""


@dataclass(frozen=True)
class FailedCell:
    """A cell in which some methods have no results, and the error that was the reason."""

    experiment: str
    cell: str
    methods: tuple[str, ...]
    error: str


@dataclass(frozen=True)
class Provenance:
    """What a report says about the origin of its figures.

    description: the store's own (experiments, version, seed ...); empty for a bare frame.
    runs: records of the store's log.
    progress: the frame of `quantshift.results.status`; None if what was planned is not known.
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
        """Wall time of all runs together, if the log tells."""
        told = [float(run["seconds"]) for run in self.runs if run.get("seconds")]
        return sum(told) if told else None

    def cells(self, experiment: str) -> str:
        """How many cells of an experiment are complete, in words."""
        row = self._progress_of(experiment)
        return f"{row['cells_done']:,} of {row['cells']:,}" if row else "–"

    def gap(self, experiment: str) -> str:
        """What is missing in an experiment, in words; empty if nothing is."""
        row = self._progress_of(experiment)
        if row is None:
            failed = len({f.cell for f in self.failures if f.experiment == experiment})
            return f"{failed:,} cells failed, at least in part" if failed else ""
        cells, done, failed = (row[name] for name in ("cells", "cells_done", "cells_failed"))
        reason = f"; {failed:,} failed, at least in part" if failed else ""
        return "" if done == cells else f"{done:,} of {cells:,} cells are complete{reason}"

    def _progress_of(self, experiment: str) -> dict[str, int] | None:
        if self.progress is None:
            return None
        rows = self.progress.filter(pl.col("experiment") == experiment).to_dicts()
        return rows[0] if rows else None


def provenance_of(store: ResultStore, planned: Planned | None = None) -> Provenance:
    """The provenance of a store; with its plan, also how complete it is."""
    return Provenance(
        description=store.description,
        runs=store.log.records(),
        progress=None if planned is None else status(store, planned),
        failures=tuple(_failures(store)),
    )


def versions() -> dict[str, str]:
    """Versions of what makes this report."""
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
        by = f" with {' / '.join(map(str, workers))} workers" if workers else ""
        listed.append(("computed in", f"{duration(provenance.seconds)}{by}"))
        listed.append(("last run", str(runs[-1].get("time", ""))[:16].replace("T", " ")))
    made = ", ".join(f"{name} {version}" for name, version in versions().items())
    return [*listed, *shared_facts(provenance).items(), ("report made with", made)]


def shared_facts(provenance: Provenance) -> dict[str, str]:
    """Facts that are the same for all experiments."""
    told = [experiment_facts(experiment) for experiment in provenance.experiments.values()]
    if not told:
        return {}
    return {k: v for k, v in told[0].items() if all(other[k] == v for other in told)}


def source_name(experiment: Mapping[str, Any]) -> str:
    """The corpus of an experiment: the last name of a path, since folders are the maker's own."""
    return re.split(r"[/\\\\]", str(experiment.get("source") or "–").rstrip("/\\"))[-1]


def experiment_facts(experiment: Mapping[str, Any]) -> dict[str, str]:
    """Facts about one experiment, by the heads of the page's table."""
    shift = experiment.get("shift", {})
    return {
        "profile": str(experiment.get("profile") or "–"),
        "corpus": source_name(experiment),
        "corpus hash": str(experiment.get("items") or "–"),
        "seed": str(experiment.get("seed", "–")),
        "training size": _number(shift.get("train_size")),
        "sample size": _number(shift.get("test_size")),
        "samples per point": _number(shift.get("test_repeats")),
        "training sets per point": _number(shift.get("train_repeats")),
    }


def duration(seconds: float) -> str:
    """A time in the unit that suits it.

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
    failed = []
    for experiment in store.experiments:
        for cell in store.cells(experiment):
            lacking = store.failed(experiment, cell)
            for failure in store.failures(experiment, cell) if lacking else ():
                methods = tuple(name for name in failure.methods if name in lacking)
                error = f"{failure.error}: {failure.message}"
                if methods:
                    failed.append(FailedCell(experiment, cell, methods, error))
    return failed


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value or "–")
