"""What one call of `judge` has read, and what the user says about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.base.types import Codes
from quantshift.errors import DataError, UserError
from quantshift.judging.designs.design import Design
from quantshift.judging.items.annotators import agreement_of
from quantshift.judging.items.judged_items import ExternalLabels, JudgedItems, KnownDraw, Settings
from quantshift.judging.items.meaning import Meaning
from quantshift.judging.reading.inputs import JudgedTable, ReadItems
from quantshift.judging.result import PeopleAgreement
from quantshift.judging.sensitivity import GivenRates


@dataclass(frozen=True, eq=False)
class JudgeRun:
    """What was read, and what the user says about it.

    judges: names of the columns of verdicts. rates: sensitivity and specificity, if the user knows
    them; stated: how labels were chosen, if the user says so. wins: the classes of a win and a
    loss, if a win rate is asked for. weights: the name of the column of weights.
    """

    table: JudgedTable
    judges: tuple[str, ...]
    rates: GivenRates | None
    stated: Design | None
    settings: Settings
    wins: tuple[str, str] | None = None
    weights: str | None = None

    @property
    def meaning(self) -> Meaning:
        """The meaning of verdicts and labels."""
        return self.table.meaning

    @property
    def n_labels(self) -> int:
        """How many labels there are among the items themselves."""
        return int(self.table.items.labelled.sum())

    @property
    def stated_for_items(self) -> Design | None:
        """How the labelled ones of the items were chosen.

        A design of labels from elsewhere is about those in a table of their own, if there is one.
        """
        stated = self.stated
        external = stated is not None and not stated.labelled_are_items
        return None if external and self.table.external is not None else stated

    def is_stated(self) -> bool:
        """Whether the user says how labels were chosen; that of a plan is on its sheet."""
        if self.rates is not None:
            return True
        return self.stated is not None and self.table.items.inclusion is None

    def has_information(self, items: ReadItems) -> bool:
        """Whether anything is known about these items: their labels, or rates that carry over."""
        carried = self.rates is not None or self.table.external is not None
        return carried or bool(items.labelled.any())

    def labelled(self) -> ReadItems:
        """The labelled ones among the items."""
        return self.table.items.take(np.flatnonzero(self.table.items.labelled))

    def with_labels(
        self, relabelled: Callable[[ReadItems], ReadItems], *, insist: bool = False
    ) -> "JudgeRun":
        """The same with other labels of its items; insist: whatever these say about the design."""
        table = replace(self.table, items=relabelled(self.table.items))
        settings = replace(self.settings, insist=insist or self.settings.insist)
        return replace(self, table=table, settings=settings)

    def in_question(self, items: ReadItems, design: Design) -> ReadItems:
        """The items without those that were labelled elsewhere."""
        if design.labelled_are_items or self.table.external is not None:
            return items
        return items.take(np.flatnonzero(~items.labelled))

    def judged_items(self, items: ReadItems, *, pooled: bool = False) -> JudgedItems:
        """What shares among some items are estimated from.

        pooled: what all labels show about the judge is carried over, as if from elsewhere.
        """
        if items is self.table.items and not pooled:
            return self._all_judged
        return self._judged(items, pooled=pooled)

    @cached_property
    def _all_judged(self) -> JudgedItems:
        """All items of the table, made once."""
        return self._judged(self.table.items, pooled=False)

    def _judged(self, items: ReadItems, *, pooled: bool) -> JudgedItems:
        external = self.table.external
        if pooled:
            external = _joined([self.labelled(), *([] if external is None else [external])])
            items = replace(items, labels=np.full(len(items), -1), inclusion=None)
        others = None
        if external is not None:
            if external.verdicts is None and len(self.meaning.classes) != 2:
                raise UserError("a score can only separate two classes; give verdicts too")
            others = ExternalLabels(
                external.labels,
                external.verdicts,
                external.score,
                external.clusters,
                external.weights,
                _group_codes(external),
            )
        return JudgedItems.of(
            items.verdicts,
            items.labels,
            self.meaning,
            score=items.score,
            external=others,
            drawn=None if items.inclusion is None else KnownDraw(items.inclusion),
            rates=self.rates,
            clusters=items.clusters,
            weights=items.weights,
            groups=_group_codes(items),
        )

    def people(self) -> PeopleAgreement | None:
        """How far the people who gave the labels agree, if several did."""
        table = self.table
        if table.votes is None:
            return None
        return agreement_of(
            table.votes,
            table.items.numbers.tolist(),
            table.items.ids,
            level=self.settings.level,
            seed=self.settings.seed,
        )

    def check_labels(self) -> None:
        """Refuse labels that are not there, or not where they are stated to be."""
        table = self.table
        if self.rates is not None:
            return
        if not self.n_labels and (table.external is None or not len(table.external)):
            raise DataError(
                f"{table.name}: no item has a label; label some (quantshift plan judge draws "
                "them), or give the sensitivity and specificity of the judge",
                arguments=["labelled", "sensitivity", "specificity"],
            )
        weights = table.items.weights
        if weights is not None and self.n_labels and not weights[table.items.labelled].any():
            raise DataError(
                f"{table.name}: all labelled items have the weight 0, so that they say nothing "
                "about the others; label items that count",
                arguments=["weights"],
            )
        if self.stated is not None and self.stated.labelled_are_items and not self.n_labels:
            raise UserError(
                f"no item of {table.name} has a label, so there are no labels "
                f"{self.stated.chosen}: these were labelled elsewhere",
                arguments=["labels"],
            )

    def check_shared_verdicts(self, design: Design) -> None:
        """Refuse labelled items that share no verdict with the others, maybe by their spelling."""
        items, external = self.table.items, self.table.external
        if external is not None and self.n_labels:
            # Those of one kind are left out if they say nothing.
            return
        labelled = self.labelled() if external is None else external
        scored = items.score is not None and len(self.meaning.classes) == 2
        if not design.shares_labels or scored:
            return
        if items.verdicts is None or labelled.verdicts is None:
            return
        rest = items.verdicts[~items.labelled]
        for j, names in enumerate(self.meaning.verdicts):
            theirs, ours = np.unique(labelled.verdicts[:, j]), np.unique(rest[:, j])
            if len(ours) and len(theirs) and not np.isin(ours, theirs).any():
                of_labelled, of_others = (
                    ", ".join(repr(names[code]) for code in codes[:3]) for codes in (theirs, ours)
                )
                raise DataError(
                    f"the labelled items have verdicts ({of_labelled}) that none of the others has "
                    f"({of_others}), so that they say nothing about these; write the verdicts alike"
                )


def _group_codes(items: ReadItems) -> Codes | None:
    """The group of each item; None unless there are several groups."""
    if items.groups is None:
        return None
    names, codes = np.unique(np.array(items.groups), return_inverse=True)
    return codes.ravel() if len(names) > 1 else None


def _joined(parts: Sequence[ReadItems]) -> ReadItems:
    first = parts[0]
    if len(parts) == 1:
        return first
    verdicts = [p.verdicts for p in parts if p.verdicts is not None]
    scores = [p.score for p in parts if p.score is not None]
    return ReadItems(
        numbers=np.concatenate([p.numbers for p in parts]),
        verdicts=None if first.verdicts is None else np.concatenate(verdicts),
        score=None if first.score is None else np.concatenate(scores),
        labels=np.concatenate([p.labels for p in parts]),
        clusters=_all_or_none([p.clusters for p in parts]),
        weights=_all_or_none([p.weights for p in parts]),
    )


def _all_or_none(arrays: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """The arrays as one; None if any of them is missing."""
    present = [array for array in arrays if array is not None]
    return np.concatenate(present) if len(present) == len(arrays) else None
