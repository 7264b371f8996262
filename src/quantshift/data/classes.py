"""Labels of a file as classes: their type, what is missing, their order."""

from typing import Any

import numpy as np
import polars as pl

from quantshift.data.columns import typed, whole
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.types import Codes

MOST_CLASSES = 1000


def labels_of(column: pl.Series, name: str) -> pl.Series:
    """The labels as whole numbers, truth values or words; a gap is null."""
    labels = whole(typed(column))
    if labels.dtype.is_float():
        odd = labels.filter(labels != labels.round())
        shown = f"{odd[0]:g}" if len(odd) else "infinity"
        raise DataError(f"{name} look continuous ({shown}); bin them into classes first")
    if labels.dtype.is_temporal():
        labels = column.cast(pl.String)
    if labels.null_count() == len(labels):
        raise DataError(f"{name} are all missing; is this the column of the labels?")
    if labels.dtype not in (pl.Int64, pl.Boolean, pl.String):
        raise DataError(f"{name} of type {labels.dtype} are not supported; give numbers or words")
    return labels.rename("label")


def classes_of(labels: pl.Series, name: str, *, ordinal: bool, positive: str | None) -> list[Any]:
    """The classes, sorted; of two, `positive` last."""
    classes = labels.drop_nulls().unique().sort().to_list()
    if len(classes) < 2:
        raise DataError(f"{name} are all {classes[0]!r}; at least two classes are needed")
    if len(classes) > min(MOST_CLASSES, max(20, len(labels) // 2)):
        raise DataError(
            f"{name} have {len(classes):,} different values in {len(labels):,} rows, too many for "
            "classes; is this the column of the labels?"
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
            f"{name} have {len(classes)} classes: one of two can be the positive one, not of more"
        )
    names = [str(value) for value in classes]
    if positive not in names:
        raise unknown_name(f"class of {name}:", positive, names)
    return classes if names[1] == positive else classes[::-1]


def codes_of(labels: pl.Series, classes: list[Any]) -> Codes:
    """The positions of the labels among the classes; -1 where there is none."""
    places = {value: place for place, value in enumerate(classes)}
    return np.array([places.get(value, -1) for value in labels.to_list()], dtype=np.int64)
