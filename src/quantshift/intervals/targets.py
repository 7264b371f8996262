"""Whose share an interval is for."""

from typing import Final, Literal, TypeAlias

POPULATION: Final = "population"
ITEMS: Final = "items"

Whose: TypeAlias = Literal["population", "items"]

SHARES_OF = (POPULATION, ITEMS)
"""The share in the population that the sample was drawn from, or that among the items of the sample
themselves."""
