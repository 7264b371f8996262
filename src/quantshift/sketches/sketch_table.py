"""A sketch: how many rows of each batch are in each cell, and what the cells stand for.

A sketch is a table of whole numbers. Two of them are merged by adding, so that the result is the
same, to the last bit, in whatever order and parts the rows were counted. While all rows together
have at most `MOST_VALUES` different scores (`MOST_LABELLED` if they are labelled: a method's
thresholds come from them), these are kept and nothing is lost; above that, cells (see `cells`) take
their place. Rows that cannot be used are counted too: the numbers of a sketch
always sum to the number of rows.
"""

import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from quantshift.errors import DataError, UserError
from quantshift.files import write_output
from quantshift.nouns import counted
from quantshift.quantifiers.items import Items
from quantshift.sketches import cells
from quantshift.types import Posteriors

FORMAT, VERSION = "quantshift sketch", 2
"""Version 1 has other cells of more than two classes; in all else it is the same."""

METADATA = b"quantshift"
"""Where the description stands in the file."""

MOST_VALUES = 1024
"""Up to so many different scores, or rows of posteriors, are kept as they are."""

MOST_LABELLED = 1 << 16
"""The same of labelled rows, of which there is one set for all batches."""

MOST_CELLS = 20_000_000
"""A sketch that would be larger has the wrong column for its batches."""

BATCH, LABEL, CELL, COUNT, SKETCH = "batch", "label", "cell", "n", "sketch"
BY, VALUE, SUM = "by_", "value_", "sum_"
PRODUCTS = ("left_left", "left_rest", "rest_rest")


@dataclass(frozen=True)
class About:
    """What a sketch was made of.

    classes: the columns of the posteriors, or the one of the score.
    by: further columns by which rows were counted. label: the column of the labels, if these were
    counted.
    """

    classes: tuple[str, ...]
    by: tuple[str, ...] = ()
    label: str | None = None

    @property
    def labelled(self) -> bool:
        """Whether labels were counted."""
        return self.label is not None

    @property
    def n_classes(self) -> int:
        """How many classes the posteriors are of."""
        return max(len(self.classes), 2)

    @property
    def most_values(self) -> int:
        """Up to how many different scores are kept as they are."""
        return MOST_LABELLED if self.labelled else MOST_VALUES

    @property
    def keys(self) -> list[str]:
        """The columns by which rows are counted, beside their cell."""
        return [BATCH, *(BY + name for name in self.by), *([LABEL] if self.labelled else [])]

    @property
    def values(self) -> list[str]:
        """The columns of scores that are kept as they are."""
        return [VALUE + str(k) for k in range(1 if self.n_classes == 2 else self.n_classes)]

    @property
    def sums(self) -> list[str]:
        """The columns of sums of posteriors of a cell."""
        return [] if self.n_classes == 2 else [SUM + str(k) for k in range(self.n_classes)]

    @property
    def totals(self) -> list[str]:
        """The columns that are summed over the rows of a cell, but for their number."""
        return [] if self.n_classes == 2 else [*self.sums, *PRODUCTS]

    @property
    def joint(self) -> cells.JointCells:
        """The numbering of the cells of more than two classes."""
        return cells.JointCells.of(self.n_classes, labelled=self.labelled)

    @property
    def end_of_rows(self) -> int:
        """Cells below this one count every row once; those from it on are marginal."""
        return cells.n_cells(2) if self.n_classes == 2 else self.joint.n_joint

    def described(self) -> str:
        """In a line, as a query has it in the column `sketch`."""
        return json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)})

    @classmethod
    def parse(cls, text: str, source: str) -> tuple[Self, dict[str, Any]]:
        """From what `described` has written; also all that is written there."""
        try:
            written = json.loads(text)
            if written["format"] != FORMAT:
                raise KeyError
            version = int(written["version"])
            classes, by = tuple(written["classes"]), tuple(written["by"])
            about = cls(classes, by, _name_or_none(written["label"]))
        except (ValueError, KeyError, TypeError):
            raise _not_a_sketch(source) from None
        if not 1 <= version <= VERSION:
            raise DataError(
                f"{source}: a sketch of version {version}, this quantshift reads {VERSION}; make "
                "it again, or use the quantshift that made it"
            )
        return about, written


@dataclass(frozen=True, eq=False)
class Sketch:
    """Counts of rows by batch, further keys and cell.

    table: sorted; columns `batch`, `by_NAME`, `label` (strings, null if missing), `cell`, either
        `value_0`, ... (the scores as they are) or `sum_0`, ..., `left_left`, ... (what cells of
        more than two classes sum up), and `n`. More than two classes in cells have further rows,
        whose cells are those of each class's posterior.
    """

    about: About
    table: pl.DataFrame

    @classmethod
    def of(cls, about: About, parts: Sequence[pl.DataFrame]) -> Self:
        """The counts of parts together; each has scores as they are, or cells."""
        table = added(about, parts)
        check_size(table)
        return cls(about, table.sort(table.columns[:-1]))

    @classmethod
    def of_sorted(cls, about: About, table: pl.DataFrame) -> Self:
        """Of a table in our order in which every key and cell is once."""
        check_size(table)
        return cls(about, table)

    @property
    def is_exact(self) -> bool:
        """Whether the scores are kept as they are, so that nothing was lost."""
        return self.about.values[0] in self.table.columns

    @property
    def n_rows(self) -> int:
        """How many rows were counted."""
        return int(self.table.filter(pl.col(CELL) < self.about.end_of_rows)[COUNT].sum())

    @property
    def batches(self) -> list[str | None]:
        """The batches in order; None is that of rows without one."""
        return list(rows_by_batch(self.table))

    @property
    def left_out(self) -> dict[str, int]:
        """Rows that were counted but cannot be used, by the reason."""
        by_cell = self.table.group_by(CELL).agg(pl.col(COUNT).sum())
        counts = {cell: n for cell, n in by_cell.iter_rows() if cell < 0}
        return {cells.REASONS[cell]: counts[cell] for cell in sorted(counts, reverse=True)}

    def binned(self) -> "Sketch":
        """The same rows in cells, as a warehouse counts them."""
        return Sketch.of(self.about, [binned(self.about, self.table)])

    def merge(self, *others: "Sketch") -> "Sketch":
        """The rows of all sketches together, the same in any order."""
        for other in others:
            if other.about != self.about:
                raise DataError(
                    f"sketches of {_told(self.about)} and of {_told(other.about)} cannot be "
                    "merged: make them with the same options"
                )
        return Sketch.of(self.about, [self.table, *(other.table for other in others)])

    def to_items(self, batch: str | None = None) -> Items:
        """The usable rows as items, one for each cell, whose weights are the counts.

        batch: of this batch only; None: of all.
        """
        used = self.usable()
        if batch is not None:
            used = used.filter(pl.col(BATCH) == batch)
        counts = used[COUNT].to_numpy().astype(np.float64)
        return Items(self.posteriors_of(used), weights=counts)

    def usable(self) -> pl.DataFrame:
        """The rows of the table that have scores, each item counted once."""
        used = self.table[CELL].is_between(0, self.about.end_of_rows, closed="left")
        return self.table if used.all() else self.table.filter(used)

    def marginal(self) -> pl.DataFrame:
        """The counts of each class's posteriors, of more than two classes in cells."""
        return self.table.filter(pl.col(CELL) >= self.about.end_of_rows)

    def posteriors_of(self, rows: pl.DataFrame) -> Posteriors:
        """What the cells of rows of the table stand for, (n_rows, n_classes)."""
        if self.about.n_classes > 2:
            if self.is_exact:
                values = rows.select(self.about.values).to_numpy()
                return np.asarray(values / values.sum(axis=1, keepdims=True))
            return cells.mean_posteriors([rows[name].to_numpy() for name in self.about.sums])
        if self.is_exact:
            scores = rows[self.about.values[0]].to_numpy()
        else:
            scores = cells.score_middles()[rows[CELL].to_numpy()]
        return np.column_stack([1 - scores, scores])

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the sketch as Parquet, whole or not at all; equal sketches give equal bytes."""
        write_output(path, self.to_bytes(), overwrite=overwrite, ours=is_sketch)

    def to_bytes(self) -> bytes:
        """The sketch as a Parquet file."""
        description = json.dumps({**json.loads(self.about.described()), "rows": self.n_rows})
        table = self.table.to_arrow().replace_schema_metadata({METADATA: description.encode()})
        numbers = [name for name in (CELL, COUNT, *self.about.totals) if name in table.schema.names]
        file = io.BytesIO()
        pa.parquet.write_table(
            table,
            file,
            compression="zstd",
            compression_level=9,
            use_dictionary=[name for name in table.schema.names if name not in numbers],
            column_encoding=dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
            write_statistics=False,
        )
        return file.getvalue()

    def __repr__(self) -> str:
        """In a line."""
        kind = "scores as they are" if self.is_exact else "cells"
        batches = counted(len(self.batches), "batch", "batches")
        return f"Sketch of {self.n_rows:,} rows in {batches}, {self.table.height:,} {kind}"


def load_sketch(path: str | Path) -> Sketch:
    """Read a sketch that `Sketch.save` has written.

    A table that the query of `sketch_sql` has made, saved as Parquet or CSV, is one too.
    """
    source = Path(path)
    if not source.is_file():
        raise DataError(f"{source}: no such file; make a sketch with `quantshift sketch`")
    with source.open("rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    if not is_parquet:
        return counted_by_query(_csv(source), str(source))
    try:
        description = (pa.parquet.read_schema(source).metadata or {}).get(METADATA)
        frame = pl.read_parquet(source, glob=False)
    except (pa.ArrowInvalid, pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{source}: a broken Parquet file; make it anew") from error
    if description is None:
        return counted_by_query(frame, str(source))
    about, written = About.parse(description.decode(), str(source))
    table = _checked(about, written["version"], frame, str(source))
    loaded = Sketch(about, table if table[BATCH].is_sorted() else table.sort(table.columns[:-1]))
    if loaded.n_rows != written.get("rows"):
        raise DataError(f"{source}: its numbers do not sum to its rows; make it anew")
    return loaded


def counted_by_query(frame: pl.DataFrame, source: str) -> Sketch:
    """The sketch that a query of `sketch_sql` has made in a database."""
    if SKETCH not in frame.columns or not frame.height:
        raise _not_a_sketch(source)
    descriptions = frame[SKETCH].unique()
    if len(descriptions) > 1:
        raise DataError(f"{source}: several queries in one table; merge a file of each")
    about, written = About.parse(str(descriptions[0]), source)
    return Sketch.of(about, [_checked(about, written["version"], frame.drop(SKETCH), source)])


def is_sketch(path: Path) -> bool:
    """Whether a file is a sketch, so that a newer one may take its place."""
    try:
        return METADATA in (pa.parquet.read_schema(path).metadata or {})
    except (pa.ArrowInvalid, OSError):
        return False


def check_size(table: pl.DataFrame) -> None:
    """Refuse counts that are as many as rows may be."""
    if table.height > MOST_CELLS:
        raise UserError(
            f"there are more than {MOST_CELLS:,} batches times scores: count by a column with "
            "fewer values",
            arguments=["batch", "by"],
        )


def added(about: About, parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The numbers of all parts, with scores as they are if all have them and these are few."""
    if all(about.values[0] in part.columns for part in parts):
        together = _total(pl.concat(parts), [*about.keys, CELL, *about.values], [COUNT])
        if together.select(about.values).n_unique() <= about.most_values + 1:  # null is none
            return together
        parts = [together]
    return _total(
        pl.concat([binned(about, part) for part in parts]),
        [*about.keys, CELL],
        [*about.totals, COUNT],
    )


def binned(about: About, part: pl.DataFrame) -> pl.DataFrame:
    """A part with cells in place of scores as they are."""
    if about.values[0] not in part.columns:
        return part
    if about.n_classes == 2:
        return part.select([*about.keys, CELL, COUNT])
    posteriors = part.select(about.values).fill_null(0.0).to_numpy()
    numbers = part[COUNT].to_numpy()
    return joint_and_marginal(
        about, part.select(about.keys), part[CELL].to_numpy(), posteriors, numbers
    )


def joint_and_marginal(
    about: About,
    keys: pl.DataFrame,
    cell: cells.Cells,
    posteriors: Posteriors,
    numbers: NDArray[np.int64],
) -> pl.DataFrame:
    """The counts of rows of three or more posteriors, in joint cells and in those of each class.

    keys, cell, posteriors: of every row; numbers: how often each is counted.
    """
    used = cell >= 0
    known = cells.normalised(np.where(used[:, np.newaxis], posteriors, 1.0))
    summed = cells.summed_columns(known) * (numbers * used)[:, np.newaxis]
    columns = [pl.Series(name, summed[:, i]) for i, name in enumerate(about.totals)]
    counts = pl.Series(COUNT, numbers)
    parts = [keys.with_columns(pl.Series(CELL, cell), *columns, counts)]
    marginal = keys.with_columns(pl.Series(CELL, cell), *(0 * c for c in columns), counts)
    for k in range(about.n_classes):
        class_cells = pl.Series(CELL, about.joint.marginal_cells(known, k))
        parts.append(marginal.with_columns(class_cells).filter(used))
    return _total(pl.concat(parts), [*keys.columns, CELL], [*about.totals, COUNT])


def _total(frame: pl.DataFrame, keys: Sequence[str], numbers: Sequence[str]) -> pl.DataFrame:
    totals = frame.group_by(keys).agg(pl.col(name).sum() for name in numbers)
    return totals.select([*keys, *numbers])


def _checked(about: About, version: int, frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """The table of a file with our types, refused if it is none."""
    exact = about.values[0] in frame.columns
    if version == 1 and about.n_classes > 2:
        if not exact:
            raise DataError(
                f"{source}: a sketch of version 1, whose cells of {about.n_classes} classes are "
                "no longer used; make it again from the rows"
            )
        frame = _with_cells(about, frame)
    texts, numbers = about.keys, [CELL, *([] if exact else about.totals), COUNT]
    wanted = [*texts, CELL, *(about.values if exact else about.totals), COUNT]
    if not set(wanted) <= set(frame.columns):
        raise _not_a_sketch(source)
    try:
        table = frame.select(wanted).with_columns(
            pl.col(texts).cast(pl.String),
            pl.col(numbers).cast(pl.Int64),
        )
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{source}: numbers of a sketch that are none; make it anew") from error
    cell, count = table[CELL], table[COUNT]
    end = cells.n_cells(about.n_classes, labelled=about.labelled)
    in_range = (cell >= cells.OUTSIDE) & (cell < end)
    if not (in_range & (count > 0)).fill_null(False).all():
        raise DataError(f"{source}: cells or numbers that no sketch has; make it anew")
    return table


def _with_cells(about: About, frame: pl.DataFrame) -> pl.DataFrame:
    """A table of scores as they are with cells of this version."""
    if not {CELL, *about.values} <= set(frame.columns):
        return frame
    posteriors = frame.select(about.values).fill_null(0.0).to_numpy()
    cell = pl.Series(CELL, cells.cells_of(posteriors, labelled=about.labelled))
    kept = pl.when(pl.col(CELL) < 0).then(pl.col(CELL)).otherwise(cell)
    return frame.with_columns(kept.alias(CELL))


def _csv(source: Path) -> pl.DataFrame:
    try:
        return pl.read_csv(source, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError):
        raise _not_a_sketch(str(source)) from None


def _name_or_none(given: object) -> str | None:
    if given is not None and not isinstance(given, str):
        raise TypeError
    return given


def _not_a_sketch(source: str) -> DataError:
    return DataError(f"{source}: not a sketch; make one with `quantshift sketch`")


def _told(about: About) -> str:
    by = f" by {', '.join(about.by)}" if about.by else ""
    return f"{', '.join(about.classes)}{by}{' with labels' if about.labelled else ''}"


def rows_by_batch(table: pl.DataFrame) -> dict[str | None, int]:
    """How many rows of a sorted table each batch has, in order.

    A run-length encoding: a hash table of millions of rows would need more memory than they do.
    """
    runs = table[BATCH].rle().struct
    return dict(zip(runs.field("value").to_list(), runs.field("len").to_list(), strict=True))
