"""The file with a line for every row, written part by part and put in place when it is complete.

Its columns: batch; row, the number in its table; the columns that are copied; for each class (of
two, only the positive one) the probability as trained and, by `quantify`, corrected; how far it was
corrected, from 0 to 1; the predicted class; the cluster of similar rows, if the method has them;
and a flag for rows that are unlike training.
"""

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quantshift.adapting.correction import Correction
from quantshift.base.storage.files import check_output, flush, head, temporary_path, write_errors
from quantshift.base.types import Posteriors
from quantshift.quantifying.rows.spool import KEPT, POSTERIOR, RowSpool
from quantshift.tables.spreadsheet_cells import escaped

UNLIKE = "unlike training"
"""The flag of a row that is farther from the centre of its cluster than most of training."""

FARTHEST = 0.99
"""The share of training rows that are nearer."""

DECIMALS = 6
LAST = ("predicted", "cluster", "flag")
_HEADER = re.compile(rb"batch,row,[^\r\n]*,predicted,cluster,flag\r?\n")
_MAYBE_HARMFUL = r"(?:^|[;\t\r\n])['\" ]*[=+\-@\t\r\n＝＋－＠]"


def is_rows_file(path: Path) -> bool:
    """Whether this is a file that quantshift has written."""
    return _HEADER.match(head(path)) is not None


def check_rows_file(path: str | Path, *, inputs: Iterable[Any], overwrite: bool = False) -> Path:
    """Refuse a place where the file cannot be written, or would replace one of the user's."""
    return check_output(
        path, inputs=inputs, overwrite=overwrite, ours=is_rows_file, endings=("csv",)
    )


def write_rows(
    spool: RowSpool,
    path: str | Path,
    *,
    corrections: Mapping[str, Correction] | None = None,
    inputs: Iterable[Any] = (),
    overwrite: bool = False,
) -> None:
    """Write all rows of the spool.

    corrections: of the posteriors of each batch; None: a file without corrected probabilities.
    """
    final = check_rows_file(path, inputs=list(inputs), overwrite=overwrite)
    lines = RowLines.of(spool, corrections)
    temporary = temporary_path(final.parent)
    with write_errors(final):
        try:
            with temporary.open("xb") as file:
                file.write(lines.header())
                for frame in spool.frames():
                    file.write(lines.of_chunk(frame))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(final)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        flush(final.parent)


@dataclass(frozen=True, eq=False)
class RowLines:
    """Turns chunks into lines of CSV.

    copied: columns of the table; shown: the codes of the classes that have columns.
    """

    copied: tuple[str, ...]
    classes: tuple[str, ...]
    shown: tuple[int, ...]
    corrections: Mapping[str, Correction] | None

    @classmethod
    def of(cls, spool: RowSpool, corrections: Mapping[str, Correction] | None) -> "RowLines":
        """For the model of the spool; with two classes, columns of the positive one are enough."""
        model = spool.model
        codes = tuple(range(len(model.classes)))
        if len(codes) == 2 and corrections is not None:
            codes = (model.classes.index(model.headline),)
        return cls(spool.kept, model.classes, codes, corrections)

    def header(self) -> bytes:
        """The line of column names."""
        return _as_csv(pl.DataFrame({name: [] for name in self._names()}), header=True)

    def of_chunk(self, frame: pl.DataFrame) -> bytes:
        """The lines of a chunk."""
        raw = frame.select([POSTERIOR.format(k) for k in range(len(self.classes))]).to_numpy()
        corrected, strength = self._corrected(frame["batch"].cast(pl.String), raw)
        columns: list[Any] = [frame["batch"].cast(pl.String), frame["row"]]
        columns += [frame[KEPT.format(i)] for i in range(len(self.copied))]
        for k in self.shown:
            columns.append(raw[:, k].round(DECIMALS))
            if self.corrections is not None:
                columns.append(corrected[:, k].round(DECIMALS))
        if self.corrections is not None:
            columns.append(strength)
        labels = pl.Series(list(self.classes), dtype=pl.String)
        columns.append(labels.gather(corrected.argmax(axis=1)))
        is_divided = "cluster" in frame.columns
        columns.append(frame["cluster"] if is_divided else pl.repeat(None, len(frame), eager=True))
        novelty = frame["novelty"].to_numpy() if is_divided else np.zeros(len(frame))
        flags = [UNLIKE if far else None for far in (novelty >= FARTHEST).tolist()]
        columns.append(pl.Series(flags, dtype=pl.String))
        pairs = zip(self._names(), columns, strict=True)
        safe = {name: _safe(pl.Series(name, column)) for name, column in pairs}
        return _as_csv(pl.DataFrame(safe), header=False)

    def _corrected(self, batches: pl.Series, raw: Posteriors) -> tuple[Posteriors, Any]:
        """Corrected posteriors, and how far each was corrected."""
        corrected, strength = raw.copy(), np.zeros(len(raw))
        for name, correction in (self.corrections or {}).items():
            rows = np.flatnonzero((batches == name).to_numpy())
            if len(rows):
                corrected[rows] = correction(raw[rows])
                strength[rows] = correction.strength
        return corrected, strength.round(2)

    def _names(self) -> list[str]:
        """Names of the columns; those of the table that have a name of ours are renamed."""
        first, last = ["batch", "row"], [*self._probability_names(), *LAST]
        copied: list[str] = []
        for name in map(escaped, self.copied):
            while name in {*first, *copied, *last}:
                name = f"{name} (table)"
            copied.append(name)
        return [*first, *copied, *last]

    def _probability_names(self) -> Iterator[str]:
        for k in self.shown:
            yield escaped(f"probability {self.classes[k]}")
            if self.corrections is not None:
                yield escaped(f"corrected {self.classes[k]}")
        if self.corrections is not None:
            yield "correction"


def _safe(column: pl.Series) -> pl.Series:
    """The column; texts that a spreadsheet would take for formulas are escaped."""
    if column.dtype in (pl.Date, pl.Datetime, pl.Categorical):
        column = column.cast(pl.String)
    if column.dtype != pl.String:
        return column
    harmful = column.str.contains(_MAYBE_HARMFUL).fill_null(False)
    if not harmful.any():
        return column
    cells = {cell: escaped(cell) for cell in column.filter(harmful).unique().to_list()}
    return column.replace(cells)


def _as_csv(frame: pl.DataFrame, *, header: bool) -> bytes:
    text = io.BytesIO()
    frame.write_csv(text, include_header=header)
    return text.getvalue()
