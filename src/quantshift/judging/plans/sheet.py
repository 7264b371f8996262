"""The items to label next: how many, which, and on what sheet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quantshift.base.forks import uses_tables
from quantshift.base.nouns import counted
from quantshift.base.options import suggests_arguments
from quantshift.errors import UserError
from quantshift.intervals.targets import ITEMS
from quantshift.judging.designs.registry import plan_named
from quantshift.judging.items.judged_items import JudgedItems, KnownDraw
from quantshift.judging.items.meaning import Meaning
from quantshift.judging.plans.planning import Goal, JudgePlan, plan
from quantshift.judging.reading.arrays import parse_inputs
from quantshift.judging.reading.inputs import JudgedTable, read_judged
from quantshift.judging.reading.options import JudgeOptions, LevelOptions, PlanOptions
from quantshift.labelling.sheets.drawn import DrawnSheet
from quantshift.tables.reading import Source

LABEL = "label"
"""The column for the labels if the user names none."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LabelSheet(DrawnSheet):
    """A plan and its items: those to label first, then those that have a label already.

    strata: name and number of new labels of each stratum.
    """

    plan: JudgePlan
    strata: tuple[tuple[str, int], ...]

    def __repr__(self) -> str:
        """How many items it has."""
        so_far = f", and {counted(len(self.labels), 'label')} so far" if self.labels else ""
        return f"<LabelSheet of {counted(self.n_new, 'item')} to label{so_far}>"

    @property
    def n_new(self) -> int:
        """How many items there are to label."""
        return len(self.plan.items)


@uses_tables
@suggests_arguments
def plan_judge(
    table: Source,
    *,
    verdict: str | Sequence[str] | None = None,
    label: str | None = None,
    labelled: Source | None = None,
    score: str | None = None,
    id: str | None = None,  # noqa: A002 - the name of the option
    cluster: str | None = None,
    weights: str | None = None,
    precision: float | None = None,
    n_labels: int | None = None,
    how: str | None = None,
    map: Mapping[Any, Any] | None = None,  # noqa: A002 - the name of the option
    classes: Sequence[Any] = (),
    missing: Sequence[str] | None = None,
    lenient: bool = False,
    level: float = 0.95,
    seed: int = 0,
    of: str = ITEMS,
) -> LabelSheet:
    """Which items people should label next, for a precision or for a number of labels.

    Parameters
    ----------
    table : path or data frame
        A verdict for every item. Labels that are there already show how good the judge is.
    verdict, label, labelled, score, id, map, classes, missing, lenient, of
        As in `judge`.
    cluster : str, optional
        A column of questions or conversations, of which whole ones are labelled, at random: labels
        of one cluster say less than as many of different ones. Judge them with the same column.
    weights : str, optional
        A column of numbers, such as views: more of the items that count most are labelled.
    precision : float, optional
        Half the width that the interval may have; default: 0.05.
    n_labels : int, optional
        How many new labels, instead of a precision.
    how : {"random", "by-verdict", "by-score"}, optional
        How items are drawn; by default by score if there is one, else by verdict.
    level : float
        Confidence level of the interval.
    seed : int
        Seed of the draw.

    Returns
    -------
    LabelSheet
        `save` writes the sheet that people fill in; `judge(..., labelled=...)` reads it back.

    Examples
    --------
    >>> import polars as pl
    >>> from quantshift import plan_judge
    >>> table = pl.DataFrame({"verdict": ["pass"] * 160 + ["fail"] * 40})
    >>> plan_judge(table, verdict="verdict", n_labels=40)
    <LabelSheet of 40 items to label>
    """
    goal = Goal(PlanOptions(precision, n_labels).target, n_labels)
    if how is not None:
        plan_named(how)
    source, options = parse_inputs(
        table, verdict, label, score, id=id, cluster=cluster, weights=weights
    )
    options = options.saying(map=map, classes=classes, missing=missing, lenient=lenient)
    read = read_judged(source, labelled, options, labels_needed=False)
    if read.external is not None:
        raise UserError(
            "a plan is about items of the table itself; leave out those labelled elsewhere, or "
            "name the id that both tables have",
            arguments=["labelled", "id"],
        )
    settings = LevelOptions(level, seed, of).settings()
    label_plan = plan(
        _judged_items(read, whole_clusters=cluster is not None), goal, how=how, settings=settings
    )
    return _sheet(read, label_plan, (table, labelled), options)


def _sheet(
    read: JudgedTable,
    label_plan: JudgePlan,
    inputs: tuple[Source | None, ...],
    options: JudgeOptions,
) -> LabelSheet:
    items = read.items
    labelled = np.flatnonzero(items.labels >= 0)
    positions = np.concatenate([label_plan.items, labelled]).astype(np.int64)
    label = options.label or LABEL
    return LabelSheet(
        plan=label_plan,
        table=read.table,
        label=label,
        rows=tuple(items.numbers[positions].tolist()),
        content=tuple(name for name in read.table.columns if name != label),
        labels={int(items.numbers[i]): read.meaning.classes[items.labels[i]] for i in labelled},
        strata=tuple(zip(label_plan.names, label_plan.per_stratum.tolist(), strict=True)),
        probabilities=tuple(f"{label_plan.inclusion[i]:.6g}" for i in positions),
        inputs=inputs,
    )


def _judged_items(read: JudgedTable, *, whole_clusters: bool) -> JudgedItems:
    """The items, with what all judges say about each as one verdict.

    whole_clusters: whether these are to be labelled. Rows of one id are a cluster when they are
    judged, but only the user can say that they are labelled together.
    """
    items, classes = read.items, read.meaning.classes
    verdicts, meaning = None, Meaning(classes, (), ())
    if items.verdicts is not None:
        combinations, codes = np.unique(items.verdicts, axis=0, return_inverse=True)
        verdicts = np.asarray(codes).ravel()
        names = [
            " and ".join(repr(read.meaning.verdicts[j][code]) for j, code in enumerate(row))
            for row in combinations
        ]
        says = tuple(read.meaning.said_by_most(row) for row in combinations)
        meaning = Meaning(classes, (tuple(names),), (says,))
    return JudgedItems.of(
        verdicts,
        items.labels,
        meaning,
        score=items.score,
        drawn=None if items.inclusion is None else KnownDraw(items.inclusion),
        clusters=items.clusters if whole_clusters else None,
        weights=items.weights,
    )
