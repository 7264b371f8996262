"""A coordinate that a protocol declares, and the values of coordinates."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

Value: TypeAlias = float | int | bool | str | tuple[float, ...]
"""The value of a coordinate; a tuple is a prevalence vector, one number per class."""

Coordinates: TypeAlias = Mapping[str, Value]
"""Nominal values of the grid, by name."""


@dataclass(frozen=True)
class Coordinate:
    """A coordinate that a protocol declares: a column of results, an axis of a figure.

    side    "train" if training sets have it, "test" if only test samples have it
    type    of its values; "vector" is a prevalence vector in the order of the classes
    label   its name for readers, e.g. "training prevalence"
    symbol  TeX without dollar signs, e.g. "p_L"; may be empty
    """

    name: str
    side: Literal["train", "test"]
    type: Literal["float", "int", "bool", "string", "vector"]
    label: str
    symbol: str = ""

    def as_json(self) -> dict[str, str]:
        """The coordinate as plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The coordinate from the output of `as_json`."""
        return cls(**values)
