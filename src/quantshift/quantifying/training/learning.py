"""What is learnt from the items of a labelled table: preparation, classifier and quantifier."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from quantshift.answers.columns import LeftOutColumn, UsedColumn
from quantshift.base.nouns import counted, listed
from quantshift.base.types import Codes, Indices
from quantshift.claims.findings import Finding
from quantshift.classify.folds import grouped_folds
from quantshift.errors import DataError
from quantshift.quantifiers.base.estimator import AbstractClassifying, AbstractQuantifier
from quantshift.quantifiers.base.guarding import COLUMNS, SIGNAL, AbstractGuarded
from quantshift.quantifying.columns import Columns, TableItems
from quantshift.quantifying.findings import TrainingFindings
from quantshift.quantifying.options import AUTO, ColumnOptions, TrainingOptions
from quantshift.quantifying.training import training_warnings
from quantshift.quantifying.training.classifiers import LOGISTIC, make_classifier, make_rivals
from quantshift.quantifying.training.copies import copies
from quantshift.quantifying.training.methods import (
    FEATURES,
    IF_PRIOR_SHIFT,
    POSTERIORS,
    SCORING,
    method_class,
)
from quantshift.quantifying.training.model import GIVEN_POSTERIORS, given_posteriors
from quantshift.tables.columns.kinds import CATEGORY, DATE, NUMBER, TEXT, TRUTH, Column
from quantshift.tables.preparation import NoWordsError, TablePreparation
from quantshift.tables.reading import OpenTable

FEWEST_FOLDS, MOST_FOLDS = 5, 20

FEW_FOLDS, MORE_FOLDS, MANY_ITEMS = 5, 10, 2000
"""Folds when several classifiers are tried, some of them slow: fewer from MANY_ITEMS items on."""


def n_folds(codes: Codes) -> int:
    """Folds for the held-out posteriors: the fewer items, the more folds.

    The models of the folds are trained on slightly less data than the one that scores a sample,
    which biases what is learnt from them (PACC's rates most) by about 1 / (n_items * folds). The
    standard error falls with the square root of n_items; relative to it, 5 folds are enough for
    100,000 items while 5,000 need 20. The guide to your own data shows the coverage with both.
    """
    folds = round(1 + (MOST_FOLDS - 1) * math.sqrt(5_000 / len(codes)))
    return max(FEWEST_FOLDS, min(folds, MOST_FOLDS, int(np.bincount(codes).min())))


def most_folds_of_rivals(n_items: int) -> int:
    """The most folds if several classifiers are tried on so many items."""
    return FEW_FOLDS if n_items >= MANY_ITEMS else MORE_FOLDS


@dataclass(frozen=True, eq=False)
class LearntModel:
    """What is learnt from the items of a table. findings: what looks suspicious."""

    columns: Columns
    preparation: TablePreparation | None
    scorer: AbstractQuantifier | None
    base: AbstractClassifying
    quantifier: AbstractQuantifier
    findings: tuple[Finding, ...]
    classifier: str


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labelled items of a table, and how to learn from them.

    columns: what the items are made of; options: what the user said of them. codes: of the items.
    prepared: what was made of their columns, if they have been prepared already.
    """

    table: OpenTable
    columns: Columns
    options: ColumnOptions
    training: TrainingOptions
    classes: tuple[str, ...]
    items: TableItems
    codes: Codes
    prepared: "Prepared | None" = None

    def take(self, rows: Indices) -> "Labelled":
        """Some of the items; they are prepared anew."""
        return replace(self, items=self.items.take(rows), codes=self.codes[rows], prepared=None)


@dataclass(frozen=True, eq=False)
class Prepared:
    """The columns that are used and how, and the features X that they become."""

    columns: Columns
    preparation: TablePreparation
    X: Any


def learn(data: Labelled, *, doubting: bool = True) -> LearntModel:
    """Learn from labelled items. doubting: whether to look for suspicious columns, which takes
    time."""
    if data.options.posteriors:
        return _learn_posteriors(data)
    return _learn_columns(data, doubting=doubting)


def _learn_posteriors(data: Labelled) -> LearntModel:
    """Learn from posteriors of the user's own model."""
    codes, method, seed = data.codes, data.training.method, data.training.seed
    posteriors = given_posteriors(data.items.values, data.columns, data.classes)
    base = IF_PRIOR_SHIFT(random_state=seed).fit_posteriors(
        posteriors, codes, sample_weight=data.items.weights
    )
    quantifier = method_class(method, POSTERIORS)().fit_items(base.held_out_, base.held_out_codes_)
    findings = tuple(training_warnings.doubt_about_posteriors(posteriors, codes))
    return LearntModel(data.columns, None, None, base, quantifier, findings, GIVEN_POSTERIORS)


def _learn_columns(data: Labelled, *, doubting: bool) -> LearntModel:
    table, items, codes = data.table, data.items, data.codes
    classifier, seed = data.training.classifier, data.training.seed
    prepared = data.prepared or prepare(table, data.columns, data.options, items.values)
    columns, preparation, X = prepared.columns, prepared.preparation, prepared.X
    twins = copies(items.values, columns.features, codes)
    findings: list[Finding] = []
    folds: Any = n_folds(codes)
    if twins is not None:
        folds = _folds_of_copies(table, twins, codes, seed)
        n_copies = len(twins) - len(np.unique(twins))
        findings.append(TrainingFindings.COPIED_ROWS.found(n=n_copies, n_rows=len(twins)))
    cls: Any = method_class(data.training.method, FEATURES)
    if doubting:
        findings += training_warnings.doubts_about_columns(X, preparation, codes, seed=seed)
    if issubclass(cls, AbstractGuarded):
        rivals = make_rivals(classifier, preparation, int(codes.max()) + 1, seed)
        if twins is None and len(rivals) > 1:
            folds = min(folds, most_folds_of_rivals(len(codes)))
        guarded = cls(
            mode=SIGNAL if columns.text else COLUMNS,
            classifiers=list(rivals.values()),
            cv=folds,
            random_state=seed,
        ).fit(X, codes, items.weights)
        best = list(rivals)[guarded.chosen_]
        return LearntModel(
            columns, preparation, guarded, guarded.plain_, guarded, tuple(findings), best
        )
    learner = make_classifier(classifier, preparation, seed)
    scorer, base, quantifier = _fitted(cls, learner, X, data, folds)
    name = LOGISTIC if classifier == AUTO else classifier
    return LearntModel(columns, preparation, scorer, base, quantifier, tuple(findings), name)


def _fitted(
    cls: Any, learner: Any, X: Any, data: Labelled, folds: Any
) -> tuple[AbstractQuantifier, AbstractClassifying, AbstractQuantifier]:
    """The scorer, the estimate for prior shift and the quantifier, on the same held-out items."""
    items, codes, seed = data.items, data.codes, data.training.seed
    sees_both = {"posteriors", "features"} <= cls.tags.sees
    # A method that also uses features computes its own items. The others share posteriors.
    scoring: Any = cls if sees_both else SCORING
    scorer = scoring(learner, cv=folds, random_state=seed).fit(X, codes, items.weights)
    held_out, held_out_codes = scorer.held_out_, scorer.held_out_codes_
    base = IF_PRIOR_SHIFT(random_state=seed).fit_posteriors(
        scorer.held_out_posteriors_, held_out_codes, sample_weight=held_out.weights
    )
    quantifier = scorer
    if not sees_both:
        by_features = "features" in cls.tags.sees
        quantifier = (
            cls().fit(X, codes, items.weights)
            if by_features
            else cls().fit_items(held_out, held_out_codes)
        )
    return scorer, base, quantifier


def _folds_of_copies(table: OpenTable, twins: Indices, codes: Codes, seed: int) -> Indices:
    """Folds that keep copies together; their number depends on the distinct items."""
    distinct = codes[np.unique(twins, return_index=True)[1]]
    if np.bincount(distinct).min() < 2:
        raise DataError(
            f"{table.name}: all rows of a class are copies of a single row, so none can be held "
            "out; add other rows of this class"
        )
    return grouped_folds(codes, twins, n_folds(distinct), seed=seed)


def prepare(
    table: OpenTable, columns: Columns, options: ColumnOptions, frame: pl.DataFrame
) -> Prepared:
    """The preparation, and the matrix of the rows.

    Texts without common words are left out unless the user named them.
    """
    while True:
        try:
            preparation, X = TablePreparation.fit_transform(frame, columns.features)
        except NoWordsError as error:
            remaining = tuple(c for c in columns.features if c.name != error.column)
            if error.column in (*options.text, *options.features) or not remaining:
                raise DataError(f"{table.name}: {error}") from error
            left_out = LeftOutColumn(error.column, "texts without words in common")
            columns = replace(columns, features=remaining, left_out=(*columns.left_out, left_out))
            continue
        special = preparation.rare_levels | preparation.clipped(frame)
        used = (
            UsedColumn(c.name, c.kind, _how(c, special.get(c.name, 0))) for c in columns.features
        )
        return Prepared(replace(columns, used=tuple(used)), preparation, X)


def _how(column: Column, n_special: int) -> str:
    """How a column is used, in words. n_special: clipped numbers, or rare levels."""
    if column.kind == NUMBER:
        parts = ["scaled" if column.format is None else "written with a decimal comma; scaled"]
        if n_special:
            parts.append(f"{counted(n_special, 'outlier')} clipped")
    elif column.kind == TRUTH:
        parts = ["as 0 and 1"]
    elif column.kind == DATE:
        parts = [f"by {listed(column.parts)}"]
    elif column.kind == TEXT:
        parts = ["words, weighted by rarity (tf-idf)"]
    else:
        assert column.kind == CATEGORY
        parts = [counted(column.levels or 0, "level")]
        if n_special:
            parts.append(f"{n_special:,} of them rare and pooled")
    if column.odd:
        parts.append(f"{counted(column.odd, 'cell')} of another type treated as missing")
    if column.gaps and column.kind == TEXT:
        parts.append(f"{column.gaps:,} empty")
    elif column.gaps and column.kind == CATEGORY:
        parts.append(f"{counted(column.gaps, 'missing value')}, as a category")
    elif column.gaps:
        parts.append(f"{counted(column.gaps, 'missing value')} filled with the median and flagged")
    return "; ".join(parts)
