"""Import items with several labels: tables with a column for each label or with all in one, Mulan.

A label is a column of 0 and 1 (yes and no, true and false), or a word in the cells of one column.
Mulan's files are ARFF tables and an XML file that names the columns of the labels. A second table
has the test items; if there is only one table, some of its items are kept for testing. The name of
a data set of another package stands for its table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quantshift.base.forks import uses_tables
from quantshift.base.nouns import counted
from quantshift.base.options import OPTIONS, option, split_names
from quantshift.base.types import Indices
from quantshift.errors import DataError, UserError
from quantshift.lab.data.importing.options import ImportedColumns, ImportOptions
from quantshift.lab.data.importing.table import source_of
from quantshift.lab.data.several_labels.label_data import LABEL_DATA, LabelData, write_label_data
from quantshift.lab.data.several_labels.labelled_rows import (
    LabelCells,
    LabelledRows,
    prepared_items,
    random_split,
    with_used_labels,
)
from quantshift.lab.data.several_labels.mulan import LabelledItems, load_mulan, read_label_names
from quantshift.lab.data.several_labels.packaged_items import is_packaged_name, load_packaged_items
from quantshift.tables.columns.names import check_data_set_name, folder_name
from quantshift.tables.reading import read_frame

XML = ".xml"
ARFF_ENDINGS = (".arff", ".arff.gz")
RAGGED = "have too many or too few cells"


@dataclass(frozen=True)
class ImportedLabels:
    """Which labels items have. separator: what is between labels in a cell; most_labels: how many
    labels are used."""

    separator: str | None = option(
        None,
        "With the layout labels: what is between the labels in the cells of their column.",
        metavar="';'",
        panel=OPTIONS,
    )
    most_labels: int | None = option(
        None,
        "With the layout labels: use at most this many labels, those of the pairs that occur "
        "together most often (10: as in the published experiments).",
        metavar="N",
        least=1,
        panel=OPTIONS,
    )


@uses_tables
def import_labelled_items(
    files: Sequence[str | Path],
    out: str | Path,
    *,
    label: Sequence[str] = (),
    separator: str | None = None,
    most_labels: int | None = None,
    drop: Sequence[str] = (),
    lenient: bool = False,
    options: ImportOptions = ImportOptions(),  # noqa: B008 - frozen
) -> LabelData:
    """Import items with several labels into the folder `out`.

    files: a table, or one of training and one of test items; for data of Mulan also the XML file
        that names the columns of the labels. Or the name of a data set of another package.
    label: the columns of the labels, instead; or the one that holds all of them, with `separator`.
    most_labels: use at most this many labels, those of the pairs that occur together most often.
    drop: columns to leave out. options: test_share (a third, if there is one table), split_seed,
        name, title, overwrite.
    """
    if is_packaged_name(files):
        if label or separator is not None:
            raise UserError(
                f"{files[0]} has labels of its own; leave them out",
                arguments=["label", "separator"],
            )
        _check_output(out, options, ())
        packaged = load_packaged_items(
            str(files[0]), most_labels=most_labels, drop=drop, options=options
        )
        about = _about(out, options, packaged.title, packaged.notes)
        return write_label_data(Path(out), packaged.parts, about, overwrite=options.overwrite)
    tables, names = _sorted_files(files, label, separator)
    _check_output(out, options, files)
    notes: list[str] = []
    if all(str(table).endswith(ARFF_ENDINGS) for table in tables):
        parts = _arff_parts(tables, names, drop, options)
    else:
        cells = LabelCells(tuple(names), separator)
        rows = [_table_rows(table, cells, drop, notes, lenient=lenient) for table in tables]
        parts = prepared_items(rows, cells, drop, options, notes)
    parts = with_used_labels(parts, most_labels, notes)
    about = _about(out, options, tables[0].name, notes, files)
    return write_label_data(Path(out), parts, about, overwrite=options.overwrite)


def _check_output(out: str | Path, options: ImportOptions, files: Sequence[str | Path]) -> None:
    LABEL_DATA.check_free(Path(out), overwrite=options.overwrite, inputs=[*map(Path, files)])
    if options.name is not None:
        check_data_set_name(options.name)


def _about(
    out: str | Path,
    options: ImportOptions,
    title: str,
    notes: Sequence[str],
    files: Sequence[str | Path] = (),
) -> dict[str, Any]:
    return {
        "name": options.name or folder_name(Path(out).absolute().name),
        "title": options.title or title,
        "notes": list(notes),
        "sources": [source_of(Path(file)) for file in files],
    }


def import_labels_of(
    files: Sequence[str],
    out: Path,
    columns: ImportedColumns,
    labels: ImportedLabels,
    options: ImportOptions,
    *,
    lenient: bool,
) -> LabelData:
    """The same with the options of the command line."""
    return import_labelled_items(
        files,
        out,
        label=split_names(columns.label),
        separator=labels.separator,
        most_labels=labels.most_labels,
        drop=columns.drop,
        lenient=lenient,
        options=options,
    )


def _sorted_files(
    files: Sequence[str | Path], label: Sequence[str], separator: str | None
) -> tuple[list[Path], list[str]]:
    """The tables, and the names of the columns of labels."""
    paths = [Path(file) for file in files]
    xml = [path for path in paths if path.name.endswith(XML)]
    tables = [path for path in paths if path not in xml]
    if len(tables) not in (1, 2):
        raise UserError(
            f"{counted(len(tables), 'table')}: give one, or one of training and one of test items"
        )
    if len(xml) > 1:
        raise UserError(f"{xml[1]}: a second file of label names; give one")
    if xml and (label or separator is not None):
        raise UserError(
            f"{xml[0].name} names the columns of the labels already; leave them out",
            arguments=["label", "separator"],
        )
    if not xml and not label:
        raise UserError(
            "which columns are the labels? name them, or give the XML file of Mulan that does",
            arguments=["label"],
        )
    repeated = next((name for name in label if label.count(name) > 1), None)
    if repeated is not None:
        raise UserError(f"the label {repeated!r} is named twice; name it once", arguments=["label"])
    if separator is not None and len(label) != 1:
        raise UserError(
            "a separator divides the cells of one column; name the one that holds all labels",
            arguments=["label"],
        )
    return tables, read_label_names(xml[0]) if xml else list(label)


def _arff_parts(
    tables: Sequence[Path], names: Sequence[str], drop: Sequence[str], options: ImportOptions
) -> list[LabelledItems]:
    """The items of ARFF files, whose header declares the values of every column."""
    if drop:
        raise UserError("columns of ARFF files cannot be left out", arguments=["drop"])
    parts = [load_mulan(table, names) for table in tables]
    if len(parts) == 1:
        return [_taken(parts[0], rows) for rows in random_split(len(parts[0].labels), options)]
    if parts[0].features != parts[1].features:
        raise DataError(
            f"{tables[0].name} and {tables[1].name} have different columns; they need the same ones"
        )
    return parts


def _table_rows(
    table: Path, cells: LabelCells, drop: Sequence[str], notes: list[str], *, lenient: bool
) -> LabelledRows:
    """The rows of a table that say their labels; what was left out is added to the notes."""
    frame = read_frame(table, lenient=lenient)
    for column in (*cells.columns, *drop):
        frame.require(column)
    labelled = cells.labelled(frame.name, frame.columns)
    notes += (found.sentence for found in frame.findings)
    unlabelled = len(frame.columns) - len(labelled.labels)
    for n, why in ((unlabelled, "do not say their labels"), (frame.ragged, RAGGED)):
        if n:
            notes.append(f"{counted(n, 'row')} of {table.name} {why} and are left out")
    return labelled


def _taken(items: LabelledItems, rows: Indices) -> LabelledItems:
    return replace(items, X=items.X[rows], labels=items.labels.take(rows))
