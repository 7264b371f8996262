"""Labels in the cells of a table, as strings that do not depend on the format of the file."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from quantshift.errors import DataError
from quantshift.tables.columns.cell_names import Cell, cell_of, names_of_cells, shown

MISSING_LABELS = ("NA", "N/A", "n/a", "NaN", "NULL", "null", "None", "nan")
"""Cells that mean no label, in addition to empty ones."""

TRUTHS: Mapping[str, bool] = MappingProxyType(
    dict.fromkeys(("1", "yes", "y", "true", "t"), True)
    | dict.fromkeys(("0", "no", "n", "false", "f"), False)
)
"""What the cells of a column that stands for one of several labels may hold, in lower case."""

USUAL_SEPARATORS = (";", "|", ",", "/", "+", "\t", "\n")
"""Looked for in cells that never contain the separator that was given."""


def labels_of_cells(
    cells: Sequence[Cell], missing: Sequence[str] | None = None
) -> list[str | None]:
    """Labels as strings, independent of the file format; None if missing.

    >>> labels_of_cells(["1.0", "1", " yes", "NA", ""]), labels_of_cells([True, None])
    (['1', '1', 'yes', None, None], ['True', None])
    """
    left_out = set(MISSING_LABELS if missing is None else (m.strip() for m in missing))
    if any(isinstance(cell, bool) for cell in cells):
        names = [None if cell is None else str(cell) for cell in cells]
    else:
        names = names_of_cells(cells)
    return [None if name in left_out else name for name in names]


def label_name(value: Any) -> str | None:
    """One label as `labels_of_cells` writes it.

    >>> label_name(1.0), label_name("N/A")
    ('1', None)
    """
    return labels_of_cells([cell_of(value)])[0]


def no_truth_value(where: str, cell: object, arguments: Sequence[str]) -> DataError:
    """The error for a cell of a label that says neither yes nor no. where: its row and column."""
    return DataError(
        f"{where}: {shown(cell)} does not say whether the item has the label; write 0 or 1, yes or "
        "no, true or false",
        arguments=arguments,
    )


def check_separator(where: str, separator: str, cells: Sequence[str]) -> None:
    """Refuse a separator that no cell contains, if another one divides cells.

    where: the table and its column.
    """
    if any(separator in cell for cell in cells):
        return
    for other in USUAL_SEPARATORS:
        example = next((cell for cell in cells if other in cell.strip()), None)
        if example is not None:
            raise DataError(
                f"{where} never contains the separator {separator!r}, but cells such as "
                f"{shown(example)} contain {other!r}; give that one",
                arguments=["separator"],
            )
