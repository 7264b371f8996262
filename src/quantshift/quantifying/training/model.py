"""A trained model: preparation, classifier, quantifier, and a summary of its training."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from quantshift.answers.columns import LeftOutColumn, UsedColumn
from quantshift.answers.rows import Rows
from quantshift.answers.show.notebook import MOST_ROWS
from quantshift.answers.text import column_names
from quantshift.answers.words import class_names, headline_class, shortened
from quantshift.base.forks import uses_tables
from quantshift.base.nouns import percent
from quantshift.base.types import Codes, Flags, Posteriors
from quantshift.claims.findings import Finding
from quantshift.classify.posteriors import check_posteriors
from quantshift.errors import DataError, UserError
from quantshift.items.items import Items
from quantshift.measuring.columns.training_profile import POSTERIOR, TrainingProfile
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractClassifying, AbstractQuantifier
from quantshift.quantifiers.base.guarding import AbstractGuarded
from quantshift.quantifying.columns import Columns
from quantshift.quantifying.declaration import NOTHING_DECLARED, Declaration
from quantshift.quantifying.group_errors import GroupErrors
from quantshift.quantifying.options import AUTO, ColumnOptions
from quantshift.quantifying.training.methods import (
    CHOSEN,
    DEFAULTS,
    IF_COVARIATE_SHIFT,
    NOTHING_TO_ADJUST_WITH,
    POSTERIORS,
    name_of,
)
from quantshift.tables.columns.kinds import CATEGORY, DATE
from quantshift.tables.files.chunks import nearest_column
from quantshift.tables.formats.frames import given_frame, plain_frame

GIVEN_POSTERIORS = "given posteriors"
"""The name of the classifier where posteriors of the user's own model are given."""


@dataclass(frozen=True)
class Training:
    """What a model was trained on, in plain numbers.

    rows: how many rows of the table were used; counts: labelled rows of each class. accuracy: of
    the classifier on items it had not seen (None without training). findings: what looks suspicious
    in the table.
    """

    rows: Rows
    counts: Mapping[str, int]
    classifier: str
    accuracy: float | None
    seed: int
    undecodable: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def source(self) -> str:
        """The name of the table."""
        return self.rows.source

    @property
    def n_items(self) -> int:
        """How many items the model was trained on."""
        return self.rows.used


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Everything needed to quantify a new table.

    preparation: turns columns into features (a `TablePreparation`); scorer: turns features into
        posteriors (it may be the quantifier itself); both None if posteriors are given.
    quantifier: turns items into estimates; base: a simple quantifier on the posteriors alone, for
        comparison.
    method_is_declared: whether the user has named the method, and so declared what it assumes;
        reason: why it is used, in words.
    positive: the class whose share is shown first, if one was named.
    profile: counts of the cells of the training columns, with which a sample is compared; no rows.
    groups: errors of the methods on groups left out of training, if a column of groups was named.
    declared: what holds for samples about which nothing else is declared.
    """

    columns: Columns
    classes: tuple[str, ...]
    preparation: Any
    scorer: AbstractQuantifier | None
    base: AbstractClassifying
    quantifier: AbstractQuantifier
    method: str
    reason: str
    method_is_declared: bool
    training: Training
    positive: str | None = None
    profile: TrainingProfile | None = None
    groups: GroupErrors | None = None
    declared: Declaration = NOTHING_DECLARED

    @property
    def is_trained(self) -> bool:
        """Whether there were labelled items to learn from."""
        return self.training.n_items > 0

    @property
    def names(self) -> dict[str, str]:
        """Displayed names of the classes: numbers and truth values with their column's name."""
        return class_names(self.columns.label if self.is_trained else None, self.classes)

    @property
    def headline(self) -> str:
        """The class of the headline: the positive one, as named or by its name, or the rarest."""
        return headline_class(self.classes, self.positive, self.training.counts)

    @property
    def guard(self) -> AbstractGuarded | None:
        """The quantifier, if it tests whether its own assumptions are refuted."""
        return self.quantifier if isinstance(self.quantifier, AbstractGuarded) else None

    @property
    def takes_posteriors_as_they_are(self) -> bool:
        """Whether neither labelled items nor the user say anything about the posteriors."""
        return not self.is_trained and not self.method_is_declared

    @property
    def tests_itself(self) -> bool:
        """Whether the items decide what may be claimed: the default methods do, others do not."""
        is_default = self.is_trained and self.scorer is None and not self.method_is_declared
        return self.guard is not None or (
            is_default and isinstance(self.quantifier, DEFAULTS[POSTERIORS].method)
        )

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of each column of categories in training."""
        if self.preparation is None:
            return {}
        names = [column.name for column in self.columns.features if column.kind == CATEGORY]
        return dict(zip(names, self.preparation.levels, strict=True))

    def features_of(self, names: Collection[str]) -> Flags | None:
        """Which features come from these columns or dates; None if the items are not prepared."""
        if self.preparation is None:
            return None
        columns = self.preparation.columns
        chosen = np.array([column.kind == DATE or column.name in names for column in columns])
        return np.asarray(chosen[self.preparation.sources])

    @uses_tables
    def items(self, frame: Any, weights: Weights | None = None) -> Items:
        """Posteriors of the rows of a frame, and what else the quantifier sees of them.

        frame: a data frame of polars, pandas or any library that supports Arrow, with the columns
        of the model; others are ignored. weights: how many items each row stands for.
        """
        table = given_frame(frame, "the frame")
        self.check_columns("the frame", table.columns)
        frame = plain_frame(table.select(self.columns.content))
        if self.scorer is None:
            posteriors = given_posteriors(frame, self.columns, self.classes)
            return Items(posteriors, weights=weights)
        return self.items_of(self.preparation.transform(frame), weights)

    def items_of(self, X: Any, weights: Weights | None = None) -> Items:
        """Like `items`, from features that the preparation made of the rows."""
        assert self.scorer is not None
        items = self.scorer.items(X)
        if self.guard is not None:
            items = replace(items, posteriors=self.guard.unguarded_items(items).posteriors)
        sees = self.quantifier.tags.sees
        if "posteriors" not in sees and "features" in sees and self.scorer is not self.quantifier:
            items = replace(items, features=self.quantifier.items(X).features)
        # Keep equal weights too: they may be equal in this part of a table but not in another.
        return replace(items, weights=weights)

    def check_columns(self, table: str, names: Iterable[str]) -> None:
        """Raise an error if a table with columns of these names lacks some of the model."""
        present = list(names)
        missing = [name for name in self.columns.content if name not in present]
        if not missing:
            return
        one = len(missing) == 1
        more = ", ..." if len(missing) > 10 else ""
        listed = ", ".join(map(repr, missing[:10])) + more
        near = nearest_column(missing[0], present) if one else None
        raise DataError(
            f"{table}: the model needs {'a column that is' if one else 'columns that are'} not "
            f"there: {listed}{f' (did you mean {near!r}?)' if near else ''}; add "
            f"{'it' if one else 'them'}, or train a model without {'it' if one else 'them'}"
        )

    def posteriors(self, items: Items) -> Posteriors:
        """The posteriors of the items."""
        assert items.posteriors is not None
        return items.posteriors

    @property
    def held_out(self) -> tuple[Posteriors, Codes]:
        """Held-out posteriors of the training items, and their codes."""
        return self.base.held_out_posteriors_, self.base.held_out_codes_

    def __repr__(self) -> str:
        """What it was trained on, and how, in a few lines."""
        return "\n".join(_lines(self))


def without_training(
    posteriors: Sequence[str], method: str, *, cure: str, label: str | None = None
) -> Model:
    """A model that uses the user's posteriors as they are, without labelled items or adjustment.

    method: "auto", or that of the mean of the posteriors, named by the user; any other has to learn
    from labelled rows and is refused. cure: the argument that would give it such rows.
    """
    if method not in (AUTO, IF_COVARIATE_SHIFT.__name__):
        raise UserError(
            f"{name_of(method)} needs labelled rows to learn from: give some, or leave the method "
            "out (the mean of the posteriors)",
            arguments=[cure, "method"],
        )
    options = ColumnOptions(label=label, posteriors=tuple(posteriors))
    names = tuple(posteriors)
    classes = (f"not {names[0]}", names[0]) if len(names) == 1 else names
    # The mean posterior learns nothing from these rows; they only define the number of classes.
    counting = IF_COVARIATE_SHIFT().fit_posteriors(np.eye(len(classes)), np.arange(len(classes)))
    return Model(
        columns=posterior_columns(options, ()),
        classes=classes,
        preparation=None,
        scorer=None,
        base=counting,
        quantifier=counting,
        method=type(counting).__name__,
        reason=NOTHING_TO_ADJUST_WITH if method == AUTO else CHOSEN,
        method_is_declared=method != AUTO,
        training=Training(Rows("", 0, 0, {}), {}, GIVEN_POSTERIORS, None, 0),
    )


def given_posteriors(frame: pl.DataFrame, columns: Columns, classes: Sequence[str]) -> Posteriors:
    """The user's posteriors in class order; a single column is for the second of two classes."""
    posteriors = frame.select(pl.col(columns.posteriors).cast(pl.Float64)).to_numpy()
    if posteriors.shape[1] == 1 and len(classes) == 2:
        posteriors = np.column_stack([1 - posteriors[:, 0], posteriors[:, 0]])
    elif len(columns.posteriors) == len(classes):
        posteriors = posteriors[:, column_order(columns.posteriors, classes)]
    else:
        raise UserError(
            f"{len(columns.posteriors)} posterior columns for {len(classes)} classes "
            f"({', '.join(classes)}): name one column per class"
        )
    return check_posteriors(posteriors, len(classes)) if len(posteriors) else posteriors


def column_order(names: Sequence[str], classes: Sequence[str]) -> list[int]:
    """The column of each class: the one whose name ends in it, otherwise in the given order.

    A single column is for the second of two classes, whatever its name ends in.

    >>> column_order(["p_pos", "p_neg"], ["neg", "pos"])
    [1, 0]
    >>> column_order(["a", "b"], ["neg", "pos"])
    [0, 1]
    >>> column_order(["p_invalid"], ["valid", "invalid"])
    [0, 1]
    """
    if len(names) == 1:
        return [0, 1]
    matches = [[i for i, n in enumerate(names) if n.lower().endswith(c.lower())] for c in classes]
    if all(len(match) == 1 for match in matches) and len({m[0] for m in matches}) == len(names):
        return [match[0] for match in matches]
    return list(range(len(classes)))


def posterior_columns(options: ColumnOptions, left_out: Sequence[LeftOutColumn]) -> Columns:
    """The columns of a table of posteriors."""
    return Columns(
        label=options.label,
        posteriors=options.posteriors,
        id=options.id,
        weights=options.weights,
        used=tuple(UsedColumn(name, POSTERIOR, "as given") for name in options.posteriors),
        left_out=tuple(left_out),
    )


def accuracy_text(classifier: str, accuracy: float) -> str:
    """How accurate the classifier is on labelled rows that it was not trained on.

    >>> accuracy_text("logistic", 0.8475)
    'logistic: cross-validated accuracy 84.8%'
    """
    how = "accuracy" if classifier == GIVEN_POSTERIORS else "cross-validated accuracy"
    return f"{classifier}: {how} {percent(accuracy)}"


def _lines(model: Model) -> Iterator[str]:
    """What a model was trained on, and how."""
    training, columns = model.training, model.columns
    if model.is_trained:
        counts = ", ".join(
            f"{shortened(model.names[label])} {n:,}"
            for label, n in list(training.counts.items())[:MOST_ROWS]
        )
        more = ", ..." if len(training.counts) > MOST_ROWS else ""
        yield (
            f"Model of {shortened(columns.label or '')!r}, trained on {training.n_items:,} rows of "
            f"{shortened(training.source)} ({counts}{more})"
        )
    else:
        yield f"Model without training, of {len(model.classes):,} classes"
    left_out = f"; {len(columns.left_out):,} left out" if columns.left_out else ""
    yield f"Columns  {len(columns.content):,} used: {column_names(columns.content)}{left_out}"
    accuracy = training.accuracy
    how = "" if accuracy is None else f"; {accuracy_text(training.classifier, accuracy)}"
    yield f"Method   {model.method}{how}"
    if model.groups is not None:
        yield f"Groups   {len(model.groups.groups):,} of {shortened(model.groups.column)!r}"
