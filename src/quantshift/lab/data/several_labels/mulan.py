"""Data sets with several labels as Mulan distributes them: an ARFF file, and label names in XML.

Mulan (G. Tsoumakas and others, JMLR 12, 2011) and most collections of such data name the label
columns in a file of their own, `<labels><label name="..."/>...</labels>`, with labels within labels
where there is a hierarchy.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.sparse import csr_array

from quantshift.errors import DataError, UserError
from quantshift.multilabel.label_tables import LabelTable, label_table
from quantshift.tables.columns.cell_names import number_of
from quantshift.tables.files.broken_files import explained
from quantshift.tables.files.chunks import require_columns
from quantshift.tables.formats.arff import (
    ARFF,
    NO_NUMBER,
    UNDECLARED,
    Attribute,
    read_header,
    read_rows,
    wrong_value,
)
from quantshift.tables.reading import open_file
from quantshift.tables.table_files import table_file

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
        header, columns = read_header(file), open_file(file).columns
    require_columns(file.name, columns, names)
    chosen = set(names)
    features = _columns([(p, a) for p, a in enumerate(header.attributes) if a.name not in chosen])
    if not names or not features:
        raise DataError(f"{file.name}: give at least one label, and leave at least one feature")
    for feature in features.values():
        if not feature.attribute.is_number and feature.attribute.levels is None:
            raise DataError(
                f"{file.name}: {feature.attribute.name!r} holds strings or dates, which are no "
                "numbers; leave it out of the file"
            )
    position_of = {name: position for position, name in enumerate(columns)}
    label_columns = [
        _Label(name, position, header.attributes[position].default)
        for name, position in ((name, position_of[name]) for name in names)
    ]
    matrix, flags = _SparseMatrix(features), []
    with explained(file.name):
        for number, row in enumerate(read_rows(file, header), start=1):
            matrix.add(f"{file.name}: line {row.line}", row.by_position)
            where = f"{file.name}: row {number}"
            flags.append([label.is_on(where, row.by_position) for label in label_columns])
    if not flags:
        raise DataError(f"{file.name}: no rows after '@data'")
    X = matrix.matrix()
    return LabelledItems(
        X if header.sparse else X.toarray(),
        label_table(np.array(flags), names),
        tuple(name for feature in features.values() for name in feature.names),
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


@dataclass(frozen=True)
class _Feature:
    """A feature and its columns of numbers: one, or one for each of three or more levels.

    start: the first of these columns.
    """

    attribute: Attribute
    start: int

    @cached_property
    def names(self) -> list[str]:
        name, levels = self.attribute.name, self.attribute.levels
        return [name] if levels is None or len(levels) <= 2 else [f"{name} = {x}" for x in levels]

    @cached_property
    def _by_level(self) -> Mapping[str, list[tuple[int, float]]]:
        levels = self.attribute.levels or ()
        if len(self.names) > 1:
            return {level: [(self.start + k, 1.0)] for k, level in enumerate(levels)}
        if set(levels) == {ABSENT, PRESENT}:
            return {level: [(self.start, float(level))] for level in levels}
        return {level: [(self.start, float(k))] for k, level in enumerate(levels)}

    def entries(self, where: str, cell: str | None) -> list[tuple[int, float]]:
        """What a value puts into which columns; all others are 0. NaN where it is missing."""
        if cell is None:
            return [(self.start + k, np.nan) for k in range(len(self.names))]
        if self.attribute.is_number:
            value = number_of(cell)
            if value is None:
                raise wrong_value(where, self.attribute, cell, NO_NUMBER)
            return [(self.start, value)]
        if cell not in self._by_level:
            raise wrong_value(where, self.attribute, cell, UNDECLARED)
        return self._by_level[cell]


def _columns(attributes: Sequence[tuple[int, Attribute]]) -> dict[int, _Feature]:
    """The features by their position in a row, with columns of numbers in the same order."""
    features: dict[int, _Feature] = {}
    start = 0
    for position, attribute in attributes:
        features[position] = _Feature(attribute, start)
        start += len(features[position].names)
    return features


class _SparseMatrix:
    """Rows of features that become a matrix. Time and memory grow with the cells that are not 0."""

    def __init__(self, features: Mapping[int, _Feature]) -> None:
        self.features = features
        # Positions that a row may leave out although their columns are not 0 then.
        self.filled = {
            position: feature.entries("", feature.attribute.default)
            for position, feature in features.items()
            if any(value for _, value in feature.entries("", feature.attribute.default))
        }
        self.values, self.columns, self.ends = array("d"), array("q"), array("q", [0])

    def add(self, where: str, cells: Mapping[int, str | None]) -> None:
        entries = [
            entry
            for position, cell in cells.items()
            if position in self.features
            for entry in self.features[position].entries(where, cell)
        ]
        for position, of_default in self.filled.items():
            if position not in cells:
                entries += of_default
        filled = sorted(entry for entry in entries if entry[1] != 0)
        self.columns.extend(column for column, _ in filled)
        self.values.extend(value for _, value in filled)
        self.ends.append(len(self.values))

    def matrix(self) -> csr_array:
        n_columns = sum(len(feature.names) for feature in self.features.values())
        shape = (len(self.ends) - 1, n_columns)
        return csr_array(tuple(map(np.array, (self.values, self.columns, self.ends))), shape=shape)


@dataclass(frozen=True)
class _Label:
    """A label: its name, its position in a row, and what a sparse row means by leaving it out."""

    name: str
    position: int
    default: str | None

    def is_on(self, where: str, cells: Mapping[int, str | None]) -> bool:
        """Whether an item has the label; anything but 0 and 1 is refused."""
        cell = cells.get(self.position, self.default)
        if cell in (ABSENT, PRESENT):
            return cell == PRESENT
        value = None if cell is None else number_of(cell)
        if value not in (0, 1):
            raise DataError(
                f"{where}: label {self.name!r} is "
                f"{'missing' if cell is None else repr(cell)}; it must be 0 or 1"
            )
        return value == 1
