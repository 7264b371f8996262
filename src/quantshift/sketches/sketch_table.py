"""A sketch: how many rows of each batch are in each cell, and what the cells stand for.

A sketch is a table of whole numbers. Two of them are merged by adding, so that the result is the
same, to the last bit, in whatever order and parts the rows were counted. While all rows together
have at most `MOST_VALUES` different scores (`MOST_LABELLED` if they are labelled: a method's
thresholds come from them), these are kept and nothing is lost; above that, cells (see `cells`) take
their place. Rows that cannot be used are counted too: the numbers of a sketch always sum to the
number of rows.
"""

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet

from quantshift.base.forks import TABLE_THREADS, uses_tables
from quantshift.base.nouns import counted
from quantshift.base.storage.files import write_output
from quantshift.base.storage.integrity import broken_parquet, table_checksum
from quantshift.base.types import Posteriors
from quantshift.errors import DataError, UserError
from quantshift.sketches.about import (
    BATCH,
    BATCH_TOTAL,
    CELL,
    CELLS,
    CHECK,
    CHECKED_BITS,
    CHECKSUM,
    COUNT,
    LINES,
    ROWS,
    SKETCH,
    TOTAL,
    About,
    damaged,
    not_a_sketch,
)
from quantshift.sketches.cells import joint as joint_cells
from quantshift.sketches.cells import rounded
from quantshift.sketches.cells import score as cells
from quantshift.sketches.copies import first_copy
from quantshift.sketches.widths import settled, totalled, totals_by_key
from quantshift.tables.formats.frames import polars_frame

METADATA = b"quantshift"
"""The key of the description in the metadata of the file."""

MOST_CELLS = 20_000_000
"""A sketch that would be larger has the wrong column for its batches."""

MOST_COUNTED = 1 << 43
"""The most rows: sums of their posteriors, in units of 2**-20, are whole numbers of 64 bits."""

NO_POSTERIORS = "not probabilities from 0 to 1 that sum to 1"
"""Why rows of several posteriors are left out."""


@dataclass(frozen=True, eq=False)
class Sketch:
    """Counts of rows by batch, further keys and cell.

    table: sorted; columns `batch`, `by_NAME`, `label` (strings, null if missing), `cell`, either
        `value_0`, ... (the scores as they are) or, with more than two classes, `code_0`, ...
        (rounded posteriors), `sum_0`, ... and `product_0_0`, ... (what joint cells sum up), and
        `n`. Joint cells have further rows: the marginal cells.

    >>> import polars as pl
    >>> from quantshift.sketches import sketch
    >>> rows = pl.DataFrame({"p_spam": [0.1, 0.9, 0.9], "label": ["ham", "spam", "spam"]})
    >>> sketch(rows, score="p_spam", label="label").table["n"].sum()
    3
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
        """From a sorted table in which every key and cell occurs once."""
        check_size(table)
        return cls(about, table)

    @property
    def is_exact(self) -> bool:
        """Whether the scores are kept as they are, so that nothing was lost."""
        return self.about.values[0] in self.table.columns

    @property
    @uses_tables
    def n_rows(self) -> int:
        """How many rows were counted."""
        return int(self.table.filter(pl.col(CELL) < self.about.end_of_rows)[COUNT].sum())

    @property
    @uses_tables
    def batches(self) -> list[str | None]:
        """The batches in order; None stands for rows without a batch."""
        return list(rows_by_batch(self.table))

    @property
    @uses_tables
    def left_out(self) -> dict[str, int]:
        """Rows that were counted but cannot be used, by the reason."""
        by_cell = self.table.group_by(CELL).agg(pl.col(COUNT).sum())
        counts = {cell: n for cell, n in by_cell.iter_rows() if cell < 0}
        reasons = dict(cells.REASONS)
        if len(self.about.classes) > 1:
            reasons[cells.OUTSIDE] = NO_POSTERIORS
        return {reasons[cell]: counts[cell] for cell in sorted(counts, reverse=True)}

    @uses_tables
    def merge(self, *others: "Sketch") -> "Sketch":
        """The rows of all sketches together, the same in any order.

        Examples
        --------
        >>> import polars as pl
        >>> from quantshift.sketches import sketch
        >>> counts = sketch(pl.DataFrame({"score": [0.1, 0.1, 0.9]}), score="score")
        >>> counts.merge(counts, counts).n_rows
        9
        """
        for other in others:
            if other.about != self.about:
                raise DataError(
                    f"sketches of {_content(self.about)} and of {_content(other.about)} cannot be "
                    "merged: make them with the same options"
                )
        copy = first_copy(self.about, [self.table, *(other.table for other in others)])
        if copy is not None and copy.is_certain:
            raise DataError(f"two of the sketches {copy}; merge one of them")
        return Sketch.of(self.about, [self.table, *(other.table for other in others)])

    def usable(self) -> pl.DataFrame:
        """The rows of the table that have scores, each item counted once."""
        used = self.table[CELL].is_between(0, self.about.end_of_rows, closed="left")
        return self.table if used.all() else self.table.filter(used)

    def marginal(self) -> pl.DataFrame:
        """The counts of each class's posteriors, if there are more than two classes in cells."""
        return self.table.filter(pl.col(CELL) >= self.about.end_of_rows)

    def posteriors_of(self, rows: pl.DataFrame) -> Posteriors:
        """What the cells of rows of the table stand for, (n_rows, n_classes)."""
        about = self.about
        if about.n_classes > 2:
            if self.is_exact:
                values = rows.select(about.values).to_numpy()
                return np.asarray(values / values.sum(axis=1, keepdims=True))
            return _of_cells(about, rows)
        if self.is_exact:
            scores = rows[about.values[0]].to_numpy()
        else:
            scores = cells.scores_of(rows[CELL].to_numpy())
        return np.column_stack([1 - scores, scores])

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the sketch as Parquet, whole or not at all; equal sketches give equal bytes.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import polars as pl
        >>> from quantshift.sketches import sketch
        >>> counts = sketch(pl.DataFrame({"score": [0.1, 0.1, 0.9]}), score="score")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = [Path(folder) / name for name in ("a.parquet", "b.parquet")]
        ...     for file in files:
        ...         counts.save(file)
        ...     files[0].read_bytes() == files[1].read_bytes()
        True
        """
        write_output(
            path, self.to_bytes(), overwrite=overwrite, ours=is_sketch, endings=("parquet", "pq")
        )

    @uses_tables
    def to_bytes(self) -> bytes:
        """The sketch as a Parquet file."""
        content = {
            ROWS: self.n_rows,
            CELLS: self.table.height,
            CHECKSUM: table_checksum(self.table),
        }
        description = self.about.described(**content)
        table = self.table.to_arrow().replace_schema_metadata({METADATA: description.encode()})
        whole = (CELL, *self.about.codes, *self.about.totals, COUNT)
        numbers = [name for name in whole if name in table.schema.names]
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
        """A description in one line."""
        kind = "scores as they are" if self.is_exact else "cells"
        batches = counted(len(self.batches), "batch", "batches")
        return f"Sketch of {self.n_rows:,} rows in {batches}, {self.table.height:,} {kind}"


def load_sketch(path: str | Path) -> Sketch:
    """Read a sketch that `Sketch.save` has written.

    A table that the query of `sketch_sql` has made, saved as Parquet or CSV, is one too.

    Parameters
    ----------
    path : str or Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> from quantshift.sketches import load_sketch, sketch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "counts.parquet"
    ...     sketch(pl.DataFrame({"score": [0.1, 0.1, 0.9]}), score="score").save(file)
    ...     load_sketch(file).n_rows
    3
    """
    TABLE_THREADS.use()
    source = Path(path)
    if not source.is_file():
        raise DataError(f"{source}: no such file; make a sketch with `quantshift sketch`")
    with source.open("rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    if not is_parquet:
        return counted_by_query(_csv(source), str(source))
    with broken_parquet(DataError(f"{source}: a broken Parquet file; make the sketch again")):
        about_file = pa.parquet.read_metadata(source)
        if about_file.num_rows > MOST_CELLS:
            raise damaged(str(source))
        table = pa.parquet.read_table(source)
        frame = polars_frame(table)
    description = (table.schema.metadata or {}).get(METADATA)
    if description is None:
        return counted_by_query(frame, str(source))
    about, written = About.parse(description, str(source))
    counts = _typed(about, frame, str(source))
    if (counts.height, table_checksum(counts)) != (written.get(CELLS), written.get(CHECKSUM)):
        raise damaged(str(source))
    loaded = Sketch(about, _checked(about, counts, str(source)))
    if loaded.n_rows != written.get(ROWS) or not counts.equals(loaded.table):
        raise damaged(str(source))
    if not _is_ascending(counts.select(key for key in counts.columns if key not in about.numbers)):
        raise damaged(str(source))
    return loaded


def counted_by_query(frame: pl.DataFrame, source: str) -> Sketch:
    """The sketch that a query of `sketch_sql` has made in a database."""
    if SKETCH not in frame.columns or not frame.height:
        raise not_a_sketch(source)
    descriptions = frame[SKETCH].unique()
    if len(descriptions) > 1:
        raise DataError(f"{source}: several queries in one table; merge a file of each")
    about, _ = About.parse(str(descriptions[0]), source)
    counts = _typed(about, frame, source)
    _check_lines(about, counts, frame, source)
    return Sketch.of(about, [_checked(about, counts, source)])


def is_sketch(path: Path) -> bool:
    """Whether a file is a sketch, which a newer one may replace."""
    try:
        with broken_parquet(not_a_sketch(str(path))):
            return METADATA in (pa.parquet.read_schema(path).metadata or {})
    except DataError:
        return False


def check_size(table: pl.DataFrame) -> None:
    """Refuse a table that is too long for a sketch."""
    if table.height > MOST_CELLS:
        raise UserError(
            f"there are more than {MOST_CELLS:,} batches times scores: count by a column with "
            "fewer values",
            arguments=["batch", "by"],
        )


def added(about: About, parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The numbers of all parts, with scores as they are if all have them and these are few."""
    if all(about.values[0] in part.columns for part in parts):
        together = totals_by_key(pl.concat(parts), [*about.keys, CELL, *about.values], [COUNT])
        if together.select(about.values).n_unique() <= about.most_values + 1:  # one may be null
            return together
        parts = [together]
    return settled(about, totalled(about, [binned(about, part) for part in parts]))


def binned(about: About, part: pl.DataFrame) -> pl.DataFrame:
    """A part with the narrowest cells in place of scores as they are."""
    if about.values[0] not in part.columns:
        return part
    if about.n_classes == 2:
        return part.select([*about.keys, CELL, COUNT])
    posteriors = part.select(about.values).fill_null(0.0).to_numpy()
    in_cells = part.select(about.keys).with_columns(
        *rounded_columns(about, part[CELL].to_numpy(), posteriors), part[COUNT]
    )
    return totals_by_key(in_cells, [*about.keys, CELL, *about.codes], [*about.totals, COUNT])


def rounded_columns(about: About, cell: cells.Cells, posteriors: Posteriors) -> list[pl.Series]:
    """The columns of rounded rows of three or more posteriors, between keys and numbers."""
    used = (cell >= 0)[:, np.newaxis]
    codes = rounded.rounded_cells(cells.rescaled(np.where(used, posteriors, 1.0)))[1] * used
    columns = [pl.Series(name, codes[:, j]) for j, name in enumerate(about.codes)]
    zeros = np.zeros(len(cell), dtype=np.int64)
    return [pl.Series(CELL, cell), *columns, *(pl.Series(name, zeros) for name in about.totals)]


def cells_of(posteriors: Posteriors, kind: cells.ScoreCells = cells.NARROW) -> cells.Cells:
    """The cell of every row; with more than two classes, the class with the largest posterior.

    posteriors: (n_rows, 1) scores of the second class, or (n_rows, n_classes); NaN where there is
    none. kind: the cells of two classes.
    """
    valid = cells.usable(posteriors)
    filled = posteriors if valid.all() else np.where(valid[:, np.newaxis], posteriors, 0.5)
    if posteriors.shape[1] <= 2:
        cell = kind.of(filled[:, -1])
    else:
        cell = cells.rescaled(filled).argmax(axis=1)
    if filled is not posteriors:
        cell[~valid] = cells.OUTSIDE
    return cell


def _of_cells(about: About, rows: pl.DataFrame) -> Posteriors:
    """What rounded rows and joint cells stand for."""
    cell = rows[CELL].to_numpy()
    posteriors = np.empty((len(cell), about.n_classes))
    is_row = cell < about.n_classes
    if is_row.any():
        codes = rows.select(about.codes).to_numpy()[is_row]
        posteriors[is_row] = rounded.stands_for(cell[is_row], codes)
    if not is_row.all():
        sums = rows.select(about.sums).to_numpy()[~is_row]
        posteriors[~is_row] = joint_cells.means(sums, rows[COUNT].to_numpy()[~is_row])
    return posteriors


def _typed(about: About, frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """The columns of a sketch with our types."""
    exact = about.values[0] in frame.columns
    values = about.values if exact else []
    numbers = [CELL, *([] if exact else [*about.codes, *about.totals]), COUNT]
    names = [*about.keys, CELL, *values, *numbers[1:-1], COUNT]
    if not set(names) <= set(frame.columns):
        raise not_a_sketch(source)
    try:
        return frame.select(names).with_columns(
            pl.col(about.keys).cast(pl.String),
            pl.col(values).cast(pl.Float64),
            pl.col(numbers).cast(pl.Int64),
        )
    except pl.exceptions.PolarsError as error:
        raise DataError(
            f"{source}: the sketch contains invalid numbers; create it again"
        ) from error


def _check_lines(about: About, counts: pl.DataFrame, frame: pl.DataFrame, source: str) -> None:
    """Refuse the result of a query if lines of it were changed, added or lost."""
    if not {CHECK, BATCH_TOTAL, TOTAL, LINES} <= set(frame.columns):
        raise not_a_sketch(source)
    changed = DataError(
        f"{source}: the result of the query has been changed or damaged; run the query again"
    )
    try:
        totals = frame.select(
            pl.col(BATCH_TOTAL, TOTAL, LINES).cast(pl.Int64), pl.col(CHECK).cast(pl.String)
        )
    except pl.exceptions.PolarsError:
        raise changed from None
    n_lines = totals[LINES][0]
    if n_lines is not None and counts.height < n_lines and totals[LINES].n_unique() == 1:
        raise DataError(
            f"{source}: {counts.height:,} of the {n_lines:,} lines of the query's result; export "
            "all of them into one file"
        )
    # Sums of hostile numbers could overflow.
    is_small = counts[COUNT].is_between(1, MOST_COUNTED).fill_null(False).all()
    sums = counts.select(pl.col(COUNT).sum().over(BATCH)) if is_small else None
    if (
        sums is None
        or counts.drop(COUNT).is_duplicated().any()
        or not (totals[BATCH_TOTAL] == sums.to_series()).fill_null(False).all()
        or not (totals[TOTAL] == counts[COUNT].sum()).fill_null(False).all()
        or not (totals[LINES] == counts.height).fill_null(False).all()
        or totals[CHECK].to_list() != list(_line_checks(about, counts))
    ):
        raise changed


def _line_checks(about: About, counts: pl.DataFrame) -> Iterator[str]:
    """The check of every line, as the query computes it."""
    scores = [name for name in about.values if name in counts.columns]
    ordered = [
        (pl.col(name) * float(1 << CHECKED_BITS)).floor().cast(pl.Int64, strict=False)
        if name in scores
        else pl.col(name)
        for name in counts.columns
    ]
    lines = counts.select(
        pl.concat_str([one.cast(pl.String).fill_null("") for one in ordered], separator="|")
    )
    for line in lines.to_series():
        yield hashlib.md5(line.encode(), usedforsecurity=False).hexdigest()


def _checked(about: About, counts: pl.DataFrame, source: str) -> pl.DataFrame:
    """The counts with the cells of their scores, refused if no rows can have such counts."""
    cell, count = counts[CELL], counts[COUNT]
    in_range = cell.is_between(cells.OUTSIDE, about.n_cells - 1)
    in_range &= count.is_between(1, MOST_COUNTED)
    exact = about.values[0] in counts.columns
    if exact:
        values = counts.select(about.values)
        cell_of_values = pl.Series(CELL, cells_of(values.fill_null(0.5).to_numpy()))
        in_range &= (cell < 0) == values.select(pl.any_horizontal(pl.all().is_null())).to_series()
        in_range &= (cell < 0) | (cell_of_values >= 0)
        counts = counts.with_columns(cell.zip_with(cell < 0, cell_of_values).alias(CELL))
    else:
        for name in about.codes:
            in_range &= counts[name].is_between(0, rounded.ROUNDING.half)
        for names, bits in (
            (about.sums, joint_cells.FIXED),
            (about.products, joint_cells.PRODUCT_FIXED),
        ):
            for name in names:
                in_range &= (counts[name] >= 0) & (counts[name] <= count * (1 << bits))
    if not in_range.fill_null(False).all() or count.cast(pl.Float64).sum() > MOST_COUNTED:
        raise DataError(f"{source}: cells or numbers that no sketch has; create it again")
    return counts


def _is_ascending(keys: pl.DataFrame) -> bool:
    """Whether the rows are in ascending order, nulls first, and no two of them are equal."""
    is_less = pl.Series([False] * max(keys.height - 1, 0), dtype=pl.Boolean)
    for column in reversed(keys.get_columns()):
        this, following = column[:-1], column[1:]
        less = (this < following).fill_null(False) | (this.is_null() & following.is_not_null())
        is_less = less | (this.eq_missing(following) & is_less)
    return bool(is_less.all())


def _csv(source: Path) -> pl.DataFrame:
    try:
        return pl.read_csv(source, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError):
        raise not_a_sketch(str(source)) from None


def _content(about: About) -> str:
    by = f" by {', '.join(about.by)}" if about.by else ""
    return f"{', '.join(about.classes)}{by}{' with labels' if about.labelled else ''}"


def rows_by_batch(table: pl.DataFrame) -> dict[str | None, int]:
    """How many rows of a sorted table each batch has, in order.

    A run-length encoding: a hash table of millions of rows would need more memory than they do.
    """
    runs = table[BATCH].rle().struct
    return dict(zip(runs.field("value").to_list(), runs.field("len").to_list(), strict=True))
