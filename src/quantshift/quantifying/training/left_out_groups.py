"""Every group of the training table is left out in turn, and estimated from the others.

Regions, years or hospitals in the training table differ from each other as the next sample may
differ from them. Each group serves as a sample: a model is trained without it, several methods
estimate its shares, and its labels show how far off they are. Times (dates and years, or the
numbered periods of a column that is named as time) are estimated only from earlier ones, so that
nothing is learnt from the future.

If label shift is refuted, the errors widen the range of the assumptions (`reach`): the sample is
one more group, and if it is exchangeable with the others, the error of the estimate is at most the
largest of n errors with probability n / (n + 1). The errors do not choose the method: on tables
kept aside this showed no gain (`benchmarks/left_out_groups.py`).
"""

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.answers.batch_names import NO_GROUP
from quantshift.answers.shares import by_class
from quantshift.base.nouns import counted
from quantshift.base.progress import OnProgress
from quantshift.base.seeding import generator
from quantshift.base.types import Indices, Posteriors, Prevalences
from quantshift.errors import DataError
from quantshift.prevalence import simplex
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.guarding import AbstractGuarded
from quantshift.quantifiers.base.items import Items
from quantshift.quantifiers.baselines import BASELINE
from quantshift.quantifying.columns import TableItems
from quantshift.quantifying.options import AUTO
from quantshift.quantifying.training.group_errors import (
    FORWARD,
    LEAVE_ONE_OUT,
    GroupErrors,
    LeftOutGroup,
    is_year,
)
from quantshift.quantifying.training.learning import Labelled, LearntModel, learn
from quantshift.quantifying.training.methods import (
    FEATURES,
    IF_COVARIATE_SHIFT,
    ON_GROUPS,
    POSTERIORS,
    method_class,
)
from quantshift.quantifying.training.model import given_posteriors
from quantshift.shifts.groups import GroupShift, Side

SMALLEST = 30
"""The fewest rows of a group that is estimated by itself."""

MOST_GROUPS = 20
"""The most groups that are left out in turn."""

MOST_ROWS = 5_000
"""The most rows to learn from, and of a group to estimate; more would take too long."""

PERIODS = ("year", "quarter", "month", "week", "day")
ENOUGH_PERIODS = 6
"""Dates are grouped by the longest period that gives at least this many groups."""

POOLED = "(small groups)"

CHUNKS = (2 * ENOUGH_PERIODS, ENOUGH_PERIODS)
"""Numbered periods of few rows each are joined into this many groups; tried in this order."""


def left_out_errors(data: Labelled, column: str, progress: OnProgress) -> GroupErrors:
    """The errors of the methods on every group of the column, which they were not trained on."""
    names, notes = data.items.groups, []
    in_time = _in_time(names)
    if data.options.time is not None and not in_time:
        _check_periods(data, column, names)
        in_time = True
    design = FORWARD if in_time else LEAVE_ONE_OUT
    if NO_GROUP in names:
        n = int((names == NO_GROUP).sum())
        notes.append(f"{counted(n, 'row')} without a group {'is' if n == 1 else 'are'} not used")
    if design == LEAVE_ONE_OUT:
        names, pooled = _pooled(names)
        notes += pooled
    protocol = _protocol(data, column, names, design)
    survey = protocol.survey
    assert survey is not None
    if survey.too_small:
        notes.append(f"not estimated, with fewer than {SMALLEST} rows: {_some(survey.too_small)}")
    if survey.untrained:
        n = len(survey.untrained)
        notes.append(f"{counted(n, 'training set')} without rows of every class left out")
    sizes = dict(zip(*np.unique(names.to_numpy(), return_counts=True), strict=True))
    sides, notes_on_sizes = _evaluated(survey.sides, survey.names, sizes, design)
    notes += notes_on_sizes
    estimated = []
    categories = names.to_numpy()
    for done, side in enumerate(sides):
        progress("leaving out groups", done, len(sides))
        train = protocol.training_set({"group_train": side.name}, data.codes, categories)
        (test,) = protocol.samples(data.codes, categories, train=train.coordinates)
        name = survey.names[side.tests[0]]
        rows = _at_most(test.indices, data.training.seed, name)
        try:
            estimated.append(_estimated(data, name, train.indices, rows))
        except DataError as error:
            notes.append(f"{name}: no model could be trained without it ({error})")
    if not estimated:
        raise DataError(f"{data.table.name}: column {column!r}: {'; '.join(notes)}")
    if any(MOST_ROWS in (group.n_trained, group.n_items) for group in estimated):
        notes.append(f"each model is trained on, and estimates, at most {MOST_ROWS:,} random rows")
    return GroupErrors(
        column=column,
        design=design,
        every=protocol.every,
        method=method_class(data.training.method, _input_kind(data)).__name__,
        groups=tuple(estimated),
        errors={m: float(np.mean([g.errors[m] for g in estimated])) for m in estimated[0].errors},
        notes=tuple(notes),
    )


def reach(groups: GroupErrors, method: str, level: float) -> NDArray[np.float64]:
    """For each class, the conformal quantile of the method's errors on the left-out groups.

    At a level of 0.95 this is the largest error if there are fewer than 39.
    """
    errors = np.array(
        [[abs(g.estimates[method][c] - p) for c, p in g.prevalence.items()] for g in groups.groups]
    )
    rank = min(len(errors), math.ceil((len(errors) + 1) * level))
    return np.asarray(np.sort(errors, axis=0)[rank - 1])


def _in_time(names: pl.Series) -> bool:
    """Whether the groups are dates or years."""
    values = [name for name in names.unique().to_list() if name != NO_GROUP]
    return bool(values) and (all(map(_is_date, values)) or all(map(is_year, values)))


def _check_periods(data: Labelled, column: str, names: pl.Series) -> None:
    """Refuse a column of time with a cell that is neither a date nor a number."""
    values = names.filter(names != NO_GROUP)
    numbers = values.cast(pl.Float64, strict=False)
    wrong = values.filter(numbers.is_null() | numbers.is_infinite() | numbers.is_nan())
    if len(wrong):
        raise DataError(
            f"{data.table.name}: column {column!r} holds {wrong[0]!r}, which is neither a date, a "
            "year nor a number; name another column as time, or name this one as groups",
            arguments=["time", "groups"],
        )


def _is_date(name: str) -> bool:
    try:
        datetime.date.fromisoformat(name[:10])
    except ValueError:
        return False
    return True


def _pooled(names: pl.Series) -> tuple[pl.Series, list[str]]:
    """Small groups pooled into one, so that they are used for training and estimated too."""
    sizes = names.filter(names != NO_GROUP).value_counts()
    small = sizes.filter(pl.col("count") < SMALLEST)
    if len(small) < 2 or small["count"].sum() < SMALLEST:
        return names, []
    pooled = names.replace(small[names.name].to_list(), [POOLED] * len(small))
    return pooled, [f"{len(small):,} groups of fewer than {SMALLEST} rows are pooled as {POOLED}"]


def _protocol(data: Labelled, column: str, names: pl.Series, design: str) -> GroupShift:
    """The protocol with its groups; dates are grouped by a period that suits them."""
    best: GroupShift | None = None
    for every, chunks in _divisions(names, design):
        tried = GroupShift(
            by=column,
            design=design,  # type: ignore[arg-type]
            every=every,  # type: ignore[arg-type]
            chunks=chunks,
            smallest=SMALLEST,
            train_size=MOST_ROWS,
            seed=data.training.seed,
        )
        try:
            tried = tried.surveyed(data.codes, names.to_numpy())
        except DataError:
            continue
        if best is None or len(_names(tried)) > len(_names(best)):
            best = tried
        if len(_names(best)) >= ENOUGH_PERIODS:
            break
    if best is None:
        raise DataError(
            f"{data.table.name}: leaving out the groups of {column!r} needs at least two groups of "
            f"{SMALLEST} rows or more, and rows of every class outside each; name another column",
            arguments=["groups" if data.options.time is None else "time"],
        )
    return best


def _divisions(names: pl.Series, design: str) -> list[tuple[str, int | None]]:
    """How groups can be made of the values: periods of dates, the values, chunks of them."""
    if design != FORWARD:
        return [("", None)]
    values = names.filter(names != NO_GROUP).unique().to_list()
    if all(map(_is_date, values)) and not all(map(is_year, values)):
        return [(every, None) for every in PERIODS]
    return [("", None), *(("", chunks) for chunks in CHUNKS)]


def _names(protocol: GroupShift) -> tuple[str, ...]:
    return () if protocol.survey is None else protocol.survey.names


def _evaluated(
    sides: Sequence[Side], names: Sequence[str], sizes: Mapping[str, int], design: str
) -> tuple[Sequence[Side], list[str]]:
    """The sides to evaluate, at most MOST_GROUPS, and a note if there are more."""
    if len(sides) <= MOST_GROUPS:
        return sides, []
    if design == FORWARD:
        return sides[-MOST_GROUPS:], [f"the last {MOST_GROUPS} of {len(sides)} are estimated"]
    largest = sorted(sides, key=lambda side: -sizes[names[side.tests[0]]])[:MOST_GROUPS]
    evaluated = [side for side in sides if side in largest]
    return evaluated, [f"the {MOST_GROUPS} largest of {len(sides)} groups are left out in turn"]


def _at_most(rows: Indices, seed: int, name: str) -> Indices:
    if len(rows) <= MOST_ROWS:
        return rows
    rng = generator(seed, purpose="rows of a left-out group", group=name)
    return np.sort(rng.choice(rows, MOST_ROWS, replace=False))


def _estimated(data: Labelled, name: str, train: Indices, rows: Indices) -> LeftOutGroup:
    """The group's shares as estimated by every method."""
    group = data.items.take(rows)
    truth = simplex.from_codes(data.codes[rows], len(data.classes), weights=group.weights)
    learnt = learn(_with_method(data, AUTO).take(train), doubting=False)
    weights = group.weights
    refuted: bool | None = None
    if learnt.preparation is None:
        posteriors = given_posteriors(group.values, learnt.columns, data.classes)
        shares = {
            **_of_posteriors(learnt, posteriors, weights),
            type(learnt.base).__name__: learnt.base.aggregate(posteriors, weights=weights),
        }
    else:
        guarded = learnt.quantifier
        assert isinstance(guarded, AbstractGuarded)
        items = replace(guarded.items(learnt.preparation.transform(group.values)), weights=weights)
        (grounds,) = guarded.grounds(guarded.estimate_items(items))
        refuted = bool(grounds.refuted)
        shares = {
            **_of_posteriors(learnt, _scores(guarded, items), weights),
            IF_COVARIATE_SHIFT.__name__: grounds.covariate,
            type(guarded.plain_).__name__: grounds.prior,
            type(guarded.unguarded_).__name__: grounds.mixed,
            type(guarded).__name__: grounds.estimate,
        }
    chosen = method_class(data.training.method, _input_kind(data))
    if data.training.method != AUTO and not issubclass(chosen, AbstractGuarded):
        shares[chosen.__name__] = _by_own_method(data, train, group)
    return LeftOutGroup(
        name=name,
        n_items=len(rows),
        n_trained=len(train),
        prevalence=by_class(data.classes, truth),
        estimates={m: by_class(data.classes, p) for m, p in shares.items()},
        errors={m: float(np.abs(p - truth).mean()) for m, p in shares.items()},
        refuted=refuted,
    )


def _with_method(data: Labelled, method: str) -> Labelled:
    return replace(data, training=replace(data.training, method=method))


def _by_own_method(data: Labelled, train: Indices, group: TableItems) -> Prevalences:
    """The shares estimated by the method that the user has chosen."""
    learnt = learn(data.take(train), doubting=False)
    if learnt.scorer is None:
        posteriors = given_posteriors(group.values, learnt.columns, data.classes)
        items = Items(posteriors, weights=group.weights)
        return learnt.quantifier.estimate_items(items).prevalence
    X = learnt.preparation.transform(group.values)  # type: ignore[union-attr]
    scorer = learnt.quantifier if "features" in learnt.quantifier.tags.sees else learnt.scorer
    items = replace(scorer.items(X), weights=group.weights)
    return learnt.quantifier.estimate_items(items).prevalence


def _of_posteriors(
    learnt: LearntModel, posteriors: Posteriors, weights: Weights | None
) -> dict[str, Prevalences]:
    """The shares estimated by the methods that use posteriors alone."""
    base = learnt.base
    held_out = base.held_out_posteriors_, base.held_out_codes_
    shares = {BASELINE: np.asarray(base.prior_)}
    for method in ON_GROUPS:
        fitted = method().fit_posteriors(*held_out, weights=base.held_out_.weights)
        shares[method.__name__] = fitted.aggregate(posteriors, weights=weights)
    return shares


def _scores(guarded: AbstractGuarded, items: Items) -> Posteriors:
    scores = guarded.unguarded_items(items).posteriors
    assert scores is not None
    return scores


def _input_kind(data: Labelled) -> str:
    return POSTERIORS if data.options.posteriors else FEATURES


def _some(names: Sequence[str], most: int = 5) -> str:
    text = ", ".join(names[:most])
    return f"{text} and {len(names) - most:,} more" if len(names) > most else text
