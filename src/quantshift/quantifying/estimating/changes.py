"""How the columns of a sample differ from those of training: changes and findings.

A model holds counts of its training columns and none of their rows (`training_profile`). A sample
is compared with them batch by batch; differences that chance or the change of prevalence explains
are not mentioned.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from quantshift.base.types import Flags, Reals
from quantshift.claims.findings import Finding
from quantshift.measuring.columns.column_changes import (
    FEWEST_ROWS,
    LEVEL,
    Expectation,
    beyond,
    on_scale,
    p_of_shares,
    what_changed,
)
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
from quantshift.quantifying.findings import BatchFindings
from quantshift.quantifying.reading.pool import Compared
from quantshift.quantifying.result import Batch, ColumnChange
from quantshift.tables.columns.cell_names import clipped
from quantshift.tables.columns.dates import DAY
from quantshift.tables.columns.kinds import DATE

MOST_CHANGES = 10
WORTH_SAYING = 0.01
"""Differences that affect a smaller share of the rows are not mentioned."""

MANY_GAPS = 0.1
"""If the share of missing values grows by more than this, that is found."""

MANY_NEW_WORDS = 0.05
"""The same for the share of words that training does not have."""


NEARLY_ALL = 0.99
"""If so many rows lie outside the range of training, a column says nothing about single rows."""


def with_changes(batch: Batch, profile: TrainingProfile | None, compared: Compared | None) -> Batch:
    """The batch with its changes and findings; unchanged if there is nothing to compare."""
    if profile is None or compared is None or len(compared.rows) < FEWEST_ROWS:
        return batch
    low, high = ([getattr(share, end) for share in batch.shares] for end in ("low", "high"))
    estimates = [share.estimate for share in batch.shares if share.estimate is not None]
    # Without an estimate any prevalence is possible; that of training is as good as any other.
    prevalence = np.array(estimates) if len(estimates) == len(low) else profile.items
    prevalence = prevalence / prevalence.sum()
    changes, findings = compare(profile, compared.cells(), prevalence, low, high)
    of_batch = (finding.in_batch(batch.name) for finding in findings)
    return replace(batch, changes=changes, findings=(*batch.findings, *of_batch))


def compare(
    profile: TrainingProfile,
    sample: SampleCells,
    prevalence: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
) -> tuple[tuple[ColumnChange, ...], tuple[Finding, ...]]:
    """The columns of a batch that have changed, the largest change first, and findings.

    prevalence: the estimated shares of all classes; low, high: the limits of their interval.
    """
    if sample.n_rows < FEWEST_ROWS:
        return (), ()
    changes = [
        ColumnChange(change.name, change.kind, change.size, change.findings, change.p_value)
        for change in what_changed(profile, sample, prevalence, low, high)
        if change.p_value < LEVEL
    ]
    expected = Expectation.of(profile, sample, prevalence, low, high)
    return tuple(changes[:MOST_CHANGES]), tuple(_oddities(profile, sample, expected))


def columns_that_moved(profile: TrainingProfile, sample: SampleCells) -> set[str]:
    """Columns by which items of every class look new.

    Values are missing more or less often than in training, or nearly all rows lie outside its
    range, as a later year does.
    """
    moved = set()
    for column_profile in profile.columns:
        name = column_profile.column.name
        if name not in sample.columns:
            continue
        cells = sample.columns[name]
        before = _gaps_in_training(column_profile, profile.items)
        if abs(_share(sample, cells.gaps) - before) > MANY_GAPS:
            moved.add(name)
        elif isinstance(column_profile, ScaleProfile) and isinstance(cells, ScaleCells):
            above = _share(sample, cells.values > column_profile.highest)
            below = _share(sample, cells.values < column_profile.lowest)
            if max(above, below) >= NEARLY_ALL:
                moved.add(name)
    return moved


def _share(sample: SampleCells, chosen: Flags) -> float:
    """The share of the rows that are chosen."""
    return float(sample.weights[chosen].sum() / max(sample.weights.sum(), 1e-300))


def _gaps_in_training(profile: ColumnProfile, items: Reals) -> float:
    """The share of training rows without a value. items: their number in each class."""
    items = profile.items if isinstance(profile, WordsProfile) else items
    return float(profile.gaps.sum() / max(items.sum(), 1e-300))


def _oddities(
    profile: TrainingProfile, sample: SampleCells, expected: Expectation
) -> Iterator[Finding]:
    shared_columns = [
        (column_profile, sample.columns[column_profile.column.name])
        for column_profile in profile.columns
        if column_profile.column.name in sample.columns
    ]
    level = LEVEL / max(len(shared_columns), 1)
    kinds: tuple[Callable[[ColumnProfile, ColumnCells, _Batch], Finding | None], ...] = (
        no_content,
        more_gaps,
        outside_the_range,
        new_levels,
        new_words,
    )
    batch = _Batch(sample, expected, level)
    for kind in kinds:
        found = [found for pair in shared_columns if (found := kind(*pair, batch)) is not None]
        yield from sorted(found, key=_share_of_rows, reverse=True)


def _share_of_rows(finding: Finding) -> float:
    """The share of the rows that a finding is about."""
    share = finding.numbers.get("share", 1.0)
    assert isinstance(share, float)
    return share


@dataclass(frozen=True, eq=False)
class _Batch:
    """A batch of the sample, what is expected of it, and the level of the tests."""

    sample: SampleCells
    expected: Expectation
    level: float

    def share(self, chosen: np.ndarray) -> float:
        """The share of the rows that are chosen."""
        return _share(self.sample, chosen)


def no_content(profile: ColumnProfile, cells: ColumnCells, batch: _Batch) -> Finding | None:
    """A column in which all values are missing."""
    if not cells.gaps.all():
        return None
    before = _gaps_in_training(profile, batch.expected.items)
    if before == 1:
        return None
    return BatchFindings.NO_VALUES.found(column=profile.column.name, expected=before)


def more_gaps(profile: ColumnProfile, cells: ColumnCells, batch: _Batch) -> Finding | None:
    """A share of missing values that has grown by more than chance and prevalence explain."""
    share = batch.share(cells.gaps)
    items = profile.items if isinstance(profile, WordsProfile) else batch.expected.items
    gaps = profile.gaps[:, np.newaxis]
    low, high = batch.expected.range(gaps, items)
    more = beyond(np.array([share]), low, high)
    if cells.gaps.all() or more[0] < MANY_GAPS:
        return None
    n, n_expected = batch.expected.n, batch.expected.n_expected
    if p_of_shares(np.array([share]), share - more, n, n_expected)[0] >= batch.level:
        return None
    expected_share = float(batch.expected.shares(gaps, items)[0])
    return BatchFindings.MORE_GAPS.found(
        column=profile.column.name, share=share, expected=expected_share
    )


def outside_the_range(profile: ColumnProfile, cells: ColumnCells, batch: _Batch) -> Finding | None:
    """Numbers outside the range of training, and dates whose parts training does not have."""
    if not isinstance(profile, ScaleProfile) or not isinstance(cells, ScaleCells):
        return None
    if not len(profile.thresholds):
        return None
    outside = (cells.values < profile.lowest) | (cells.values > profile.highest)
    if profile.column.kind == DATE:
        outside &= unknown_dates(profile, cells.values)
    share = batch.share(outside)
    n_before = min(batch.expected.n_expected, batch.expected.items.sum() - profile.gaps.sum())
    if share < WORTH_SAYING:
        return None
    # Imported here and in `new_levels` because it takes half a second and few samples need it.
    from scipy import stats

    # How many of n new items of a continuous distribution lie outside the range of the earlier
    # ones has a beta-binomial distribution.
    n = round(batch.expected.n)
    by_chance = stats.betabinom.sf(round(share * n) - 1, n, 2, max(n_before - 1, 1))
    if by_chance >= batch.level:
        return None
    low, high = (
        on_scale(value, profile.column.kind) for value in (profile.lowest, profile.highest)
    )
    is_date = profile.column.kind == DATE
    code = BatchFindings.OUTSIDE_THE_DATES if is_date else BatchFindings.OUTSIDE_THE_RANGE
    return code.found(column=profile.column.name, share=share).with_numbers(low=low, high=high)


def unknown_dates(profile: ScaleProfile, days: Reals) -> Flags:
    """Dates of months without training dates. Later ones are expected where the day is not used.

    days: since 1970, as in the profile.
    """
    if DAY in profile.column.parts:
        return np.ones(len(days), dtype=bool)
    first, last = (np.datetime64(round(end), "D") for end in (profile.lowest, profile.highest))
    seen = np.arange(first.astype("M8[M]"), last.astype("M8[M]") + 1).astype(np.int64) % 12
    whole = np.nan_to_num(np.floor(days)).astype("M8[D]")
    return np.asarray(~np.isin(whole.astype("M8[M]").astype(np.int64) % 12, seen))


def new_levels(profile: ColumnProfile, cells: ColumnCells, batch: _Batch) -> Finding | None:
    """Levels that training does not have, if there are more of them than expected."""
    if not isinstance(profile, LevelsProfile) or not isinstance(cells, LevelCells):
        return None
    new = cells.positions >= len(profile.levels)
    share = batch.share(new)
    if share < WORTH_SAYING:
        return None
    from scipy import stats

    expected = batch.expected
    beyond_profile = float(expected.shares(profile.rest[:, np.newaxis])[0])
    chance = min(expected.unseen(profile.once, expected.items) + beyond_profile, 1.0)
    n = round(expected.n)
    by_chance = stats.binom.sf(round(share * n) - 1, n, chance)
    if by_chance >= batch.level:
        return None
    positions, counts = np.unique(cells.positions[new] - len(profile.levels), return_counts=True)
    most_frequent = clipped(cells.new[int(positions[counts.argmax()])])
    return BatchFindings.NEW_LEVELS.found(
        column=profile.column.name, share=share, example=most_frequent
    )


def new_words(profile: ColumnProfile, cells: ColumnCells, batch: _Batch) -> Finding | None:
    """Texts with far more unknown words than the training texts lead one to expect."""
    if not isinstance(profile, WordsProfile) or not isinstance(cells, WordCells):
        return None
    if not len(cells.positions):
        return None
    weights = batch.sample.weights[cells.text]
    share = float(weights[cells.positions >= len(profile.words)].sum() / max(weights.sum(), 1e-300))
    # Words are counted once per text. A training word that occurs in a single text counts as new.
    expected_share = float(profile.once.sum() / max(profile.pairs.sum(), 1.0))
    if share < 2 * expected_share + MANY_NEW_WORDS:
        return None
    return BatchFindings.NEW_WORDS.found(
        column=profile.column.name, share=share, expected=expected_share
    )
