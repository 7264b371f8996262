"""Labels in the cells of a table, as strings that do not depend on the format of the file."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from quantshift.errors import DataError
from quantshift.tables.columns.cell_names import cell_of, names_of, shown

if TYPE_CHECKING:
    import polars as pl

MISSING_LABELS = ("NA", "N/A", "n/a", "NaN", "NULL", "null", "None", "nan")
"""Cells that mean no label, in addition to empty ones."""

TRUTHS: Mapping[str, bool] = MappingProxyType(
    dict.fromkeys(("1", "yes", "y", "true", "t"), True)
    | dict.fromkeys(("0", "no", "n", "false", "f"), False)
)
"""What the cells of a column that stands for one of several labels may hold, in lower case."""

USUAL_SEPARATORS = (";", "|", ",", "/", "+", "\t", "\n")
"""Looked for in cells that never contain the separator that was given."""


def label_names(column: "pl.Series", missing: Sequence[str] | None = None) -> "pl.Series":
    """Labels as strings, independent of the file format; null if missing.

    >>> import polars as pl
    >>> label_names(pl.Series(["1.0", "1", " yes", "NA", ""])).to_list()
    ['1', '1', 'yes', None, None]
    """
    import polars as pl

    if column.dtype == pl.Boolean:
        names = column.replace_strict({True: "True", False: "False"}, return_dtype=pl.String)
    else:
        names = names_of(column)
    missing_names = list(MISSING_LABELS if missing is None else (m.strip() for m in missing))
    return names.replace(missing_names, None) if missing_names else names


def label_name(value: Any) -> str | None:
    """One label as `label_names` writes it.

    >>> label_name(1.0), label_name("N/A")
    ('1', None)
    """
    import polars as pl

    name: str | None = label_names(pl.Series([cell_of(value)]))[0]
    return name


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
