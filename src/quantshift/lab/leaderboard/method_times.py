"""How long each method took, from the log of a store.

Times are medians over cells, so that one slow start (compilation, another program) has no effect.
"""

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from quantshift.lab.results.store import ResultStore

SCHEMA = pl.Schema(
    {
        "experiment": pl.String(),
        "dataset": pl.String(),
        "method": pl.String(),
        "fit_ms": pl.Float64(),
        "sample_ms": pl.Float64(),
        "shared_ms": pl.Float64(),
        "cells": pl.Int64(),
    }
)


def method_times(store: ResultStore) -> pl.DataFrame:
    """One row for every experiment, data set and method with times in the log.

    fit_ms: milliseconds to choose the options of the method and to fit it in a cell, without the
    shared classifier. sample_ms: to estimate one sample. shared_ms: for the shared work of a cell.
    """
    rows = [row for record in store.times.records() for row in _rows(record)]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    by = ["experiment", "dataset", "method"]
    return (
        frame.group_by(by, maintain_order=True)
        .agg(pl.col("fit_ms", "sample_ms", "shared_ms").median(), cells=pl.len())
        .select(SCHEMA.names())
    )


def _rows(record: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The times of one cell; an empty list if the record was not written by a run."""
    try:
        key = (str(record["experiment"]), str(record["dataset"]))
        samples, shared = float(record["samples"]), float(record["shared"])
        rows = [
            (*key, str(name), 1e3 * float(fit), 1e3 * float(estimate) / samples, 1e3 * shared, 1)
            for name, (fit, estimate) in record["methods"].items()
        ]
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        return []
    return [row for row in rows if all(math.isfinite(value) for value in row[3:6])]
