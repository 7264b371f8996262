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
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.answers.batch_names import NO_GROUP
from quantshift.answers.shares import by_class
from quantshift.base.progress import OnProgress
from quantshift.base.seeding import generator
from quantshift.base.types import Indices, Posteriors, Prevalences
from quantshift.claims.findings import Finding
from quantshift.errors import DataError
from quantshift.items.items import Items
from quantshift.prevalence import simplex
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.guarding import AbstractGuarded
from quantshift.quantifiers.baselines import BASELINE
from quantshift.quantifying.columns import TableItems
from quantshift.quantifying.findings import GroupFindings
from quantshift.quantifying.group_errors import (
    FORWARD,
    LEAVE_ONE_OUT,
    GroupErrors,
    LeftOutGroup,
    is_year,
)
from quantshift.quantifying.options import AUTO
from quantshift.quantifying.training.groups import Groups, Side, Survey
from quantshift.quantifying.training.learning import Labelled, LearntModel, learn
from quantshift.quantifying.training.methods import (
    FEATURES,
    IF_COVARIATE_SHIFT,
    ON_GROUPS,
    POSTERIORS,
    method_class,
)
from quantshift.quantifying.training.model import given_posteriors

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


def left_out_errors(
    data: Labelled, column: str, progress: OnProgress, *, most: int | None = None
) -> GroupErrors:
    """The errors of the methods on every group of the column, which they were not trained on.

    most: of more groups than this only the largest, or the last periods, are left out; default
    MOST_GROUPS.
    """
    names = data.items.groups
    findings: list[Finding] = []
    in_time = _are_dates(names)
    if data.options.time is not None and not in_time:
        # Numbers, years among them, are periods only if they are said to be.
        _check_periods(data, column, names)
        in_time = True
    design = FORWARD if in_time else LEAVE_ONE_OUT
    if NO_GROUP in names:
        n = int((names == NO_GROUP).sum())
        findings.append(GroupFindings.ROWS_WITHOUT_GROUP.found(n=n))
    if design == LEAVE_ONE_OUT:
        names, pooled = _pooled(names)
        findings += pooled
    folds = _folds(data, column, names, design)
    survey = folds.survey
    if survey.too_small:
        too_small = tuple(survey.too_small)
        findings.append(GroupFindings.GROUPS_TOO_SMALL.found(fewest=SMALLEST, groups=too_small))
    if survey.untrained:
        findings.append(GroupFindings.SETS_WITHOUT_A_CLASS.found(n=len(survey.untrained)))
    sizes = dict(zip(*np.unique(names.to_numpy(), return_counts=True), strict=True))
    sides, chosen = _evaluated(
        survey.sides, survey.names, sizes, design, MOST_GROUPS if most is None else most
    )
    findings += chosen
    estimated = []
    for done, side in enumerate(sides):
        progress("leaving out groups", done, len(sides))
        name = survey.names[side.tests[0]]
        train = folds.trained(side, data.training.seed)
        rows = _at_most(folds.estimated(side), data.training.seed, name)
        try:
            estimated.append(_estimated(data, name, train, rows))
        except DataError as error:
            findings.append(
                GroupFindings.GROUP_NOT_LEARNT_WITHOUT.found(group=name, error=str(error))
            )
    if not estimated:
        why = "; ".join(finding.sentence for finding in findings)
        raise DataError(f"{data.table.name}: column {column!r}: {why}")
    if any(MOST_ROWS in (group.n_trained, group.n_items) for group in estimated):
        findings.append(GroupFindings.ROWS_OF_GROUPS_DRAWN.found(most=MOST_ROWS))
    return GroupErrors(
        column=column,
        design=design,
        every=folds.every,
        method=method_class(data.training.method, _input_kind(data)).__name__,
        groups=tuple(estimated),
        errors={m: float(np.mean([g.errors[m] for g in estimated])) for m in estimated[0].errors},
        findings=tuple(findings),
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


def _are_dates(names: pl.Series) -> bool:
    """Whether the groups are dates."""
    values = [name for name in names.unique().to_list() if name != NO_GROUP]
    return bool(values) and all(map(_is_date, values))


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


def _pooled(names: pl.Series) -> tuple[pl.Series, list[Finding]]:
    """Small groups pooled into one, so that they are used for training and estimated too."""
    sizes = names.filter(names != NO_GROUP).value_counts()
    small = sizes.filter(pl.col("count") < SMALLEST)
    if len(small) < 2 or small["count"].sum() < SMALLEST:
        return names, []
    pooled = names.replace(small[names.name].to_list(), [POOLED] * len(small))
    found = GroupFindings.GROUPS_POOLED.found(n=len(small), fewest=SMALLEST, name=POOLED)
    return pooled, [found]


@dataclass(frozen=True, eq=False)
class _Folds:
    """Groups by a division of the values, which of them train, and which are estimated."""

    every: str
    groups: Groups
    survey: Survey

    def trained(self, side: Side, seed: int) -> Indices:
        """The rows to train on, or some of them."""
        rows = self._rows(side.train)
        if len(rows) <= MOST_ROWS:
            return rows
        rng = generator(seed, shift="groups", side="train", group_train=side.name, train_repeat=0)
        return np.sort(rng.choice(rows, MOST_ROWS, replace=False))

    def estimated(self, side: Side) -> Indices:
        """The rows of the group that is left out."""
        return self._rows(side.tests[:1])

    def _rows(self, positions: Sequence[int]) -> Indices:
        return self.groups.rows([self.survey.names[k] for k in positions])


def _folds(data: Labelled, column: str, names: pl.Series, design: str) -> _Folds:
    """The groups; dates are grouped by a period that suits them."""
    best: _Folds | None = None
    for every, chunks in _divisions(names, design):
        groups = Groups.of(names.to_numpy(), every=every, chunks=chunks)
        try:
            survey = groups.survey(data.codes, len(data.classes), design=design, smallest=SMALLEST)
        except DataError:
            continue
        if best is None or len(survey.names) > len(best.survey.names):
            best = _Folds(every, groups, survey)
        if len(best.survey.names) >= ENOUGH_PERIODS:
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


def _evaluated(
    sides: Sequence[Side],
    names: Sequence[str],
    sizes: Mapping[str, int],
    design: str,
    most: int,
) -> tuple[Sequence[Side], list[Finding]]:
    """The sides to evaluate, and a finding if there are more."""
    if len(sides) <= most:
        return sides, []
    if design == FORWARD:
        last = GroupFindings.LAST_PERIODS.found(n=most, n_groups=len(sides))
        return sides[-most:], [last]
    largest = sorted(sides, key=lambda side: -sizes[names[side.tests[0]]])[:most]
    evaluated = [side for side in sides if side in largest]
    return evaluated, [GroupFindings.LARGEST_GROUPS.found(n=most, n_groups=len(sides))]


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
            type(learnt.base).__name__: learnt.base.aggregate(posteriors, sample_weight=weights),
        }
    else:
        guarded = learnt.quantifier
        assert isinstance(guarded, AbstractGuarded)
        items = replace(guarded.items(learnt.preparation.transform(group.values)), weights=weights)
        (found,) = guarded.examined(guarded.estimate_items(items))
        refuted = bool(found.refuted)
        shares = {
            **_of_posteriors(learnt, _scores(guarded, items), weights),
            IF_COVARIATE_SHIFT.__name__: found.covariate,
            type(guarded.plain_).__name__: found.prior,
            type(guarded.unguarded_).__name__: found.mixed,
            type(guarded).__name__: found.estimate,
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
        fitted = method().fit_posteriors(*held_out, sample_weight=base.held_out_.weights)
        shares[method.__name__] = fitted.aggregate(posteriors, sample_weight=weights)
    return shares


def _scores(guarded: AbstractGuarded, items: Items) -> Posteriors:
    scores = guarded.unguarded_items(items).posteriors
    assert scores is not None
    return scores


def _input_kind(data: Labelled) -> str:
    return POSTERIORS if data.options.posteriors else FEATURES
