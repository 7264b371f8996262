"""From a labelled table to a model: which columns, how they are prepared, what is learnt.

Columns become numbers (`quantshift.data.preparation`) and a logistic regression gives posteriors;
whoever has posteriors of a model of their own gives those. `auto` chooses the quantifier that errs
least under the kinds of shift it can tell apart; every exported quantifier can be had by name.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from quantshift.classify.folds import grouped_folds
from quantshift.data.columns import CATEGORY, DATE, NUMBER, TEXT, TRUTH, Column, choose, text_column
from quantshift.data.preparation import NoWordsError, TablePreparation
from quantshift.data.reading import OpenTable, Source, open_table
from quantshift.diagnosis.column_profiles import POSTERIOR, training_profile
from quantshift.errors import DataError, unknown_name
from quantshift.nouns import counted
from quantshift.own_data import doubts
from quantshift.own_data.classifiers import (
    AUTO,
    LOGISTIC,
    check_classifier,
    make_classifier,
    make_rivals,
)
from quantshift.own_data.columns import (
    NO_CONTENT,
    NO_ITEMS,
    Asked,
    Columns,
    TableItems,
    candidates,
    empty_rows,
    read_items,
    total,
)
from quantshift.own_data.copies import copies
from quantshift.own_data.model import (
    NOT_DRAWN,
    Model,
    Training,
    given_posteriors,
    posterior_columns,
    quantifier_class,
)
from quantshift.own_data.progress import OnProgress, silent
from quantshift.own_data.reservoir import Reservoir
from quantshift.own_data.result import LeftOutColumn, Rows, UsedColumn
from quantshift.own_data.words import parts
from quantshift.quantifiers.adjusted import PACC
from quantshift.quantifiers.estimator import AbstractClassifying, AbstractQuantifier
from quantshift.quantifiers.expectation import SLD
from quantshift.quantifiers.guarded_sld import GuardedSLD
from quantshift.seeding import generator
from quantshift.types import Codes, Indices

MOST_CLASSES = 50
MOST_TRAINING = 100_000
"""Rows of a longer table are drawn at random: more would cost time and gain little."""

FEWEST_OF_A_CLASS = 5
"""As many as there are folds at least."""

FEWEST_FOLDS, MOST_FOLDS = 5, 20

FEW_FOLDS, MORE_FOLDS, MANY_ITEMS = 5, 10, 2000
"""Folds where several classifiers are tried, of which some are slow: few for many items."""

REASONS = MappingProxyType(
    {
        "GuardedSLD": "SubclassSLD, which weighs changes of prevalence and of {parts}, unless the "
        "sample refutes it",
        "SLD": "the most exact of the methods for a change of prevalence (prior shift)",
    }
)
"""Why `auto` takes a method."""


def train(
    source: Source,
    *,
    label: str,
    text: str | Sequence[str] = (),
    features: Sequence[str] = (),
    posteriors: Sequence[str] = (),
    drop: Sequence[str] = (),
    id: str | None = None,  # noqa: A002
    weights: str | None = None,
    missing: Sequence[str] | None = None,
    positive: str | None = None,
    lenient: bool = False,
    method: str = AUTO,
    classifier: str = AUTO,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Model:
    """A model from a labelled table.

    text, features: the columns that items are made of, texts or anything else; with neither, all
    columns that can be used (`model.columns` says which, how, and why others are not). posteriors:
    columns with those of the user's own model instead, for items it was not trained on.
    drop: columns that are not used; nor are `id`, and `weights`, which says how many items a row
    stands for. missing: what stands for no label, beside an empty cell (default: NA, N/A, NaN,
    NULL, null, None, nan). positive: the class whose share is shown first. lenient: read a CSV
    file line by line if its quotes are broken. classifier: logistic, naive-bayes, forest,
    boosting, or `package.module:name` of any of scikit-learn's.
    """
    asked = Asked.of(
        label=label,
        text=text,
        features=features,
        posteriors=posteriors,
        drop=drop,
        id=id,
        weights=weights,
        missing=missing,
        positive=positive,
        lenient=lenient,
    )
    table = open_table(source, name="the training table", lenient=lenient)
    return train_on_table(
        table, asked, method=method, classifier=classifier, seed=seed, progress=progress or silent
    )


def _reason(asked: str, method: str, columns: Columns) -> str:
    if asked != AUTO:
        return "chosen by you"
    return REASONS[method].format(parts=parts(topics=bool(columns.text)))


def train_on_table(
    table: OpenTable,
    asked: Asked,
    *,
    by: str | None = None,
    offered: set[str] | None = None,
    method: str = AUTO,
    classifier: str = AUTO,
    seed: int = 0,
    progress: OnProgress = silent,
) -> Model:
    """A model from a table that has been opened.

    by: the column that divides samples into batches, which is not used. offered: the columns that
    all samples have; others are not used.
    """
    assert asked.label is not None
    check_classifier(classifier)
    quantifier_class(method, "posteriors" if asked.posteriors else "features")
    names, left_out = candidates(asked, table, by=by, offered=offered)
    if not names:
        raise _nothing_to_work_on(table, left_out)
    items, n_labelled = _sampled(table, names, asked, seed, progress)
    if not len(items.rows):
        raise _nothing_labelled(table, asked.label)
    notes = list(doubts.doubts_about_labels(items.label_forms))
    if asked.posteriors:
        columns = posterior_columns(asked, left_out)
    else:
        columns = _chosen(table, items.values, asked, left_out)
        content = ~empty_rows(items.values, columns.features)
        n_empty = len(content) - int(content.sum())
        items = replace(
            items.take(np.flatnonzero(content)),
            left_out=total([items.left_out, {NO_CONTENT: n_empty} if n_empty else {}]),
        )
    classes, codes = _encoded(table, asked.label, items.labels, asked.positive)
    learnt = (
        _learnt_posteriors(columns, classes, codes, items, method, seed)
        if asked.posteriors
        else _learnt(table, columns, asked, codes, items, method, classifier, seed)
    )
    held_out, true_codes = learnt.base.held_out_posteriors_, learnt.base.held_out_codes_
    accuracy = float(
        np.average(held_out.argmax(axis=1) == true_codes, weights=learnt.base.held_out_.weights)
    )
    notes += [*learnt.notes, *doubts.doubt_about_accuracy(accuracy)]
    return Model(
        columns=learnt.columns,
        classes=classes,
        preparation=learnt.preparation,
        scorer=learnt.scorer,
        base=learnt.base,
        quantifier=learnt.quantifier,
        method=type(learnt.quantifier).__name__,
        reason=_reason(method, type(learnt.quantifier).__name__, learnt.columns),
        training=Training(
            rows=_rows(table, items, n_labelled),
            counts=dict(zip(classes, np.bincount(codes).tolist(), strict=True)),
            classifier=learnt.classifier,
            accuracy=accuracy,
            seed=seed,
            undecodable=items.undecodable,
            notes=tuple(notes),
        ),
        positive=asked.positive,
        profile=training_profile(
            items.values,
            codes,
            learnt.columns.features or [Column(n, POSTERIOR, 0) for n in asked.posteriors],
            n_classes=len(classes),
            weights=items.weights,
            seed=seed,
        ),
    )


def n_folds(codes: Codes) -> int:
    """Folds for the held-out posteriors: the fewer items, the more folds.

    The models of the folds have seen a little less than the one that scores a sample, which biases
    what is learnt from them (PACC's rates most) by about 1 / (n_items * folds). Next to the
    standard error, which falls with the root of n_items, 5 folds are enough for 100,000 items while
    5,000 need 20. The guide to own data has the coverage of intervals with either.
    """
    wanted = round(1 + (MOST_FOLDS - 1) * math.sqrt(5_000 / len(codes)))
    return max(FEWEST_FOLDS, min(wanted, MOST_FOLDS, int(np.bincount(codes).min())))


@dataclass(frozen=True, eq=False)
class _Learnt:
    """What is learnt from the items of a table."""

    columns: Columns
    preparation: TablePreparation | None
    scorer: AbstractQuantifier | None
    base: AbstractClassifying
    quantifier: AbstractQuantifier
    notes: tuple[str, ...]
    classifier: str


def _learnt_posteriors(
    columns: Columns,
    classes: Sequence[str],
    codes: Codes,
    items: TableItems,
    method: str,
    seed: int,
) -> _Learnt:
    posteriors = given_posteriors(items.values, columns, classes)
    base = SLD(seed=seed).fit_posteriors(posteriors, codes, weights=items.weights)
    quantifier = quantifier_class(method, "posteriors")().fit_items(
        base.held_out_, base.held_out_codes_
    )
    notes = tuple(doubts.doubt_about_posteriors(posteriors, codes))
    return _Learnt(columns, None, None, base, quantifier, notes, "given posteriors")


def _learnt(
    table: OpenTable,
    columns: Columns,
    asked: Asked,
    codes: Codes,
    items: TableItems,
    method: str,
    classifier: str,
    seed: int,
) -> _Learnt:
    columns, preparation, X = _prepared(table, columns, asked, items.values)
    twins = copies(items.values, columns.features, codes)
    notes: list[str] = []
    folds: Any = n_folds(codes)
    if twins is not None:
        folds = _folds_of_copies(table, twins, codes, seed)
        n_copies = len(twins) - len(np.unique(twins))
        told = "is a copy of another" if n_copies == 1 else "are copies of others"
        notes.append(
            f"{n_copies:,} of {len(twins):,} training rows {told}; copies share a fold, so that "
            "none counts as unseen"
        )
    cls = quantifier_class(method, "features")
    notes += doubts.doubts_about_columns(X, preparation, codes, seed=seed)
    if cls is GuardedSLD:
        n_classes = int(codes.max()) + 1
        rivals = make_rivals(classifier, preparation, n_classes, seed)
        if twins is None and len(rivals) > 1:
            folds = min(folds, FEW_FOLDS if len(codes) >= MANY_ITEMS else MORE_FOLDS)
        guarded = GuardedSLD(
            mode="signal" if columns.text else "columns",
            classifiers=list(rivals.values()),
            cv=folds,
            seed=seed,
        ).fit(X, codes, items.weights)
        best = list(rivals)[guarded.learnt_.index(guarded.best_)]
        known = guarded.held_out_
        base = SLD(seed=seed).fit_posteriors(
            guarded.best_.out_of_fold, guarded.held_out_codes_, weights=known.weights
        )
        return _Learnt(columns, preparation, guarded, base, guarded, tuple(notes), best)
    learner = make_classifier(classifier, preparation, seed)
    sees_both = {"posteriors", "features"} <= cls.sees
    # A method that looks at features as well finds its own items; the others share posteriors,
    # here PACC's, which learns no calibration from them that nobody would use.
    scoring: type[Any] = cls if sees_both else PACC
    scorer = scoring(learner, cv=folds, seed=seed).fit(X, codes, items.weights)
    known, own_codes = scorer.held_out_, scorer.held_out_codes_
    base = SLD(seed=seed).fit_posteriors(
        scorer.held_out_posteriors_, own_codes, weights=known.weights
    )
    quantifier = scorer
    if not sees_both:
        by_features = "features" in cls.sees
        quantifier = (
            cls().fit(X, codes, items.weights) if by_features else cls().fit_items(known, own_codes)
        )
    told = LOGISTIC if classifier == AUTO else classifier
    return _Learnt(columns, preparation, scorer, base, quantifier, tuple(notes), told)


def _folds_of_copies(table: OpenTable, twins: Indices, codes: Codes, seed: int) -> Indices:
    """Folds that hold copies together; as many as the distinct items ask for."""
    distinct = codes[np.unique(twins, return_index=True)[1]]
    if np.bincount(distinct).min() < 2:
        raise DataError(
            f"{table.name}: all rows of a class are copies of one: nothing of it can be held out; "
            "add other rows of it"
        )
    return grouped_folds(codes, twins, n_folds(distinct), seed=seed)


def _chosen(
    table: OpenTable, frame: pl.DataFrame, asked: Asked, left_out: Sequence[LeftOutColumn]
) -> Columns:
    """The columns that are used, by what their cells hold."""
    others = frame.drop(asked.text, strict=False)
    found, unfit = choose(others, named=asked.features)
    chosen = {column.name: column for column in found}
    chosen |= {name: text_column(frame[name]) for name in asked.text}
    reasons = (*left_out, *(LeftOutColumn(column.name, column.reason) for column in unfit))
    features = tuple(chosen[name] for name in frame.columns if name in chosen)
    if not features:
        raise _nothing_to_work_on(table, reasons)
    return Columns(
        label=asked.label,
        features=features,
        id=asked.id,
        weights=asked.weights,
        left_out=reasons,
    )


def _prepared(
    table: OpenTable, columns: Columns, asked: Asked, frame: pl.DataFrame
) -> tuple[Columns, TablePreparation, Any]:
    """The preparation, and the matrix of the rows.

    Texts without common words that nobody named are left out.
    """
    while True:
        try:
            preparation, X = TablePreparation.fit_transform(frame, columns.features)
        except NoWordsError as error:
            rest = tuple(c for c in columns.features if c.name != error.column)
            if error.column in (*asked.text, *asked.features) or not rest:
                raise DataError(f"{table.name}: {error}") from error
            lost = LeftOutColumn(error.column, "texts without words in common")
            columns = replace(columns, features=rest, left_out=(*columns.left_out, lost))
            continue
        special = preparation.rare_levels | preparation.clipped(frame)
        used = (
            UsedColumn(c.name, c.kind, _how(c, special.get(c.name, 0))) for c in columns.features
        )
        return replace(columns, used=tuple(used)), preparation, X


def _how(column: Column, n_special: int) -> str:
    """How a column is used, in words. n_special: clipped numbers, or rare levels."""
    if column.kind == NUMBER:
        parts = ["scaled"]
        if n_special:
            parts.append(f"{counted(n_special, 'far value')} clipped")
    elif column.kind == TRUTH:
        parts = ["as 0 and 1"]
    elif column.kind == DATE:
        parts = [f"by {_listed(column.parts)}"]
    elif column.kind == TEXT:
        parts = ["words, weighed by how rare they are"]
    else:
        assert column.kind == CATEGORY
        parts = [counted(column.levels or 0, "level")]
        if n_special:
            parts.append(f"{n_special:,} of them rare and pooled")
    if column.odd:
        parts.append(f"{counted(column.odd, 'cell')} of another kind taken as gaps")
    if column.gaps and column.kind == TEXT:
        parts.append(f"{column.gaps:,} empty")
    elif column.gaps and column.kind == CATEGORY:
        parts.append(f"{counted(column.gaps, 'gap')}, as a level")
    elif column.gaps:
        parts.append(f"{counted(column.gaps, 'gap')} filled with the median and marked")
    return "; ".join(parts)


def _listed(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def _sampled(
    table: OpenTable, names: Sequence[str], asked: Asked, seed: int, progress: OnProgress
) -> tuple[TableItems, int]:
    """All labelled rows, or as many as MOST_TRAINING drawn at random; and how many there were."""
    rng = generator(seed, purpose="training rows")
    reservoir = Reservoir(NO_ITEMS, rng, most=MOST_TRAINING)
    left_out: list[Mapping[str, int]] = []
    undecodable = 0
    reading = read_items(
        table,
        names,
        label=asked.label,
        missing=asked.missing,
        posteriors=bool(asked.posteriors),
        weights=asked.weights,
    )
    for part in reading:
        one_batch = np.zeros(len(part.rows), dtype=np.int64)
        left_out.append(part.left_out)
        undecodable += part.undecodable
        if len(part.rows):
            reservoir.add(part, one_batch, part.rows, one_batch - 1)
        progress(f"reading {table.name}", int(reservoir.sizes.sum()), 0)
    kept = replace(reservoir.kept().values, left_out=total(left_out), undecodable=undecodable)
    return kept, int(reservoir.sizes.sum())


def _rows(table: OpenTable, items: TableItems, n_labelled: int) -> Rows:
    """What became of the rows of the training table."""
    undrawn = n_labelled - len(items.rows) - items.left_out.get(NO_CONTENT, 0)
    reasons = dict(items.left_out) | ({NOT_DRAWN: undrawn} if undrawn else {})
    return Rows(table.name, len(items.rows) + sum(reasons.values()), len(items.rows), reasons)


def _nothing_to_work_on(table: OpenTable, left_out: Sequence[LeftOutColumn]) -> DataError:
    told = "; ".join(f"{column.name} ({column.reason})" for column in left_out[:5])
    return DataError(
        f"{table.name}: no column is left to work on: {told or 'there is none'}; name those to use",
        arguments=["text", "features"],
    )


def _nothing_labelled(table: OpenTable, label: str) -> DataError:
    return DataError(f"{table.name}: no row has both a label in column {label!r} and content")


def _encoded(
    table: OpenTable, label: str, labels: pl.Series, positive: str | None
) -> tuple[tuple[str, ...], Codes]:
    """The classes, sorted, of two the positive one last; and the code of every label."""
    if not len(labels):
        raise _nothing_labelled(table, label)
    classes, codes, counts = np.unique(
        labels.to_numpy().astype(str), return_inverse=True, return_counts=True
    )
    if len(classes) == 1:
        raise DataError(
            f"{table.name}: all labels in column {label!r} are {str(classes[0])!r}; at least two "
            "classes are needed"
        )
    if len(classes) > MOST_CLASSES:
        raise DataError(
            f"{table.name}: column {label!r} has {len(classes)} different values; is it the label? "
            f"(at most {MOST_CLASSES} classes)"
        )
    if counts.min() < FEWEST_OF_A_CLASS:
        rare = int(counts.argmin())
        raise DataError(
            f"{table.name}: class {str(classes[rare])!r} has {counts[rare]} labelled rows, at "
            f"least {FEWEST_OF_A_CLASS} are needed; add some, merge the class or leave it out"
        )
    if positive is not None and positive not in classes.tolist():
        raise unknown_name(f"class in column {label!r}:", positive, classes.tolist())
    if positive is not None and len(classes) == 2 and classes[0] == positive:
        classes, codes = classes[::-1], 1 - codes
    return tuple(classes.tolist()), codes.astype(np.int64)
