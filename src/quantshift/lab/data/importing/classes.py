"""Labels of a file as classes: their type, their missing values, their order."""

from typing import Any

import numpy as np
import polars as pl

from quantshift.base.types import Codes
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.tables.columns.kinds import typed, whole
from quantshift.tables.columns.spelling import as_seen

MOST_CLASSES = 1000


def labels_of(column: pl.Series, name: str) -> pl.Series:
    """The labels as integers, booleans or strings; missing ones are null."""
    labels = whole(typed(column))
    if labels.dtype.is_float():
        fractions = labels.filter(labels != labels.round())
        example = f"{fractions[0]:g}" if len(fractions) else "infinity"
        raise DataError(f"{name} look continuous ({example}); bin them into classes first")
    if labels.dtype.is_temporal():
        labels = column.cast(pl.String)
    if labels.null_count() == len(labels):
        raise DataError(f"{name} are all missing; is this the label column?")
    if labels.dtype not in (pl.Int64, pl.Boolean, pl.String):
        raise DataError(f"{name} of type {labels.dtype} are not supported; give numbers or words")
    return labels.rename("label")


def classes_of(labels: pl.Series, name: str, *, ordinal: bool, positive: str | None) -> list[Any]:
    """The classes, sorted; with two, `positive` is last."""
    classes = labels.drop_nulls().unique().sort().to_list()
    _check_look_different(classes, name)
    if len(classes) < 2:
        raise DataError(f"{name} are all {classes[0]!r}; at least two classes are needed")
    if len(classes) > min(MOST_CLASSES, max(20, len(labels) // 2)):
        raise DataError(
            f"{name} have {len(classes):,} different values in {len(labels):,} rows, too many for "
            "classes; is this the label column?"
        )
    if ordinal and labels.dtype != pl.Int64:
        raise UserError(
            f"{name} are words ({', '.join(map(str, classes[:3]))}): ordered labels must be "
            "numbers; recode them in their order"
        )
    if positive is None:
        return classes
    if len(classes) != 2:
        raise UserError(
            f"{name} have {len(classes)} classes: only one of two classes can be the positive one"
        )
    names = [str(value) for value in classes]
    if positive not in names:
        raise unknown_name(f"class of {name}:", positive, names)
    return classes if names[1] == positive else classes[::-1]


def _check_look_different(classes: list[Any], name: str) -> None:
    """Refuse classes whose names look the same."""
    spellings: dict[str, str] = {}
    for label in classes:
        if isinstance(label, str):
            other = spellings.setdefault(as_seen(label), label)
            if other != label:
                raise DataError(
                    f"{name}: the classes {other!a} and {label!a} look the same: they differ in "
                    "characters that cannot be seen; write them alike"
                )


def codes_of(labels: pl.Series, classes: list[Any]) -> Codes:
    """The positions of the labels among the classes; -1 for a missing or unknown label."""
    positions = {value: position for position, value in enumerate(classes)}
    return np.array([positions.get(value, -1) for value in labels.to_list()], dtype=np.int64)
