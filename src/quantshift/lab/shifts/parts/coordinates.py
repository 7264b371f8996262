"""The coordinates of the library's protocols: names, values, and the resulting degree."""

import dataclasses
import math
from collections.abc import Collection
from typing import Any

import numpy as np

from quantshift.base.types import Prevalences
from quantshift.errors import UserError, unknown_name
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates, Value
from quantshift.lab.shifts.parts.grids import nominal, rounded

P_TRAIN = Coordinate("p_train", "train", "float", "training prevalence", "p_L")
ALPHA_TRAIN = Coordinate("alpha_train", "train", "float", "training mix", r"\alpha_L")
CUT_TRAIN = Coordinate("cut_train", "train", "float", "training cut point", "c_L")
P_TEST = Coordinate("p_test", "test", "float", "test prevalence", "p_U")
ALPHA_TEST = Coordinate("alpha_test", "test", "float", "test mix", r"\alpha_U")
CUT_TEST = Coordinate("cut_test", "test", "float", "test cut point", "c_U")
CONTROL = Coordinate("control", "test", "bool", "control")
REPEAT = Coordinate("repeat", "test", "int", "repeat")
SEPARATION = Coordinate("group_auc", "test", "float", "AUC against the training items")
"""Measured by experiments, because a protocol does not know the features."""
NOISE = Coordinate("feature_noise", "test", "float", "noise", r"\sigma")
"""Standard deviation of the noise added to the features of a sample, in standard deviations of each
feature among the training items. Experiments add it: a protocol does not know the features."""
REPLACE = Coordinate("replace", "test", "bool", "drawn with replacement")

TRAIN_COORDINATES = ("alpha_train", "cut_train", "p_train", "replace", "train_repeat")
"""Training coordinates that every protocol accepts, including those of other protocols."""

DIFFERENCE = "$p_U - p_L$"
DISTANCE = "total variation distance between $p_U$ and $p_L$"


def prevalences_declared(n_classes: int) -> tuple[Coordinate, Coordinate]:
    """The training and the test prevalence: numbers for two classes, vectors for more."""
    if n_classes == 2:
        return P_TRAIN, P_TEST
    return (
        dataclasses.replace(P_TRAIN, type="vector"),
        dataclasses.replace(P_TEST, type="vector"),
    )


def prevalence_value(shares: Prevalences) -> float | tuple[float, ...]:
    """Nominal coordinate of a prevalence: that of the last of two classes, or the vector."""
    if len(shares) == 2:
        return nominal(shares[1])
    return tuple(nominal(share) for share in shares)


def prevalence_degree(coordinates: Coordinates, *, decimals: int = 1) -> float:
    """p_test - p_train, or the total variation distance if there are more than two classes."""
    if "p_test" not in coordinates or "p_train" not in coordinates:
        return math.nan
    test, train = coordinates["p_test"], coordinates["p_train"]
    if isinstance(test, tuple) and isinstance(train, tuple):
        return rounded(sum(abs(a - b) for a, b in zip(test, train, strict=True)) / 2, decimals)
    return rounded(number(test) - number(train), decimals)


def prevalence_words(n_classes: int) -> str:
    """The degree of `prevalence_degree` to one decimal, for readers."""
    return f"{DIFFERENCE if n_classes == 2 else DISTANCE}, rounded to one decimal"


def number(value: Value) -> float:
    """A coordinate that is a number."""
    if isinstance(value, str | tuple):
        raise UserError(f"a coordinate is {value!r} where a number is needed")
    return float(value)


def seed_axes(coordinates: Coordinates) -> dict[str, float | int | bool | str]:
    """Coordinates as axes of a seed: a vector has an axis for the rank of each class.

    Classes are identified by rank, so that recoded labels draw the same items.
    """
    axes: dict[str, float | int | bool | str] = {}
    for name, value in coordinates.items():
        if isinstance(value, tuple):
            axes |= {f"{name}:{rank}": share for rank, share in enumerate(value)}
        else:
            axes[name] = value
    return axes


def shown_coordinates(coordinates: Coordinates) -> str:
    """Coordinates as shown in error messages: p_train=0.5, train_repeat=3."""
    return ", ".join(f"{name}={_text(value)}" for name, value in coordinates.items())


def checked_coordinates(
    coordinates: Coordinates, allowed: Collection[str], n_classes: int
) -> dict[str, Value]:
    """Coordinates of a training set as plain values; an error for unknown names or wrong forms."""
    for name in coordinates:
        if name not in allowed:
            raise unknown_name("training coordinate", name, allowed)
    checked = {name: _checked(value) for name, value in coordinates.items()}
    p_train = checked.get("p_train")
    if p_train is not None:
        length = len(p_train) if isinstance(p_train, tuple) else 2
        if isinstance(p_train, tuple) != (n_classes > 2) or length != n_classes:
            form = "the prevalence of the positive class"
            if n_classes > 2:
                form = f"one prevalence for each of the {n_classes} classes"
            raise UserError(f"p_train={_text(p_train)} does not fit the labels; give {form}")
    return checked


def _checked(value: Any) -> Value:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list | np.ndarray):
        return tuple(nominal(share) for share in value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    return nominal(value)


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(f'{share:g}' for share in value)})"
    return value if isinstance(value, str) else f"{value:g}"
