"""Labels of these items and labels from elsewhere together, if the judge treats both alike.

Whether it does is tested: P(verdict | class) among both kinds of labels (chi-square, class by
class). If it does, the two estimates are averaged, each by the other's squared width, and the
squares of the distances to the limits are added, allowing for the verdicts that both use. If
not, the labels from elsewhere say nothing about these items and are left aside. The estimate from
elsewhere has the limits of rates that move between sources: with those of rates that are the same,
a test that does not see a difference would be taken for one that shows there is none.
"""

from dataclasses import replace

import numpy as np

from quantshift.base.types import Reals
from quantshift.errors import UserError
from quantshift.judging.designs.parts.share_estimate import labelled_table
from quantshift.judging.estimating.differences import correlation, distances_to_limits
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.items.judged_items import JudgedItems
from quantshift.statistics.contingency import ChiSquare, chi_square

EQUAL = 0.05
"""Rates are taken to be equal unless the p-value is smaller."""


def combined(by_items: Judged, by_external: Judged, items: JudgedItems) -> Judged:
    """One estimate of two, if rates are the same; `by_items` uses labels of the items alone."""
    if not by_items.design.labelled_are_items:
        raise UserError(
            "there are labels from elsewhere both in the table and in a second one: combine them "
            "in one table",
            arguments=["labelled"],
        )
    p_value = equal_rates(*_tables(items))
    ours, theirs = by_items.shares, by_external.shares
    if p_value < EQUAL:
        different = JudgeFindings.TREATED_DIFFERENTLY.found(p_value=p_value)
        return replace(by_items, findings=(*by_items.findings, different))
    if ours.no_estimate_reason or theirs.no_estimate_reason:
        reason = theirs.no_estimate_reason or ours.no_estimate_reason
        not_used = JudgeFindings.ELSEWHERE_NOT_USED.found(reason=reason)
        return replace(by_items, findings=(*by_items.findings, not_used))
    r = correlation(by_items, by_external, paired=True, shared=False)
    w = weight_of_first(ours.width, theirs.width, r)
    p = w * ours.prevalence + (1 - w) * theirs.prevalence
    (down, up), (their_down, their_up) = map(distances_to_limits, (by_items, by_external))
    assert theirs.influence_external is not None
    shares = replace(
        ours,
        prevalence=p,
        low=np.clip(p - averaged(down, their_down, r, w), 0, 1),
        high=np.clip(p + averaged(up, their_up, r, w), 0, 1),
        influence=w * ours.influence + (1 - w) * theirs.influence,
        influence_external=(1 - w) * theirs.influence_external,
    )
    return replace(
        by_items,
        shares=shares,
        n_labelled=by_items.n_labelled + by_external.n_labelled,
        assumption=f"{by_items.assumption} {by_external.assumption}",
        findings=(
            *by_items.findings,
            JudgeFindings.ELSEWHERE_USED.found(weight=1 - w, p_value=p_value),
        ),
        labels_for_half_width=None,
        clusters_for_half_width=None,
    )


def _tables(items: JudgedItems) -> tuple[Reals, Reals]:
    """Labelled items by class and cell, here and elsewhere."""
    cells, others = items.cells(), items.external
    assert cells.external is not None
    assert others is not None
    here = cells.codes[items.is_labelled], items.labels[items.is_labelled]
    return (
        labelled_table(*here, cells.n, items.n_classes),
        labelled_table(cells.external, others.labels, cells.n, items.n_classes),
    )


def equal_rates(among_items: Reals, external: Reals) -> float:
    """p-value of classes having the same rates in two tables, (n_classes, n_verdicts) each."""
    statistic, freedom = 0.0, 0
    for pair in np.stack([among_items, external], axis=1):
        table = pair[:, pair.sum(axis=0) > 0]
        if table.shape[1] < 2 or (table.sum(axis=1) == 0).any():
            continue
        test = chi_square(table)
        statistic, freedom = statistic + test.statistic, freedom + test.freedom
    return ChiSquare(statistic, freedom).p_value


def weight_of_first(a: Reals, b: Reals, r: Reals) -> float:
    """The weight of the first of two estimates.

    They have the widths a and b and the correlations r, all (n_classes,).
    """
    shared = float((r * a * b).sum())
    first, second = float((a * a).sum()) - shared, float((b * b).sum()) - shared
    total = first + second
    return float(np.clip(second / total, 0, 1)) if total > 0 else 0.5


def averaged(a: Reals, b: Reals, r: Reals, w: float) -> Reals:
    """The distance to a limit of the average, from those of the two."""
    square = (w * a) ** 2 + ((1 - w) * b) ** 2 + 2 * r * w * (1 - w) * a * b
    return np.asarray(np.sqrt(np.maximum(square, 0)))
