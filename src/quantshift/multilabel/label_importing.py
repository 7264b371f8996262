"""Import items with several labels: tables with a column for each label or with all in one, Mulan.

A label is a column of 0 and 1 (yes and no, true and false), or a word in the cells of one column.
Mulan's files are ARFF tables and an XML file that names the columns of the labels. A second table
has the test items; of a single one, some items are kept for testing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from quantshift.base.forks import uses_tables
from quantshift.base.nouns import counted, listed
from quantshift.base.options import OPTIONS, option, split_names
from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices
from quantshift.data.importing.options import ImportedColumns, ImportOptions
from quantshift.data.importing.table import source_of
from quantshift.errors import DataError, UserError
from quantshift.multilabel.label_data import LABEL_DATA, LabelData, write_label_data
from quantshift.multilabel.label_tables import FEWEST, LabelTable
from quantshift.multilabel.mulan import LabelledItems, load_mulan, read_label_names
from quantshift.multilabel.related_labels import frequent_together
from quantshift.tables.columns.cell_names import shown
from quantshift.tables.columns.kinds import choose, label_names
from quantshift.tables.columns.labels import TRUTHS, check_separator
from quantshift.tables.columns.names import check_data_set_name, folder_name
from quantshift.tables.preparation import TablePreparation
from quantshift.tables.reading import read_frame

XML = ".xml"
ARFF_ENDINGS = (".arff", ".arff.gz")
TEST_SHARE = 1 / 3
"""Of the items of a single table, if the user does not say."""

RAGGED = "have too many or too few cells"

NAMED = 5
"""Labels that a note names; of the others it gives the number."""


@dataclass(frozen=True)
class ImportedLabels:
    """Which labels items have. label: the columns; separator: what is between labels in a cell;
    most_labels: how many of them are used."""

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
        that names the columns of the labels.
    label: the columns of the labels, instead; or the one that holds all of them, with `separator`.
    most_labels: use at most so many labels, those of the pairs that occur together most often.
    drop: columns to leave out. options: test_share (a third, if there is one table), split_seed,
        name, title, overwrite.
    """
    tables, names = _sorted_files(files, label, separator)
    LABEL_DATA.check_free(Path(out), overwrite=options.overwrite, inputs=[*map(Path, files)])
    if options.name is not None:
        check_data_set_name(options.name)
    notes: list[str] = []
    if all(str(table).endswith(ARFF_ENDINGS) for table in tables):
        parts = _arff_parts(tables, names, drop, options)
    else:
        cells = _LabelCells(tuple(names), separator)
        parts = _table_parts(tables, cells, drop, options, notes, lenient=lenient)
    parts = _with_labels(parts, most_labels, notes)
    about = {
        "name": options.name or folder_name(Path(out).absolute().name),
        "title": options.title or tables[0].name,
        "notes": notes,
        "sources": [source_of(Path(file)) for file in files],
    }
    return write_label_data(Path(out), parts, about, overwrite=options.overwrite)


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
    twice = next((name for name in label if label.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"the label {twice!r} is named twice; name it once", arguments=["label"])
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
    read = [load_mulan(table, names) for table in tables]
    if len(read) == 1:
        return [_taken(read[0], rows) for rows in _split(len(read[0].labels), options)]
    if read[0].features != read[1].features:
        raise DataError(
            f"{tables[0].name} and {tables[1].name} have different columns; they need the same ones"
        )
    return read


@dataclass(frozen=True)
class _LabelCells:
    """How labels are written in a table; see `ImportedLabels`."""

    columns: tuple[str, ...]
    separator: str | None

    def read(self, name: str, frame: pl.DataFrame) -> tuple[list[set[str]], Flags]:
        """The labels of every row, and which rows say them."""
        if self.separator is None:
            truths = [self._truths(name, frame[column]) for column in self.columns]
            known = np.logical_and.reduce([t.is_not_null().to_numpy() for t in truths])
            rows = zip(*(t.to_list() for t in truths), strict=True)
            sets = [{n for n, has in zip(self.columns, row, strict=True) if has} for row in rows]
            return sets, known
        cells = frame[self.columns[0]]
        texts = label_names(cells, ())
        said = label_names(cells).is_not_null() | texts.is_null()
        filled = texts.fill_null("").to_list()
        check_separator(f"{name}: column {self.columns[0]!r}", self.separator, filled)
        sets = [{p.strip() for p in cell.split(self.separator) if p.strip()} for cell in filled]
        return sets, said.to_numpy()

    def names(self, sets: Sequence[set[str]]) -> list[str]:
        """The labels: those of the columns, or those that occur."""
        return list(self.columns) if self.separator is None else sorted(set().union(*sets))

    def _truths(self, name: str, column: pl.Series) -> pl.Series:
        names = label_names(column)
        truths = names.str.to_lowercase().replace_strict(
            dict(TRUTHS), default=None, return_dtype=pl.Boolean
        )
        wrong = (truths.is_null() & names.is_not_null()).arg_true()
        if len(wrong):
            row = int(wrong[0])
            raise DataError(
                f"{name}: row {row + 1}, column {column.name!r}: {shown(names[row])} does not say "
                "whether the item has the label; write 0 or 1, yes or no, true or false",
                arguments=["label", "separator"],
            )
        return truths


def _table_parts(
    tables: Sequence[Path],
    cells: _LabelCells,
    drop: Sequence[str],
    options: ImportOptions,
    notes: list[str],
    *,
    lenient: bool,
) -> list[LabelledItems]:
    """The items of tables; how columns become numbers is learnt from the training items."""
    frames: list[pl.DataFrame] = []
    labels: list[list[set[str]]] = []
    for table in tables:
        frame = read_frame(table, lenient=lenient)
        for column in (*cells.columns, *drop):
            frame.require(column)
        sets, known = cells.read(frame.name, frame.columns)
        rows = np.flatnonzero(known)
        if not len(rows):
            raise DataError(
                f"{frame.name}: no row says its labels in {listed([*map(repr, cells.columns)])}"
            )
        frames.append(frame.columns[rows])
        labels.append([sets[i] for i in rows])
        notes += frame.notes
        for n, why in ((len(known) - len(rows), "do not say their labels"), (frame.ragged, RAGGED)):
            if n:
                notes.append(f"{counted(n, 'row')} of {table.name} {why} and are left out")
    if len(frames) == 1:
        split = _split(len(frames[0]), options)
        frames = [frames[0][rows] for rows in split]
        labels = [[labels[0][i] for i in rows] for rows in split]
    names = cells.names(labels[0])
    train, test = (frame.drop([*cells.columns, *drop]) for frame in frames)
    columns, left_out = choose(train)
    notes += [f"column {column.name} is not used: {column.reason}" for column in left_out]
    if not columns:
        raise DataError(f"{tables[0].name}: no column is left as a feature")
    missing = [column.name for column in columns if column.name not in test.columns]
    if missing:
        raise DataError(f"{tables[-1].name}: no column {missing[0]!r}, which {tables[0].name} has")
    preparation, X = TablePreparation.fit_transform(train, columns)
    return [
        LabelledItems(matrix, _flags(sets, names), preparation.names)
        for matrix, sets in zip((X, preparation.transform(test)), labels, strict=True)
    ]


def _flags(sets: Sequence[set[str]], names: Sequence[str]) -> LabelTable:
    has: Flags = np.zeros((len(sets), len(names)), dtype=bool)
    for j, name in enumerate(names):
        has[:, j] = [name in labels for labels in sets]
    return LabelTable(has, np.array(names, dtype=str))


def _split(n_items: int, options: ImportOptions) -> tuple[Indices, Indices]:
    """Training and test items, drawn at random, in the order of the table."""
    share = options.test_share or TEST_SHARE
    if not 0 < share < 1:
        raise UserError(
            f"test_share={share:g} is not between 0 and 1; give e.g. 0.3", arguments=["test_share"]
        )
    order = generator(options.split_seed, data="labelled items").permutation(n_items)
    n_test = round(share * n_items)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def _taken(items: LabelledItems, rows: Indices) -> LabelledItems:
    return replace(items, X=items.X[rows], labels=items.labels.take(rows))


def _with_labels(
    parts: Sequence[LabelledItems], most: int | None, notes: list[str]
) -> list[LabelledItems]:
    """The parts with the labels that are used: at most so many, and those that can be learnt."""
    has, names = parts[0].labels.has, parts[0].labels.names
    if len(has) == 0 or len(parts[1].labels) == 0:
        raise DataError("no items are left for training or for testing")
    chosen = np.arange(len(names)) if most is None else frequent_together(has, most)
    if len(chosen) < len(names):
        notes.append(f"{len(chosen)} of {len(names)} labels are used")
    counts = has[:, chosen].sum(axis=0)
    learnable = np.minimum(counts, len(has) - counts) >= FEWEST
    unlearnable = names[chosen[~learnable]].tolist()
    if unlearnable:
        more = f" and {len(unlearnable) - NAMED} more" if len(unlearnable) > NAMED else ""
        notes.append(
            f"too few training items with or without them to learn, and not used: "
            f"{', '.join(map(str, unlearnable[:NAMED]))}{more}"
        )
    kept = chosen[learnable]
    if not len(kept):
        raise DataError("no label has enough training items with and without it to be learnt")
    return [
        replace(part, labels=LabelTable(part.labels.has[:, kept], part.labels.names[kept]))
        for part in parts
    ]
