"""Verdicts and labels that are given as values instead of a table are made into a table."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from quantshift.base.options import as_names, split_names
from quantshift.errors import DataError, UserError
from quantshift.judging.reading.options import JudgeOptions
from quantshift.tables.columns.cell_names import cell_of
from quantshift.tables.formats.values import pandas_values, table_of_values
from quantshift.tables.reading import Source


def parse_inputs(
    table: Source | None,
    verdict: Any,
    label: Any,
    score: Any,
    **others: Any,
) -> tuple[Source, JudgeOptions]:
    """The table and the names of its columns; a table is made of values.

    others: by their names, the values of columns that not every call has, such as ids.
    """
    if table is not None:
        people = as_names(label) if label is not None else ()
        people = tuple(name for part in people for name in split_names(part))
        label_name = ",".join(people) if len(people) > 1 else label
        several = people if len(people) > 1 else ()
        return table, JudgeOptions(as_names(verdict), label_name, score, people=several, **others)
    columns: dict[str, list[Any]] = {}
    judges, arrays = _judges(verdict), {"label": label, "score": score, **others}
    for name, values in [*judges.items(), *arrays.items()]:
        if values is not None:
            columns[name] = _values(name, values)
    if not columns:
        raise UserError("give a table, or verdicts and labels as arrays")
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        lengths = ", ".join(f"{name} {n:,}" for name, n in sizes.items())
        raise DataError(
            f"verdicts and labels need the same length (None without a label): {lengths}"
        )
    names: dict[str, Any] = {name: name if name in columns else None for name in arrays}
    return table_of_values("the table", columns), JudgeOptions(tuple(judges), **names)


def _judges(verdict: Any) -> dict[str, Any]:
    if verdict is None:
        return {}
    if isinstance(verdict, str):
        raise UserError("verdict names a column: give its table too, or the verdicts as an array")
    if isinstance(verdict, Mapping):
        return {str(name): values for name, values in verdict.items()}
    return {"judge": verdict}


def _values(name: str, values: Any) -> list[Any]:
    if isinstance(values, str):
        raise UserError(f"{name}: {values!r} names a column: give its table too")
    library = type(values).__module__.partition(".")[0]
    if library == "pandas":
        return pandas_values(values)
    if library == "polars":
        values = values.to_list()
    # Masked arrays stay masked, so that their gaps are gaps.
    array = np.asanyarray(values, dtype=object)
    if array.ndim != 1:
        raise UserError(
            f"{name}: give one value for each item, got shape {array.shape}; several judges are "
            "given by their names, as in {'gpt': [...], 'claude': [...]}"
        )
    cells = [None if value is None or value != value else value for value in array.tolist()]
    kinds = {type(value) for value in cells if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return [None if value is None else str(value) for value in cells]
    return [cell_of(value) for value in cells]
