"""Judged items: verdicts or scores of all, labels of some, checked and brought into one shape."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Codes, Reals
from quantshift.errors import DataError, UserError
from quantshift.judging.estimating import cells
from quantshift.judging.estimating.cells import Cells
from quantshift.judging.estimating.combination import equal_rates

TRANSFERRING = ("by-label", "elsewhere")
"""Designs under which the rates of the judge are carried over to the items."""


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """The arguments, checked. verdicts: (n_items, n_judges) or None; score: heights or None."""

    verdicts: NDArray[np.int64] | None
    labels: Codes
    n_classes: int
    score: Reals | None
    elsewhere: tuple[NDArray[np.int64] | Reals, Codes] | None
    classes: tuple[Codes, ...]

    @classmethod
    def of(
        cls,
        verdicts: ArrayLike | None,
        labels: ArrayLike,
        n_classes: int,
        score: ArrayLike | None,
        elsewhere: tuple[ArrayLike, ArrayLike] | None,
        verdict_classes: Sequence[ArrayLike] | None,
    ) -> "JudgedItems":
        """The arguments are those of `estimate`."""
        y = np.asarray(labels, dtype=np.int64)
        if n_classes < 2:
            raise DataError("a rate needs at least two classes")
        if verdicts is None and score is None:
            raise UserError(
                "give the verdicts of a judge or a score", arguments=["verdict", "score"]
            )
        v = None if verdicts is None else _columns(verdicts)
        # The score takes the place of verdicts where one number can: with two classes.
        use_score = score is not None and (v is None or n_classes == 2)
        s: Reals | None = None
        scores_elsewhere: Reals | None = None
        if use_score and score is not None:
            beside = None if elsewhere is None else elsewhere[0]
            s, scores_elsewhere = cells.heights(score, beside)
        for values in (v, s):
            if values is not None and len(values) != len(y):
                raise DataError(f"there are {len(values)} verdicts or scores and {len(y)} labels")
        if len(y) == 0:
            raise DataError("there are no items")
        labelled_elsewhere = None
        if elsewhere is not None:
            judged = _columns(elsewhere[0]) if scores_elsewhere is None else scores_elsewhere
            y_elsewhere = np.asarray(elsewhere[1], dtype=np.int64)
            if len(judged) != len(y_elsewhere) or (
                v is not None and judged.ndim == 2 and judged.shape[1] != v.shape[1]
            ):
                raise DataError("items labelled elsewhere need verdicts of the same judges each")
            labelled_elsewhere = (judged[y_elsewhere >= 0], y_elsewhere[y_elsewhere >= 0])
        for codes in (y, *(() if labelled_elsewhere is None else (labelled_elsewhere[1],))):
            if len(codes) and (codes.min() < -1 or codes.max() >= n_classes):
                raise DataError(
                    f"codes of labels must be from 0 to {n_classes - 1}, or -1 for none"
                )
        return cls(
            v,
            y,
            n_classes,
            s,
            labelled_elsewhere,
            _classes(v, labelled_elsewhere, n_classes, verdict_classes),
        )

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which items are labelled."""
        return np.asarray(self.labels >= 0)

    @property
    def n_labelled(self) -> int:
        """Labels, here or elsewhere."""
        return int(self.known.sum()) if self.elsewhere is None else len(self.elsewhere[1])

    def n_items(self, design: str) -> int:
        """Items whose classes are in question."""
        return int(self.in_sample(design).sum())

    def in_sample(self, design: str) -> NDArray[np.bool_]:
        """Which items these are: not those that are from elsewhere."""
        if design == "elsewhere" and self.elsewhere is None:
            return ~self.known
        return np.ones(len(self.labels), dtype=bool)

    def labelled(self) -> tuple[Codes | None, Codes]:
        """First judge's verdicts and labels of the labelled items."""
        if self.elsewhere is not None:
            judged, y = self.elsewhere
            return (None if self.score is not None else judged[:, 0].astype(np.int64)), y
        return None if self.verdicts is None else self.verdicts[self.known, 0], self.labels[
            self.known
        ]

    def cells(self) -> Cells:
        """What the judges say of each item, as one verdict."""
        judged = None if self.elsewhere is None else self.elsewhere[0]
        y = self.labels[self.known] if self.elsewhere is None else self.elsewhere[1]
        if self.score is not None:
            floats = None if judged is None else judged.astype(np.float64)
            return cells.of_score(self.score, floats, y, self.n_classes)
        assert self.verdicts is not None
        return cells.of_judges(
            self.verdicts,
            None if judged is None else judged.astype(np.int64),
            self.classes,
            self.n_classes,
        )

    def labelled_cells(self, item_cells: Cells) -> tuple[Codes, Codes]:
        """Cells and labels of the labelled items. item_cells: what `cells` gives."""
        if self.elsewhere is None or item_cells.elsewhere is None:
            return item_cells.codes[self.known], self.labels[self.known]
        return item_cells.elsewhere, self.elsewhere[1]

    def take(self, chosen: NDArray[np.bool_]) -> "JudgedItems":
        """Some of the items, with all that are labelled elsewhere."""
        return replace(
            self,
            verdicts=None if self.verdicts is None else self.verdicts[chosen],
            labels=self.labels[chosen],
            score=None if self.score is None else self.score[chosen],
        )

    def unlike_labelled(self, design: str) -> NDArray[np.bool_]:
        """Which items have a verdict of some judge that no labelled item has.

        By label or elsewhere, where scores take the place of verdicts: a score in a bin without
        labels.
        """
        if self.score is not None and design in TRANSFERRING:
            item_cells = self.cells()
            labelled = item_cells.elsewhere
            if labelled is None:
                labelled = item_cells.codes[self.known]
            return ~np.isin(item_cells.codes, labelled)
        unlike = np.zeros(len(self.labels), dtype=bool)
        if self.verdicts is None or (self.score is not None and design == "random"):
            return unlike
        labelled_verdicts = self.verdicts[self.known]
        if self.elsewhere is not None:
            labelled_verdicts = self.elsewhere[0].astype(np.int64)
        for j, verdicts in enumerate(self.verdicts.T):
            unlike |= ~np.isin(verdicts, labelled_verdicts[:, j])
        return unlike

    def equal_rates(self) -> float:
        """p-value of the labels here and elsewhere having the same rates."""
        item_cells, y = self.cells(), self.labels[self.known]
        assert item_cells.elsewhere is not None
        assert self.elsewhere is not None
        tables = [
            np.bincount(labels * item_cells.n + codes, minlength=self.n_classes * item_cells.n)
            for codes, labels in (
                (item_cells.codes[self.known], y),
                (item_cells.elsewhere, self.elsewhere[1]),
            )
        ]
        counts = (
            table.reshape(self.n_classes, item_cells.n).astype(np.float64) for table in tables
        )
        return equal_rates(*counts)

    def notes(self) -> tuple[str, ...]:
        """What is strange about verdicts and labels."""
        v, y = self.labelled()
        found = []
        if len(np.unique(y)) == 1:
            found.append("All labels are of one class: of the others only a limit is known.")
        if self.verdicts is not None and self.verdicts.shape[1] == 1:
            if len(np.unique(self.verdicts)) == 1:
                found.append("All verdicts are the same: the judge adds nothing to the labels.")
            elif v is not None and np.array_equal(self.classes[0][v], y):
                found.append(
                    "All labels agree with the verdicts: were they given without seeing them?"
                )
        return tuple(found)


def _columns(verdicts: ArrayLike) -> NDArray[np.int64]:
    v = np.asarray(verdicts)
    if v.ndim == 1:
        v = v[:, np.newaxis]
    if v.ndim != 2 or (v.size and (not np.issubdtype(v.dtype, np.integer) or v.min() < 0)):
        raise DataError("verdicts are codes, 0 or more, of every item")
    return v.astype(np.int64)


def _classes(
    v: NDArray[np.int64] | None,
    elsewhere: tuple[NDArray[np.int64] | Reals, Codes] | None,
    n_classes: int,
    given: Sequence[ArrayLike] | None,
) -> tuple[Codes, ...]:
    """For each judge the class that each verdict says, -1 for none."""
    if v is None:
        return ()
    found = []
    for j in range(v.shape[1]):
        most = int(v[:, j].max())
        if elsewhere is not None and elsewhere[0].ndim == 2:
            most = max(most, int(elsewhere[0][:, j].max(initial=0)))
        says = np.asarray(given[j], dtype=np.int64) if given is not None else np.arange(n_classes)
        if most >= len(says) or says.max(initial=-1) >= n_classes:
            raise DataError(
                f"verdicts have codes up to {most} where {n_classes} classes are known: say what "
                "class each verdict stands for",
                arguments=["map"],
            )
        found.append(says)
    return tuple(found)
