"""The numbers of a grid: checks, removal of floating-point noise, and rounding."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.errors import UserError
from quantshift.lab.shifts.parts.coordinate import Coordinates

TENTHS = tuple(i / 10 for i in range(11))
"""0, 0.1, ..., 1."""


def whole_number(name: str, value: int, *, least: int = 1) -> int:
    """The option's value; an error if it is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise UserError(f"{name}={value!r} must be a whole number of at least {least}")
    return int(value)


def grid_values(name: str, values: ArrayLike, *, low: float, high: float) -> list[float]:
    """One axis of a grid as plain numbers; an error if empty, out of range or with duplicates."""
    array = numbers(name, values)
    if array.ndim != 1 or array.size == 0:
        raise UserError(f"{name} must be a sequence of numbers, got shape {array.shape}")
    if not np.all((array >= low) & (array <= high)):
        raise UserError(f"{name}={array.tolist()} must lie between {low:g} and {high:g}")
    cleaned = [nominal(value) for value in array]
    if len(set(cleaned)) < len(cleaned):
        raise UserError(f"{name}={cleaned} contains a value twice; list each point once")
    return cleaned


def repeated(points: Sequence[Coordinates], name: str, repeats: int) -> list[Coordinates]:
    """Every point `repeats` times, numbered by the coordinate `name`."""
    return [{**point, name: repeat} for point in points for repeat in range(repeats)]


def numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """The option's values as an array of numbers; an error if they are not numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UserError(f"{name}={values!r} must be numbers, in rows of equal length") from None


def nominal(value: float) -> float:
    """A grid value without floating-point noise: 0.1 + 0.2 becomes 0.3, and -0.0 becomes 0.0."""
    return round(float(value), 9) + 0.0


def half_up(value: float) -> int:
    """The nearest whole number, halves upwards."""
    return math.floor(nominal(value) + 0.5)


def rounded(value: float, decimals: int) -> float:
    """The value rounded to this many decimals, halves away from zero.

    With Python's `round`, floating-point noise decides the halves: 0.35 - 0.2 and 0.45 - 0.3 would
    become different degrees.
    """
    scale = 10**decimals
    return math.copysign(half_up(abs(value) * scale) / scale, value) + 0.0
