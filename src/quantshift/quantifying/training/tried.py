"""What was declared, tried on the groups or dates of the training table.

A declaration turns tests off, and a wrong one gives a wrong interval. The labelled table often
shows how it would have done: each of its groups, or each of its last periods from those before it,
is estimated under the assumption, and its labels say how far off that was.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from quantshift.answers.batch_names import NO_GROUP
from quantshift.answers.columns import LeftOutColumn
from quantshift.base.progress import OnProgress
from quantshift.claims import Assumption
from quantshift.claims.findings import Finding
from quantshift.errors import DataError
from quantshift.quantifying.declaration import Declaration
from quantshift.quantifying.findings import TrainingFindings
from quantshift.quantifying.group_errors import GroupErrors
from quantshift.quantifying.options import AUTO
from quantshift.quantifying.training.classifiers import LOGISTIC
from quantshift.quantifying.training.learning import Labelled
from quantshift.quantifying.training.left_out_groups import left_out_errors
from quantshift.quantifying.training.methods import IF_COVARIATE_SHIFT, IF_PRIOR_SHIFT
from quantshift.tables.columns.kinds import DATE, Column, as_kind, choose

LAST_PERIODS = 8
"""Of dates that nobody named, so many periods are tried, with logistic regression, to be quick."""

FEWEST = 3
"""Fewer groups are no record."""

FAR_OFF = 0.05
"""An assumption is in doubt if its errors are larger, beyond those of counting so few rows."""


def record(
    declared: Declaration, data: Labelled, groups: GroupErrors | None, progress: OnProgress
) -> Iterator[Finding]:
    """How far off what was declared would have been. groups: if the user has named some."""
    if declared.assumption == AUTO:
        return
    tried = groups if groups is not None else _by_dates(data, progress)
    if tried is None or len(tried.groups) < FEWEST:
        return
    is_prior = Assumption(declared.assumption) is Assumption.PRIOR
    method = (IF_PRIOR_SHIFT if is_prior else IF_COVARIATE_SHIFT).__name__
    # Far off for a class is far off, however many classes are hardly there.
    errors = [
        max(abs(group.estimates[method][label] - p) for label, p in group.prevalence.items())
        for group in tried.groups
    ]
    by_counting = [
        max(p * (1 - p) for p in group.prevalence.values()) / group.n_items
        for group in tried.groups
    ]
    in_doubt = np.mean(np.square(errors)) - np.mean(by_counting) > FAR_OFF**2
    code = TrainingFindings.DECLARATION_IN_DOUBT if in_doubt else TrainingFindings.DECLARATION_TRIED
    yield code.found(
        column=tried.column,
        n=len(errors),
        noun=tried.noun,
        which="last" if tried.in_time else "all",
        error=float(np.mean(errors)),
        largest=max(errors),
    )


def _by_dates(data: Labelled, progress: OnProgress) -> GroupErrors | None:
    """The errors on the last periods of a column of dates, if there is one."""
    found = _dates(data)
    if found is None:
        return None
    column, cells = found
    names = as_kind(cells, column).dt.strftime("%Y-%m-%d").fill_null(NO_GROUP)
    trial = replace(
        data,
        columns=data.columns.without([LeftOutColumn(column.name, "the times")]),
        options=replace(data.options, groups=None, time=None),
        training=replace(data.training, method=AUTO, classifier=LOGISTIC),
        items=replace(data.items, groups=names),
    )
    if not trial.columns.content:
        return None
    try:
        return left_out_errors(trial, column.name, progress, most=LAST_PERIODS)
    except DataError:
        return None


def _dates(data: Labelled) -> tuple[Column, pl.Series] | None:
    """A column of dates with its cells: that of the batches, or the first feature."""
    for name in data.items.kept.columns:
        features, _ = choose(data.items.kept.select(name), named=[name])
        if features[0].kind == DATE:
            return features[0], data.items.kept[name]
    for column in data.columns.features:
        if column.kind == DATE:
            return column, data.items.values[column.name]
    return None
