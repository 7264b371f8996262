"""Which items to label next, and how many: at random, or more where the judge is unsure.

The list is in an order in which labelling may stop at any time: strata take turns.

A second plan keeps the strata of the first, because labels are random draws only within the strata
they were drawn in. Strata by score depend on the scores, and on labels only as far as these are
random ones. If it is known with what probability each label was drawn, strata are used in which
all labels have the same probability.

If items are in clusters, whole clusters are drawn at random: a person who reads a conversation
labels all of it (`plan_clusters`).
"""

from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from quantshift.base.domains import Count, check_value
from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Reals
from quantshift.errors import UserError
from quantshift.judging.designs.at_random import AtRandom
from quantshift.judging.designs.by_score import ByScore
from quantshift.judging.designs.by_verdict import ByVerdict
from quantshift.judging.designs.design import Plannable
from quantshift.judging.designs.guessing import check_design
from quantshift.judging.designs.parts.plan_strata import (
    FEWEST,
    PlanStrata,
    constant_within,
)
from quantshift.judging.designs.registry import design_named, plan_named
from quantshift.judging.items.judged_items import DEFAULTS, JudgedItems, Settings
from quantshift.judging.plans.plan_clusters import PlanClusters


@dataclass(frozen=True)
class Goal:
    """What a plan is for: a precision (half the width of the interval) or a number of labels."""

    precision: float | None = None
    n_labels: int | None = None

    def __post_init__(self) -> None:
        if (self.precision is None) == (self.n_labels is None):
            raise UserError(
                "give either a precision (0.03: plus or minus 3 points) or a number of labels",
                arguments=["precision", "n_labels"],
            )
        if self.n_labels is not None:
            check_value("n_labels", self.n_labels, Count)
        if self.precision is not None and not 0 < self.precision < 1:
            raise UserError(
                "a precision is between 0 and 1 (0.03: plus or minus 3 points), got "
                f"{self.precision}"
            )


@dataclass(frozen=True, eq=False)
class JudgePlan:
    """Items to label.

    items: positions in the order of labelling; labelling may stop at any point of the list.
    strata: that of every item, (n_items,); names: those of the strata in words, such as "verdict 1"
        or "score 0.2 to 0.4"; all items are of one stratum in a random plan.
    inclusion: with what probability an item is labelled, (n_items,), now or earlier. Keep it and
        `strata` with the labels: they are the `KnownDraw` of the labelled items.
    per_stratum: new labels in each stratum.
    half_width: what to expect for the interval, for the class with the widest; at_worst: the same
        if the verdicts say nothing and half of the items are of each of two classes.
    n_random: labels of random items for the same; as many as there are items if they are too few.
        If whole clusters are drawn, these are labels of single items, whatever their cluster.
    clusters: those of all items, if whole clusters are drawn; n_clusters: how many to label.
    """

    how: str
    items: Indices
    strata: Codes
    names: tuple[str, ...]
    inclusion: Reals
    per_stratum: NDArray[np.int64]
    half_width: float
    at_worst: float
    n_random: int
    level: float
    clusters: PlanClusters | None = None
    n_clusters: int = 0


def plan(
    items: JudgedItems,
    goal: Goal,
    *,
    how: str | None = None,
    settings: Settings = DEFAULTS,
) -> JudgePlan:
    """About how many items to label for a precision, or which ones for a number of labels.

    items: verdicts are those of one judge; scores are of two classes. Labels so far show how good
        the verdicts are. They have to be random within the strata of the plan: random items, or
        those of an earlier plan by verdict for one by verdict, and by score for one by score.
        Probabilities with which they were drawn (`JudgePlan.inclusion` of the earlier plan) that
        differ within the strata of the plan are an error. Items in clusters are labelled by whole
        clusters.
    how: the name of a way to plan; None: random ones of clusters, else by score if there is one,
        else by verdict.
    """
    way = _way(how, items)
    strata = replace(
        way.plan_strata(items, random_so_far=_random_so_far(items)), of_items=settings.of_items
    )
    final = strata.together() if way.plans_together else strata
    _check_labels_so_far(way, final, items)
    clusters = None
    if items.clusters is not None:
        clusters = PlanClusters.of(items, strata.codes, strata.rates)
        if goal.n_labels is not None and not items.is_labelled.any():
            clusters.check_number(goal.n_labels)
    forecast = _Forecast(way, strata, _numbers(strata, items), settings.level, clusters)
    n_new = goal.n_labels if goal.precision is None else forecast.labels_for(goal.precision)
    assert n_new is not None
    n_new = min(n_new, forecast.n_left)
    rng = generator(settings.seed, purpose="judge plan", n_items=len(items))
    drawn_now = _drawn(forecast, final, items, n_new, rng)
    half_width = forecast.half_width(len(drawn_now.items))
    at_random = strata
    if items.weights is not None:
        at_random = replace(
            AtRandom().plan_strata(items, random_so_far=_random_so_far(items)),
            of_items=settings.of_items,
        )
    return JudgePlan(
        how=way.name,
        items=drawn_now.items,
        strata=final.codes,
        names=final.names,
        inclusion=drawn_now.inclusion,
        per_stratum=drawn_now.per_stratum,
        half_width=half_width,
        at_worst=forecast.at_worst(len(drawn_now.items)),
        n_random=_random_labels_for(at_random, half_width, settings.level, clusters),
        level=settings.level,
        clusters=clusters,
        n_clusters=drawn_now.n_clusters,
    )


def _check_labels_so_far(way: Plannable, strata: PlanStrata, items: JudgedItems) -> None:
    """Refuse labels that an earlier plan drew within these strata with different probabilities."""
    drawn = items.inclusion_of_labels
    if drawn is not None and not constant_within(drawn, strata.codes[items.is_labelled]):
        raise UserError(
            f"labels so far have different probabilities within the strata of a plan "
            f"{way.plan_words}: they were drawn by another plan; plan in the way of the first one",
            arguments=["how"],
        )


def _way(how: str | None, items: JudgedItems) -> Plannable:
    """The way to plan by its name, or the usual one for such items."""
    usual = ByVerdict.name if items.raw_score is None else ByScore.name
    if items.clusters is not None:
        usual = AtRandom.name
    way = plan_named(how or usual)
    columns = {"verdict": items.verdicts, "score": items.raw_score}
    for column in way.plan_needs:
        if columns[column] is None:
            raise UserError(
                f"a plan {way.plan_words} needs the {column} of every item", arguments=[column]
            )
    if items.clusters is not None and not way.plans_together:
        raise UserError(
            f"whole clusters are drawn at random, and a plan {way.plan_words} draws single items: "
            "leave out one of the two",
            arguments=["cluster", "how"],
        )
    return way


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Items to label in their order, with the probabilities and numbers that a plan keeps."""

    items: Indices
    inclusion: Reals
    per_stratum: NDArray[np.int64]
    n_clusters: int = 0


def _drawn(
    forecast: "_Forecast",
    final: PlanStrata,
    items: JudgedItems,
    n_new: int,
    rng: np.random.Generator,
) -> _Drawn:
    """n_new items to label, or about as many in whole clusters; final: the strata drawn from."""
    clusters, before = forecast.clusters, _numbers(final, items)
    if clusters is not None:
        rows, labelled = clusters.drawn(n_new, items.is_labelled, rng)
        inclusion = np.full(len(items), labelled.mean())
        n_clusters = len(np.unique(clusters.codes[rows]))
        return _Drawn(rows, inclusion, np.array([len(rows)]), n_clusters)
    new = np.array([n_new])
    if not forecast.way.plans_together:
        new = _whole(forecast.labels(n_new) - before, n_new)
    inclusion = ((new + before) / np.maximum(final.sizes, 1))[final.codes]
    return _Drawn(_in_turns(final.codes, ~items.is_labelled, new, rng), inclusion, new)


@dataclass(frozen=True, eq=False)
class _Forecast:
    """What to expect from a number of new labels; had: labels of the strata so far.

    clusters: those of the items if whole clusters are labelled.
    """

    way: Plannable
    strata: PlanStrata
    had: NDArray[np.int64]
    level: float
    clusters: PlanClusters | None = None

    @property
    def n_left(self) -> int:
        """Items without a label."""
        return int(self.strata.sizes.sum() - self.had.sum())

    def labels(self, n_new: int) -> Reals:
        """Labels of each stratum at the end."""
        total = min(n_new, self.n_left) + int(self.had.sum())
        return self.way.allocated(self.strata, total, self.had, self.level)

    def half_width(self, n_new: int) -> float:
        """Half the width of the interval to expect."""
        labels = self.labels(n_new)
        return self._in_clusters(self.strata.half_width(labels, self.level), labels)

    def at_worst(self, n_new: int) -> float:
        """The same for labels of the same strata, if these say nothing about the classes."""
        labels, even = self.labels(n_new), np.zeros_like(self.strata.rates)
        even[:, :2] = 1 / 2
        strata = replace(self.strata, rates=even)
        return self._in_clusters(strata.half_width(labels, self.level), labels)

    def _in_clusters(self, half_width: float, labels: Reals) -> float:
        if self.clusters is None:
            return half_width
        return min(self.clusters.widening(float(labels.sum()), self.level) * half_width, 1.0)

    def labels_for(self, precision: float) -> int:
        """The fewest new labels with which half the width is no more than this."""
        return bisect_left(
            range(self.n_left),
            -precision,
            lo=min(FEWEST, self.n_left),
            key=lambda n: -self.half_width(n),
        )


def _numbers(strata: PlanStrata, items: JudgedItems) -> NDArray[np.int64]:
    """Labels so far in each stratum."""
    return np.bincount(strata.codes[items.is_labelled], minlength=len(strata.sizes))


def _random_so_far(items: JudgedItems) -> bool:
    """Whether the labels so far look like those of random items, by their scores."""
    if items.raw_score is None or items.n_classes != 2:
        return False
    by_score = replace(items, verdicts=None)
    return check_design(design_named(AtRandom.name), by_score).ok


def _random_labels_for(
    strata: PlanStrata, half_width: float, level: float, clusters: PlanClusters | None
) -> int:
    """Labels of random items for an interval as narrow; all items if they are too few."""
    n_items, together = int(strata.sizes.sum()), strata.together()

    def expected(n: int) -> float:
        width = min(
            strata.half_width(n * strata.sizes / n_items, level),
            together.half_width(np.array([float(n)]), level),
        )
        if clusters is None:
            return width
        return width * clusters.widening_one_by_one(n, of_items=strata.of_items)

    return bisect_left(range(n_items), -half_width - 1e-12, lo=1, key=lambda n: -expected(n))


def _whole(n: Reals, total: int) -> NDArray[np.int64]:
    """Whole numbers near n that sum to the total; those of n to no less."""
    whole = np.floor(n).astype(np.int64)
    # The largest fractions go up; a stratum whose items are all taken has none.
    up = max(total - int(whole.sum()), 0)
    whole[np.argsort(whole - n, kind="stable")[:up]] += 1
    while whole.sum() > total:
        whole[int(np.argmax(whole))] -= 1
    return whole


def _in_turns(
    codes: Codes, free: NDArray[np.bool_], new: NDArray[np.int64], rng: np.random.Generator
) -> Indices:
    """Random items of each stratum, in an order in which strata take turns."""
    rows, turns = [], []
    for h, n in enumerate(new):
        unlabelled = np.flatnonzero((codes == h) & free)
        rows.append(rng.permutation(unlabelled)[:n])
        turns.append((np.arange(n) + rng.random()) / max(int(n), 1))
    return np.concatenate(rows)[np.argsort(np.concatenate(turns), kind="stable")]
