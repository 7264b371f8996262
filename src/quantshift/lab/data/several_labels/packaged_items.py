"""Items with several labels from the files of other packages, by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quantshift.base.forks import uses_tables
from quantshift.errors import unknown_name
from quantshift.lab.data.importing.options import ImportOptions
from quantshift.lab.data.packaged.label_tables import LABEL_TABLES, packaged_labels
from quantshift.lab.data.several_labels.labelled_rows import (
    LabelCells,
    prepared_items,
    with_used_labels,
)
from quantshift.lab.data.several_labels.mulan import LabelledItems


@dataclass(frozen=True, eq=False)
class PackagedItems:
    """A data set of another package.

    parts: its training and its test items. notes: where they come from, and how columns were used.
    """

    name: str
    title: str
    parts: Sequence[LabelledItems]
    notes: Sequence[str]


def is_packaged_name(files: Sequence[str | Path]) -> bool:
    """Whether this is the name of such a data set, and not that of a file or folder."""
    return len(files) == 1 and str(files[0]) in LABEL_TABLES and not Path(files[0]).exists()


@uses_tables
def load_packaged_items(
    name: str,
    *,
    most_labels: int | None = None,
    drop: Sequence[str] = (),
    options: ImportOptions = ImportOptions(),  # noqa: B008 - frozen
) -> PackagedItems:
    """Training and test items of a data set of another package with several labels.

    most_labels: use at most this many labels, those of the pairs that occur together most often.
    drop: columns to leave out. options: test_share (a third) and split_seed.
    """
    data_set = packaged_labels(name)
    rows, notes = data_set.make(), [data_set.origin]
    for column in drop:
        if column not in rows.columns:
            raise unknown_name("column", column, rows.columns)
    cells = LabelCells(data_set.labels, None)
    parts = prepared_items([cells.labelled(name, rows)], cells, drop, options, notes)
    parts = with_used_labels(parts, most_labels, notes)
    return PackagedItems(name, data_set.about, parts, notes)
