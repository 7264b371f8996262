"""Columns that a model rests on and that say nothing in a batch.

A column that is dead in a batch (`measuring.columns.dead_columns`) matters if the probabilities of
its rows change where it is filled as in training. Then whatever the classifier says about these
rows is wrong in a way that no test of the shares can see.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from quantshift.base.seeding import generator
from quantshift.measuring.columns.column_changes import FEWEST_ROWS
from quantshift.measuring.columns.dead_columns import (
    DeadColumn,
    Death,
    dead_column,
    drawn_like_training,
)
from quantshift.measuring.columns.training_profile import (
    ColumnProfile,
    ScaleProfile,
    TrainingProfile,
)
from quantshift.quantifying.estimating.changes import unknown_dates
from quantshift.quantifying.reading.pool import Compared
from quantshift.quantifying.training.model import Model

MATTERS = 0.15
"""A dead column matters if filling it moves the probability of a row by this much on average, in
the average distance of the probabilities of training rows from their mean."""

MOST_TRIED = 1_000
"""The most rows that are classified again."""

WORDS = {
    Death.EMPTY: "empty",
    Death.CONSTANT: "always the same",
    Death.LATER: "later than all of training",
}


def gone_columns(
    model: Model, batches: Mapping[str, Compared], sizes: Mapping[str, int], *, seed: int
) -> dict[str, tuple[DeadColumn, ...]]:
    """For each batch the columns that the model rests on and that say nothing there, if any.

    sizes: different rows of each batch. A column that is always the same in every batch, and not
    in all of them together, is what divides them, and is not gone.
    """
    profile = model.profile
    if profile is None or model.scorer is None:
        return {}
    found = {
        name: dead
        for name, compared in batches.items()
        if len(compared.rows) >= FEWEST_ROWS and (dead := _dead(profile, compared, sizes[name]))
    }
    dividing = _dividing(found, batches)
    gone = {
        name: tuple(
            column
            for column, of_column in dead
            if column.name not in dividing and _matters(model, of_column, batches[name], seed)
        )
        for name, dead in found.items()
    }
    return {name: columns for name, columns in gone.items() if columns}


def why_gone(columns: Sequence[DeadColumn]) -> str:
    """Why a batch with such columns cannot be estimated."""
    texts = (
        f"{column.name!r} is {WORDS[column.death]}, like {column.share:.1%} of the training rows"
        for column in columns
    )
    names = ", ".join(repr(column.name) for column in columns)
    rests_on = "it" if len(columns) == 1 else "them"
    return f"{'; '.join(texts)}; the model rests on {rests_on}, so train again without {names}"


def _dead(
    profile: TrainingProfile, compared: Compared, n_distinct: int
) -> list[tuple[DeadColumn, ColumnProfile]]:
    """The dead columns of a batch; dates only if they are of months without training dates."""
    cells = compared.cells()
    found = []
    for column in profile.columns:
        if column.column.name not in cells.columns:
            continue
        of_sample = cells.columns[column.column.name]
        dead = dead_column(column, of_sample, profile.items, n_distinct)
        if dead is None:
            continue
        if dead.death is Death.LATER:
            assert isinstance(column, ScaleProfile)
            if not unknown_dates(column, of_sample.values).all():  # type: ignore[union-attr]
                continue
        found.append((dead, column))
    return found


def _dividing(
    found: Mapping[str, Sequence[tuple[DeadColumn, ColumnProfile]]],
    batches: Mapping[str, Compared],
) -> set[str]:
    """Columns that are constant in every batch that is large enough, and differ between them."""
    large = [name for name, each in batches.items() if len(each.rows) >= FEWEST_ROWS]
    if len(large) < 2:
        return set()
    constant = [
        {column.name for column, _ in found.get(name, ()) if column.death is Death.CONSTANT}
        for name in large
    ]
    return {
        column
        for column in set.intersection(*constant)
        if len({str(batches[name].frame[column][int(batches[name].rows[0])]) for name in large}) > 1
    }


def _matters(model: Model, column: ColumnProfile, compared: Compared, seed: int) -> bool:
    """Whether the probabilities depend on a column."""
    rows = compared.rows[:MOST_TRIED]
    rng = generator(seed, purpose="a dead column filled", column=column.column.name)
    filled = drawn_like_training(column, len(rows), rng)
    if filled is None:
        # Of texts nothing but single words is known.
        return True
    frame = compared.frame[rows]
    before, after = (
        model.posteriors(model.items(each)) for each in (frame, frame.with_columns(filled))
    )
    held_out, _ = model.held_out
    usual = np.abs(held_out - held_out.mean(axis=0))
    return float(np.abs(after - before).mean()) > MATTERS * float(usual.mean())
