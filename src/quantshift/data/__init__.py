"""Data sets: items with labels and features, from tables, texts, arrays or posteriors."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
