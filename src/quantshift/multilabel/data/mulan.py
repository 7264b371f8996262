"""Data sets with several labels as Mulan distributes them: an ARFF file, and label names in XML.

Mulan (G. Tsoumakas and others, JMLR 12, 2011) and most collections of such data name the label
columns in a file of their own, `<labels><label name="..."/>...</labels>`, with labels within labels
where there is a hierarchy.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from quantshift.base.types import Flags, Reals
from quantshift.errors import DataError, UserError
from quantshift.multilabel.label_tables import LabelTable, label_table
from quantshift.tables.broken_files import explained
from quantshift.tables.chunks import require_columns
from quantshift.tables.files import table_file
from quantshift.tables.formats.arff import ARFF, Attribute, read_header
from quantshift.tables.reading import open_file

LABEL = "label"
"""The elements of the XML file that name labels, in any namespace."""

ABSENT, PRESENT = "0", "1"


@dataclass(frozen=True, eq=False)
class LabelledItems:
    """Items with their labels.

    X: features as numbers, (n_items, n_features), dense or sparse; NaN where a value is missing.
    labels: the labels of each item. features: names of the columns of X.
    """

    X: Any
    labels: LabelTable
    features: tuple[str, ...]


def load_mulan(arff: str | Path, labels: str | Path | Sequence[str]) -> LabelledItems:
    """The items of an ARFF file (`.arff` or `.arff.gz`), whose label columns hold 0 and 1.

    labels: the XML file that names the label columns, or their names.

    All other columns are features. Numbers stay as they are. In a column with two declared values
    the second one becomes 1; with more values, every value becomes a column of its own, so that
    files with the same header give the same columns. X is sparse if the rows of the file are.
    """
    names = read_label_names(labels) if isinstance(labels, str | Path) else list(labels)
    with explained(str(arff)):
        file = table_file(arff)
        if file.format is not ARFF:
            raise UserError(f"{file.name}: not an ARFF file; give one that ends in .arff")
        header, table = read_header(file), open_file(file)
    require_columns(file.name, table.columns, names)
    features = [attribute for attribute in header.attributes if attribute.name not in set(names)]
    if not names or not features:
        raise DataError(f"{file.name}: give at least one label, and leave at least one feature")
    for attribute in features:
        if not attribute.is_number and attribute.levels is None:
            raise DataError(
                f"{file.name}: {attribute.name!r} holds strings or dates, which are no numbers; "
                "leave it out of the file"
            )
    matrices, flags = [], []
    with closing(table.chunks(table.columns)) as chunks:
        for chunk in chunks:
            columns = [_numbers(chunk.columns[a.name], a) for a in features]
            matrix = np.concatenate(columns, axis=1)
            matrices.append(csr_array(matrix) if header.sparse else matrix)
            flags.append(_flags(file.name, chunk.columns.select(names), chunk.first))
    if not flags:
        raise DataError(f"{file.name}: no rows after '@data'")
    return LabelledItems(
        csr_array(vstack(matrices)) if header.sparse else np.concatenate(matrices),
        label_table(np.concatenate(flags), names),
        tuple(name for attribute in features for name in _column_names(attribute)),
    )


def read_label_names(xml: str | Path) -> list[str]:
    """The names of the labels in an XML file of Mulan, nested ones too, in its order."""
    path = Path(xml)
    with explained(str(path)):
        content = path.read_bytes()
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise DataError(f"{path}: not a readable XML file ({error})") from error
    elements = [e for e in root.iter() if e.tag.rpartition("}")[2] == LABEL]
    names = [element.get("name") for element in elements]
    if not names:
        raise DataError(f'{path}: no labels; expected <labels><label name="..."/>...</labels>')
    unnamed = next((i for i, name in enumerate(names, start=1) if not name), None)
    if unnamed is not None:
        raise DataError(f"{path}: label {unnamed} has no name")
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise DataError(f"{path}: label {repeated!r} is named twice")
    return [str(name) for name in names]


def _numbers(cells: pl.Series, attribute: Attribute) -> Reals:
    """A feature as one or more columns of numbers, NaN where missing."""
    if attribute.levels is None or set(attribute.levels) == {ABSENT, PRESENT}:
        return _as_floats(cells.cast(pl.Float64))
    codes = _as_floats(cells.replace_strict(_codes(attribute.levels), return_dtype=pl.Float64))
    if len(attribute.levels) <= 2:
        return codes
    indicators: Reals = (codes == np.arange(len(attribute.levels))).astype(np.float64)
    indicators[np.isnan(codes[:, 0])] = np.nan
    return indicators


def _codes(levels: Sequence[str]) -> dict[str, int]:
    return {level: code for code, level in enumerate(levels)}


def _as_floats(values: pl.Series) -> Reals:
    column: NDArray[np.float64] = values.fill_null(np.nan).to_numpy().reshape(-1, 1)
    return column


def _column_names(attribute: Attribute) -> list[str]:
    if attribute.levels is None or len(attribute.levels) <= 2:
        return [attribute.name]
    return [f"{attribute.name} = {level}" for level in attribute.levels]


def _flags(name: str, columns: pl.DataFrame, first: int) -> Flags:
    """Which labels the items have; anything but 0 and 1 is refused."""
    values = columns.select(pl.all().cast(pl.Float64, strict=False).fill_null(np.nan)).to_numpy()
    wrong = ~((values == 0) | (values == 1))
    if wrong.any():
        row, label = np.argwhere(wrong)[0].tolist()
        cell = columns[row, label]
        raise DataError(
            f"{name}: row {first + row}: label {columns.columns[label]!r} is "
            f"{'missing' if cell is None else repr(cell)}; it must be 0 or 1"
        )
    flags: Flags = values == 1
    return flags
