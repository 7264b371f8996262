"""The numbers of a grid: checked, free of floating-point noise, rounded as people do."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.errors import UserError
from quantshift.shifts.protocol import Coordinates

TENTHS = tuple(i / 10 for i in range(11))
"""0, 0.1, ..., 1."""


def whole_number(name: str, value: int, *, least: int = 1) -> int:
    """The option's value, refused if it is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise UserError(f"{name}={value!r} must be a whole number of at least {least}")
    return int(value)


def grid_values(name: str, values: ArrayLike, *, low: float, high: float) -> list[float]:
    """One axis of a grid as plain numbers, refused if empty, out of range or doubled."""
    array = numbers(name, values)
    if array.ndim != 1 or array.size == 0:
        raise UserError(f"{name} must be a sequence of numbers, got shape {array.shape}")
    if not np.all((array >= low) & (array <= high)):
        raise UserError(f"{name}={array.tolist()} must lie between {low:g} and {high:g}")
    cleaned = [nominal(value) for value in array]
    if len(set(cleaned)) < len(cleaned):
        raise UserError(f"{name}={cleaned} holds a value twice; name each point once")
    return cleaned


def repeated(points: Sequence[Coordinates], name: str, repeats: int) -> list[Coordinates]:
    """Every point so many times, numbered by the coordinate `name`."""
    return [{**point, name: repeat} for point in points for repeat in range(repeats)]


def numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """The option's values as an array of numbers, refused if they are none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UserError(f"{name}={values!r} must hold numbers, in rows of one length") from None


def nominal(value: float) -> float:
    """A grid value without floating-point noise: 0.1 + 0.2 and 0.3 are one point, -0.0 is 0.0."""
    return round(float(value), 9) + 0.0


def half_up(value: float) -> int:
    """The nearest whole number, halves upwards."""
    return math.floor(nominal(value) + 0.5)


def rounded(value: float, decimals: int) -> float:
    """The value with so many decimals, halves away from zero.

    Python's `round` lets floating-point noise decide the halves: 0.35 - 0.2 and 0.45 - 0.3 would
    become different degrees.
    """
    scale = 10**decimals
    return math.copysign(half_up(abs(value) * scale) / scale, value) + 0.0
