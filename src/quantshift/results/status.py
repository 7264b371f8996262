"""How far a run is: planned work against what the store holds."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import polars as pl

from quantshift.results.store import ResultStore

Planned: TypeAlias = Mapping[str, Sequence[tuple[str, Mapping[str, str]]]]
"""Experiment -> cells, each with its methods (name -> signature)."""

SCHEMA = pl.Schema(
    {
        "experiment": pl.String(),
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
    """A row per experiment: cells, and results (a method on a cell), by done, failed and to do.

    A cell is done when all its methods are, failed when one of them failed.
    """
    return pl.DataFrame(
        [_row(store, experiment, cells) for experiment, cells in planned.items()], schema=SCHEMA
    )


def _row(
    store: ResultStore, experiment: str, cells: Sequence[tuple[str, Mapping[str, str]]]
) -> dict[str, str | int]:
    results = done = failed = cells_done = cells_failed = 0
    for cell, methods in cells:
        n_done = _matches(store, experiment, cell, methods, failed=False)
        n_failed = _matches(store, experiment, cell, methods, failed=True)
        results += len(methods)
        done += n_done
        failed += n_failed
        cells_done += n_done == len(methods)
        cells_failed += n_failed > 0
    return {
        "experiment": experiment,
        "cells": len(cells),
        "cells_done": cells_done,
        "cells_failed": cells_failed,
        "cells_to_do": len(cells) - cells_done - cells_failed,
        "results": results,
        "done": done,
        "failed": failed,
        "to_do": results - done - failed,
    }


def _matches(
    store: ResultStore, experiment: str, cell: str, methods: Mapping[str, str], *, failed: bool
) -> int:
    if experiment not in store.experiments:
        return 0
    there = store.failed(experiment, cell) if failed else store.finished(experiment, cell)
    return sum(there.get(method) == signature for method, signature in methods.items())
