"""Counts of scores in place of rows: a billion rows are as easy as a thousand."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
