"""Shares of classes: the simplex, labels, weights."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
