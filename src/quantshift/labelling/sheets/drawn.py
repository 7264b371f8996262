"""Sheets of items for people to label: which rows of a table, in which order, and the file."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from quantshift.base.forks import uses_tables
from quantshift.base.storage.files import check_output, write_output
from quantshift.errors import UserError
from quantshift.labelling.sheets.content import content_check, texts_of
from quantshift.labelling.sheets.sheet_columns import (
    CHECK,
    ITEM,
    OWN,
    PLACE,
    PLAN,
    PROBABILITY,
    in_the_table,
    named_plan,
    row_check,
)
from quantshift.tables.files.spreadsheet_cells import escaped
from quantshift.tables.formats import known_formats
from quantshift.tables.formats.table_format import Rows
from quantshift.tables.reading import OpenTable, open_table


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DrawnSheet:
    """Items of a table that people are asked to label.

    rows: the row numbers of the items in the table, from 1, in the order of labelling.
    label: the name of the column to fill in. content: the columns that an item's check is computed
        from. inputs: what the sheet was drawn from, which it never replaces.
    labels: those of rows that have one already.
    probabilities: with which the rows were chosen, if it is not the same for all.
    """

    table: OpenTable
    rows: tuple[int, ...]
    label: str
    content: tuple[str, ...]
    inputs: tuple[object, ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)
    probabilities: tuple[str, ...] | None = None

    @uses_tables
    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the items to label as CSV, TSV or Parquet.

        The columns are the item number, the label to fill in, all columns of the table, the
        probability with which the item was chosen (if they differ), the plan, the place in the
        order of labelling and a check of all these. Columns of the table that are called like one
        of the sheet's get another name. Cells that a spreadsheet would take for formulas are
        escaped; `quantify` and `judge` undo this when they read the sheet.
        """
        check_sheet(path, inputs=self.inputs, overwrite=overwrite)
        added = () if self.probabilities is None else (PROBABILITY,)
        own = {*OWN, *added}
        if self.label in own:
            raise UserError(
                f"a sheet has a column {self.label!r} of its own; call the label otherwise",
                arguments=["label"],
            )
        columns = [name for name in self.table.columns if name != self.label]
        names = [in_the_table(name) if name in own else name for name in columns]
        header = [escaped(name) for name in (ITEM, self.label, *names, *added, PLAN, PLACE, CHECK)]
        encode = _writer(Path(path))
        encoded = encode(Path(path).suffix.lower(), header, list(self._lines(columns)))
        write_output(path, encoded, inputs=self.inputs, overwrite=overwrite, ours=is_blank_sheet)

    def _lines(self, columns: Sequence[str]) -> Iterator[list[str | None]]:
        """The cells of the rows, escaped. columns: those of the table that are on the sheet."""
        cells_of = self._cells(columns)
        chances = self.probabilities or [None] * len(self.rows)
        plan = named_plan(
            [str(item), cells_of[item][1], chance or ""]
            for item, chance in zip(self.rows, chances, strict=True)
        )
        for place, (item, chance) in enumerate(zip(self.rows, chances, strict=True), start=1):
            cells, digest = cells_of[item]
            line = [str(item), self.labels.get(item), *cells]
            if chance is not None:
                line.append(chance)
            line += [plan, str(place), row_check(digest, plan, item, place, chance)]
            yield [None if cell is None else escaped(cell) for cell in line]

    def _cells(self, columns: Sequence[str]) -> dict[int, tuple[Sequence[str | None], str]]:
        """The cells of each row as texts, and the digest of its content."""
        rows = set(self.rows)
        cells_of: dict[int, tuple[Sequence[str | None], str]] = {}
        with closing(self.table.chunks(self.table.columns)) as chunks:
            for chunk in chunks:
                positions = [i for i in range(len(chunk)) if chunk.first + i in rows]
                if not positions:
                    continue
                texts = texts_of(chunk.columns[positions])
                checks = content_check({name: texts[name] for name in self.content})
                for j, (i, check) in enumerate(zip(positions, checks, strict=True)):
                    cells_of[chunk.first + i] = [texts[name][j] for name in columns], check
        return cells_of


def check_sheet(
    path: str | Path, *, inputs: Iterable[object] = (), overwrite: bool = False
) -> None:
    """Check the path of a sheet before it is drawn: a sheet with labels is never replaced.

    inputs: what it is drawn from; overwrite: replace any other file, even one with labels.
    """
    _writer(Path(path))
    check_output(path, inputs=inputs, overwrite=overwrite, ours=is_blank_sheet)


def is_blank_sheet(path: Path) -> bool:
    """Whether this is a sheet that quantshift has drawn; raises an error if it holds labels."""
    try:
        table = open_table(path)
        if len(table.columns) < 3 or (table.columns[0], table.columns[-1]) != (ITEM, CHECK):
            return False
        label = table.columns[1]
        with closing(table.chunks([label])) as chunks:
            n_labels = sum(chunk.columns[label].count() for chunk in chunks)
    except (UserError, OSError):
        return False
    if n_labels:
        raise UserError(
            f"{path} holds {n_labels} labels; name another file, or overwrite it",
            arguments=["out", "overwrite"],
        )
    return True


def _writer(path: Path) -> Callable[[str, Sequence[str], Rows], bytes]:
    """What turns header and rows into the content of a sheet with this name."""
    writers = {e: f.write for f in known_formats() if f.write is not None for e in f.endings}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise UserError(f"{path}: a sheet is written as one of {', '.join(writers)}; rename it")
    return writer
