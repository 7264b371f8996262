"""How complete a run is: planned work compared with what the store contains."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import polars as pl

from quantshift.lab.results.store import ResultStore

PlannedCells: TypeAlias = Sequence[tuple[str, Mapping[str, str]]]
"""Keys of cells, each with its methods (name -> signature)."""

Planned: TypeAlias = Mapping[str, Mapping[str, PlannedCells]]
"""Experiment -> data set -> cells."""

SCHEMA = pl.Schema(
    {
        "experiment": pl.String(),
        "dataset": pl.String(),
        "cells": pl.Int64(),
        "cells_done": pl.Int64(),
        "cells_failed": pl.Int64(),
        "cells_to_do": pl.Int64(),
        "results": pl.Int64(),
        "done": pl.Int64(),
        "failed": pl.Int64(),
        "to_do": pl.Int64(),
    }
)


def status(store: ResultStore, planned: Planned) -> pl.DataFrame:
    """A row per experiment and data set with the numbers of cells and results (a method on a cell).

    Both are counted as done, failed and to do. A cell is done when all its methods are, and failed
    when one of them failed.
    """
    return pl.DataFrame(
        [
            _row(store, experiment, dataset, cells)
            for experiment, datasets in planned.items()
            for dataset, cells in datasets.items()
        ],
        schema=SCHEMA,
    )


def _row(
    store: ResultStore, experiment: str, dataset: str, cells: PlannedCells
) -> dict[str, str | int]:
    is_stored = experiment in store.experiments and dataset in store.datasets(experiment)
    results = done = failed = cells_done = cells_failed = 0
    for cell, methods in cells:
        location = (experiment, dataset, cell)
        n_done = _matches(store.finished(*location), methods) if is_stored else 0
        n_failed = _matches(store.failed(*location), methods) if is_stored else 0
        results += len(methods)
        done += n_done
        failed += n_failed
        if n_done == len(methods):
            cells_done += 1
        if n_failed:
            cells_failed += 1
    return {
        "experiment": experiment,
        "dataset": dataset,
        "cells": len(cells),
        "cells_done": cells_done,
        "cells_failed": cells_failed,
        "cells_to_do": len(cells) - cells_done - cells_failed,
        "results": results,
        "done": done,
        "failed": failed,
        "to_do": results - done - failed,
    }


def _matches(stored: Mapping[str, str], methods: Mapping[str, str]) -> int:
    return sum(stored.get(method) == signature for method, signature in methods.items())
