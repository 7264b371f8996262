"""Columns that differ from training by more than a change of prevalence explains.

If only the prevalence has changed (prior shift), a column of the sample is distributed as the
training items would be if each class k had the weight p_k of the sample: the share of its cells
that are at most t is sum_k p_k F_k(t). Numbers and dates are compared with that by the largest
difference of shares (Kolmogorov and Smirnov; missing values come after all others), categories by
the differences of their levels (Pearson), texts by the shares of texts that contain a word.

The prevalence is only known within an interval. A difference counts only as far as no prevalence in
the interval explains it: an expected share has a lowest and a highest value over the interval, and
anything in between is expected.

The prevalence is itself an estimate: if a change has biased it, columns that depend on the class
seem to have changed a little too. Hence the largest change comes first.

p-values need no replicates. The error of an expected share has the variance
sum_k p_k^2 F_k (1 - F_k) / n_k, with n_k training items of class k. That is at most
max_k(p_k / n_k) F (1 - F), since F (1 - F) is concave and F = sum_k p_k F_k; and the same holds for
the covariances of several shares, and of increments. So the expected distribution is at least as
precise as one counted on `n_expected` = 1 / max_k(p_k / n_k) items, the total weight of the
training items over the largest weight of one, and tests for two samples of n and n_expected items
keep their level. Holm's correction keeps it for all columns together.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from quantshift.base.nouns import short_number
from quantshift.base.types import Reals
from quantshift.claims.findings import Finding
from quantshift.measuring.columns.sample_profile import (
    ColumnCells,
    LevelCells,
    SampleCells,
    ScaleCells,
    WordCells,
)
from quantshift.measuring.columns.training_profile import (
    ColumnProfile,
    LevelsProfile,
    ScaleProfile,
    TrainingProfile,
    WordsProfile,
)
from quantshift.measuring.findings import ColumnFindings
from quantshift.prevalence.bounded import BoundedShares
from quantshift.statistics.multiple_tests import holm
from quantshift.tables.columns.cell_names import clipped
from quantshift.tables.columns.kinds import DATE

LEVEL = 0.05
"""The level of the test that any column has changed."""

FEWEST_ROWS = 10
"""A smaller sample is too small to compare its columns."""

LAST_DIGIT = 9
"""Differences of shares that agree in so many decimals are equal; the others are rounding."""

FEWEST_EXPECTED = 5.0
"""Levels expected less often are pooled; words that occur less often are ignored."""

MOSTLY = 0.8
"""The change is one of missing values if they account for this share of the difference."""

MOST_NAMED = 5
"""The most words that a sentence names."""


@dataclass(frozen=True)
class Change:
    """How much a column of the sample differs from what the change of prevalence explains.

    size: 0 to 1, the share of the items that would have to change (for texts: because of a single
        word).
    p_value: of that size if only the prevalence has changed, corrected for the number of columns.
    findings: what differs most.
    """

    name: str
    kind: str
    size: float
    p_value: float
    findings: tuple[Finding, ...]


@dataclass(frozen=True, eq=False)
class Expectation(BoundedShares):
    """The expected shares of items, given the sample's prevalence and its interval.

    n: items of the sample; n_expected: see above.
    """

    items: Reals
    n: float
    n_expected: float

    @classmethod
    def of(
        cls,
        profile: TrainingProfile,
        sample: SampleCells,
        prevalence: ArrayLike,
        low: ArrayLike | None,
        high: ArrayLike | None,
    ) -> "Expectation":
        """The expectation for a sample whose prevalence is between low and high."""
        weights = sample.weights
        n = float(weights.sum() ** 2 / (weights**2).sum()) if weights.any() else 0.0
        p = np.asarray(prevalence, dtype=np.float64)
        lowest = p if low is None else np.minimum(np.asarray(low, dtype=np.float64), p)
        highest = p if high is None else np.maximum(np.asarray(high, dtype=np.float64), p)
        largest = (p / np.maximum(profile.sizes, 1e-12)).max()
        return cls(p, lowest, highest, profile.items, n, float(1 / largest))

    @property
    def n_both(self) -> float:
        """The size of one sample whose sampling error is that of the difference of the two."""
        return 1 / (1 / self.n + 1 / self.n_expected)

    def shares(self, counts: Reals, items: Reals | None = None) -> Reals:
        """The expected share for counts by class, (n_classes, ...), among the items by class."""
        return np.asarray(self.prevalence @ _within(counts, self.items if items is None else items))

    def range(self, counts: Reals, items: Reals | None = None) -> tuple[Reals, Reals]:
        """The lowest and the highest expected share over the prevalences of the interval."""
        within = _within(counts, self.items if items is None else items)
        return -self._highest(-within), self._highest(within)

    def unseen(self, once: Reals, items: Reals) -> float:
        """The expected share of values that training has not seen.

        It is the share of values seen exactly once (Good and Turing), plus one item.
        """
        return float(self.shares(once + np.minimum(1, items), items))

    def _highest(self, within: Reals) -> Reals:
        # A linear programme with one constraint: fill up the classes, the best one first.
        order = np.argsort(-within, axis=0, kind="stable")
        room = self.width[order]
        left = 1 - self.low.sum()
        filled = np.clip(left - (np.cumsum(room, axis=0) - room), 0, room)
        filled_shares = (filled * np.take_along_axis(within, order, axis=0)).sum(axis=0)
        return np.asarray(self.low @ within + filled_shares)


def what_changed(
    profile: TrainingProfile,
    sample: SampleCells,
    prevalence: ArrayLike,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
) -> list[Change]:
    """All columns that training and sample have in common, those that differ most first.

    prevalence: of the classes in the sample, estimated, with the limits of its interval. A column
    has changed if its p-value is below `LEVEL`.
    """
    expected = Expectation.of(profile, sample, prevalence, low, high)
    if expected.n < FEWEST_ROWS:
        return []
    unadjusted = [
        _change(
            column_profile, sample.columns[column_profile.column.name], sample.weights, expected
        )
        for column_profile in profile.columns
        if column_profile.column.name in sample.columns
    ]
    adjusted = holm([change.p_value for change in unadjusted])
    changes = [replace(c, p_value=p) for c, p in zip(unadjusted, adjusted, strict=True)]
    return sorted(changes, key=lambda change: (change.p_value >= LEVEL, -change.size))


def _change(
    profile: ColumnProfile, cells: ColumnCells, weights: Reals, expected: Expectation
) -> Change:
    match profile, cells:
        case ScaleProfile(), ScaleCells():
            return _scale_change(profile, cells, weights, expected)
        case LevelsProfile(), LevelCells():
            return _levels_change(profile, cells, weights, expected)
        case WordsProfile(), WordCells():
            return _words_change(profile, cells, weights, expected)
    raise TypeError("the sample's cells were read with another profile")


def _scale_change(
    profile: ScaleProfile, cells: ScaleCells, weights: Reals, expected: Expectation
) -> Change:
    # After the thresholds come values above the range of training, then missing values.
    n_bins = len(profile.thresholds) + 2
    counts = np.bincount(cells.positions, weights, n_bins)
    shares = np.append(counts[:-2].cumsum(), counts[:-1].sum()) / counts.sum()
    training_counts = np.column_stack([profile.at_most, expected.items - profile.gaps])
    difference = np.abs(beyond(shares, *expected.range(training_counts)))
    at = int(difference.argmax())
    size = float(difference[at])
    root = np.sqrt(expected.n_both)
    # M. A. Stephens, "EDF statistics for goodness of fit", JASA 69, 1974.
    p_value = float(special.kolmogorov((root + 0.12 + 0.11 / root) * size))
    expected_shares = expected.shares(training_counts)
    if difference[-1] >= MOSTLY * size:
        found = _moved(ColumnFindings.MISSING_VALUES_MOVED, 1 - shares[-1], 1 - expected_shares[-1])
    else:
        found = _scale_found(profile, cells.values, shares, expected_shares, at)
    return Change(profile.column.name, profile.column.kind, size, p_value, (found,))


def _scale_found(
    profile: ScaleProfile, values: Reals, shares: Reals, expected_shares: Reals, at: int
) -> Finding:
    """The median if the change is visible there, otherwise the value where it is largest."""
    middle = min(
        int(np.searchsorted(expected_shares, expected_shares[-1] / 2)), len(profile.thresholds) - 1
    )
    known_values = values[~np.isnan(values)]
    if len(known_values) and 2 * abs(shares[middle] - expected_shares[middle]) >= abs(
        shares[at] - expected_shares[at]
    ):
        observed, before = (
            on_scale(value, profile.column.kind)
            for value in (np.median(known_values), profile.thresholds[middle])
        )
        if _as_shown(observed) != _as_shown(before):
            return ColumnFindings.MEDIAN_MOVED.found(median=observed, expected=before)
    limit = on_scale(profile.thresholds[at], profile.column.kind)
    is_date = profile.column.kind == DATE
    code = ColumnFindings.EARLY_DATES_MOVED if is_date else ColumnFindings.SMALL_VALUES_MOVED
    return _moved(code, shares[at], expected_shares[at], limit=limit)


def _levels_change(
    profile: LevelsProfile, cells: LevelCells, weights: Reals, expected: Expectation
) -> Change:
    n_levels = len(profile.levels)
    # Missing values come first, then the levels of training, then all new ones.
    counts = np.bincount(np.minimum(cells.positions, n_levels) + 1, weights, n_levels + 2)
    shares = counts / counts.sum()
    is_frequent = expected.shares(profile.counts) * expected.n_both >= FEWEST_EXPECTED
    rare = profile.counts[:, ~is_frequent].sum(axis=1) + profile.rest
    training_counts = np.column_stack([profile.counts[:, is_frequent], profile.gaps, rare])
    of_levels = shares[1:-1]
    observed = np.array(
        [*of_levels[is_frequent], shares[0], of_levels[~is_frequent].sum() + shares[-1]]
    )
    low, high = expected.range(training_counts)
    high[-1] += expected.unseen(profile.once, expected.items)
    difference = beyond(observed, low, high)
    expected_shares = expected.shares(training_counts)
    variance = np.maximum(expected_shares, FEWEST_EXPECTED / expected.n_both)
    statistic = float((expected.n_both * difference**2 / variance).sum())
    n_free = int(((expected_shares > 0) | (observed > 0)).sum()) - 1
    p_value = float(special.chdtrc(n_free, statistic)) if n_free > 0 else 1.0
    size = max(difference.clip(min=0).sum(), (-difference).clip(min=0).sum())
    at = _largest(difference)
    names = [clipped(profile.levels[i]) for i in np.flatnonzero(is_frequent)]
    codes = [
        *(ColumnFindings.LEVEL_MOVED for _ in names),
        ColumnFindings.MISSING_VALUES_MOVED,
        ColumnFindings.RARE_LEVELS_MOVED,
    ]
    of_level = {"level": names[at]} if at < len(names) else {}
    found = _moved(codes[at], observed[at], expected_shares[at], **of_level)
    return Change(profile.column.name, profile.column.kind, float(size), p_value, (found,))


def _largest(difference: Reals) -> int:
    """The position of the largest difference.

    The one of two levels rises as the other falls: the last digits must not decide between them, so
    what rises is named.

    >>> _largest(np.array([-0.3, 0.1, 0.3 - 1e-16]))
    2
    """
    sizes = np.abs(difference).round(LAST_DIGIT)
    return int(np.lexsort((difference, sizes))[-1])


def _words_change(
    profile: WordsProfile, cells: WordCells, weights: Reals, expected: Expectation
) -> Change:
    names = [*profile.words, *cells.new]
    total = weights.sum()
    observed = np.bincount(cells.positions, weights[cells.text], len(names)) / total
    # Words that are not stored may have occurred as often as the most frequent of them.
    n_texts = max(profile.items.sum(), 1.0)
    n_expected = expected.n_expected * n_texts / expected.items.sum()
    expected_shares = np.full(len(names), profile.most_left_out / n_texts)
    expected_shares[: len(profile.words)] = expected.shares(profile.counts, profile.items)
    tested = np.flatnonzero(observed * expected.n + expected_shares * n_expected >= FEWEST_EXPECTED)
    stored, new = tested[tested < len(profile.words)], tested[tested >= len(profile.words)]
    counts = np.column_stack(
        [
            profile.counts[:, stored],
            np.outer(profile.items, expected_shares[new]),
            profile.items - profile.gaps,
        ]
    )
    # The last one is not a word: it is the share of cells with a text.
    observed = np.append(observed[tested], weights[~cells.gaps].sum() / total)
    expected_shares = expected.shares(counts, profile.items)
    difference = beyond(observed, *expected.range(counts, profile.items))
    p_values = p_of_shares(observed, observed - difference, expected.n, n_expected)
    p_values = np.minimum(p_values * len(p_values), 1)
    size = np.abs(difference)
    order = np.lexsort((-size, p_values >= LEVEL))
    listed = [i for i in order[:MOST_NAMED] if p_values[i] < LEVEL] or order[:1]
    findings = tuple(
        _moved(
            ColumnFindings.WORD_MOVED,
            observed[i],
            expected_shares[i],
            word=clipped(names[tested[i]]),
        )
        if i < len(tested)
        else _moved(ColumnFindings.GAPS_IN_TEXTS_MOVED, 1 - observed[i], 1 - expected_shares[i])
        for i in listed
    )
    return Change(
        profile.column.name,
        profile.column.kind,
        float(size[order[0]]),
        float(p_values.min()),
        findings,
    )


def _within(counts: Reals, items: Reals) -> Reals:
    """Shares within each class; those of a class without items count as 0."""
    shape = (len(items), *(1,) * (counts.ndim - 1))
    return counts / np.maximum(items, 1e-12).reshape(shape)


def beyond(shares: Reals, low: Reals, high: Reals) -> Reals:
    """The distance of shares above the highest expected one, or (negative) below the lowest."""
    return np.asarray(shares - np.clip(shares, low, high))


def p_of_shares(first: Reals, second: Reals, n_first: float, n_second: float) -> Reals:
    """p-values of the likelihood ratio of two shares, with a correction for whole items."""
    step = np.minimum(0.5 / n_first, np.abs(first - second))
    first = first - np.sign(first - second) * step
    middle = (first * n_first + second * n_second) / (n_first + n_second)
    ratio = sum(
        n * (special.rel_entr(share, middle) + special.rel_entr(1 - share, 1 - middle))
        for share, n in ((first, n_first), (second, n_second))
    )
    return np.asarray(special.erfc(np.sqrt(np.maximum(ratio, 0))))


def _moved(code: ColumnFindings, share: float, expected: float, **names: float | str) -> Finding:
    """A share of the rows that differs from the expected one."""
    # Rounding may leave a tiny negative share, which would be shown with its sign.
    found = code.found(share=max(float(share), 0.0), expected=max(float(expected), 0.0))
    return found.with_numbers(**names)


def on_scale(value: float, kind: str) -> float | str:
    """A number, or a date given in days since 1970.

    >>> on_scale(41.25, "number"), on_scale(19000, "date")
    (41.25, '2022-01-08')
    """
    if kind == DATE:
        return str(np.datetime64(0, "D") + np.timedelta64(round(value), "D"))
    return float(value)


def _as_shown(value: float | str) -> str:
    return value if isinstance(value, str) else short_number(value)
