"""What the columns of a table hold, and which of them are features.

A file without types says so only by its cells: a column is one of whole numbers, numbers, truth
values or dates if all its cells are, and of words otherwise. What no model can use is left out with
a reason: columns that are all gaps, constant, row numbers, nearly all different words (names, ids,
free text), dates, lists.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
import polars.selectors as cs

from quantshift.errors import DataError

NUMBER, CATEGORY, TRUTH = "number", "category", "truth value"

GAP_WORDS = ("NA", "N/A", "n/a", "?", "null", "None", "-", ".")
"""What stands for a gap in a column whose other cells are all numbers."""

TRUTH_WORDS = {"true": True, "false": False}
DATE_FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y")
TIME_FORMATS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M")

MOST_DISTINCT = 0.9
"""Words of which a larger share differ are names of the rows."""

FEWEST_DISTINCT = 20
"""So few different words are levels, whatever their share."""


@dataclass(frozen=True)
class Column:
    """A feature of a table: what it holds, how many gaps, how many levels (of a category)."""

    name: str
    kind: str
    gaps: int
    levels: int | None = None


@dataclass(frozen=True)
class LeftOut:
    """A column that is no feature, and why."""

    name: str
    reason: str


def typed(column: pl.Series) -> pl.Series:
    """The column with the type that its cells tell; words without blanks around them.

    >>> typed(pl.Series(["1", " 2", None])).to_list()
    [1, 2, None]
    >>> typed(pl.Series(["1.5", "NA"])).to_list()
    [1.5, None]
    """
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.Decimal:
        return column.cast(pl.Float64)
    if column.dtype != pl.String:
        return column
    words = column.str.strip_chars()
    n_values = len(words) - words.null_count()
    for type_ in (pl.Int64, pl.Float64):
        numbers = words.cast(type_, strict=False)
        unread = words.filter(numbers.is_null() & words.is_not_null())
        if unread.is_in(list(GAP_WORDS)).all() and len(unread) < n_values:
            return numbers
    small = words.str.to_lowercase()
    if n_values and small.drop_nulls().is_in(list(TRUTH_WORDS)).all():
        return small.replace_strict(TRUTH_WORDS, default=None, return_dtype=pl.Boolean)
    return _dates(words) if n_values else words


def choose(
    frame: pl.DataFrame, *, codes: Sequence[str] = ()
) -> tuple[tuple[Column, ...], tuple[LeftOut, ...]]:
    """The features among the columns and those left out, in the order of the table.

    codes: columns of numbers that are codes of categories.
    """
    features, left_out = [], []
    for name in frame.columns:
        column = typed(frame[name])
        reason = _unfit(column, is_code=name in codes)
        if reason is not None:
            left_out.append(LeftOut(name, reason))
            continue
        kind = CATEGORY if name in codes else _kind(column)
        levels = column.drop_nulls().n_unique() if kind == CATEGORY else None
        features.append(Column(name, kind, column.null_count(), levels))
    return tuple(features), tuple(left_out)


def prepared(frame: pl.DataFrame, features: Sequence[Column], name: str) -> pl.DataFrame:
    """The features of a table as floats, truth values and strings; infinities are gaps.

    The features may be another table's; what is no number in a column of numbers is an error.
    """
    numbers = _numbers(frame.select(f.name for f in features if f.kind == NUMBER))
    columns = (
        numbers[f.name] if f.name in numbers else _as_kind(frame[f.name], f, name) for f in features
    )
    return pl.DataFrame(list(columns))


def names_of(column: pl.Series) -> pl.Series:
    """The values as names: whole numbers without a point, words without blanks around them.

    >>> names_of(pl.Series([1.0, 2.0, None])).to_list()
    ['1', '2', None]
    """
    values = whole(typed(column))
    return values.cast(pl.String).rename(column.name)


def whole(column: pl.Series) -> pl.Series:
    """Numbers that are all whole as integers; anything else as it is."""
    if not column.dtype.is_float():
        return column.cast(pl.Int64) if column.dtype.is_integer() else column
    is_whole = (column.is_finite() & (column == column.round())).fill_null(True).all()
    return column.cast(pl.Int64, strict=False) if is_whole else column


def _dates(words: pl.Series) -> pl.Series:
    first = words.drop_nulls().head(1)
    for format_ in DATE_FORMATS:
        if first.str.to_date(format_, strict=False).null_count() == 0:
            dates = words.str.to_date(format_, strict=False)
            if dates.null_count() == words.null_count():
                return dates
    for format_ in TIME_FORMATS:
        if first.str.to_datetime(format_, strict=False).null_count() == 0:
            times = words.str.to_datetime(format_, strict=False)
            if times.null_count() == words.null_count():
                return times
    return words


def _unfit(column: pl.Series, *, is_code: bool) -> str | None:
    values = column.drop_nulls()
    if len(values) == 0:
        return "all gaps"
    if column.dtype.is_temporal():
        return "dates are not used yet"
    if not (column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.String)):
        return f"cells of type {column.dtype} are not understood"
    if column.n_unique() == 1:
        return "constant"
    if is_code:
        return None
    if column.dtype == pl.String:
        distinct = values.n_unique()
        if distinct > max(FEWEST_DISTINCT, MOST_DISTINCT * len(values)):
            return f"{distinct:,} different words in {len(values):,} rows, as names and ids have"
    return "row numbers" if _counts_rows(column) else None


def _counts_rows(column: pl.Series) -> bool:
    if not column.dtype.is_integer() or len(column) <= FEWEST_DISTINCT or column.null_count():
        return False
    return bool((column.cast(pl.Int64).diff().drop_nulls() == 1).all())


def _kind(column: pl.Series) -> str:
    if column.dtype == pl.Boolean:
        return TRUTH
    return CATEGORY if column.dtype == pl.String else NUMBER


def _numbers(frame: pl.DataFrame) -> dict[str, pl.Series]:
    """Those columns of words in which each is a number; all at once, for there may be many."""
    words = frame.select(cs.string())
    numbers = words.with_columns(cs.string().str.strip_chars().cast(pl.Float64, strict=False))
    before, after = words.null_count().row(0), numbers.null_count().row(0)
    finite = numbers.with_columns(pl.when(cs.float().is_finite()).then(cs.float()))
    return {
        column.name: column
        for column, gaps, unread in zip(finite.get_columns(), before, after, strict=True)
        if gaps == unread
    }


def _as_kind(column: pl.Series, feature: Column, name: str) -> pl.Series:
    if feature.kind == CATEGORY:
        return names_of(column)
    values = typed(column)
    fits = values.dtype.is_numeric() or values.dtype == pl.Boolean
    if not fits and values.null_count() < len(values):
        raise DataError(
            f"{name}: column {feature.name!r} holds words or dates, but numbers in the main table"
        )
    if feature.kind == TRUTH:
        return values.cast(pl.Boolean)
    numbers = values.cast(pl.Float64)
    return numbers.set(~numbers.is_finite(), None)
