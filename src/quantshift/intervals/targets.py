"""Whose share an interval is for."""

POPULATION, ITEMS = "population", "items"

SHARES_OF = (POPULATION, ITEMS)
"""The share in the population that the sample was drawn from, or that among the items of the sample
themselves."""
