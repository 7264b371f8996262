"""Estimates of given samples in the format of the LeQua challenges: `id` and a column per class.

DIR/<experiment>/<data set>/<method>-<part>.txt   ids are the names of the samples in the part
DIR/<experiment>/<data set>/<method>.txt          where samples have no parts
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import polars as pl

from quantshift.base.storage.csv_text import frame_csv
from quantshift.base.storage.files import make_folder, write_whole
from quantshift.errors import UserError
from quantshift.lab.results.store import ResultStore
from quantshift.lab.shifts.given import SAMPLE
from quantshift.lab.shifts.parts.given_items import PART
from quantshift.tables.columns.names import folder_name, in_order


def write_predictions(
    store: ResultStore, folder: str | Path, *, methods: Collection[str] | None = None
) -> tuple[Path, ...]:
    """Write a file for every method (or those named), data set and part of the given samples.

    Classes are in the order of their numbers or names. No file is replaced. The measures of the
    challenges are those of `quantshift.metrics`: `rae` with a smoothing of 1 / (2 * sample size),
    `nmd` and `macro_nmd`.
    """
    names = [e for e in store.experiments if SAMPLE in store.about(e).coordinates]
    if not names:
        raise UserError(
            f'no experiment in {store.path} has given samples (kind = "given"), which predictions '
            "need"
        )
    files: dict[Path, pl.DataFrame] = {}
    for experiment in names:
        for dataset, classes in store.about(experiment).datasets.items():
            rows = store.read([experiment], methods, [dataset]).collect()
            for (method,), method_rows in rows.partition_by("method", as_dict=True).items():
                if method_rows["cell"].n_unique() > 1:
                    raise UserError(
                        f"experiment {experiment!r} has {method_rows['cell'].n_unique()} training "
                        "sets, each with its own estimates, but predictions need a single one: run "
                        "it with train_repeats = 1"
                    )
                target = Path(folder) / experiment / dataset
                for part, table in _parts(method_rows, classes).items():
                    end = f"-{part}" if part else ""
                    files[target / f"{folder_name(str(method))}{end}.txt"] = table
    existing = next((path for path in files if path.exists()), None)
    if existing is not None:
        raise UserError(f"{existing} exists; choose another folder for predictions")
    for path, table in files.items():
        make_folder(path.parent)
        write_whole(path, frame_csv(table))
    return tuple(files)


def _parts(rows: pl.DataFrame, classes: tuple[str, ...]) -> dict[str, pl.DataFrame]:
    """The estimates of each part, a row per sample in the order of the ids."""
    samples: dict[str, dict[str, list[float]]] = {}
    for name, p_hat in rows.select(SAMPLE.name, "p_hat").iter_rows():
        part, slash, id_ = name.partition(PART)
        samples.setdefault(part if slash else "", {})[id_ if slash else name] = p_hat
    columns = [classes.index(name) for name in in_order(classes)]
    tables = {}
    for part, estimates in samples.items():
        ids = in_order(estimates)
        table: dict[str, list[Any]] = {"id": list(ids)}
        for column in columns:
            table[classes[column]] = [estimates[name][column] for name in ids]
        tables[part] = pl.DataFrame(table)
    return tables
