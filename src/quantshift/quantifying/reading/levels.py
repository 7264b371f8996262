"""Categories of a sample, read as training spells them, and those that training has not seen.

A level that differs from one of training only in case or blanks is that level. A batch with mostly
unknown levels in a column is probably coded in another way, or comes from a place that training
does not cover. Its classifier would see nothing in that column, so nothing is estimated from it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl
from scipy.special import bdtrc

from quantshift.base.nouns import counted
from quantshift.claims.findings import Finding
from quantshift.measuring.columns.training_profile import LevelsProfile, TrainingProfile
from quantshift.quantifying.columns import TableItems
from quantshift.quantifying.findings import SampleFindings
from quantshift.tables.columns.cell_names import names_of, shown
from quantshift.tables.columns.spelling import known_spellings

MOSTLY, MANY = 0.5, 0.25
"""A column is unknown if this share of its values is, and this share of all rows."""

HARDLY_ANY = 0.1
"""Only if fewer training rows than this have a level of their own are unknown levels a surprise."""

BY_CHANCE = 0.001
"""In a small batch, unknown levels are a surprise if so many are less likely than this."""


@dataclass(frozen=True)
class UnknownLevels:
    """A column of a batch whose levels are mostly unknown from training.

    share: of the values; example: the most frequent unknown level; usual: one of training.
    """

    column: str
    share: float
    example: str
    usual: str

    @property
    def description(self) -> str:
        """The finding in a few words."""
        return (
            f"{self.share:.0%} of the values in column {self.column!r} are unknown from training "
            f"({shown(self.example)}, where training has {shown(self.usual)})"
        )


def why_unknown(columns: Sequence[UnknownLevels]) -> str:
    """Why a batch with such columns cannot be estimated."""
    others = f", and {counted(len(columns) - 1, 'other column')} like it" if columns[1:] else ""
    return f"{columns[0].description}{others}; recode them as in training, or drop the column"


@dataclass(eq=False)
class LevelReader:
    """Reads the categories of one table, chunk by chunk, and counts levels by batch and column.

    levels: of each column in training; usual: the most frequent one. rare: the share of
    training rows that have a level of their own, which estimates how often unknown levels are to be
    expected (I. J. Good, "The population frequencies of species", Biometrika 40, 1953).
    """

    levels: Mapping[str, Sequence[str]]
    usual: Mapping[str, str]
    rare: Mapping[str, float]
    respelt: dict[str, tuple[str, str]] = field(default_factory=dict)
    n_respelt: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    gaps: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    unknown: defaultdict[str, defaultdict[str, Counter[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Counter))
    )

    @classmethod
    def of(
        cls, levels: Mapping[str, Sequence[str]], profile: TrainingProfile | None
    ) -> "LevelReader":
        """For a model with these levels."""
        usual = {name: of_column[0] for name, of_column in levels.items() if of_column}
        rare = dict.fromkeys(levels, 0.0)
        for column in () if profile is None else profile.columns:
            name = column.column.name
            if isinstance(column, LevelsProfile) and name in usual:
                items = column.counts.sum() + column.rest.sum()
                usual[name] = column.levels[0]
                rare[name] = float(column.once.sum() / max(items, 1e-300))
        return cls({name: levels[name] for name in usual}, usual, rare)

    def read(self, items: TableItems, batches: Sequence[str]) -> TableItems:
        """The items with their categories as training spells them. batches: that of each item."""
        self.rows.update(batches)
        names = pl.Series(batches, dtype=pl.String)
        columns = []
        for name, training_levels in self.levels.items():
            levels = names_of(items.values[name])
            is_unknown = ~levels.is_in(list(training_levels)) & levels.is_not_null()
            if is_unknown.any():
                spellings = known_spellings(
                    levels.filter(is_unknown).unique().sort(), training_levels
                )
                if spellings:
                    is_respelt = levels.is_in(list(spellings))
                    self.n_respelt += int(is_respelt.sum())
                    self.respelt.setdefault(name, next(iter(spellings.items())))
                    levels = levels.replace(spellings)
                    is_unknown &= ~is_respelt
                cells = zip(names.filter(is_unknown), levels.filter(is_unknown), strict=True)
                for (batch, level), n in Counter(cells).items():
                    self.unknown[batch][name][level] += n
            for batch, n in Counter(names.filter(levels.is_null())).items():
                self.gaps[batch][name] += n
            columns.append(levels)
        return replace(items, values=items.values.with_columns(columns)) if columns else items

    def findings(self, table: str) -> Iterator[Finding]:
        """A finding if levels were matched."""
        if self.n_respelt:
            spellings = (
                f"{name}: {shown(written)} as {shown(usual)}"
                for name, (written, usual) in self.respelt.items()
            )
            yield SampleFindings.RESPELT_LEVELS.found(
                table=table, n=self.n_respelt, spellings=tuple(spellings)
            )

    def mostly_unknown(self) -> dict[str, tuple[UnknownLevels, ...]]:
        """For each batch the columns whose levels are mostly unknown, the worst first."""
        by_batch = {}
        for batch, columns in self.unknown.items():
            unknown = [
                UnknownLevels(
                    name,
                    levels.total() / self._filled(batch, name),
                    _most_frequent(levels),
                    self.usual[name],
                )
                for name, levels in columns.items()
                if self._is_surprise(batch, name, levels.total())
            ]
            if unknown:
                by_batch[batch] = tuple(sorted(unknown, key=lambda column: -column.share))
        return by_batch

    def _filled(self, batch: str, name: str) -> int:
        return self.rows[batch] - self.gaps[batch][name]

    def _is_surprise(self, batch: str, name: str, n: int) -> bool:
        filled = self._filled(batch, name)
        return (
            n >= MOSTLY * filled
            and n >= MANY * self.rows[batch]
            and self.rare[name] < HARDLY_ANY
            and float(bdtrc(n - 1, filled, HARDLY_ANY)) < BY_CHANCE
        )


def _most_frequent(levels: Counter[str]) -> str:
    return min(levels, key=lambda level: (-levels[level], level))
