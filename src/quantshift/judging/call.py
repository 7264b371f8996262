"""One call of `judge`: what was read, and how to estimate any part of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from quantshift.errors import DataError, UserError
from quantshift.judging.estimating.designs import Guess, guessed
from quantshift.judging.estimating.estimation import GivenRate, Judged, estimate
from quantshift.judging.estimating.items import TRANSFERRING
from quantshift.judging.inputs import Items, JudgedTable


@dataclass(frozen=True, eq=False)
class Call:
    """What was read, and what the user says of it.

    known: sensitivity and specificity, if the user knows them; design: how labels were chosen,
    if the user says so.
    """

    read: JudgedTable
    judges: tuple[str, ...]
    known: tuple[GivenRate, GivenRate] | None
    design: str | None
    insist: bool
    level: float
    seed: int

    @property
    def n_labels(self) -> int:
        """Among the items themselves."""
        return int((self.read.items.labels >= 0).sum())

    def check(self) -> None:
        """Refuse labels that are not there, or not where they are stated to be."""
        read = self.read
        if self.known is not None:
            return
        if not self.n_labels and (read.elsewhere is None or not len(read.elsewhere)):
            raise DataError(
                f"{read.name}: no item has a label; label some (quantshift judge plan draws them), "
                "or give the sensitivity and specificity of the judge",
                arguments=["labelled", "sensitivity", "specificity"],
            )
        if self.design not in (None, "elsewhere") and not self.n_labels:
            raise UserError(
                f"no item of {read.name} has a label, so none was chosen {self.design}: these were "
                "labelled elsewhere",
                arguments=["labels"],
            )

    def require_shared_verdicts(self, design: str | None) -> None:
        """Refuse labels of items with quite other verdicts: they are perhaps written otherwise."""
        items, elsewhere = self.read.items, self.read.elsewhere
        if elsewhere is not None and self.n_labels:
            # Those of one kind are left out if they say nothing.
            return
        if elsewhere is None and not self.pools(design or ""):
            return
        labelled = self.labelled() if elsewhere is None else elsewhere
        scored = items.score is not None and len(self.read.meaning.classes) == 2
        if self.known is not None or scored or items.verdicts is None or labelled.verdicts is None:
            return
        rest = items.verdicts[items.labels < 0]
        for j, names in enumerate(self.read.meaning.verdicts):
            theirs, ours = np.unique(labelled.verdicts[:, j]), np.unique(rest[:, j])
            if len(ours) and len(theirs) and not np.isin(ours, theirs).any():
                of_labelled, of_others = (
                    ", ".join(repr(names[code]) for code in codes[:3]) for codes in (theirs, ours)
                )
                raise DataError(
                    f"the labelled items have verdicts ({of_labelled}) that none of the others has "
                    f"({of_others}), so that they say nothing about these; write the verdicts alike"
                )

    @property
    def ordered(self) -> bool:
        """Whether the classes are levels of a scale."""
        classes = self.read.meaning.classes
        return len(classes) > 2 and all(name.isdecimal() for name in classes)

    @property
    def design_of_items(self) -> str | None:
        """How the labelled ones of the items were chosen; "elsewhere" may speak of the others."""
        return (
            None if self.design == "elsewhere" and self.read.elsewhere is not None else self.design
        )

    def guess(self) -> Guess | None:
        """How the labels were chosen, if the user does not say and nothing else shows it."""
        items = self.read.items
        if self.known or self.design_of_items or self.read.planned or not self.n_labels:
            return None
        return guessed(
            None if items.verdicts is None else items.verdicts[:, 0],
            items.labels,
            len(self.read.meaning.classes),
            score=items.score,
            verdict_names=self._verdict_names,
        )

    def estimate(
        self, items: Items, design: str | None, *, part: bool = False, pooled: bool = False
    ) -> Judged:
        """The shares among some items.

        part: of the items, whose design was checked on the whole: among many parts one would
            contradict it by chance.
        pooled: what all labels show about the judge is carried over, as if from elsewhere.
        """
        elsewhere = self.read.elsewhere
        if pooled:
            elsewhere = _joined([self.labelled(), *([] if elsewhere is None else [elsewhere])])
            items = replace(items, labels=np.full(len(items), -1), inclusion=None)
            design = "elsewhere"
        elif elsewhere is not None and not (items.labels >= 0).any():
            design = None
        sensitivity, specificity = (None, None) if self.known is None else self.known
        classes = self.read.meaning.classes
        return estimate(
            items.verdicts,
            items.labels,
            len(classes),
            design=design,
            score=items.score,
            level=self.level,
            inclusion=items.inclusion,
            elsewhere=None if elsewhere is None else self._pair(elsewhere),
            sensitivity=sensitivity,
            specificity=specificity,
            verdict_classes=[np.array(says) for says in self.read.meaning.says] or None,
            verdict_names=self._verdict_names,
            ordered=self.ordered,
            insist=self.insist or part,
            seed=self.seed,
        )

    def labelled(self) -> Items:
        """The labelled ones among the items."""
        return self.read.items.take(np.flatnonzero(self.read.items.labels >= 0))

    def in_question(self, items: Items, design: str) -> Items:
        """Without those that were labelled because they are from elsewhere."""
        if design != "elsewhere" or self.read.elsewhere is not None:
            return items
        return items.take(np.flatnonzero(items.labels < 0))

    def tells(self, items: Items) -> bool:
        """Whether anything is known about these items: their labels, or rates that carry over."""
        carried = self.known is not None or self.read.elsewhere is not None
        return carried or bool((items.labels >= 0).any())

    def pools(self, design: str) -> bool:
        """Whether all labels serve every group: what is carried over is the same for all."""
        return self.known is None and design in TRANSFERRING

    def design_of_groups(self, design: str) -> str | None:
        """The design of the whole, unless nothing is to be said about it."""
        return None if self.known is not None or self.read.planned else design

    @property
    def _verdict_names(self) -> tuple[str, ...] | None:
        names = self.read.meaning.verdicts
        return names[0] if names else None

    def _pair(self, items: Items) -> tuple[ArrayLike, ArrayLike]:
        """Verdicts and labels; scores where they take the place of verdicts."""
        if items.score is not None and len(self.read.meaning.classes) == 2:
            return items.score, items.labels
        if items.verdicts is None:
            raise UserError("a score can only separate two classes; give verdicts too")
        return items.verdicts, items.labels


def _joined(parts: Sequence[Items]) -> Items:
    first = parts[0]
    if len(parts) == 1:
        return first
    return Items(
        np.concatenate([p.numbers for p in parts]),
        None
        if first.verdicts is None
        else np.concatenate([p.verdicts for p in parts if p.verdicts is not None]),
        None
        if first.score is None
        else np.concatenate([p.score for p in parts if p.score is not None]),
        np.concatenate([p.labels for p in parts]),
    )
