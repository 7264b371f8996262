"""How two systems differ, on the same items or on different ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.errors import DataError, UserError, unknown_name
from quantshift.judging.designs.design import Design
from quantshift.judging.estimates import estimate_group
from quantshift.judging.estimating.differences import difference
from quantshift.judging.estimating.ordered import mean_difference
from quantshift.judging.inputs import ReadItems
from quantshift.judging.judge_run import JudgeRun
from quantshift.judging.result import MeanDifference, SystemDifference


def differences_of(
    run: JudgeRun, design: Design, compare: tuple[str, str]
) -> tuple[tuple[SystemDifference, ...], MeanDifference | None]:
    """The difference of two groups, class by class, and of their means if classes are ordered."""
    items, classes = run.in_question(run.table.items, design), run.meaning.classes
    groups = np.array(items.groups)
    for name in compare:
        if name not in groups:
            raise unknown_name("system", name, sorted(set(groups.tolist())))
    if compare[0] == compare[1]:
        raise UserError("a system cannot be compared with itself", arguments=["compare"])
    positions = [np.flatnonzero(groups == name) for name in compare]
    pairs = _pairs(items, positions[0], positions[1])
    paired = pairs is not None
    parts = [items.take(p) for p in (positions if pairs is None else pairs)]
    for name, part in zip(compare, parts, strict=True):
        if not design.shares_labels and not run.has_information(part):
            raise DataError(f"no item of {name!r} has a label; label some of both systems")
    first, second = (estimate_group(run, part, design) for part in parts)
    shared = design.shares_labels or run.rates is not None or run.table.external is not None
    found = difference(first, second, paired=paired, shared=shared)
    mean = None
    if run.meaning.ordered:
        worth = np.array([float(name) for name in classes])
        of_means = mean_difference(first, second, worth, paired=paired, shared=shared)
        naive = None
        if first.judges:
            naive = float((first.judges[0].naive - second.judges[0].naive) @ worth)
        mean = MeanDifference(
            system=compare[0],
            other=compare[1],
            estimate=of_means.mean,
            low=of_means.low,
            high=of_means.high,
            naive=None if naive is None or np.isnan(naive) else naive,
            paired=paired,
            n_items=len(parts[0]),
            n_other=len(parts[1]),
        )
    shares = tuple(
        SystemDifference(
            label=name,
            system=compare[0],
            other=compare[1],
            estimate=float(found.difference[i]),
            low=float(found.low[i]),
            high=float(found.high[i]),
            paired=paired,
            n_items=len(parts[0]),
            n_other=len(parts[1]),
        )
        for i, name in enumerate(classes)
    )
    return shares, mean


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
