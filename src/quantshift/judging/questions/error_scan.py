"""Where a judge errs: by the length of items, their topic, the place of an answer, any column.

Among items of one verdict labels are random ones, however many of each verdict were chosen, so that
errors are compared with a column verdict by verdict: a judge that likes long answers passes too
many long ones and fails too many short ones, which a comparison of all errors together would miss.
(Where labels were chosen by class, or elsewhere, they are random ones of their class, and errors
are compared class by class.)

The statistic of a column is that of Pearson's chi-square test, summed over verdicts; for numbers it
is that of a trend by rank. Its p-value comes from errors permuted among the items of a verdict,
which is exact for any number of labels. With clusters, whole clusters change the sign of what they
add to the statistic instead (the wild score bootstrap). p-values are adjusted for the number of
columns and judges.

Reference: P. Kline and A. Santos, "A score based approach to wild bootstrap inference", Journal of
Econometric Methods 1 (2012).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Flags, Reals
from quantshift.judging.designs.design import LabelsStandFor
from quantshift.judging.estimating.differences import adjusted_for_number
from quantshift.judging.estimating.labelled_items import LabelledItems
from quantshift.judging.items.clusters import cluster_sums
from quantshift.judging.items.judged_items import Settings
from quantshift.judging.result import ErrorPattern
from quantshift.tables.columns.cell_names import as_numbers, as_texts

if TYPE_CHECKING:
    import polars as pl

FEWEST_DRAWS, MOST_DRAWS, MOST_NUMBERS = 999, 4_999, 20_000_000
"""Draws of errors by chance, and how many numbers they have in all unless they would be too few."""
MOST_LEVELS = 20
"""Values up to which a column of texts is one of categories; otherwise the length counts."""
FEWEST_NUMBERS = 7
"""With fewer different numbers, a column is one of categories."""
FEWEST_OF_LEVEL = 3
"""Labelled items of a category; those of rarer ones are taken together."""
OTHER = "(rare)"
THIRD = 1 / 3


@dataclass(frozen=True, eq=False)
class ScannedColumn:
    """A column of the labelled items as numbers.

    values: (n, n_values), ranks of numbers or 0 and 1 for each category. levels: the names of the
    categories; None for numbers, which are then in `numbers`.
    """

    name: str
    values: Reals
    levels: tuple[str, ...] | None
    numbers: Reals | None


def error_patterns(
    labelled: LabelledItems,
    columns: Iterable["pl.Series"],
    judges: Sequence[str],
    settings: Settings,
) -> tuple[ErrorPattern, ...]:
    """The patterns by columns of the labelled items, the smallest p-values first."""
    read = [column for given in columns for column in _read(given)]
    patterns: list[ErrorPattern] = []
    for j, judge in enumerate(judges):
        errors = _Errors.of(labelled, j, judge, settings.seed)
        if errors.parts:
            patterns += [errors.pattern(column) for column in read]
    adjusted = adjusted_for_number(patterns, settings.level)
    return tuple(sorted(adjusted, key=lambda pattern: pattern.p_value))


def _read(column: "pl.Series") -> Iterator[ScannedColumn]:
    """A column of the labelled items; nothing if all are alike."""
    import polars as pl

    name, texts = column.name, as_texts(column)
    if texts.n_unique() < 2:
        return
    numbers = as_numbers(column)
    is_number = numbers.null_count() == column.null_count()
    of_texts = not is_number and texts.n_unique() > MOST_LEVELS
    if of_texts:
        name, is_number = f"length of {name}", True
        numbers = texts.str.len_chars().cast(pl.Float64)
    if is_number and numbers.n_unique() >= FEWEST_NUMBERS:
        values = numbers.to_numpy()
        finite = np.isfinite(values)
        ranks = np.full(len(values), 0.5)
        ranks[finite] = (pl.Series(values[finite]).rank().to_numpy() - 0.5) / max(finite.sum(), 1)
        yield ScannedColumn(name, ranks[:, np.newaxis], None, values)
        return
    if of_texts:
        return  # Texts of almost the same length, such as ids.
    names = texts.fill_null("(empty)").to_list()
    counts = Counter(names)
    names = [name if counts[name] >= FEWEST_OF_LEVEL else OTHER for name in names]
    levels = tuple(sorted(set(names)))
    if len(levels) > 1:
        flags = np.array([[name == level for level in levels] for name in names])
        yield ScannedColumn(name, flags.astype(np.float64), levels, None)


@dataclass(frozen=True, eq=False)
class _Errors:
    """The errors of one judge, and what they would be by chance.

    parts: positions of the items among which errors are exchanged; names: those of the parts.
    drawn: errors less their mean, permuted, (n_draws, n_part) for each part; with clusters, their
    signs instead, (n_draws, n_clusters).
    """

    judge: str
    wrong: Flags
    parts: tuple[NDArray[np.int64], ...]
    names: tuple[str, ...]
    clusters: Codes | None
    drawn: tuple[Reals, ...]

    @classmethod
    def of(cls, labelled: LabelledItems, j: int, judge: str, seed: int) -> "_Errors":
        """Parts in which all items are right, or all wrong, show nothing."""
        says, meaning = labelled.says(j), labelled.meaning
        wrong = says != labelled.labels
        codes = labelled.given_verdicts[:, j]
        names = [f"verdicts {verdict!r}" for verdict in meaning.verdicts[j]]
        if labelled.standing_for is LabelsStandFor.THEIR_CLASS:
            codes, names = labelled.labels, [f"items labelled {c!r}" for c in meaning.classes]
        # A verdict that says no class is not an error.
        distinct = np.unique(codes).tolist()
        every = {code: np.flatnonzero((codes == code) & (says >= 0)) for code in distinct}
        parts = {c: part for c, part in every.items() if 0 < wrong[part].sum() < len(part)}
        rng = generator(seed, purpose="judge", side="errors", judge=judge)
        n = int(np.clip(MOST_NUMBERS // len(wrong), FEWEST_DRAWS, MOST_DRAWS))
        clusters = labelled.clusters
        if clusters is not None:
            drawn = [rng.choice([-1.0, 1.0], size=(n, len(np.unique(clusters))))]
        else:
            centred = [wrong[part] - wrong[part].mean() for part in parts.values()]
            drawn = [rng.permuted(np.tile(errors, (n, 1)), axis=1) for errors in centred]
        chosen = tuple(names[code] for code in parts)
        return cls(judge, wrong, tuple(parts.values()), chosen, clusters, tuple(drawn))

    def pattern(self, column: ScannedColumn) -> ErrorPattern:
        """How errors depend on a column."""
        seen, by_chance = 0.0, np.zeros(len(self.drawn[0]))
        residuals = []
        for i, part in enumerate(self.parts):
            errors = self.wrong[part] - self.wrong[part].mean()
            values = column.values[part] - column.values[part].mean(axis=0)
            scale = _scale(errors, column.values[part], values, numbers=column.levels is None)
            sums = errors @ values
            seen += float((sums**2 * scale).sum())
            by_chance += (self._sums_by_chance(i, errors, values) ** 2 * scale).sum(axis=1)
            residuals.append(sums * np.sqrt(scale))
        # Equal statistics differ in the last bits.
        larger = int((by_chance >= seen * (1 - 1e-9)).sum())
        return self._where(column, residuals, (1 + larger) / (len(by_chance) + 1))

    def _sums_by_chance(self, i: int, errors: Reals, values: Reals) -> Reals:
        """Draws of the sums of errors times values in a part, (n_draws, n_values)."""
        if self.clusters is None:
            return np.asarray(self.drawn[i] @ values)
        added = np.zeros((len(self.wrong), values.shape[1]))
        added[self.parts[i]] = errors[:, np.newaxis] * values
        return np.asarray(self.drawn[0] @ cluster_sums(added, self.clusters))

    def _where(
        self, column: ScannedColumn, residuals: Sequence[Reals], p_value: float
    ) -> ErrorPattern:
        """Where the judge errs most; residuals: those of each part and value."""
        size = [float(np.abs(r).max() if column.levels is None else r.max()) for r in residuals]
        worst = int(np.argmax(size))
        part, residual = self.parts[worst], residuals[worst]
        if column.levels is None:
            inside, where = _third(column, part, rising=bool(residual[0] > 0))
        else:
            level = int(residual.argmax())
            inside = column.values[part, level] > 0
            where = f"{column.name} is {column.levels[level]!r}"
        wrong = self.wrong[part]
        return ErrorPattern(
            judge=self.judge,
            column=column.name,
            among=self.names[worst],
            where=where,
            wrong=int(wrong[inside].sum()),
            n=int(inside.sum()),
            wrong_elsewhere=int(wrong[~inside].sum()),
            n_elsewhere=int((~inside).sum()),
            p_value=p_value,
            p_adjusted=p_value,
            more_than_chance=False,
        )


def _scale(errors: Reals, raw: Reals, centred: Reals, *, numbers: bool) -> Reals:
    """The factors that make squares of sums parts of a chi-square statistic, (n_values,)."""
    variance = float((errors**2).mean())
    size = (centred**2).sum(axis=0) if numbers else raw.sum(axis=0)
    return np.asarray(np.divide(1 / variance, size, out=np.zeros_like(size), where=size > 0))


def _third(column: ScannedColumn, part: NDArray[np.int64], *, rising: bool) -> tuple[Flags, str]:
    """The items with the largest numbers if errors rise with them, else with the smallest."""
    assert column.numbers is not None
    numbers = column.numbers[part]
    bound = float(np.nanquantile(numbers, 1 - THIRD if rising else THIRD))
    side = "or more" if rising else "or less"
    with np.errstate(invalid="ignore"):
        inside = numbers >= bound if rising else numbers <= bound
    return inside, f"{column.name} is {bound:.4g} {side}"
