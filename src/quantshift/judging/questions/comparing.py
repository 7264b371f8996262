"""How systems differ in pairs, on the same items or on different ones: which one is better?"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.answers.batch_names import batches_in_order
from quantshift.base.types import Reals
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.judging.designs.design import Design
from quantshift.judging.estimating.differences import (
    LabelVariance,
    adjusted_for_number,
    difference,
    labels_to_decide,
    p_value_of,
    probability_above,
)
from quantshift.judging.estimating.estimates import estimate_group
from quantshift.judging.estimating.judge_run import JudgeRun
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.estimating.ordered import mean_difference
from quantshift.judging.reading.inputs import ReadItems
from quantshift.judging.reading.options import ALL
from quantshift.judging.result import MEAN, SystemDifference


def differences_of(
    run: JudgeRun, design: Design, compare: Sequence[str]
) -> tuple[tuple[SystemDifference, ...], tuple[SystemDifference, ...]]:
    """The differences of systems in pairs, class by class, and of their means if ordered.

    p-values are adjusted for the number of pairs.
    """
    items = run.in_question(run.table.items, design)
    shares: list[list[SystemDifference]] = []
    means: list[SystemDifference] = []
    for pair in combinations(_systems(items, compare), 2):
        compared = _Compared.of(run, design, items, pair)
        shares.append(compared.shares())
        if run.meaning.ordered:
            means.append(compared.of_means())
    by_class = zip(*shares, strict=True)
    level = run.settings.level
    pairs = zip(*(adjusted_for_number(rows, level) for rows in by_class), strict=True)
    return tuple(row for rows in pairs for row in rows), tuple(adjusted_for_number(means, level))


def _systems(items: ReadItems, compare: Sequence[str]) -> list[str]:
    """The names of the systems, two or more."""
    systems = batches_in_order(list(items.groups or ()))
    if tuple(compare) == (ALL,) and ALL not in systems:
        if len(systems) < 2:
            raise UserError("there is one system only, which cannot be compared")
        return systems
    for name in compare:
        if name not in systems:
            raise unknown_name("system", name, sorted(systems))
    if len(set(compare)) < len(compare):
        raise UserError("a system cannot be compared with itself", arguments=["compare"])
    return list(compare)


class _Compared:
    """The estimates of two systems."""

    def __init__(
        self, run: JudgeRun, pair: tuple[str, str], judged: tuple[Judged, Judged], paired: bool
    ) -> None:
        self.run, self.pair, self.paired = run, pair, paired
        self.first, self.second = judged
        design = self.first.design
        self.shared = design.shares_labels or run.rates is not None
        self.shared |= run.table.external is not None

    @classmethod
    def of(
        cls, run: JudgeRun, design: Design, items: ReadItems, pair: tuple[str, str]
    ) -> "_Compared":
        """The comparison of the items of both."""
        groups = np.array(items.groups)
        positions = [np.flatnonzero(groups == name) for name in pair]
        pairs = _pairs(items, positions[0], positions[1])
        parts = [items.take(p) for p in (positions if pairs is None else pairs)]
        for name, part in zip(pair, parts, strict=True):
            if not design.shares_labels and not run.has_information(part):
                raise DataError(f"no item of {name!r} has a label; label some of both systems")
        first, second = (estimate_group(run, part, design) for part in parts)
        return cls(run, pair, (first, second), pairs is not None)

    def shares(self) -> list[SystemDifference]:
        """A row for each class."""
        result = difference(self.first, self.second, paired=self.paired, shared=self.shared)
        return [
            SystemDifference(
                naive=None,
                **self._row(name, result.difference[i], result.low[i], result.high[i], [i]),
            )
            for i, name in enumerate(self.run.meaning.classes)
        ]

    def of_means(self) -> SystemDifference:
        """The row of the means."""
        worth = np.array([float(name) for name in self.run.meaning.classes])
        result = mean_difference(
            self.first, self.second, worth, paired=self.paired, shared=self.shared
        )
        naive = None
        if self.first.judges:
            naive = float((self.first.judges[0].naive - self.second.judges[0].naive) @ worth)
        return SystemDifference(
            naive=None if naive is None or np.isnan(naive) else naive,
            **self._row(MEAN, result.estimate, result.low, result.high, slice(None)),
        )

    def _row(self, label: str, estimate: Any, low: Any, high: Any, classes: Any) -> dict[str, Any]:
        """The fields that all rows have; classes: those whose variance it is."""
        estimate, low, high = float(estimate), float(low), float(high)
        level = self.run.settings.level
        probability = probability_above(estimate, low, high, level, 0.0)
        p_value = p_value_of(estimate, low, high, level, 0.0)
        distance = estimate - low if estimate > 0 else high - estimate
        return {
            "label": label,
            "system": self.pair[0],
            "other": self.pair[1],
            "estimate": estimate,
            "low": low,
            "high": high,
            "paired": self.paired,
            "n_items": self.first.n_items,
            "n_other": self.second.n_items,
            "probability": probability,
            "p_value": p_value,
            "p_adjusted": p_value,
            "more_than_chance": p_value < 1 - level,
            "labels_to_decide": labels_to_decide(
                estimate, distance, level, self._variance(classes)
            ),
        }

    def _variance(self, classes: Any) -> LabelVariance:
        both, design = (self.first, self.second), self.first.design

        def total(parts: Sequence[Reals]) -> float:
            return float(sum(part[classes].sum() for part in parts))

        can_be_reduced = design.uses_labels and all(one.shares.can_be_halved for one in both)
        ours = design.labelled_are_items
        n_labels = sum(one.n_labelled for one in both) if ours else self.first.n_labelled
        return LabelVariance(
            by_labels=total([one.shares.by_labels for one in both]),
            by_items=total([one.shares.by_items for one in both]),
            n_labels=n_labels if can_be_reduced else 0,
            n_items=sum(one.n_items for one in both) if ours else None,
            of_items=ours and self.run.settings.of_items,
        )


def _pairs(
    items: ReadItems, first: NDArray[Any], second: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """The positions of items that both systems have, in the same order; None without ids."""
    if items.ids is None:
        return None
    ours = {items.ids[i]: i for i in first if items.ids[i] is not None}
    theirs = {items.ids[i]: i for i in second if items.ids[i] is not None}
    if len(ours) < len(first) or len(theirs) < len(second):
        raise DataError(
            "an id comes twice in one system, or is missing: items cannot be paired; leave the id "
            "out to compare them unpaired",
            arguments=["id"],
        )
    shared = [key for key in ours if key in theirs]
    if not shared:
        return None
    return np.array([ours[key] for key in shared]), np.array([theirs[key] for key in shared])
