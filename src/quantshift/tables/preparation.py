"""Preprocessing of mixed columns into numbers, fitted on training rows only.

The steps are scikit-learn's. Numbers: cells far outside the training rows are clipped, missing
values are replaced by the median, columns are standardised, and a column with missing values in
training gets an indicator of them. Booleans are the numbers 0 and 1. Categories: one column per
level (missing is a level); levels with few training rows share one column, which is also used for
levels unknown from training. Texts: tf-idf of their words, rows of unit length.

`TableColumns` holds a whole table as arrays, so that every training set drawn from it is prepared
without parsing strings again; `TablePreparation` prepares frames as they come from files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from quantshift.base.types import Indices
from quantshift.errors import DataError
from quantshift.tables.columns.kinds import (
    CATEGORY,
    NUMBER,
    RARE,
    TEXT,
    Column,
    part_names,
    prepared,
)
from quantshift.tables.columns.names import NO_NAME
from quantshift.texts.view import scores_in_blocks

DENSE_SHARE = 0.3
"""A matrix is dense if at least this share of each row is not zero."""

WIDEST = 20.0
"""Numbers further from the median than this many robust standard deviations are clipped."""

RARE_WORD, MANY_TEXTS = 3, 200
"""Words must occur in at least `RARE_WORD` texts if there are at least `MANY_TEXTS` texts."""

TEXT_BESIDE = 10**0.5
"""The length of a text's vector if there are other columns; without them it is 1.

Words are many and rare, and need a weaker penalty than a few standardised numbers. In a penalised
linear model, scaling a block by the square root of 10 makes its penalty 10 times weaker.
"""


class Bounds(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Numbers in robust standard deviations from the median, clipped at `WIDEST`; NaN stays.

    The robust standard deviation is that of a normal distribution with the same quartiles. If the
    quartiles are equal it is the median distance of the numbers that differ from the median. No
    finite number overflows.
    """

    def fit(self, X: NDArray[np.float64], y: None = None) -> "Bounds":
        """Find median and spread of every column."""
        columns = [column[~np.isnan(column)] for column in X.T]
        # No interpolation, which would overflow between -1e308 and 1e308.
        quartiles = [
            np.quantile(column, [0.25, 0.5, 0.75], method="nearest") if len(column) else np.zeros(3)
            for column in columns
        ]
        low, self.median_, high = np.array(quartiles).T
        half = high / 2 - low / 2
        for j in np.flatnonzero(half == 0):
            others = columns[j][columns[j] != self.median_[j]]
            if len(others):
                distances = np.abs(others / 2 - self.median_[j] / 2)
                half[j] = np.quantile(distances, 0.5, method="nearest")
        self.half_spread_ = np.where(half > 0, half, 1.0)
        return self

    def transform(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scaled and clipped numbers."""
        with np.errstate(over="ignore"):
            scaled = (X / 2 - self.median_ / 2) / self.half_spread_ * (2 * QUARTILE)
        return np.asarray(np.clip(scaled, -WIDEST, WIDEST))


QUARTILE = 0.6744897501960817
"""The upper quartile of the standard normal distribution."""


@dataclass(frozen=True, eq=False)
class TableColumns:
    """The columns of a table as arrays.

    numbers: (n_rows, n_numbers), NaN where missing. codes: (n_rows, n_categories), positions in the
    levels of each category; the position after the last level where missing, -1 for an unknown
    level.
    """

    number_names: tuple[str, ...]
    numbers: NDArray[np.float64]
    category_names: tuple[str, ...]
    codes: NDArray[np.int32]
    levels: tuple[tuple[str, ...], ...]

    @classmethod
    def of(
        cls, frame: pl.DataFrame, levels: Sequence[Sequence[str]] | None = None
    ) -> "TableColumns":
        """The columns of a frame: strings are categories, all others numbers.

        levels: those of each category, if they come from another table.
        """
        words = [name for name in frame.columns if frame[name].dtype == pl.String]
        others = [name for name in frame.columns if name not in set(words)]
        if levels is None:
            all_levels = [frame[name].drop_nulls().unique().sort() for name in words]
        else:
            all_levels = [pl.Series(category_levels, dtype=pl.String) for category_levels in levels]
        codes = np.empty((len(frame), len(words)), np.int32)
        for position, (name, category_levels) in enumerate(zip(words, all_levels, strict=True)):
            positions = (
                frame[name]
                .cast(pl.Enum(category_levels), strict=False)
                .to_physical()
                .cast(pl.Int32)
            )
            unknown = positions.is_null() & frame[name].is_not_null()
            codes[:, position] = (
                positions.fill_null(len(category_levels)).set(unknown, -1).to_numpy()
            )
        numbers = np.empty((len(frame), 0))
        if others:
            floats = frame.select(pl.col(others).cast(pl.Float64).fill_null(np.nan))
            numbers = floats.to_numpy(order="c")
        return cls(
            tuple(others),
            numbers,
            tuple(words),
            codes,
            tuple(tuple(category_levels.to_list()) for category_levels in all_levels),
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def view(self, rows: ArrayLike) -> "TableView":
        """The table, prepared by its training rows."""
        return TableView(self, Preparation.fit(self, np.asarray(rows)))


@dataclass(frozen=True, eq=False)
class Preparation:
    """The preparation of numbers and levels, fitted on training rows.

    scaling, indicator, encoding: fitted; None if there is nothing to scale, fill or encode.
    indicated: the numeric columns with an indicator of missing values.
    names: those of the columns of the matrix; sources: for each of them the position of its column,
        where all numbers come before all categories.
    """

    scaling: Pipeline | None
    indicator: MissingIndicator | None
    indicated: Indices
    encoding: OneHotEncoder | None
    names: tuple[str, ...]
    sources: tuple[int, ...]
    n_filled: int

    @classmethod
    def fit(cls, table: TableColumns, rows: Indices) -> "Preparation":
        """Fit to training rows; a column without any number in them becomes 0."""
        numbers, codes = table.numbers[rows], table.codes[rows]
        n_numbers = numbers.shape[1]
        gaps = np.isnan(numbers)
        indicated = np.flatnonzero(gaps.any(axis=0) & ~gaps.all(axis=0))
        scaling = indicator = encoding = None
        names, sources = list(table.number_names), list(range(n_numbers))
        if n_numbers:
            filling = SimpleImputer(strategy="median", keep_empty_features=True)
            steps = [("bounds", Bounds()), ("filling", filling), ("scaling", StandardScaler())]
            scaling = Pipeline(steps).fit(numbers)
        if len(indicated):
            indicator = MissingIndicator(features="all").fit(numbers[:, indicated])
            names += [f"{table.number_names[i]} is missing" for i in indicated]
            sources += indicated.tolist()
        if codes.shape[1]:
            encoding = OneHotEncoder(
                min_frequency=RARE, handle_unknown="infrequent_if_exist", dtype=np.float64
            ).fit(codes)
            for category, (name, levels) in enumerate(
                zip(table.category_names, table.levels, strict=True)
            ):
                level_names = _level_names(encoding, category, (*levels, NO_NAME))
                names += [f"{name} = {level}" for level in level_names]
                sources += [n_numbers + category] * len(level_names)
        return cls(
            scaling,
            indicator,
            indicated,
            encoding,
            tuple(names),
            tuple(sources),
            n_numbers + len(indicated) + codes.shape[1],
        )

    def transform(self, numbers: NDArray[np.float64], codes: NDArray[np.int32]) -> Any:
        """The matrix (n_rows, n_columns): dense, or CSR if it is mostly zeros."""
        parts: list[Any] = []
        if self.scaling is not None:
            parts.append(self.scaling.transform(numbers))
        if self.indicator is not None:
            parts.append(self.indicator.transform(numbers[:, self.indicated]).astype(np.float64))
        dense = self.n_filled >= DENSE_SHARE * len(self.names)
        if self.encoding is not None:
            levels = csr_array(self.encoding.transform(codes))
            parts.append(levels.toarray() if dense else levels)
        if dense:
            return np.hstack(parts) if parts else np.empty((len(numbers), 0))
        return csr_array(hstack([csr_array(part) for part in parts], format="csr"))


@dataclass(frozen=True, eq=False)
class TableView:
    """A table prepared by one training set: the numbers, the indicators, the levels."""

    table: TableColumns
    preparation: Preparation

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of the matrix."""
        return self.preparation.names

    def transform(self, rows: ArrayLike) -> Any:
        """The matrix of the rows, (n_rows, n_features): dense, or CSR if it is mostly zeros."""
        chosen = np.asarray(rows)
        return self.preparation.transform(self.table.numbers[chosen], self.table.codes[chosen])

    def scores(self, rows: ArrayLike, coef: ArrayLike, intercept: ArrayLike) -> NDArray[np.float64]:
        """Scores of the rows under k linear models (n_features, k), shape (n_rows, k)."""
        return scores_in_blocks(self, rows, coef, intercept)


@dataclass(frozen=True, eq=False)
class TablePreparation:
    """The columns of frames as a matrix, prepared by a training frame; texts come last.

    preparation: that of the numbers and levels; None if there are only texts.
    """

    columns: tuple[Column, ...]
    levels: tuple[tuple[str, ...], ...]
    preparation: Preparation | None
    vectorisers: tuple[TfidfVectorizer, ...]
    text_length: float

    @classmethod
    def fit(cls, frame: pl.DataFrame, columns: Sequence[Column]) -> "TablePreparation":
        """Fit to the training rows; a column of texts without common words is a `NoWordsError`."""
        return cls.fit_transform(frame, columns)[0]

    @classmethod
    def fit_transform(
        cls, frame: pl.DataFrame, columns: Sequence[Column]
    ) -> tuple["TablePreparation", Any]:
        """The preparation and the matrix of the training rows, whose words are counted once."""
        all_columns = tuple(columns)
        plain = prepared(frame, all_columns)
        texts = [column.name for column in all_columns if column.kind == TEXT]
        counted = [_vectorised(plain[name]) for name in texts]
        vectorisers, words = tuple(v for v, _ in counted), [matrix for _, matrix in counted]
        if len(texts) == len(all_columns):
            preparation = cls(all_columns, (), None, vectorisers, 1.0)
            return preparation, preparation._matrix(None, words)
        table = TableColumns.of(plain.drop(texts))
        fitted = Preparation.fit(table, np.arange(len(plain)))
        preparation = cls(all_columns, table.levels, fitted, vectorisers, TEXT_BESIDE)
        return preparation, preparation._matrix(table, words)

    def transform(self, frame: pl.DataFrame) -> Any:
        """The matrix of the rows, (n_rows, n_columns); CSR if there are texts or mostly zeros."""
        plain = prepared(frame, self.columns)
        texts = [column.name for column in self.columns if column.kind == TEXT]
        table = None
        if self.preparation is not None:
            table = TableColumns.of(plain.drop(texts), self.levels)
        words = [
            vectoriser.transform(plain[name].to_list())
            for name, vectoriser in zip(texts, self.vectorisers, strict=True)
        ]
        return self._matrix(table, words)

    def _matrix(self, table: TableColumns | None, words: Sequence[Any]) -> Any:
        """Numbers and levels of a table, then the words of each column of texts."""
        parts: list[Any] = []
        if self.preparation is not None and table is not None:
            parts.append(self.preparation.transform(table.numbers, table.codes))
        parts += [part if self.text_length == 1 else part * self.text_length for part in words]
        if len(parts) == 1:
            return parts[0]
        return csr_array(hstack([csr_array(part) for part in parts], format="csr"))

    @property
    def is_text(self) -> bool:
        """Whether there are only texts."""
        return self.preparation is None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of the matrix; for a text, its words."""
        plain = () if self.preparation is None else self.preparation.names
        texts = [column.name for column in self.columns if column.kind == TEXT]
        return plain + tuple(
            f"{name}: {word}"
            for name, vectoriser in zip(texts, self.vectorisers, strict=True)
            for word in vectoriser.get_feature_names_out()
        )

    @property
    def sources(self) -> Indices:
        """For each column of the matrix, the position of its column in the table."""
        numbers, categories, texts = [], [], []
        for position, column in enumerate(self.columns):
            if column.kind == TEXT:
                texts.append(position)
            elif column.kind == CATEGORY:
                categories.append(position)
            else:
                numbers += [position] * len(part_names(column))
        order = np.array([*numbers, *categories], dtype=np.int64)
        parts = [np.empty(0, np.int64)]
        if self.preparation is not None:
            parts.append(order[np.array(self.preparation.sources, dtype=np.int64)])
        for position, vectoriser in zip(texts, self.vectorisers, strict=True):
            parts.append(np.full(len(vectoriser.vocabulary_), position))
        return np.concatenate(parts)

    @property
    def gap_pairs(self) -> tuple[tuple[int, int], ...]:
        """Pairs of columns of the matrix: a number, and the indicator of its missing values."""
        if self.preparation is None:
            return ()
        plain = [column for column in self.columns if column.kind not in (TEXT, CATEGORY)]
        first = sum(len(part_names(column)) for column in plain)
        indicated = self.preparation.indicated.tolist()
        return tuple((number, first + position) for position, number in enumerate(indicated))

    def clipped(self, frame: pl.DataFrame) -> dict[str, int]:
        """The number of clipped cells in each numeric column."""
        if self.preparation is None or self.preparation.scaling is None:
            return {}
        kinds = {column.name: column.kind for column in self.columns}
        plain = prepared(frame, self.columns)
        numbers = [name for name in plain.columns if kinds.get(name) == NUMBER]
        string_columns = [name for name in plain.columns if plain[name].dtype == pl.String]
        table = TableColumns.of(plain.drop(string_columns))
        scaled = self.preparation.scaling.named_steps["bounds"].transform(table.numbers)
        counts = (np.abs(scaled) >= WIDEST).sum(axis=0).tolist()
        n_clipped = dict(zip(table.number_names, counts, strict=True))
        return {name: n_clipped[name] for name in numbers}

    @property
    def rare_levels(self) -> dict[str, int]:
        """For each category, the number of levels that share a column."""
        if self.preparation is None or self.preparation.encoding is None:
            return {}
        names = [column.name for column in self.columns if column.kind == CATEGORY]
        rare_levels = self.preparation.encoding.infrequent_categories_
        return {
            n: 0 if rare is None else len(rare) for n, rare in zip(names, rare_levels, strict=True)
        }


class NoWordsError(DataError):
    """The texts of a column have no words in common."""

    def __init__(self, column: str) -> None:
        super().__init__(
            f"the texts in column {column!r} have no words in common; is it the right column?"
        )
        self.column = column


def _vectorised(texts: pl.Series) -> tuple[TfidfVectorizer, Any]:
    vectoriser = TfidfVectorizer(
        sublinear_tf=True, min_df=RARE_WORD if len(texts) >= MANY_TEXTS else 1
    )
    try:
        words = vectoriser.fit_transform(texts.to_list())
    except ValueError as error:
        raise NoWordsError(texts.name) from error
    return vectoriser, words


def _level_names(encoding: OneHotEncoder, category: int, names: Sequence[str]) -> list[str]:
    """The names of a category's columns: the frequent levels, then one for all rare levels."""
    codes, rare = encoding.categories_[category], encoding.infrequent_categories_[category]
    if rare is None:
        return [names[code] for code in codes]
    rare_levels = set(rare.tolist())
    return [*(names[code] for code in codes.tolist() if code not in rare_levels), "(rare)"]
