"""Estimates from labels that people give: audits, strata, labels of other items."""

from quantshift.base.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
