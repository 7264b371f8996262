"""What a sketch was made of, and the columns of its table."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

from quantshift.base.storage.integrity import sealed, unsealed
from quantshift.base.storage.plain_json import parse_json
from quantshift.errors import DataError
from quantshift.sketches.cells.joint import JointCells, products
from quantshift.sketches.cells.score import N_SCORE_CELLS

FORMAT, VERSION = "quantshift sketch", 1

MOST_VALUES = 1024
"""Up to this many different scores, or rows of posteriors, are kept as they are."""

MOST_LABELLED = 1 << 16
"""The same limit for labelled rows, of which there is one set for all batches."""

BATCH, LABEL, CELL, COUNT, SKETCH = "batch", "label", "cell", "n", "sketch"
ROWS, CELLS, CHECKSUM = "rows", "cells", "sha256"
"""Keys of the description in a file: how much its table holds, and the table's checksum."""

CHECK, BATCH_TOTAL, TOTAL, LINES = "check", "batch_total", "total", "lines"
"""Columns of every line of a query's result: its check, the sums of `n` in its batch and in all
batches, and the number of lines."""

CHECKED_BITS = 30
"""Scores that are kept as they are get checked to this many bits, because some programs write fewer
digits than they have."""

BY, VALUE, CODE, SUM, PRODUCT = "by_", "value_", "code_", "sum_", "product_"


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
        """The number of classes of the posteriors."""
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
    def codes(self) -> list[str]:
        """The columns of rounded posteriors; only with more than two classes."""
        return [] if self.n_classes == 2 else [CODE + str(j) for j in range(self.n_classes - 1)]

    @property
    def sums(self) -> list[str]:
        """The columns of sums of posteriors of a cell; those of the last class follow from them."""
        return [] if self.n_classes == 2 else [SUM + str(k) for k in range(self.n_classes - 1)]

    @property
    def products(self) -> list[str]:
        """The columns of sums of products of two posteriors."""
        if self.n_classes == 2:
            return []
        return [f"{PRODUCT}{a}_{b}" for a, b in products(self.n_classes)]

    @property
    def totals(self) -> list[str]:
        """The columns that are summed over the rows of a cell, other than their number."""
        return [*self.sums, *self.products]

    @property
    def numbers(self) -> list[str]:
        """The columns that are sums over rows; all others are keys."""
        return [*self.totals, COUNT]

    @property
    def joint(self) -> JointCells:
        """The numbering of the cells of more than two classes."""
        return JointCells(self.n_classes)

    @property
    def end_of_rows(self) -> int:
        """Cells below this one count every row once; those from it on are marginal."""
        return N_SCORE_CELLS if self.n_classes == 2 else self.joint.end_of_rows

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return N_SCORE_CELLS if self.n_classes == 2 else self.joint.n_cells

    def described(self, **content: Any) -> str:
        """The description in one line, as in the column `sketch` of a query.

        content: how much a table holds.
        """
        return json.dumps(sealed({"format": FORMAT, "version": VERSION, **asdict(self), **content}))

    @classmethod
    def parse(cls, text: str | bytes, source: str) -> tuple[Self, dict[str, Any]]:
        """From what `described` has written; returns also everything that is written there."""
        try:
            written = parse_json(text)
        except ValueError:
            raise not_a_sketch(source) from None
        if not isinstance(written, dict) or written.get("format") != FORMAT:
            raise not_a_sketch(source)
        if written.get("version") != VERSION:
            raise DataError(
                f"{source}: a sketch of version {str(written.get('version'))[:20]}, this "
                f"quantshift reads {VERSION}; make the sketch again"
            )
        try:
            content = unsealed(written)
        except ValueError:
            raise damaged(source) from None
        classes, by = _names(content.get("classes")), _names(content.get("by"))
        label = content.get("label")
        if not classes or by is None or not isinstance(label, str | None):
            raise damaged(source)
        return cls(classes, by, label), content


def not_a_sketch(source: str) -> DataError:
    """The error for a file that is not a sketch."""
    return DataError(
        f"{source}: not a sketch, nor what its query returns with all columns, as Parquet or as "
        "CSV with commas; make one with `quantshift sketch`"
    )


def damaged(source: str) -> DataError:
    """The error for a sketch that is not as it was written."""
    return DataError(f"{source}: the sketch has been changed or damaged; make the sketch again")


def _names(value: object) -> tuple[str, ...] | None:
    """The names in a list; None if the value is not a list of different names."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return None
    return tuple(value) if len(set(value)) == len(value) else None
