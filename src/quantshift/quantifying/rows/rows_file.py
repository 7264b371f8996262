"""The file with a line for every row, written part by part and put in place when it is complete.

Its columns: batch; row, the number in its table; the columns that are copied; for each class (of
two, only the positive one) the probability as trained and, by `quantify`, corrected and, where the
items cannot tell which holds, if there was prior and if there was covariate shift; how far it was
corrected, from 0 to 1; the predicted class; the cluster of similar rows, if the method has them;
and a flag for rows that are unlike training.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from quantshift.base.storage.csv_text import frame_csv
from quantshift.base.storage.files import check_output, flush, head, temporary_path, write_errors
from quantshift.base.types import Posteriors
from quantshift.claims import Assumption
from quantshift.measuring.adapting.correction import Correction
from quantshift.quantifying.reading.spool import KEPT, POSTERIOR, RowSpool
from quantshift.tables.files.spreadsheet_cells import escaped, escaped_column

UNLIKE = "unlike training"
"""The flag of a row that is farther from the centre of its cluster than most of training."""

FARTHEST = 0.99
"""The share of training rows that are nearer."""

DECIMALS = 6
ASSUMPTIONS = (Assumption.PRIOR, Assumption.COVARIATE)
NOWHERE: Mapping[str, Any] = MappingProxyType({})
LAST = ("predicted", "cluster", "flag")
_HEADER = re.compile(rb"batch,row,[^\r\n]*,predicted,cluster,flag\r?\n")


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
    either: Mapping[str, tuple[Correction, Correction]] = NOWHERE,
    inputs: Iterable[Any] = (),
    overwrite: bool = False,
) -> None:
    """Write all rows of the spool.

    corrections: of the posteriors of each batch; None: a file without corrected probabilities.
    either: under prior and under covariate shift, for batches of which either may hold.
    """
    final = check_rows_file(path, inputs=list(inputs), overwrite=overwrite)
    lines = RowLines.of(spool, corrections, either)
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
    either: Mapping[str, tuple[Correction, Correction]]

    @classmethod
    def of(
        cls,
        spool: RowSpool,
        corrections: Mapping[str, Correction] | None,
        either: Mapping[str, tuple[Correction, Correction]] = NOWHERE,
    ) -> "RowLines":
        """For the model of the spool; with two classes, columns of the positive one are enough."""
        model = spool.model
        codes = tuple(range(len(model.classes)))
        if len(codes) == 2 and corrections is not None:
            codes = (model.classes.index(model.headline),)
        return cls(spool.kept, model.classes, codes, corrections, either)

    def header(self) -> bytes:
        """The line of column names."""
        return frame_csv(pl.DataFrame({name: [] for name in self._names()}))

    def of_chunk(self, frame: pl.DataFrame) -> bytes:
        """The lines of a chunk."""
        raw = frame.select([POSTERIOR.format(k) for k in range(len(self.classes))]).to_numpy()
        batches = frame["batch"].cast(pl.String)
        corrected, strength = self._corrected(batches, raw)
        under = self._under(batches, raw)
        columns: list[Any] = [frame["batch"].cast(pl.String), frame["row"]]
        columns += [frame[KEPT.format(i)] for i in range(len(self.copied))]
        for k in self.shown:
            columns.append(raw[:, k].round(DECIMALS))
            if self.corrections is not None:
                columns.append(corrected[:, k].round(DECIMALS))
            for posteriors in under:
                columns.append(pl.Series(posteriors[:, k].round(DECIMALS)).fill_nan(None))
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
        safe = {name: escaped_column(pl.Series(name, column)) for name, column in pairs}
        return frame_csv(pl.DataFrame(safe), header=False)

    def _corrected(self, batches: pl.Series, raw: Posteriors) -> tuple[Posteriors, Any]:
        """Corrected posteriors, and how far each was corrected."""
        corrected, strength = raw.copy(), np.zeros(len(raw))
        for name, correction in (self.corrections or {}).items():
            rows = np.flatnonzero((batches == name).to_numpy())
            if len(rows):
                corrected[rows] = correction(raw[rows])
                strength[rows] = correction.strength
        return corrected, strength.round(2)

    def _under(self, batches: pl.Series, raw: Posteriors) -> list[Posteriors]:
        """Posteriors under either assumption; NaN in batches of which it is known which holds."""
        if not self.either:
            return []
        both = [np.full_like(raw, np.nan) for _ in ASSUMPTIONS]
        for name, corrections in self.either.items():
            rows = np.flatnonzero((batches == name).to_numpy())
            for posteriors, correction in zip(both, corrections, strict=True):
                posteriors[rows] = correction(raw[rows])
        return both

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
            if self.either:
                yield from (escaped(f"if {each} {self.classes[k]}") for each in ASSUMPTIONS)
        if self.corrections is not None:
            yield "correction"
