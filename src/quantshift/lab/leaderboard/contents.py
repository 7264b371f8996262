"""Everything a leaderboard shows, as plain frames and mappings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from quantshift.base.nouns import counted
from quantshift.errors import DataError
from quantshift.lab.analysis.stability import RankStability, rank_stability
from quantshift.lab.leaderboard.method_times import method_times
from quantshift.lab.leaderboard.pairs import pair_table
from quantshift.lab.leaderboard.published import published_numbers
from quantshift.lab.leaderboard.samples import SamplePoints, points_of, points_per_number
from quantshift.lab.leaderboard.scores import experiment_rows, invalid_estimates, score_table
from quantshift.lab.report.page.provenance import Provenance, provenance_of
from quantshift.lab.results.store import ResultStore

Place: TypeAlias = tuple[str, str]
"""A part of an experiment, and a data set."""


@dataclass(frozen=True, eq=False)
class Contents:
    """The contents of the page.

    scores      from `score_table`
    times       from `method_times`
    published   from `published_numbers`
    pairs       from `pair_table`
    points      samples of each place
    absences    experiment, data set and method -> why there is no number
    classes     names of the classes of each place, in the order of the estimates
    stability   part of an experiment -> its mean ranks, if it has two data sets to rank or more
    """

    scores: pl.DataFrame
    times: pl.DataFrame
    published: pl.DataFrame
    pairs: pl.DataFrame
    points: Mapping[Place, SamplePoints]
    absences: Mapping[tuple[str, str, str], str]
    classes: Mapping[Place, tuple[str, ...]]
    stability: Mapping[str, RankStability]
    provenance: Provenance


def contents_of(store: ResultStore) -> Contents:
    """The contents of a leaderboard of all results in the store."""
    scores = score_table(store)
    if scores.is_empty():
        raise DataError(f"{store.path} has no results yet; run a suite first")
    provenance = provenance_of(store)
    points, classes = _points(store, scores)
    return Contents(
        scores=scores,
        times=method_times(store),
        published=published_numbers(store, scores),
        pairs=pair_table(scores),
        points=points,
        absences={**_left_out(store), **_failed(provenance), **_invalid(store)},
        classes=classes,
        stability=_stability(store),
        provenance=provenance,
    )


def _points(
    store: ResultStore, scores: pl.DataFrame
) -> tuple[dict[Place, SamplePoints], dict[Place, tuple[str, ...]]]:
    n_numbers = scores.select("part", "dataset", "method").n_unique()
    most = points_per_number(n_numbers)
    methods = scores["method"].unique().to_list()
    points, classes = {}, {}
    for rows, subject in experiment_rows(store):
        for (part, dataset), rows_of_place in rows.group_by("part", "dataset"):
            place = (str(part), str(dataset))
            points[place] = points_of(rows_of_place, methods, most)
            classes[place] = subject.classes(place[1])
    return points, classes


def _stability(store: ResultStore) -> dict[str, RankStability]:
    stabilities = {}
    for rows, _ in experiment_rows(store):
        for (part,), rows_of_part in rows.group_by("part", maintain_order=True):
            try:
                stability = rank_stability(rows_of_part)
            except DataError:  # too few samples or methods: there is nothing to rank
                continue
            if len(stability.datasets) > 1:
                stabilities[str(part)] = stability
    return stabilities


def _left_out(store: ResultStore) -> dict[tuple[str, str, str], str]:
    return {
        (experiment, dataset, method): reason
        for experiment in store.experiments
        for dataset in store.datasets(experiment)
        for method, reason in store.left_out(experiment, dataset).items()
    }


def _invalid(store: ResultStore) -> dict[tuple[str, str, str], str]:
    return {
        (experiment, dataset, method): f"{counted(n, 'stored estimate')} with a negative share or "
        f"another sum than 1: compute the method again (`quantshift bench ... --redo {method}`)"
        for experiment, dataset, method, n in invalid_estimates(store).iter_rows()
    }


def _failed(provenance: Provenance) -> dict[tuple[str, str, str], str]:
    cells: dict[tuple[str, str, str], list[str]] = {}
    for failure in provenance.failures:
        for method in failure.methods:
            key = (failure.experiment, failure.dataset, method)
            cells.setdefault(key, []).append(failure.error)
    return {
        key: f"failed on {counted(len(errors), 'training set')}: {errors[0]}"
        for key, errors in cells.items()
    }
