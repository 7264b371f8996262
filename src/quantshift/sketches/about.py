"""What a sketch was made of, and the columns of its table."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

from quantshift.errors import DataError
from quantshift.sketches.cells import N_SCORE_CELLS
from quantshift.sketches.joint_cells import JointCells, products

FORMAT, VERSION = "quantshift sketch", 3
"""Version 2 has only wide cells of two classes, and other cells of more (see `older`); version 1
has yet other ones of more than two."""

MOST_VALUES = 1024
"""Up to so many different scores, or rows of posteriors, are kept as they are."""

MOST_LABELLED = 1 << 16
"""The same of labelled rows, of which there is one set for all batches."""

BATCH, LABEL, CELL, COUNT, SKETCH = "batch", "label", "cell", "n", "sketch"
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
    def codes(self) -> list[str]:
        """The columns of rounded posteriors, of more than two classes."""
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
        """The columns that are summed over the rows of a cell, but for their number."""
        return [*self.sums, *self.products]

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
            raise not_a_sketch(source) from None
        if not 1 <= version <= VERSION:
            raise DataError(
                f"{source}: a sketch of version {version}, this quantshift reads {VERSION}; make "
                "it again, or use the quantshift that made it"
            )
        return about, written


def not_a_sketch(source: str) -> DataError:
    """The error for what is no sketch."""
    return DataError(f"{source}: not a sketch; make one with `quantshift sketch`")


def _name_or_none(given: object) -> str | None:
    if given is not None and not isinstance(given, str):
        raise TypeError
    return given
