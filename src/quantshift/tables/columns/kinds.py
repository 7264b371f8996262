"""The types of a table's columns, and which columns are features.

In a file without types, they are inferred from the cells. A column holds numbers, booleans or dates
if (nearly) all its cells do; the few other cells are treated as missing. Other strings are the
levels of a category or, if they are long and mostly different, texts.

Columns that no model should use are left out with a reason, unless asked for by name: columns that
are entirely missing or constant, row numbers, counters and ids (`ids`), lists and objects. Dates
are used by their parts (`dates`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl
import polars.selectors as cs

from quantshift.errors import DataError
from quantshift.tables.columns.cell_names import (
    LARGEST_WHOLE,
    as_numbers,
    as_texts,
    names_of,
    shown,
)
from quantshift.tables.columns.dates import (
    date_format,
    moments,
    names_of_parts,
    parts_of,
    used_parts,
)
from quantshift.tables.columns.decimal_commas import (
    FORMS,
    comma_format,
    comma_numbers,
    is_comma_number,
)
from quantshift.tables.columns.ids import FEWEST_DISTINCT, why_names_are_ids, why_numbers_are_ids
from quantshift.tables.columns.odd_numbers import form_of, why_not_numbers
from quantshift.tables.columns.spelling import is_number

NUMBER, CATEGORY, TRUTH, DATE, TEXT = "number", "category", "truth value", "date", "text"

GAP_WORDS = ("", "NA", "N/A", "n/a", "NaN", "nan", "?", "NULL", "null", "None", "-", ".")
"""Cells that are missing values in a column of numbers, booleans or dates."""

ERRORS = r"^#(DIV/0!|N/A|VALUE!|REF!|NAME\?|NUM!|NULL!|SPILL!|CALC!|GETTING_DATA)$"
"""Errors of a spreadsheet: the kind of a column does not depend on them, and where it is not a
category or a text, they are treated as missing and counted as odd."""

TRUTH_WORDS = {"true": True, "false": False}
TRUTH_NUMBERS = {0.0: False, 1.0: True}

MOST_ODD = 0.05
"""The largest share of other cells in a column of numbers or dates."""

TEXT_WORDS, LONG_TEXT = 3, 8
"""The fewest words of a typical text; with at least the second number, texts may repeat."""

MOST_REPEATED = 0.5
"""The share of different cells above which cells of several words are texts."""

RARE = 10
"""Levels with fewer training rows share one column."""

DIGITS_OF_FLOATS = 15
"""The number of digits up to which different integers are different floats."""


@dataclass(frozen=True)
class Column:
    """A feature of a table: its kind, how many cells are missing, how many levels (of a category).

    odd: cells treated as missing because they do not belong there: words in a column of numbers,
        infinities.
    parts: for a date, the parts that are used. format: that of dates written as strings, and of
        numbers with a decimal comma.
    """

    name: str
    kind: str
    gaps: int
    levels: int | None = None
    odd: int = 0
    parts: tuple[str, ...] = ()
    format: str | None = None


CONSTANT = "constant"
"""Why a column with a single value, in every row, is left out."""


@dataclass(frozen=True)
class LeftOut:
    """A column that is not a feature, and why."""

    name: str
    reason: str


def typed(column: pl.Series) -> pl.Series:
    """The column with the type inferred from its cells; strings without surrounding blanks.

    >>> typed(pl.Series(["1", " 2", None])).to_list()
    [1, 2, None]
    >>> typed(pl.Series(["1.5", "NA"])).to_list()
    [1.5, None]
    """
    return _typed(column, most_odd=0.0)[0]


def choose(
    frame: pl.DataFrame, *, codes: Sequence[str] = (), named: Sequence[str] = ()
) -> tuple[tuple[Column, ...], tuple[LeftOut, ...]]:
    """The features among the columns and those left out, in the order of the table.

    codes: numeric columns that hold category codes. named: columns that are features in any case.
    """
    features, left_out = [], []
    for name in frame.columns:
        chosen = _column(frame[name], is_code=name in codes, named=name in named)
        if isinstance(chosen, Column):
            features.append(chosen)
        else:
            left_out.append(chosen)
    return tuple(features), tuple(left_out)


def text_column(column: pl.Series) -> Column:
    """A column that is treated as text, whatever it holds."""
    words = as_words(column)
    return Column(column.name, TEXT, int((words == "").sum()))


def prepared(frame: pl.DataFrame, features: Sequence[Column]) -> pl.DataFrame:
    """The features of a table as floats, booleans and strings; infinities become missing values.

    A date has a column for each number derived from it (`part_names`). The features may come from
    another table: cells that do not fit them become missing values.
    """
    numbers = _numbers(frame, features)
    columns: list[pl.Series] = []
    for feature in features:
        if feature.name in numbers:
            columns.append(numbers[feature.name])
            continue
        values = as_kind(frame[feature.name], feature)
        columns += (
            parts_of(values, feature.name, feature.parts) if feature.kind == DATE else [values]
        )
    return pl.DataFrame(columns)


def odd_cells(frame: pl.DataFrame, features: Sequence[Column]) -> dict[str, pl.Series]:
    """The cells of each feature that are not missing but cannot be used, if there are any.

    These are words in a column of numbers, booleans or dates, and infinities.
    """
    all_numbers = _numbers(frame, features)
    odd = {}
    for feature in features:
        column = frame[feature.name]
        if feature.kind in (CATEGORY, TEXT):
            continue
        if (
            feature.name in all_numbers
            and all_numbers[feature.name].null_count() == column.null_count()
        ):
            continue
        is_odd = as_kind(column, feature).is_null() & ~_gaps(column)
        if is_odd.any():
            odd[feature.name] = is_odd
    return odd


def check_kinds(frame: pl.DataFrame, features: Sequence[Column], name: str) -> None:
    """Refuse a table in which most cells of a column do not fit the feature."""
    for feature in features:
        odd = odd_cells(frame, [feature]).get(feature.name)
        if odd is not None and mostly(odd, frame[feature.name]):
            raise wrong_kind(feature, name, frame[feature.name].filter(odd)[0])


def mostly(odd: pl.Series, column: pl.Series) -> bool:
    """Whether at least half of the cells that are not missing are odd."""
    return 2 * int(odd.sum()) >= len(column) - int(_gaps(column).sum())


def wrong_kind(feature: Column, name: str, cell: object) -> DataError:
    """The error for a table with a column whose cells, such as this one, do not fit the feature."""
    column, text, example = f"{name}: column {feature.name!r}", str(cell), shown(cell)
    if feature.kind == NUMBER and feature.format is None and is_comma_number(text):
        return DataError(
            f"{column} holds decimal commas such as {example}, but decimal points in training; "
            "write them alike"
        )
    if feature.format in FORMS:
        return DataError(
            f"{column} holds {example}, but numbers with a decimal comma in training; write them "
            "alike"
        )
    form = form_of(text) if feature.kind == NUMBER else None
    if form is not None:
        return DataError(
            f"{column} holds {form.content} such as {example}, but plain numbers in training; "
            f"write {form.example} as {form.cure}"
        )
    if feature.kind == NUMBER and is_number(text):
        return DataError(
            f"{name}: most cells of column {feature.name!r} are like {example}, which is not a "
            "finite number; leave cells empty where nothing is known"
        )
    content = "truth values" if text.lower() in TRUTH_WORDS else "words"
    content = "numbers" if is_number(text) else content
    return DataError(
        f"{column} holds {content} such as {example}, but {feature.kind}s in training; is it the "
        "same column?"
    )


def part_names(feature: Column) -> list[str]:
    """The names of the prepared columns that a feature becomes."""
    if feature.kind != DATE:
        return [feature.name]
    return names_of_parts(feature.name, feature.parts)


def as_kind(column: pl.Series, feature: Column) -> pl.Series:
    """The cells as floats, booleans, dates or strings; null where they cannot be converted."""
    if feature.kind == CATEGORY:
        return names_of(column)
    if feature.kind == TEXT:
        return as_words(column)
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if feature.kind == DATE:
        return moments(column, feature.format)
    if feature.kind == TRUTH:
        return _truths(column)
    return _finite(_as_numbers(column, feature.format))


def as_words(column: pl.Series) -> pl.Series:
    """The cells as texts; a missing one is empty."""
    return as_texts(column).fill_null("")


def whole(column: pl.Series) -> pl.Series:
    """Floats that are all whole numbers as integers; anything else unchanged."""
    if not column.dtype.is_float():
        return column.cast(pl.Int64) if column.dtype.is_integer() else column
    is_whole = (column.abs() <= LARGEST_WHOLE) & (column == column.round())
    return column.cast(pl.Int64) if is_whole.fill_null(True).all() else column


def _column(column: pl.Series, *, is_code: bool, named: bool) -> Column | LeftOut:
    """The feature that a column is, or why it is left out."""
    name = column.name
    if column.dtype == pl.Null:
        column = column.cast(pl.String)
    if column.dtype == pl.Duration:
        column = column.dt.total_seconds(fractional=True)
    fits = column.dtype.is_numeric() or column.dtype in (
        pl.String,
        pl.Boolean,
        pl.Categorical,
        pl.Enum,
        pl.Date,
        pl.Datetime,
    )
    if not fits:
        content = "lists or objects" if column.dtype.is_nested() else str(column.dtype)
        if named:
            raise DataError(
                f"column {name!r} holds {content}, which are not supported; leave it out"
            )
        return LeftOut(name, f"{content}: not supported")
    if is_code:
        names = names_of(column)
        levels = names.drop_nulls().n_unique()
        if levels < 2 and not named:
            return LeftOut(name, CONSTANT if levels else "all missing")
        return Column(name, CATEGORY, names.null_count(), levels)
    values, format_ = _typed(column, most_odd=MOST_ODD)
    if values.dtype == pl.String:
        present = _without_errors(values.filter(~_gaps(values)))
        format_ = comma_format(present, MOST_ODD * len(present))
        values = values if format_ is None else comma_numbers(values, format_)
    if values.dtype.is_float():
        values = _finite(values)
    feature = _feature(values, format_)
    if feature.kind != TEXT:
        odd = odd_cells(column.to_frame(), [feature]).get(name)
        n_odd = 0 if odd is None else int(odd.sum())
        feature = replace(feature, gaps=as_kind(column, feature).null_count(), odd=n_odd)
    reason = None if named else _unfit(values, feature)
    return feature if reason is None else LeftOut(name, reason)


def _feature(values: pl.Series, format_: str | None) -> Column:
    name = values.name
    if values.dtype.is_temporal():
        return Column(name, DATE, 0, parts=used_parts(values), format=format_)
    if values.dtype == pl.Boolean:
        return Column(name, TRUTH, 0)
    if values.dtype != pl.String:
        return Column(name, NUMBER, 0, format=format_)
    if _is_text(values):
        return text_column(values)
    return Column(name, CATEGORY, 0, names_of(values).drop_nulls().n_unique())


def _unfit(values: pl.Series, feature: Column) -> str | None:
    """Why a column is not a feature; None if it is one."""
    present = values.drop_nulls()
    distinct = present.n_unique()
    if len(present) == 0:
        return "all missing"
    # Whether a cell is missing can be informative even if its value is always the same.
    if distinct == 1 and not feature.gaps:
        return CONSTANT
    if feature.kind in (DATE, TEXT, TRUTH):
        return None
    if feature.kind == CATEGORY:
        reason = why_names_are_ids(present)
        if reason is None and not _are_rare(present):
            return None
        return why_not_numbers(present) or reason
    return why_numbers_are_ids(whole(present))


def _are_rare(levels: pl.Series) -> bool:
    """Whether most cells are of levels that are too rare to say anything."""
    rows = levels.value_counts(name="rows")["rows"]
    return 2 * int(rows.filter(rows < RARE).sum()) > len(levels)


def _is_text(words: pl.Series) -> bool:
    present = words.drop_nulls()
    distinct = present.unique()
    n_words = distinct.str.count_matches(r"\w\w+").median()
    many, differ = len(distinct) > FEWEST_DISTINCT, len(distinct) > MOST_REPEATED * len(present)
    if n_words is None or not isinstance(n_words, float | int):
        return False
    if n_words >= LONG_TEXT:
        return many or differ
    # The digits between separators look like words: $12,345.67.
    return n_words >= TEXT_WORDS and many and differ and why_not_numbers(distinct) is None


def _typed(column: pl.Series, *, most_odd: float) -> tuple[pl.Series, str | None]:
    """The column with the type inferred from its cells, and the format of dates in strings.

    most_odd: the largest share of cells that may be something else, and become missing.
    """
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.Decimal:
        return column.cast(pl.Float64), None
    if column.dtype != pl.String:
        return column, None
    words = column.str.strip_chars()
    present = _without_errors(words.filter(~words.is_in(list(GAP_WORDS)) & words.is_not_null()))
    most = most_odd * len(present)
    if not len(present):
        return words, None
    if _are_long_ids(present):
        return words, None
    for type_ in (pl.Int64, pl.Float64):
        if present.cast(type_, strict=False).null_count() <= (0 if type_ == pl.Int64 else most):
            return words.cast(type_, strict=False), None
    lower_case = present.str.to_lowercase()
    if (~lower_case.is_in(list(TRUTH_WORDS))).sum() <= most:
        return _truths(words), None
    format_ = date_format(present, most)
    return (words, None) if format_ is None else (moments(words, format_), format_)


def _without_errors(words: pl.Series) -> pl.Series:
    return words.filter(~words.str.contains(ERRORS))


def _are_long_ids(words: pl.Series) -> bool:
    """Whether the strings are integers of more digits than any number here has."""
    if (words.str.len_chars().head(100) <= DIGITS_OF_FLOATS).any():
        return False
    if not words.str.contains(r"^[+-]?[0-9]+$").all():
        return False
    return bool(words.cast(pl.Int64, strict=False).null_count())


def _truths(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Boolean:
        return column
    if not column.dtype.is_numeric() and column.dtype != pl.String:
        return pl.Series(column.name, [None] * len(column), dtype=pl.Boolean)
    numbers = _as_numbers(column, None)
    truths = numbers.replace_strict(TRUTH_NUMBERS, default=None, return_dtype=pl.Boolean)
    if column.dtype != pl.String:
        return truths
    lower_case = column.str.strip_chars().str.to_lowercase()
    words = lower_case.replace_strict(TRUTH_WORDS, default=None, return_dtype=pl.Boolean)
    return words.fill_null(truths)


def _as_numbers(column: pl.Series, format_: str | None) -> pl.Series:
    if column.dtype == pl.Duration:
        return column.dt.total_seconds(fractional=True)
    if column.dtype == pl.String and format_ is not None:
        return comma_numbers(column, format_)
    if column.dtype == pl.Boolean:
        return pl.Series(column.name, [None] * len(column), dtype=pl.Float64)
    return as_numbers(column)


def _finite(numbers: pl.Series) -> pl.Series:
    return numbers.set(~numbers.is_finite().fill_null(True), None)


def _gaps(column: pl.Series) -> pl.Series:
    """Which cells are missing."""
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.String:
        return column.is_null() | column.str.strip_chars().is_in(list(GAP_WORDS)).fill_null(True)
    if column.dtype.is_float():
        return column.is_null() | column.is_nan().fill_null(True)
    return column.is_null()


def _numbers(frame: pl.DataFrame, features: Sequence[Column]) -> dict[str, pl.Series]:
    """The string columns in which every cell is a number, converted together for speed."""
    plain = [f.name for f in features if f.kind == NUMBER and f.format is None]
    words = frame.select(plain).select(cs.string())
    numbers = words.with_columns(cs.string().str.strip_chars().cast(pl.Float64, strict=False))
    before, after = words.null_count().row(0), numbers.null_count().row(0)
    finite = numbers.with_columns(pl.when(cs.float().is_finite()).then(cs.float()))
    return {
        column.name: column
        for column, gaps, unread in zip(finite.get_columns(), before, after, strict=True)
        if gaps == unread
    }
