"""Which of two answers is better: the win rate, and whether the place of an answer moves the judge.

A win counts 1, a loss 0 and a tie a half, so that a win rate is a mean of ordered classes and its
limits are those of such a mean. A judge that prefers the answer it sees first gives an answer a
higher win rate where it comes first. If the order was random the difference of both is the bias of
the judge; verdicts of all items show it, without any label. Items with weights count by them in
both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from quantshift.base.types import Codes, Flags, Reals
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.judging.designs.design import Design
from quantshift.judging.estimating.differences import (
    LabelVariance,
    labels_to_decide,
    probability_above,
)
from quantshift.judging.estimating.judge_run import JudgeRun
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.estimating.ordered import mean
from quantshift.judging.items.clusters import cluster_sums
from quantshift.judging.result import EVEN, PositionBias, WinRate
from quantshift.tables.columns.labels import label_names


def win_rate(run: JudgeRun, judged: Judged, wins: tuple[str, str]) -> WinRate:
    """The win rate of the first class of `wins` against the second."""
    worth = worth_of_classes(run.meaning.classes, wins)
    rate, shares = mean(judged, worth), judged.shares
    level, design = judged.level, judged.design
    naive = float(judged.judges[0].naive @ worth) if judged.judges else np.nan
    apart = rate.estimate - EVEN
    distance = rate.estimate - rate.low if apart > 0 else rate.high - rate.estimate
    return WinRate(
        label=wins[0],
        loss=wins[1],
        estimate=rate.estimate,
        low=rate.low,
        high=rate.high,
        naive=None if np.isnan(naive) else naive,
        probability=probability_above(rate.estimate, rate.low, rate.high, level, EVEN),
        labels_to_decide=labels_to_decide(
            apart,
            distance,
            level,
            LabelVariance(
                by_labels=float(shares.by_labels.sum()),
                by_items=float(shares.by_items.sum()),
                n_labels=_n_labels(judged, design),
                n_items=judged.n_items if design.labelled_are_items else None,
                of_items=design.labelled_are_items and run.settings.of_items,
            ),
        ),
    )


def _n_labels(judged: Judged, design: Design) -> int:
    """Labels, if more of them would make the limits narrower without end."""
    return judged.n_labelled if design.uses_labels and judged.shares.can_be_halved else 0


def worth_of_classes(classes: Sequence[str], wins: tuple[str, str]) -> Reals:
    """1 for a win, 0 for a loss, a half for anything else, (n_classes,)."""
    win, loss = wins
    for name in (win, loss):
        if name not in classes:
            raise unknown_name("class", name, classes)
    if win == loss:
        raise UserError("a win and a loss are two classes", arguments=["wins"])
    worth = np.full(len(classes), EVEN)
    worth[classes.index(win)], worth[classes.index(loss)] = 1.0, 0.0
    return worth


def position_biases(run: JudgeRun, wins: tuple[str, str], column: str) -> Iterator[PositionBias]:
    """The bias of each judge; column: the one that says which answer came first."""
    items, has_order, came_first = run.table.items, *_came_first(run, wins, column)
    if items.verdicts is None:
        raise UserError(
            "a bias of position is one of verdicts; name their column", arguments=["verdict"]
        )
    # The last is that of verdicts without a class.
    worth = np.append(worth_of_classes(run.meaning.classes, wins), EVEN)
    clusters = None if items.clusters is None else items.clusters[has_order]
    weights = np.ones(int(has_order.sum())) if items.weights is None else items.weights[has_order]
    for j, name in enumerate(run.judges):
        says = np.array(run.meaning.says[j])[items.verdicts[has_order, j]]
        compared = _Compared(worth[says], came_first[has_order], weights, clusters)
        yield compared.bias(name, run.settings.level)


def _came_first(run: JudgeRun, wins: tuple[str, str], column: str) -> tuple[Flags, Flags]:
    """Which items say which answer came first, and whether it was the one that wins."""
    win, loss = (name.casefold() for name in wins)
    cells = label_names(run.table.beside[column]).to_list()
    names = [None if name is None else name.casefold() for name in cells]
    wrong = [cell for cell, name in zip(cells, names, strict=True) if name not in (win, loss, None)]
    if wrong:
        raise DataError(
            f"the column {column!r} has {wrong[0]!r}, which is neither of {wins[0]!r} and "
            f"{wins[1]!r}: it names the answer that came first"
        )
    has_order = np.array([name is not None for name in names], dtype=bool)
    return has_order, np.array([name == win for name in names], dtype=bool)


@dataclass(frozen=True, eq=False)
class _Compared:
    """Verdicts where an answer came first, and where it came second.

    score: 1 if the verdict is a win, 0 if a loss; first: whether that answer came first. weights:
    by which items count; those of weight 0 do not.
    """

    score: Reals
    first: Flags
    weights: Reals
    clusters: Codes | None

    def bias(self, judge: str, level: float) -> PositionBias:
        """The difference of both win rates, with Student's limits."""
        n_first, n_second = (
            int((side & (self.weights > 0)).sum()) for side in (self.first, ~self.first)
        )
        if min(n_first, n_second) < 2:
            raise DataError(
                f"the same answer comes first in {max(n_first, n_second):,} of "
                f"{n_first + n_second:,} items: whether its place moves the judge cannot be seen",
                arguments=["first"],
            )
        means = self._mean(self.first), self._mean(~self.first)
        error, n = self._error(means)
        difference = means[0] - means[1]
        freedom = max(n - 1, 1)
        margin = float(stdtrit(freedom, (1 + level) / 2)) * error
        if error:
            p_value = 2 * float(stdtr(freedom, -abs(difference) / error))
        else:
            p_value = 1.0 if difference == 0 else 0.0
        return PositionBias(
            label=judge,
            n_first=n_first,
            n_second=n_second,
            if_first=means[0],
            if_second=means[1],
            estimate=difference,
            low=max(difference - margin, -1.0),
            high=min(difference + margin, 1.0),
            p_value=p_value,
        )

    def _mean(self, side: Flags) -> float:
        return float(np.average(self.score[side], weights=self.weights[side]))

    def _error(self, means: tuple[float, float]) -> tuple[float, int]:
        """The standard error of the difference, and the number of items or clusters behind it."""
        first, w = self.first, self.weights
        apart = self.score - np.where(first, *means)
        added = apart * w / np.where(first, w[first].sum(), -w[~first].sum())
        sums = added[w > 0]
        if self.clusters is not None:
            sums = cluster_sums(sums[:, np.newaxis], self.clusters[w > 0])[:, 0]
        n = len(sums)
        return float(np.sqrt((sums**2).sum() * n / max(n - 1, 1))), n
