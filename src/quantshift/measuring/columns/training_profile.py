"""Summary counts of the columns of a training table, with which samples are compared.

No row is stored. For each class and column there are counts: of the numbers (or dates) up to each
of some hundred thresholds, of the levels of a category, of the texts that contain a word. A word
that occurs in a single text is not stored, because it might be somebody's name.

Everything is in one table, written as Parquet:

    column  kind    what     number  name    counts (of each class)
                    items                    [600, 400]
    age     number  at most  31.5            [120, 95]
    age     number  gaps                     [3, 0]
    city    category  level          Oslo    [14, 40]
    review  text    word             refund  [2, 31]
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Reals
from quantshift.errors import DataError
from quantshift.tables.columns.kinds import CATEGORY, DATE, NUMBER, TEXT, TRUTH, Column, as_kind

MOST_THRESHOLDS = 256
MOST_LEVELS = 5_000
MOST_WORDS = 20_000
MOST_TEXTS = 20_000
"""If there are more training texts, a random sample of this size is counted."""

LONGEST_TEXT, LONGEST_WORD = 20_000, 40
"""In characters: the rest of a text, and longer words, are ignored."""

POSTERIOR = "posterior"
"""The kind of a column of the user's own posteriors, which is treated as numbers."""

SCHEMA = pl.Schema(
    {
        "column": pl.String(),
        "kind": pl.String(),
        "what": pl.String(),
        "number": pl.Float64(),
        "name": pl.String(),
        "counts": pl.List(pl.Float64()),
    }
)


@dataclass(frozen=True, eq=False)
class ScaleProfile:
    """Numbers or dates (in days): how many of each class are at most as large as each threshold.

    at_most: (n_classes, n_thresholds); gaps: (n_classes,). The last threshold is the largest value.
    """

    column: Column
    lowest: float
    thresholds: Reals
    at_most: Reals
    gaps: Reals

    @property
    def highest(self) -> float:
        """The largest value of training."""
        return float(self.thresholds[-1])


@dataclass(frozen=True, eq=False)
class LevelsProfile:
    """Categories: how many items of each class have each level.

    counts: (n_classes, n_levels); rest: items of levels that are not stored; once: items whose
    level occurs in no other item, which estimates how often unseen levels will occur (I. J. Good,
    "The population frequencies of species", Biometrika 40, 1953).
    """

    column: Column
    levels: tuple[str, ...]
    counts: Reals
    gaps: Reals
    rest: Reals
    once: Reals


@dataclass(frozen=True, eq=False)
class WordsProfile:
    """Texts: how many of each class contain each word.

    items: texts counted; counts: (n_classes, n_words); pairs: of a text and one of its words;
    once: pairs whose word is in no other text; most_left_out: texts that contain the most frequent
    of the words that are not stored.
    """

    column: Column
    words: tuple[str, ...]
    counts: Reals
    items: Reals
    gaps: Reals
    pairs: Reals
    once: Reals
    most_left_out: float


ColumnProfile: TypeAlias = ScaleProfile | LevelsProfile | WordsProfile


@dataclass(frozen=True, eq=False)
class TrainingProfile:
    """Counts of the columns of a training table, without any of its rows.

    items: of each class (sums of weights if items have weights); sizes: their effective sample
    sizes (Kish).
    """

    items: Reals
    sizes: Reals
    columns: tuple[ColumnProfile, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(profile.column.name for profile in self.columns)

    def to_bytes(self) -> bytes:
        """The profile as a Parquet file."""
        rows = [
            _row(None, None, "items", counts=self.items),
            _row(None, None, "sizes", counts=self.sizes),
        ]
        for column in self.columns:
            rows += _rows(column)
        file = BytesIO()
        pl.DataFrame(rows, schema=SCHEMA, orient="row").write_parquet(file)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, n_classes: int) -> "TrainingProfile":
        """The profile in such a file, for that many classes; anything else is an error."""
        try:
            table = pl.read_parquet(BytesIO(data))
            return _read(table, n_classes)
        except (pl.exceptions.PolarsError, ValueError, KeyError, IndexError, TypeError) as error:
            raise DataError(
                "the counts of the training columns are damaged; train again"
            ) from error


def training_profile(
    frame: pl.DataFrame,
    codes: Codes,
    columns: Sequence[Column],
    *,
    n_classes: int | None = None,
    weights: Reals | None = None,
    seed: int = 0,
) -> TrainingProfile:
    """Count the cells of the training columns by class.

    frame: the columns, typed or as strings; codes: the class of each row; columns: those to count,
    with their kinds.
    """
    n_classes = int(codes.max(initial=0)) + 1 if n_classes is None else n_classes
    item_weights = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    tally = ClassTally(codes, item_weights, n_classes)
    items = tally.total(np.ones(len(codes), dtype=np.bool_))
    squares = ClassTally(codes, item_weights**2, n_classes).total(
        np.ones(len(codes), dtype=np.bool_)
    )
    sizes = np.divide(items**2, squares, out=np.zeros(n_classes), where=squares > 0)
    profiles: list[ColumnProfile] = []
    for column in columns:
        cells = frame[column.name]
        if column.kind == TEXT:
            rows = _part(len(cells), seed)
            sampled_tally = ClassTally(codes[rows], item_weights[rows], n_classes)
            profiles.append(_words(column, cells.gather(rows), sampled_tally))
        elif column.kind in (CATEGORY, TRUTH):
            profiles.append(_levels(column, cells, tally))
        else:
            profiles.append(_scale(column, cells, tally))
    return TrainingProfile(items, sizes, tuple(profiles))


@dataclass(frozen=True, eq=False)
class ClassTally:
    """Counts items by class, each with its weight."""

    codes: Codes
    weights: Reals
    n_classes: int

    def total(self, chosen: NDArray[np.bool_]) -> Reals:
        """Items of each class among those chosen."""
        counts = np.bincount(self.codes[chosen], self.weights[chosen], self.n_classes)
        return np.asarray(counts, dtype=np.float64)

    def at_most(self, values: Reals, thresholds: Reals) -> Reals:
        """How many values of each class are at most each threshold; NaN are not counted."""
        is_known = ~np.isnan(values)
        n = len(thresholds)
        cells = np.searchsorted(thresholds, values[is_known]) + self.codes[is_known] * (n + 1)
        counts = np.bincount(cells, self.weights[is_known], self.n_classes * (n + 1))
        cumulative = counts.reshape(self.n_classes, n + 1)[:, :-1].cumsum(axis=1)
        return np.asarray(cumulative, dtype=np.float64)

    def by_name(self, names: pl.Series) -> tuple[list[str], Reals, NDArray[np.int64]]:
        """The distinct names, most frequent first; their counts by class; their number of rows.

        names: strings, or lists of strings; null is ignored.
        """
        table = pl.DataFrame({"name": names, "class": self.codes, "weight": self.weights})
        if names.dtype == pl.List:
            table = table.explode("name")
        counted = (
            table.drop_nulls("name")
            # In row order, so that sums of weights do not depend on threads.
            .group_by("name", "class", maintain_order=True)
            .agg(pl.col("weight").sum(), pl.len().alias("rows"))
        )
        total = (
            counted.group_by("name")
            .agg(pl.col("rows").sum())
            .sort("rows", "name", descending=[True, False])
            .with_row_index("place")
        )
        placed = counted.join(total.select("name", "place"), on="name")
        counts = np.zeros((self.n_classes, len(total)))
        counts[placed["class"].to_numpy(), placed["place"].to_numpy()] = placed["weight"]
        return total["name"].to_list(), counts, total["rows"].to_numpy().astype(np.int64)


def numbers_in(cells: pl.Series, column: Column) -> Reals:
    """Numbers, or dates as days since 1970; NaN for missing values and other cells.

    >>> numbers_in(pl.Series(["1.5", "n/a", None, "inf"]), Column("age", NUMBER, 0)).tolist()
    [1.5, nan, nan, nan]
    """
    values = as_kind(cells, column)
    if column.kind == DATE:
        values = values.dt.epoch("s").cast(pl.Float64) / 86_400
    return values.fill_null(np.nan).to_numpy()


def levels_in(cells: pl.Series, column: Column) -> pl.Series:
    """Levels as strings, null where missing."""
    return as_kind(cells, column).cast(pl.String)


def words_in(cells: pl.Series, column: Column) -> pl.Series:
    """The distinct words of each text, null for an empty text; words have at least two letters.

    >>> cells = pl.Series(["No refund, no!", " "])
    >>> words_in(cells, Column("review", TEXT, 0)).list.sort().to_list()
    [['no', 'refund'], None]
    """
    texts = as_kind(cells, column).str.strip_chars().str.slice(0, LONGEST_TEXT)
    words = texts.str.to_lowercase().str.extract_all(r"\w\w+").list.unique()
    short = words.list.eval(pl.element().filter(pl.element().str.len_chars() <= LONGEST_WORD))
    return short.set(texts == "", None)


def _scale(column: Column, cells: pl.Series, tally: ClassTally) -> ScaleProfile:
    values = numbers_in(cells, column)
    is_known = ~np.isnan(values)
    thresholds = _thresholds(values[is_known], tally.codes[is_known], tally.n_classes)
    return ScaleProfile(
        column=column,
        lowest=float(values[is_known].min(initial=np.inf)),
        thresholds=thresholds,
        at_most=tally.at_most(values, thresholds),
        gaps=tally.total(~is_known),
    )


def _thresholds(values: Reals, codes: Codes, n_classes: int) -> Reals:
    """All values if they are few, otherwise quantiles of all and of each class (some are rare)."""
    distinct = np.unique(values)
    if len(distinct) <= MOST_THRESHOLDS:
        return distinct
    half = MOST_THRESHOLDS // 2
    parts = [_quantiles(np.sort(values), half)]
    for code in range(n_classes):
        parts.append(_quantiles(np.sort(values[codes == code]), max(half // n_classes, 4)))
    return np.unique(np.concatenate(parts))


def _quantiles(ordered: Reals, n: int) -> Reals:
    if not len(ordered):
        return ordered
    return ordered[np.linspace(0, len(ordered) - 1, n).round().astype(np.int64)]


def _levels(column: Column, cells: pl.Series, tally: ClassTally) -> LevelsProfile:
    cells = levels_in(cells, column)
    names, counts, rows = tally.by_name(cells)
    return LevelsProfile(
        column=column,
        levels=tuple(names[:MOST_LEVELS]),
        counts=counts[:, :MOST_LEVELS],
        gaps=tally.total(cells.is_null().to_numpy()),
        rest=counts[:, MOST_LEVELS:].sum(axis=1),
        once=counts[:, rows == 1].sum(axis=1),
    )


def _words(column: Column, cells: pl.Series, tally: ClassTally) -> WordsProfile:
    cells = words_in(cells, column)
    names, counts, rows = tally.by_name(cells)
    n_stored = min(int((rows > 1).sum()), MOST_WORDS)
    return WordsProfile(
        column=column,
        words=tuple(names[:n_stored]),
        counts=counts[:, :n_stored],
        items=tally.total(np.ones(len(cells), dtype=np.bool_)),
        gaps=tally.total(cells.is_null().to_numpy()),
        pairs=counts.sum(axis=1),
        once=counts[:, rows == 1].sum(axis=1),
        most_left_out=float(rows[n_stored:].max(initial=0)),
    )


def _part(n_rows: int, seed: int) -> NDArray[np.int64]:
    if n_rows <= MOST_TEXTS:
        return np.arange(n_rows)
    rng = generator(seed, purpose="texts counted for their words")
    return np.sort(rng.choice(n_rows, MOST_TEXTS, replace=False))


Row: TypeAlias = tuple[str | None, str | None, str, float | None, str | None, list[float] | None]


def _row(
    column: str | None,
    kind: str | None,
    what: str,
    number: float | None = None,
    name: str | None = None,
    counts: Reals | None = None,
) -> Row:
    return column, kind, what, number, name, None if counts is None else counts.tolist()


def _rows(column: ColumnProfile) -> Iterator[Row]:
    """A column's profile as rows of the table."""
    about = column.column.name, column.column.kind
    yield _row(*about, "gaps", counts=column.gaps)
    if isinstance(column, ScaleProfile):
        yield _row(*about, "format", name=column.column.format)
        yield from (_row(*about, "part", name=part) for part in column.column.parts)
        yield _row(*about, "lowest", number=column.lowest)
        for threshold, counts in zip(column.thresholds.tolist(), column.at_most.T, strict=True):
            yield _row(*about, "at most", number=threshold, counts=counts)
        return
    yield _row(*about, "once", counts=column.once)
    if isinstance(column, LevelsProfile):
        yield _row(*about, "rest", counts=column.rest)
        for level, counts in zip(column.levels, column.counts.T, strict=True):
            yield _row(*about, "level", name=level, counts=counts)
        return
    yield _row(*about, "items", counts=column.items)
    yield _row(*about, "pairs", counts=column.pairs)
    yield _row(*about, "most left out", number=column.most_left_out)
    for word, counts in zip(column.words, column.counts.T, strict=True):
        yield _row(*about, "word", name=word, counts=counts)


def _read(table: pl.DataFrame, n_classes: int) -> TrainingProfile:
    if table.schema != SCHEMA:
        raise ValueError("other columns")
    parts = table.partition_by("column", maintain_order=True, as_dict=True)
    head = _Part(parts.pop((None,)), n_classes)
    return TrainingProfile(
        head.counts("items"),
        head.counts("sizes"),
        tuple(_column(_Part(part, n_classes)) for part in parts.values()),
    )


def _column(part: "_Part") -> ColumnProfile:
    name, kind = part.table["column"][0], part.table["kind"][0]
    column = Column(name, kind, 0)
    gaps = part.counts("gaps")
    if kind == TEXT:
        words, counts = part.named("word")
        items, pairs, once = (part.counts(what) for what in ("items", "pairs", "once"))
        left_out = part.number("most left out")
        return WordsProfile(column, words, counts, items, gaps, pairs, once, left_out)
    if kind in (CATEGORY, TRUTH):
        levels, counts = part.named("level")
        return LevelsProfile(column, levels, counts, gaps, part.counts("rest"), part.counts("once"))
    if kind not in (NUMBER, DATE, POSTERIOR):
        raise ValueError("an unknown kind")
    dates = tuple(part.rows("part")["name"].to_list())
    column = replace(column, parts=dates, format=part.rows("format")["name"][0])
    rows = part.rows("at most")
    thresholds = rows["number"].to_numpy()
    if not np.isfinite(thresholds).all() or (np.diff(thresholds) <= 0).any():
        raise ValueError("thresholds are not ascending")
    return ScaleProfile(column, part.number("lowest"), thresholds, part.matrix(rows), gaps)


class _Part:
    """The rows of one column; every row must have a count for each class."""

    def __init__(self, table: pl.DataFrame, n_classes: int) -> None:
        self.table, self.n_classes = table, n_classes
        self._tables: Mapping[Any, pl.DataFrame] = table.partition_by("what", as_dict=True)

    def rows(self, what: str) -> pl.DataFrame:
        return self._tables.get((what,), self.table.clear())

    def number(self, what: str) -> float:
        return float(self.rows(what)["number"][0])

    def counts(self, what: str) -> Reals:
        counts = np.array(self.rows(what)["counts"][0], dtype=np.float64)
        return np.asarray(self._checked(counts[np.newaxis])[0])

    def named(self, what: str) -> tuple[tuple[str, ...], Reals]:
        rows = self.rows(what)
        if rows["name"].null_count() or rows["name"].n_unique() < len(rows):
            raise ValueError("names are missing or duplicated")
        return tuple(rows["name"].to_list()), self.matrix(rows)

    def matrix(self, rows: pl.DataFrame) -> Reals:
        """The counts of the rows, (n_classes, n_rows)."""
        if not (rows["counts"].list.len() == self.n_classes).all() or rows["counts"].null_count():
            raise ValueError("the number of counts is not the number of classes")
        flat = rows["counts"].explode().to_numpy() if len(rows) else np.empty(0)
        return np.asarray(self._checked(flat.reshape(len(rows), self.n_classes)).T)

    def _checked(self, counts: Reals) -> Reals:
        if counts.shape[1] != self.n_classes:
            raise ValueError("the number of counts is not the number of classes")
        if not (np.isfinite(counts) & (counts >= 0)).all():
            raise ValueError("counts are negative or not finite")
        return counts
